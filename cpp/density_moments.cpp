// Uniform and Epanechnikov sums: h² - |q - x|² summed over a node of samples is a quadratic
// polynomial in q, whose coefficients follow from the node's weight, first and second moment. A
// node wholly inside the support is added to the query node's polynomial; only leaves that the edge
// of the support crosses are summed pair by pair. Exact to rounding.
#include <algorithm>
#include <cmath>

#include "density.hpp"
#include "dual_traversal.hpp"
#include "pairs.hpp"

namespace quickshift {

namespace {

// Per node, about the middle of its box: moments about the origin lose everything to cancellation
// at a large offset. Rows of [weight, second, first…, centre…].
class Moments {
 public:
  explicit Moments(const Tree& tree)
      : features_(tree.features),
        width_(2 + 2 * tree.features),
        values_(static_cast<std::size_t>(tree.nodes() * width_), 0.0) {
    for (Index node = tree.nodes() - 1; node >= 1; --node) {
      double* centre = row(node) + 2 + features_;
      for (int k = 0; k < features_; ++k) {
        centre[k] = 0.5 * tree.low(node)[k] + 0.5 * tree.high(node)[k];
      }
      if (tree.is_leaf(node)) {
        add_leaf(tree, node);
      } else {
        add_child(node, 2 * node);
        add_child(node, 2 * node + 1);
      }
    }
  }

  double weight(Index node) const { return row(node)[0]; }
  double second(Index node) const { return row(node)[1]; }
  const double* first(Index node) const { return row(node) + 2; }
  const double* centre(Index node) const { return row(node) + 2 + features_; }

 private:
  const double* row(Index node) const { return values_.data() + node * width_; }
  double* row(Index node) { return values_.data() + node * width_; }

  void add_leaf(const Tree& tree, Index node) {
    const Index leaf = tree.leaf_of(node);
    const double* block = tree.leaf_coordinates(leaf);
    double* to = row(node);
    for (int slot = 0; slot < tree.count(leaf); ++slot) {
      const double weight = tree.weights[leaf * tree.stride + slot];
      to[0] += weight;
      for (int k = 0; k < features_; ++k) {
        const double v = block[k * tree.stride + slot] - centre(node)[k];
        to[1] += weight * v * v;
        to[2 + k] += weight * v;
      }
    }
  }

  void add_child(Index node, Index child) {
    double* to = row(node);
    to[0] += weight(child);
    to[1] += second(child);
    for (int k = 0; k < features_; ++k) {
      const double shift = centre(child)[k] - centre(node)[k];
      to[1] += shift * (2.0 * first(child)[k] + weight(child) * shift);
      to[2 + k] += first(child)[k] + weight(child) * shift;
    }
  }

  int features_;
  int width_;
  std::vector<double> values_;
};

class Worker {
 public:
  Worker(const Tree& queries, const Tree& samples, const Moments& moments,
         const DensityOptions& options, double h, Sums& sums)
      : queries_(queries),
        samples_(samples),
        moments_(moments),
        options_(options),
        uniform_(options.kernel == Kernel::uniform),
        add_terms_(pair_kernels().add_terms[static_cast<int>(options.kernel)]),
        scale_(options.kernel, h, samples.features),
        features_(samples.features),
        width_(2 + 2 * samples.features),
        polynomials_(static_cast<std::size_t>((queries.levels + 1) * width_)),
        sums_(sums) {}

  bool out_of_reach(Index, Bounds squares) const { return squares.least > scale_.support_sq; }

  // The polynomial of a query node is that of its parent about its own centre.
  void enter(int depth, Index query) {
    double* to = polynomial(depth);
    double* centre = to + 2 + features_;
    for (int k = 0; k < features_; ++k) {
      centre[k] = 0.5 * queries_.low(query)[k] + 0.5 * queries_.high(query)[k];
    }
    if (depth == 0) {
      std::fill_n(to, 2 + features_, 0.0);
      return;
    }
    const double* from = polynomial(depth - 1);
    to[0] = from[0];
    to[1] = from[1];
    for (int k = 0; k < features_; ++k) {
      const double shift = centre[k] - from[2 + features_ + k];
      to[0] += shift * (from[2 + k] - from[1] * shift);
      to[2 + k] = from[2 + k] - 2.0 * from[1] * shift;
    }
  }

