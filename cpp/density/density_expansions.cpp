// Sums of the cosine, silverman, triangular and tricube kernels, in one or two features, by
// expansions. Where the samples of a node are so near each other, compared with their distance to
// a node of queries, that a polynomial in the coordinates is the kernel up to rounding, the
// moments of the samples give a polynomial that is added to that of the query node. Pairs of leaves
// near the edge of the support, where the kernel has a kink, and those near distance 0 are summed
// pair by pair (docs/decisions/34-expansions.md).
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "density/expansion_pairs.hpp"
#include "density/methods.hpp"
#include "tree/pair_traversal.hpp"
#include "vector/expansion_loops.hpp"
#include "vector/pairs.hpp"

namespace quickshift {

namespace {

// The promised relative error, up to a margin for the rounding of terms.
constexpr double allowed_error = 9e-13;
// A bound on the rounding error of an expansion per unit of weight.
constexpr double rounding_error = 4e-15;

// Moments or polynomials of the nodes of a tree, down to those on its expansion level. Coordinates
// are relative to the middle of a node's box.
class Expansions {
 public:
  Expansions(const Tree& tree, const ExpansionPairs& pairs, const Execution& execution)
      : tree_(tree),
        unit_(pairs.unit()),
        order_(pairs.reach().order()),
        level_(expansion_level(tree, pairs.reach())),
        ends_(expansion_ends(tree, pairs.reach())),
        values_(filled_array(ends_ * expansion_stride(order_), 0.0, execution)) {}

  int order() const { return order_; }
  Index ends() const { return ends_; }
  double* of(Index node) { return values_.data() + node * expansion_stride(order_); }
  const double* of(Index node) const { return values_.data() + node * expansion_stride(order_); }
  // A bound on the error of the polynomial of a node; it is stored after the coefficients.
  double& error(Index node) { return of(node)[expansion_size(order_)]; }
  bool is_smallest(Index node) const { return node >= Index{1} << level_; }

  // The leaves below one of the smallest nodes.
  Index leaves() const { return tree_.leaves() >> level_; }
  Index first_leaf(Index node) const { return (node - (Index{1} << level_)) * leaves(); }
  LeafRange range(Index node) const {
    LeafRange range{tree_.leaf_coordinates(first_leaf(node)),
                    tree_.features,
                    tree_.stride,
                    leaves(),
                    {middle(tree_, node, 0), 0.0},
                    unit_};
    if (tree_.features == 2) range.center[1] = middle(tree_, node, 1);
    return range;
  }

  // The powers h^n / n! of the vector from the center of a node to that of its child.
  using Powers = std::array<double, most_expansion_order + 1>;
  std::array<Powers, 2> shift(Index node, Index child) const {
    std::array<Powers, 2> powers;
    for (int k = 0; k < 2; ++k) {
      const double h =
          k < tree_.features ? (middle(tree_, child, k) - middle(tree_, node, k)) * unit_ : 0.0;
      powers[k][0] = 1.0;
      for (int n = 1; n <= order_; ++n) powers[k][n] = powers[k][n - 1] * h / n;
    }
    return powers;
  }

