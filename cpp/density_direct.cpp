// Kernel sums pair by pair, over the leaves within reach: the support of a compact kernel, or the
// distance beyond which all samples together change no sum by more than rtol.
#include <algorithm>
#include <cmath>
#include <limits>

#include "density.hpp"
#include "dual_traversal.hpp"
#include "nearest.hpp"
#include "pairs.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// exp(-600) is far from underflow, and what lies 100 further down is below any rounding.
constexpr double far_decay = 600.0;

struct Problem {
  const Tree& queries;
  const Tree& samples;
  const DensityOptions& options;
  double h;  // in the scale of the trees
  KernelScale scale;

  bool includes_itself() const { return &queries == &samples && !options.leave_out; }

  LeafPair pair(Index query_leaf, Index sample_leaf) const {
    return leaf_pair(queries, query_leaf, samples, sample_leaf);
  }
  void add_terms(const LeafPair& leaves, double* sums) const {
    pair_kernels().add_terms[static_cast<int>(options.kernel)](leaves, scale, sums);
  }

  // The square beyond which the samples add less than rtol to a sum that is at least `least`
  // times exp(-near).
  double reach(double least, double near) const {
    if (options.rtol == 0.0) return infinity;
    const double amount = near + std::log(samples.total_weight / (options.rtol * least));
    return square_at_decay(options.kernel, std::max(amount, 0.0), h);
  }
};

// Each query leaf's reach, carried up to the inner nodes.
using Reaches = std::vector<double>;

void carry_up(const Tree& queries, Reaches& reaches) {
  for (Index node = queries.leaves() - 1; node >= 1; --node) {
    reaches[node] = std::max(reaches[2 * node], reaches[2 * node + 1]);
  }
}

// Every sum is at least what its own leaf gives.
double reach_from_own_leaf(const Problem& problem, Index leaf) {
  const Tree& tree = problem.samples;
  std::vector<double> sums(static_cast<std::size_t>(tree.stride), 0.0);
  problem.add_terms(problem.pair(leaf, leaf), sums.data());
  const double least = *std::min_element(sums.begin(), sums.begin() + tree.count(leaf));
  return problem.reach(least, 0.0);
}

// Every sum is at least the nearest sample's term. Queries where that would underflow are summed
// here, each by itself.
double reach_from_nearest(const Problem& problem, Index leaf, const Nearest& nearest, Sums& sums) {
  double most = 0.0;
  std::vector<double> point(static_cast<std::size_t>(problem.queries.features));
  for (int i = 0; i < problem.queries.count(leaf); ++i) {
    const Index slot = leaf * problem.queries.stride + i;
    const Index sample = nearest.slot[slot];
    if (sample < 0) continue;  // the only location left itself out
    const double near = decay(problem.options.kernel, nearest.square[slot], problem.h);
    if (std::isinf(near)) continue;  // so far that even the logarithm is beyond the floats
    const double reach =             // rounding must not leave the nearest sample itself out
        std::max(problem.reach(problem.samples.weights[sample], near), nearest.square[slot]);
    if (near <= far_decay) {
      most = std::max(most, reach);
      continue;
    }
    copy_point(problem.queries, leaf, i, point.data());
    sums.log_scales[slot] = -near;
    sums.values[slot] = single_sum(problem.samples, problem.options, point.data(), reach, -near,
                                   problem.options.leave_out ? slot : -1);
  }
  return most;
}

Reaches find_reaches(const Problem& problem, const Execution& execution, Sums& sums) {
  const Tree& queries = problem.queries;
  const bool compact = !is_infinite(problem.options.kernel);
  Reaches reaches(static_cast<std::size_t>(queries.nodes()), problem.scale.support_sq);
  if (compact) return reaches;
  Nearest nearest;
  if (!problem.includes_itself()) {
    nearest = nearest_samples(queries, problem.samples, problem.options.leave_out, execution);
  }
  const double work =
      static_cast<double>(queries.locations) * static_cast<double>(problem.samples.stride) +
      static_cast<double>(nearest.slot.size()) * static_cast<double>(problem.samples.locations);
  run_tasks(execution, queries.leaves(), work, [&] {
    return [&](Index leaf) {
      reaches[queries.leaves() + leaf] = problem.includes_itself()
                                             ? reach_from_own_leaf(problem, leaf)
                                             : reach_from_nearest(problem, leaf, nearest, sums);
    };
  });
  carry_up(queries, reaches);
  return reaches;
}

class Worker {
 public:
  Worker(const Problem& problem, const Reaches& reaches, Sums& sums)
      : problem_(problem),
        reaches_(reaches),
        sums_(sums),
        values_(static_cast<std::size_t>(problem.queries.stride)) {}

  void enter(int, Index) {}
  bool take_whole(int, Index, Index, Bounds) { return false; }
  bool out_of_reach(Index query, Bounds squares) const { return squares.least > reaches_[query]; }

  void finish_leaf(int, Index query, const std::vector<Index>& leaves) {
    const Tree& queries = problem_.queries;
    const Index leaf = queries.leaf_of(query);
    std::fill(values_.begin(), values_.end(), 0.0);
    for (Index sample : leaves) {
      const LeafPair pair = problem_.pair(leaf, problem_.samples.leaf_of(sample));
      if (problem_.options.leave_out && sample == query) {
        add_own_leaf(pair);
      } else {
        problem_.add_terms(pair, values_.data());
      }
    }
    for (int i = 0; i < queries.count(leaf); ++i) {
      const Index slot = leaf * queries.stride + i;
      const bool far = !sums_.log_scales.empty() && sums_.log_scales[slot] != 0.0;
      if (!far) sums_.values[slot] = values_[i];
    }
  }

 private:
  // Each location against the others of its leaf: its own weight is set to zero for its turn.
  void add_own_leaf(LeafPair pair) {
    std::vector<double> weights(pair.weights, pair.weights + pair.sample_count);
    std::vector<double> sums(values_.size());
    const double* const originals = pair.weights;
    pair.weights = weights.data();
    for (int i = 0; i < pair.sample_count; ++i) {
      weights[i] = 0.0;
      std::fill(sums.begin(), sums.end(), 0.0);
      problem_.add_terms(pair, sums.data());
      values_[i] += sums[i];
      weights[i] = originals[i];
    }
  }

  const Problem& problem_;
  const Reaches& reaches_;
  Sums& sums_;
  std::vector<double> values_;
};

}  // namespace

void direct_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
                 const Execution& execution, Sums& sums) {
  const double h = bandwidth_in(samples, options);
  const KernelScale scale(options.kernel, h, samples.features);
  const Problem problem{queries, samples, options, h, scale};
  const Reaches reaches = find_reaches(problem, execution, sums);
  const double pairs =
      static_cast<double>(queries.locations) * static_cast<double>(samples.locations);
  traverse(queries, samples, pairs, execution, [&] { return Worker(problem, reaches, sums); });
  if (options.kernel == Kernel::epanechnikov) {
    for (double& value : sums.values) value /= h * h;
  }
}

}  // namespace quickshift
