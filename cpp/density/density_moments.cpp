// Uniform and Epanechnikov sums from moments. The sum of h² - |q - x|² over the samples x of a node
// is a quadratic polynomial in q, whose coefficients follow from the node's weight, first and
// second moment. If all samples of a node are inside the support of all queries of another node,
// the polynomial is added to that of the query node; only pairs of leaves that the edge of the
// support crosses are summed pair by pair. The result is exact up to rounding.
#include <algorithm>
#include <cmath>

#include "density/methods.hpp"
#include "tree/pair_traversal.hpp"
#include "vector/pairs.hpp"

namespace quickshift {

namespace {

// The moments of every node about the middle of its box; moments about the origin would lose all
// digits to cancellation for data far from it. Stored per node as [weight, second, first…].
class Moments {
 public:
  Moments(const Tree& tree, const Execution& execution)
      : tree_(tree),
        features_(tree.features),
        width_(2 + tree.features),
        values_(unset_array<double>(tree.nodes() * width_)) {
    for_nodes_upwards(tree, execution, [&](Index node) {
      std::fill_n(row(node), width_, 0.0);
      if (tree.is_leaf(node)) {
        add_leaf(node);
      } else {
        add_child(node, 2 * node);
        add_child(node, 2 * node + 1);
      }
    });
  }

  double weight(Index node) const { return row(node)[0]; }
  double second(Index node) const { return row(node)[1]; }
  const double* first(Index node) const { return row(node) + 2; }

 private:
  const double* row(Index node) const { return values_.data() + node * width_; }
  double* row(Index node) { return values_.data() + node * width_; }

  void add_leaf(Index node) {
    const Index leaf = tree_.leaf_of(node);
    const double* weights = tree_.weights.data() + leaf * tree_.stride;
    double* to = row(node);
    for (int slot = 0; slot < tree_.count(leaf); ++slot) to[0] += weights[slot];
    for (int k = 0; k < features_; ++k) {
      const double* column = tree_.leaf_coordinates(leaf) + k * tree_.stride;
      const double center = middle(tree_, node, k);
      for (int slot = 0; slot < tree_.count(leaf); ++slot) {
        const double v = column[slot] - center;
        to[1] += weights[slot] * v * v;
        to[2 + k] += weights[slot] * v;
      }
    }
  }

  void add_child(Index node, Index child) {
    double* to = row(node);
    to[0] += weight(child);
    to[1] += second(child);
    for (int k = 0; k < features_; ++k) {
      const double shift = middle(tree_, child, k) - middle(tree_, node, k);
      to[1] += shift * (2.0 * first(child)[k] + weight(child) * shift);
      to[2 + k] += first(child)[k] + weight(child) * shift;
    }
  }

  const Tree& tree_;
  int features_;
  int width_;
  Array<double> values_;
};

// For every query node, the sum over the sample nodes that were taken whole, as a polynomial
// constant + linear·u - quadratic |u|², u relative to the middle of the query node's box. Stored
// per node as [constant, quadratic, linear…].
class Polynomials {
 public:
  Polynomials(const Tree& queries, const Moments& moments, const KernelScale& scale, bool uniform,
              const Execution& execution)
      : queries_(queries),
        moments_(moments),
        scale_(scale),
        uniform_(uniform),
        features_(queries.features),
        width_(2 + queries.features),
        values_(filled_array(queries.nodes() * width_, 0.0, execution)) {}

  // Adds a node of samples to the polynomial of a node of queries. between: the vector from the
  // middle of the samples' box to that of the queries' box.
  template <int fixed_features>
  void add(Index query, Index sample, const double* between) {
    const int features = fixed_features ? fixed_features : features_;
    double* to = row(query);
    const double weight = moments_.weight(sample);
    if (uniform_) {
      to[0] += weight;
      return;
    }
    double constant = weight * scale_.width_sq - moments_.second(sample);
    for (int k = 0; k < features; ++k) {
      const double first = moments_.first(sample)[k];
      constant += between[k] * (2.0 * first - weight * between[k]);
      to[2 + k] += 2.0 * (first - weight * between[k]);
    }
    to[0] += constant;
    to[1] += weight;
  }

  // Adds a node's polynomial, expanded about the middle of a child, to the polynomial of that
  // child.
  void pass_down(Index query, Index child) {
    const double* from = row(query);
    double* to = row(child);
    to[0] += from[0];
    to[1] += from[1];
    for (int k = 0; k < features_; ++k) {
      const double shift = middle(queries_, child, k) - middle(queries_, query, k);
      to[0] += shift * (from[2 + k] - from[1] * shift);
      to[2 + k] += from[2 + k] - 2.0 * from[1] * shift;
    }
  }