 private:
  const Tree& tree_;
  double unit_;
  int order_;
  int level_;
  Index ends_;
  Array<double> values_;
};

// to += the moments `from` about a center that is shifted by -h.
void shift_moments(const double* from, const std::array<Expansions::Powers, 2>& h, int order,
                   double* to) {
  double partway[expansion_size(most_expansion_order)];
  for (int n = 0; n <= order; ++n) {
    for (int b = 0; b <= n; ++b) {
      double sum = 0.0;
      for (int k = 0; k <= n - b; ++k) sum += from[expansion_place(n - k, b)] * h[0][k];
      partway[expansion_place(n, b)] = sum;
    }
  }
  for (int n = 0; n <= order; ++n) {
    for (int b = 0; b <= n; ++b) {
      double sum = 0.0;
      for (int k = 0; k <= b; ++k) sum += partway[expansion_place(n - k, b - k)] * h[1][k];
      to[expansion_place(n, b)] += sum;
    }
  }
}

// to += the polynomial `from` about a center that is shifted by h.
void shift_polynomial(const double* from, const std::array<Expansions::Powers, 2>& h, int order,
                      double* to) {
  double partway[expansion_size(most_expansion_order)];
  for (int n = 0; n <= order; ++n) {
    for (int b = 0; b <= n; ++b) {
      double sum = 0.0;
      for (int k = 0; k <= order - n; ++k) {
        sum += from[expansion_place(n + k, b)] * h[0][k];
      }
      partway[expansion_place(n, b)] = sum;
    }
  }
  for (int n = 0; n <= order; ++n) {
    for (int b = 0; b <= n; ++b) {
      double sum = 0.0;
      for (int k = 0; k <= order - n; ++k) {
        sum += partway[expansion_place(n + k, b + k)] * h[1][k];
      }
      to[expansion_place(n, b)] += sum;
    }
  }
}

Expansions moments_of(const Tree& tree, const ExpansionPairs& pairs, const Execution& execution) {
  Expansions moments(tree, pairs, execution);
  for_nodes_upwards(tree, execution, [&](Index node) {
    if (node >= moments.ends()) return;
    if (moments.is_smallest(node)) {
      const double* weights = tree.weights.data() + moments.first_leaf(node) * tree.stride;
      expansion_loops().write_moments(moments.range(node), moments.order(), weights,
                                      moments.of(node));
      return;
    }
    for (Index child = 2 * node; child <= 2 * node + 1; ++child) {
      shift_moments(moments.of(child), moments.shift(node, child), moments.order(),
                    moments.of(node));
    }
  });
  return moments;
}

struct ExpansionSumProblem {
  const Tree& queries;
  const Tree& samples;
  const DensityOptions& options;
  KernelScale scale = scale_for(samples, options);
  ExpansionPairs pairs{queries, samples, options};
  AddTerms add_terms = pair_kernels().add_terms[static_cast<int>(options.kernel)];

  bool symmetric() const { return &queries == &samples; }
};

class ExpansionSumWorker {
 public:
  ExpansionSumWorker(const ExpansionSumProblem& problem, const Expansions& moments,
                     Expansions& polynomials, Sums& sums)
      : problem_(problem), moments_(moments), polynomials_(polynomials), sums_(sums) {}

  bool out_of_reach(Index, Index, Bounds squares) const {
    return squares.least > problem_.pairs.support_sq();
  }
  bool inside(Index query, Index sample, Bounds squares) const {
    return problem_.pairs.take_whole(query, sample, squares);
  }

  // Pairs wait until enough of the same order have been found to fill a vector.
  void take_whole(Index query, Index sample) {
    const auto found = problem_.pairs.spread(query, sample);
    const bool both = problem_.symmetric() && query != sample;
    const int order = problem_.pairs.reach().order_for(found.between_sq, found.spread_sq);
    const double error =
        problem_.pairs.reach().error(found.between_sq, found.spread_sq, order) + rounding_error;
    NodePairs& waiting = waiting_[order];
    const int i = waiting.count++;
    waiting.x[i] = found.between[0];
    waiting.y[i] = found.between[1];
    waiting.moments[i] = moments_.of(sample);
    waiting.expansion[i] = polynomials_.of(query);
    waiting.back_moments[i] = both ? moments_.of(query) : moments_.of(sample);
    waiting.back_expansion[i] = both ? polynomials_.of(sample) : nullptr;
    polynomials_.error(query) += error * moments_.of(sample)[0];
    if (both) polynomials_.error(sample) += error * moments_.of(query)[0];
    if (waiting.count == NodePairs::most) translate(order);
  }

  void take_leaves(Index query, Index sample) {
    add_leaf_terms(problem_.queries, query, problem_.samples, sample, problem_.add_terms,
                   problem_.scale, sums_);
  }

