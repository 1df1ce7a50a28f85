// Kernel sums pair by pair, over the pairs of leaves within reach. The reach is the support of a
// compact kernel; for an infinite kernel it is the distance beyond which all samples together
// change no sum by more than rtol.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "density/methods.hpp"
#include "tree/nearest.hpp"
#include "tree/pair_traversal.hpp"
#include "vector/pairs.hpp"

namespace quickshift {

namespace {

// Queries whose nearest sample has a larger decay than this are summed relative to that sample.
// exp(-600) is far from underflow, and terms that are smaller by another factor of exp(-100) are
// below the rounding error of the sum.
constexpr double far_decay = 600.0;

struct DirectSumProblem {
  const Tree& queries;
  const Tree& samples;
  const DensityOptions& options;
  double h;  // in the scale of the trees
  KernelScale scale;
  AddTerms add_terms;

  bool symmetric() const { return &queries == &samples; }
  bool includes_itself() const { return symmetric() && !options.leave_out; }

  LeafPair pair(Index query_leaf, Index sample_leaf) const {
    return leaf_pair(queries, query_leaf, samples, sample_leaf);
  }
};

// By node of the query tree: the largest squared distance at which a sample matters to any query
// below the node.
using Reaches = std::vector<double>;

// Computes the reaches of the inner nodes from those of the leaves.
void propagate_up(const Tree& queries, Reaches& reaches) {
  for (Index node = queries.leaves() - 1; node >= 1; --node) {
    reaches[node] = std::max(reaches[2 * node], reaches[2 * node + 1]);
  }
}

// The reach of a leaf of samples: every sum is at least the contribution of its own leaf. Reaches
// from the sums themselves would leave out only 1 to 7 % more pairs of leaves.
double reach_from_own_leaf(const DirectSumProblem& problem, Index leaf) {
  const Tree& tree = problem.samples;
  std::vector<double> sums(static_cast<std::size_t>(tree.stride), 0.0);
  problem.add_terms(problem.pair(leaf, leaf), problem.scale, sums.data(), nullptr);
  const double least = *std::min_element(sums.begin(), sums.begin() + tree.count(leaf));
  return reach_sq(tree, problem.options, least);
}

// Reaches of queries that are not samples, or that leave themselves out: every sum is at least the
// term of the nearest sample. Queries for which that term would underflow (the far ones) are summed
// one by one, relative to it.
class ReachesFromNearest {
 public:
  ReachesFromNearest(const DirectSumProblem& problem, const Execution& execution)
      : problem_(problem),
        nearest_(nearest_samples(problem.queries, problem.samples, problem.options.leave_out,
                                 execution)) {}

  double reach(Index slot) const {
    const Index sample = nearest_.slot[slot];
    const double near = decay_at(slot);
    // There is no sample if the only location leaves itself out. If the decay overflows, the sum
    // counts as 0, because not even its logarithm can be represented.
    if (sample < 0 || std::isinf(near)) return 0.0;
    // Rounding must not exclude the nearest sample itself.
    return std::max(
        reach_sq(problem_.samples, problem_.options, problem_.samples.weights[sample], near),
        nearest_.square[slot]);
  }
  bool is_far(Index slot) const {
    return nearest_.slot[slot] >= 0 && decay_at(slot) > far_decay && !std::isinf(decay_at(slot));
  }

  double leaf_reach(Index leaf) const {
    double most = 0.0;
    for (int i = 0; i < problem_.queries.count(leaf); ++i) {
      const Index slot = leaf * problem_.queries.stride + i;
      if (!is_far(slot)) most = std::max(most, reach(slot));
    }
    return most;
  }

  void sum_far(Index leaf, const Execution& execution, Sums& sums) const {
    std::vector<double> point(static_cast<std::size_t>(problem_.queries.features));
    for (int i = 0; i < problem_.queries.count(leaf); ++i) {
      const Index slot = leaf * problem_.queries.stride + i;
      if (!is_far(slot)) continue;
      if (execution.stops()) return;
      copy_point(problem_.queries, leaf, i, point.data());
      sums.log_scales[slot] = -decay_at(slot);
      sums.values[slot] = single_sum(problem_.samples, problem_.options, point.data(), reach(slot),
                                     sums.log_scales[slot], problem_.options.leave_out ? slot : -1);
    }
  }

 private:
  double decay_at(Index slot) const {
    return decay(problem_.options.kernel, nearest_.square[slot], problem_.h);
  }

  const DirectSumProblem& problem_;
  Nearest nearest_;
};

// Runs body(leaf) for every leaf of the queries, in parallel.
template <class Body>
void for_query_leaves(const DirectSumProblem& problem, double work_per_leaf,
                      const Execution& execution, const Body& body) {
  const Index leaves = problem.queries.leaves();
  run_tasks(execution, leaves, work_per_leaf * static_cast<double>(leaves), [&] { return body; });
}

class DirectSumWorker {
 public:
  // least_reach: the smallest reach of a leaf of queries.
  DirectSumWorker(const DirectSumProblem& problem, const Reaches& reaches, double least_reach,
                  const Execution& execution, Sums& sums)
      : problem_(problem),
        reaches_(reaches),
        least_reach_(least_reach),
        execution_(execution),
        sums_(sums) {}