  bool take_whole(int depth, Index, Index sample, Bounds squares) {
    if (squares.most > scale_.support_sq) return false;
    double* to = polynomial(depth);
    const double weight = moments_.weight(sample);
    if (uniform_) {
      to[0] += weight;
      return true;
    }
    double constant = weight * scale_.width_sq - moments_.second(sample);
    for (int k = 0; k < features_; ++k) {
      double c = to[2 + features_ + k] - moments_.centre(sample)[k];
      if (samples_.periodic && std::isfinite(samples_.period[k])) {
        c -= samples_.period[k] * std::rint(c / samples_.period[k]);
      }
      const double first = moments_.first(sample)[k];
      constant += c * (2.0 * first - weight * c);
      to[2 + k] += 2.0 * (first - weight * c);
    }
    to[0] += constant;
    to[1] += weight;
    return true;
  }

  void finish_leaf(int depth, Index query, const std::vector<Index>& leaves) {
    const Index leaf = queries_.leaf_of(query);
    double* values = sums_.values.data() + leaf * queries_.stride;
    const double* block = queries_.leaf_coordinates(leaf);
    std::fill_n(values, queries_.stride, 0.0);
    for (Index sample : leaves) {
      const LeafPair pair = leaf_pair(queries_, leaf, samples_, samples_.leaf_of(sample));
      add_terms_(pair, scale_, values);
    }
    evaluate(polynomial(depth), block, values);
    if (!uniform_) repair(leaf, polynomial(depth)[1], values);
  }

 private:
  // A sum far below the weight inside the support has lost digits to cancellation: light points
  // beside heavy ones that the edge of their support just reaches.
  void repair(Index leaf, double weight_inside, double* values) const {
    std::vector<double> point;
    for (int i = 0; i < queries_.count(leaf); ++i) {
      if (!(values[i] < 1e-3 * weight_inside)) continue;
      point.resize(static_cast<std::size_t>(features_));
      copy_point(queries_, leaf, i, point.data());
      values[i] = single_sum(samples_, options_, point.data(), scale_.support_sq, 0.0);
    }
  }

  // Rows of [constant, quadratic, linear…, centre…]: constant + linear·u - quadratic |u|².
  double* polynomial(int depth) { return polynomials_.data() + depth * width_; }

  void evaluate(const double* p, const double* block, double* values) const {
    const int stride = queries_.stride;
    for (int slot = 0; slot < stride; ++slot) values[slot] += p[0];
    if (uniform_) return;
    for (int k = 0; k < features_; ++k) {
      const double centre = p[2 + features_ + k];
      for (int slot = 0; slot < stride; ++slot) {
        const double u = block[k * stride + slot] - centre;
        values[slot] += u * (p[2 + k] - p[1] * u);
      }
    }
    for (int slot = 0; slot < stride; ++slot) values[slot] /= scale_.width_sq;
  }

  const Tree& queries_;
  const Tree& samples_;
  const Moments& moments_;
  const DensityOptions& options_;
  bool uniform_;
  AddTerms add_terms_;
  KernelScale scale_;
  int features_;
  int width_;
  std::vector<double> polynomials_;  // by depth
  Sums& sums_;
};

}  // namespace

void moment_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
                 const Execution& execution, Sums& sums) {
  const Moments moments(samples);
  const double h = bandwidth_in(samples, options);
  const double work = 200.0 * static_cast<double>(queries.locations);
  traverse(queries, samples, work, execution,
           [&] { return Worker(queries, samples, moments, options, h, sums); });
}

}  // namespace quickshift
