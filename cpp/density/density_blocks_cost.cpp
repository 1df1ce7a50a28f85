// Estimates whether kernel sums are faster by blocks (density_blocks.cpp) than by the tree.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "density/methods.hpp"
#include "tree/block_sample.hpp"
#include "tree/pair_traversal.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Times in nanoseconds per pair of samples and kernel; only their ratios matter. Measured by
// benchmarks/costs.py in November 2026 on an AMD EPYC with AVX-512, with 16 to 64 features.
struct SumCost {
  PairCost tree;
  PairCost blocks;
};

SumCost cost_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::gaussian:
      return {{0.026, 0.16}, {0.020, 0.32}};
    case Kernel::exponential:
      return {{0.028, 0.20}, {0.021, 0.45}};
    case Kernel::silverman:
      return {{0.050, 1.55}, {0.005, 2.9}};
    case Kernel::uniform:
      return {{0.035, 0.30}, {0.020, 0.40}};
    case Kernel::epanechnikov:
      return {{0.025, 0.30}, {0.017, 0.50}};
    case Kernel::triangular:
      return {{0.034, 0.42}, {0.030, 1.1}};
    case Kernel::tricube:
      return {{0.036, 0.46}, {0.020, 0.9}};
    default:
      return {{0.040, 1.3}, {0.020, 1.5}};
  }
}

// Per pair of subtrees, of which the tree has at most 2^vertex_levels.
constexpr double pair_of_subtrees = 60.0;

// Up to this many features the tree is faster whatever the samples are. For compact kernels other
// than the uniform one, blocks compute the squares near the edge of the support twice, which makes
// them up to five times slower. With many features, the time for it is negligible compared with
// that for the products.
int most_features_for_tree(Kernel kernel) {
  const bool may_pay = is_infinite(kernel) || kernel == Kernel::uniform;
  return may_pay ? most_features_without_blocks : 32;
}

// The squared distance beyond which samples change the sums of a leaf by less than rtol. Every sum
// is at least the contribution of its own leaf.
double reach_of(const Tree& tree, Index leaf, const DensityOptions& options) {
  const double h = bandwidth_in(tree, options);
  const KernelScale scale(options.kernel, h, tree.features);
  if (!is_infinite(options.kernel)) return scale.support_sq;
  std::vector<double> sums(static_cast<std::size_t>(tree.stride), 0.0);
  pair_kernels().add_terms[static_cast<int>(options.kernel)](leaf_pair(tree, leaf, tree, leaf),
                                                             scale, sums.data(), nullptr);
  const double least = *std::min_element(sums.begin(), sums.begin() + tree.count(leaf));
  return std::min(reach_sq(tree, options, least),
                  square_at_decay(options.kernel, vanished_decay, h));
}

}  // namespace

bool blocks_pay_for_sums(const Tree& tree, const DensityOptions& options) {
  if (!blocks_may_pay(tree, most_features_for_tree(options.kernel))) return false;
  const bool every_pair = is_infinite(options.kernel) && options.rtol == 0.0;
  double by_tree = 0.0;
  double by_blocks = 0.0;
  for_sampled_leaves(tree, 16, [&](Index leaf) {
    const double reach = reach_of(tree, leaf, options);
    const double whole = has_moments(options.kernel) ? reach : -infinity;
    by_tree += every_pair ? 1.0 : leaves_near_leaf(tree, leaf, reach, whole);
    by_blocks += blocks_near_block(tree, leaf, reach);
  });
  const SumCost cost = cost_of(options.kernel);
  const auto subtrees = static_cast<double>(std::min(tree.leaves(), Index{1} << vertex_levels));
  const double share = subtrees / static_cast<double>(tree.locations);
  const double in_tree = cost.tree.of(tree) + pair_of_subtrees * share * share;
  return by_blocks * cost.blocks.of(tree) < by_tree * in_tree;
}

}  // namespace quickshift