  bool out_of_reach(Index query, Index sample, Bounds squares) const {
    const double reach =
        problem_.symmetric() ? std::max(reaches_[query], reaches_[sample]) : reaches_[query];
    return squares.least > reach;
  }
  bool inside(Index, Index, Bounds squares) const { return squares.most <= least_reach_; }

  // All pairs of leaves below two nodes, without any further test of their boxes.
  void take_whole(Index query, Index sample) {
    const Index queries = leaves_below(problem_.queries, query);
    const Index samples = leaves_below(problem_.samples, sample);
    const bool same = problem_.symmetric() && query == sample;
    for (Index i = 0; i < queries && !stops(samples); ++i) {
      for (Index j = same ? i : 0; j < samples; ++j) {
        take_leaves(query * queries + i, sample * samples + j);
      }
    }
  }

  void take_leaves(Index query, Index sample) {
    const Index leaf = problem_.queries.leaf_of(query);
    const Index other = problem_.samples.leaf_of(sample);
    const LeafPair pair = problem_.pair(leaf, other);
    double* values = sums_.values.data() + leaf * problem_.queries.stride;
    double* others = sums_.values.data() + other * problem_.samples.stride;
    if (!problem_.symmetric()) {
      problem_.add_terms(pair, problem_.scale, values, nullptr);
    } else if (query != sample) {
      problem_.add_terms(pair, problem_.scale, values, others);
    } else if (problem_.options.leave_out) {
      add_own_leaf(pair, values);
    } else {
      problem_.add_terms(pair, problem_.scale, values, nullptr);
    }
  }

 private:
  static Index leaves_below(const Tree& tree, Index node) {
    return tree.leaves() >> (std::bit_width(static_cast<std::size_t>(node)) - 1);
  }

  // Whether to stop, before the next pairs of leaves.
  bool stops(Index pairs) {
    constexpr Index seldom = 4096;
    since_tick_ += pairs;
    if (since_tick_ < seldom) return execution_.stop.load();
    since_tick_ = 0;
    return execution_.stops();
  }

  // Leave-one-out sums within a leaf: one location at a time, whose own weight is set to zero while
  // its sum is computed.
  void add_own_leaf(LeafPair pair, double* values) const {
    std::vector<double> weights(pair.weights, pair.weights + pair.sample_stride);
    std::vector<double> sums(static_cast<std::size_t>(pair.query_stride));
    const double* const originals = pair.weights;
    pair.weights = weights.data();
    for (int i = 0; i < pair.sample_count; ++i) {
      weights[i] = 0.0;
      std::fill(sums.begin(), sums.end(), 0.0);
      problem_.add_terms(pair, problem_.scale, sums.data(), nullptr);
      values[i] += sums[i];
      weights[i] = originals[i];
    }
  }

  const DirectSumProblem& problem_;
  const Reaches& reaches_;
  double least_reach_;
  const Execution& execution_;
  Sums& sums_;
  Index since_tick_ = 0;  // pairs of leaves
};

void sum_within(const DirectSumProblem& problem, const Reaches& reaches, const Execution& execution,
                Sums& sums) {
  const double pairs = static_cast<double>(problem.queries.locations) *
                       static_cast<double>(problem.samples.locations);
  const double least = *std::min_element(reaches.begin() + problem.queries.leaves(), reaches.end());
  traverse_pairs(problem.queries, problem.samples, pairs, execution,
                 [&] { return DirectSumWorker(problem, reaches, least, execution, sums); });
}

// Leaves whose samples are summed pair by pair, while the sums of the others with each other are
// known.
class ApartLeaves {
 public:
  ApartLeaves(const DirectSumProblem& problem, const std::vector<Index>& apart, const Sums& sums,
              const Execution& execution)
      : reaches(static_cast<std::size_t>(problem.samples.nodes())),
        below_(static_cast<std::size_t>(problem.samples.nodes()), 0) {
    const Tree& tree = problem.samples;
    double weight = 0.0;
    for (const Index leaf : apart) {
      below_[tree.leaves() + leaf] = 1;
      const double* weights = tree.weights.data() + leaf * tree.stride;
      weight += std::accumulate(weights, weights + tree.count(leaf), 0.0);
    }
    for (Index node = tree.leaves() - 1; node >= 1; --node) {
      below_[node] = below_[2 * node] | below_[2 * node + 1];
    }
    for_query_leaves(problem, tree.stride, execution, [&](Index leaf) {
      const Index node = tree.leaves() + leaf;
      reaches[node] = below_[node] ? reach_from_own_leaf(problem, leaf)
                                   : reach_of_known(problem, leaf, sums, weight);
    });
    propagate_up(tree, reaches);
  }

  // Whether there are such leaves below a node.
  bool below(Index node) const { return below_[node] != 0; }

  Reaches reaches;