  // Adds a leaf's polynomial to its sums over single pairs, and divides them by h² unless the
  // kernel is uniform.
  void evaluate(Index query, double* sums) const {
    const double* p = row(query);
    const int stride = queries_.stride;
    for (int slot = 0; slot < stride; ++slot) sums[slot] += p[0];
    if (uniform_) return;
    const double* block = queries_.leaf_coordinates(queries_.leaf_of(query));
    for (int k = 0; k < features_; ++k) {
      const double center = middle(queries_, query, k);
      for (int slot = 0; slot < stride; ++slot) {
        const double u = block[k * stride + slot] - center;
        sums[slot] += u * (p[2 + k] - p[1] * u);
      }
    }
    for (int slot = 0; slot < stride; ++slot) sums[slot] /= scale_.width_sq;
  }

  // The weight of all samples in the polynomial (epanechnikov only).
  double weight(Index query) const { return row(query)[1]; }

 private:
  const double* row(Index node) const { return values_.data() + node * width_; }
  double* row(Index node) { return values_.data() + node * width_; }

  const Tree& queries_;
  const Moments& moments_;
  const KernelScale& scale_;
  bool uniform_;
  int features_;
  int width_;
  Array<double> values_;
};

struct MomentSumProblem {
  const Tree& queries;
  const Tree& samples;
  const DensityOptions& options;
  KernelScale scale;
  AddTerms add_terms = pair_kernels().add_terms[static_cast<int>(options.kernel)];

  bool uniform() const { return options.kernel == Kernel::uniform; }
  bool symmetric() const { return &queries == &samples; }
};

class MomentSumWorker {
 public:
  MomentSumWorker(const MomentSumProblem& problem, Polynomials& polynomials, Sums& sums)
      : problem_(problem),
        polynomials_(polynomials),
        between_(static_cast<std::size_t>(problem.samples.features)),
        sums_(sums) {}

  bool out_of_reach(Index, Index, Bounds squares) const {
    return squares.least > problem_.scale.support_sq;
  }

  bool inside(Index, Index, Bounds squares) const {
    return squares.most <= problem_.scale.support_sq;
  }

  void take_whole(Index query, Index sample) {
    if (problem_.samples.features == 2) return take_whole_of<2>(query, sample);
    take_whole_of<0>(query, sample);
  }

  void take_leaves(Index query, Index sample) {
    add_leaf_terms(problem_.queries, query, problem_.samples, sample, problem_.add_terms,
                   problem_.scale, sums_);
  }

 private:
  template <int fixed_features>
  void take_whole_of(Index query, Index sample) {
    const int features = fixed_features ? fixed_features : problem_.samples.features;
    double* const between = between_.data();
    write_between(query, sample, features);
    polynomials_.add<fixed_features>(query, sample, between);
    if (problem_.symmetric() && query != sample) {
      for (int k = 0; k < features; ++k) between[k] = -between[k];
      polynomials_.add<fixed_features>(sample, query, between);
    }
  }

  void write_between(Index query, Index sample, int features) {
    const Tree& samples = problem_.samples;
    for (int k = 0; k < features; ++k) {
      double c = middle(problem_.queries, query, k) - middle(samples, sample, k);
      if (samples.periodic && std::isfinite(samples.period[k])) {
        c -= samples.period[k] * std::rint(c / samples.period[k]);
      }
      between_[k] = c;
    }
  }

  const MomentSumProblem& problem_;
  Polynomials& polynomials_;
  std::vector<double> between_;
  Sums& sums_;
};

// Recomputes, term by term, those sums of a leaf that are far below the weight inside the support,
// because they have lost digits to cancellation. This happens to light points if the edge of their
// support just reaches heavy ones.
void recompute_cancelled_sums(const MomentSumProblem& problem, Index leaf, double weight_inside,
                              const Execution& execution, double* values) {
  const Tree& queries = problem.queries;
  std::vector<double> point;
  for (int i = 0; i < queries.count(leaf); ++i) {
    if (!(values[i] < 1e-3 * weight_inside)) continue;
    if (execution.stops()) return;
    point.resize(static_cast<std::size_t>(queries.features));
    copy_point(queries, leaf, i, point.data());
    values[i] =
        single_sum(problem.samples, problem.options, point.data(), problem.scale.support_sq, 0.0);
  }
}

}  // namespace

void moment_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
                 const Execution& execution, Sums& sums) {
  const Moments moments(samples, execution);
  const MomentSumProblem problem{queries, samples, options, scale_for(samples, options)};
  Polynomials polynomials(queries, moments, problem.scale, problem.uniform(), execution);
  traverse_pairs(queries, samples, 200.0 * static_cast<double>(queries.locations), execution,
                 [&] { return MomentSumWorker(problem, polynomials, sums); });
  for_nodes_downwards(queries, execution, [&](Index node) {
    if (!queries.is_leaf(node)) {
      polynomials.pass_down(node, 2 * node);
      polynomials.pass_down(node, 2 * node + 1);
      return;
    }
    const Index leaf = queries.leaf_of(node);
    double* values = sums.values.data() + leaf * queries.stride;
    polynomials.evaluate(node, values);
    if (!problem.uniform())
      recompute_cancelled_sums(problem, leaf, polynomials.weight(node), execution, values);
  });
}

}  // namespace quickshift