  void finish() {
    for (int order = 0; order < ExpansionReach::orders; ++order) {
      if (waiting_[order].count > 0) translate(order);
    }
  }

 private:
  void translate(int order) {
    expansion_loops().translate(problem_.pairs.reach().series(), expansion_orders[order],
                                waiting_[order]);
    waiting_[order].count = 0;
  }

  const ExpansionSumProblem& problem_;
  const Expansions& moments_;
  Expansions& polynomials_;
  Sums& sums_;
  std::array<NodePairs, ExpansionReach::orders> waiting_;
};

// The sums at a leaf of queries, pair by pair.
void sum_leaf(const ExpansionSumProblem& problem, Index leaf, double* values) {
  const Tree& queries = problem.queries;
  const Tree& samples = problem.samples;
  std::fill_n(values, queries.stride, 0.0);
  std::vector<Index> stack{1};
  while (!stack.empty()) {
    const Index node = stack.back();
    stack.pop_back();
    const Bounds squares = between_boxes(queries.low(queries.leaves() + leaf), samples.low(node),
                                         samples.features, samples.periods());
    if (squares.least > problem.pairs.support_sq()) continue;
    if (samples.is_leaf(node)) {
      problem.add_terms(leaf_pair(queries, leaf, samples, samples.leaf_of(node)), problem.scale,
                        values, nullptr);
    } else {
      stack.push_back(2 * node + 1);
      stack.push_back(2 * node);
    }
  }
}

// Sums again, pair by pair, where the error of the expansions may be too large compared with the
// sum: at light points, if the edge of their support just reaches heavy ones.
void recompute_inaccurate_sums(const ExpansionSumProblem& problem, Index leaf, double error,
                               const Execution& execution, double* values) {
  const auto inaccurate = [&](int i) { return !(error <= allowed_error * values[i]); };
  const int count = problem.queries.count(leaf);
  int i = 0;
  while (i < count && !inaccurate(i)) ++i;
  if (i == count || execution.stops()) return;
  std::array<double, max_stride> exact;
  sum_leaf(problem, leaf, exact.data());
  for (; i < count; ++i) {
    if (inaccurate(i)) values[i] = exact[i];
  }
}

// Passes the polynomials of all nodes down and adds them to the sums.
void evaluate(const ExpansionSumProblem& problem, Expansions& polynomials,
              const Execution& execution, Sums& sums) {
  const Tree& queries = problem.queries;
  for_nodes_downwards(queries, execution, [&](Index node) {
    if (node >= polynomials.ends()) return;
    if (!polynomials.is_smallest(node)) {
      for (Index child = 2 * node; child <= 2 * node + 1; ++child) {
        shift_polynomial(polynomials.of(node), polynomials.shift(node, child), polynomials.order(),
                         polynomials.of(child));
        polynomials.error(child) += polynomials.error(node);
      }
      return;
    }
    const double error = polynomials.error(node);
    if (error == 0.0) return;
    const Index first = polynomials.first_leaf(node);
    double* const values = sums.values.data() + first * queries.stride;
    expansion_loops().evaluate(polynomials.range(node), polynomials.order(), polynomials.of(node),
                               values);
    for (Index i = 0; i < polynomials.leaves(); ++i) {
      recompute_inaccurate_sums(problem, first + i, error, execution, values + i * queries.stride);
    }
  });
}

}  // namespace

void expansion_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
                    const Execution& execution, Sums& sums) {
  const ExpansionSumProblem problem{queries, samples, options};
  const Expansions moments = moments_of(samples, problem.pairs, execution);
  Expansions polynomials(queries, problem.pairs, execution);
  traverse_pairs(queries, samples, 500.0 * static_cast<double>(queries.locations), execution,
                 [&] { return ExpansionSumWorker(problem, moments, polynomials, sums); });
  evaluate(problem, polynomials, execution, sums);
}

}  // namespace quickshift