 private:
  // The reach of a leaf of which only terms of the leaves apart, of this weight, are missing.
  static double reach_of_known(const DirectSumProblem& problem, Index leaf, const Sums& sums,
                               double weight) {
    const Tree& tree = problem.samples;
    const double* known = sums.values.data() + leaf * tree.stride;
    const double least = *std::min_element(known, known + tree.count(leaf));
    return reach_sq(tree, problem.options, least * (tree.total_weight / weight));
  }

  std::vector<char> below_;
};

// Sums the pairs of leaves of which at least one is apart.
class ApartWorker : public DirectSumWorker {
 public:
  ApartWorker(const DirectSumProblem& problem, const ApartLeaves& leaves,
              const Execution& execution, Sums& sums)
      : DirectSumWorker(problem, leaves.reaches, 0.0, execution, sums), leaves_(leaves) {}

  bool inside(Index, Index, Bounds) const { return false; }

  bool out_of_reach(Index query, Index sample, Bounds squares) const {
    return !(leaves_.below(query) | leaves_.below(sample)) |
           DirectSumWorker::out_of_reach(query, sample, squares);
  }

 private:
  const ApartLeaves& leaves_;
};

// The reach of a leaf of queries whose errors are relative to options.totals.
double reach_from_totals(const DirectSumProblem& problem, Index leaf) {
  const double* totals = problem.options.totals + leaf * problem.queries.stride;
  const double least = *std::min_element(totals, totals + problem.queries.count(leaf));
  return reach_sq(problem.samples, problem.options,
                  std::ldexp(least, -problem.samples.weight_exponent));
}

void sum_infinite(const DirectSumProblem& problem, const Execution& execution, Sums& sums) {
  const Index leaves = problem.queries.leaves();
  Reaches reaches(static_cast<std::size_t>(problem.queries.nodes()));
  if (problem.includes_itself()) {
    const double work = problem.queries.stride * problem.samples.stride;
    for_query_leaves(problem, work, execution, [&](Index leaf) {
      reaches[leaves + leaf] = reach_from_own_leaf(problem, leaf);
    });
    propagate_up(problem.queries, reaches);
    return sum_within(problem, reaches, execution, sums);
  }
  if (problem.options.totals) {
    for (Index leaf = 0; leaf < leaves; ++leaf) {
      reaches[leaves + leaf] = reach_from_totals(problem, leaf);
    }
    propagate_up(problem.queries, reaches);
    return sum_within(problem, reaches, execution, sums);
  }
  const ReachesFromNearest from_nearest(problem, execution);
  const double work = problem.queries.stride * static_cast<double>(problem.samples.locations);
  for_query_leaves(problem, work, execution,
                   [&](Index leaf) { reaches[leaves + leaf] = from_nearest.leaf_reach(leaf); });
  propagate_up(problem.queries, reaches);
  sum_within(problem, reaches, execution, sums);
  for_query_leaves(problem, work, execution,
                   [&](Index leaf) { from_nearest.sum_far(leaf, execution, sums); });
}

AddTerms terms_for(const Tree& samples, const DensityOptions& options) {
  const bool rough = rough_terms_suffice(samples, options);
  const auto kernel = static_cast<int>(options.kernel);
  return (rough ? pair_kernels().rough_terms : pair_kernels().add_terms)[kernel];
}

}  // namespace

void direct_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
                 const Execution& execution, Sums& sums) {
  const double h = bandwidth_in(samples, options);
  const KernelScale scale = scale_for(samples, options);
  const DirectSumProblem problem{queries, samples, options, h, scale, terms_for(samples, options)};
  if (is_infinite(options.kernel)) {
    sum_infinite(problem, execution, sums);
  } else {
    const Reaches reaches(static_cast<std::size_t>(queries.nodes()), scale.support_sq);
    sum_within(problem, reaches, execution, sums);
  }
  if (options.kernel == Kernel::epanechnikov) {
    for (double& value : sums.values) value /= h * h;
  }
}

void apart_sums(const Tree& samples, const DensityOptions& given, const std::vector<Index>& apart,
                const Execution& execution, Sums& sums) {
  DensityOptions options = given;
  options.rtol *= apart_share;
  const double h = bandwidth_in(samples, options);
  const KernelScale scale = scale_for(samples, options);
  const DirectSumProblem problem{samples, samples, options, h, scale, terms_for(samples, given)};
  const ApartLeaves leaves(problem, apart, sums, execution);
  const double work =
      static_cast<double>(apart.size()) * samples.stride * static_cast<double>(samples.locations);
  traverse_pairs(samples, samples, work, execution,
                 [&] { return ApartWorker(problem, leaves, execution, sums); });
}

void near_sums(const Tree& samples, const DensityOptions& options, const NearTerms& near,
               const Execution& execution, Sums& sums) {
  KernelScale scale = scale_for(samples, options);
  scale.near = &near;
  const DirectSumProblem problem{samples,     samples, options,
                                 scale.width, scale,   pair_kernels().near_terms};
  const Reaches reaches(static_cast<std::size_t>(samples.nodes()), near.reach_sq);
  sum_within(problem, reaches, execution, sums);
}

}  // namespace quickshift
