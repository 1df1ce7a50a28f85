// Estimates whether kernel sums are faster by blocks (density_blocks.cpp) than by the tree, and by
// moments than without them.
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
// Times in nanoseconds; only their ratios matter. Measured by benchmarks/costs.py in November 2026
// on an AMD EPYC with AVX-512.
struct SumCosts {
  // Per pair and feature, per pair, and per pair of subtrees, of which there are at most
  // 2^vertex_levels.
  std::vector<double> tree;
  std::vector<double> blocks;  // per pair and feature, per pair
};

SumCosts costs_of(Kernel kernel) {
  constexpr double subtrees = 80.0;
  switch (kernel) {
    case Kernel::gaussian:
      return {{0.027, 0.13, subtrees}, {0.020, 0.32}};
    case Kernel::exponential:
      return {{0.028, 0.20, subtrees}, {0.021, 0.45}};
    case Kernel::silverman:
      return {{0.024, 0.32, subtrees}, {0.017, 0.75}};
    case Kernel::uniform:
      return {{0.045, 0.05, subtrees}, {0.020, 0.40}};
    case Kernel::epanechnikov:
      return {{0.038, 0.0, subtrees}, {0.017, 0.50}};
    case Kernel::triangular:
      return {{0.026, 0.09, subtrees}, {0.021, 0.85}};
    case Kernel::tricube:
      return {{0.027, 0.15, subtrees}, {0.025, 0.47}};
    default:
      return {{0.028, 0.16, subtrees}, {0.022, 0.43}};
  }
}

// Moments, per location and feature; benchmarks/costs.py does not measure it.
constexpr double moment = 4.0;

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

WorkEstimates work_of_sums(const Tree& tree, const DensityOptions& options) {
  const bool every_pair = is_infinite(options.kernel) && options.rtol == 0.0;
  double by_tree = 0.0;
  double by_blocks = 0.0;
  double leaves = 0.0;
  for_sampled_leaves(tree, 16, [&](Index leaf) {
    const double reach = reach_of(tree, leaf, options);
    const double whole = has_moments(options.kernel) ? reach : -infinity;
    by_tree += every_pair ? 1.0 : leaves_near_leaf(tree, leaf, reach, whole);
    by_blocks += blocks_near_block(tree, leaf, reach);
    leaves += 1.0;
  });
  const auto all = static_cast<double>(tree.locations);
  const auto subtrees = static_cast<double>(std::min(tree.leaves(), Index{1} << vertex_levels));
  const double in_tree = by_tree / leaves * all;
  const double in_blocks = by_blocks / leaves * all;
  const double share = subtrees / all;
  const SumCosts costs = costs_of(options.kernel);
  return {{{in_tree * tree.features, in_tree, in_tree * share * share}, costs.tree},
          {{in_blocks * tree.features, in_blocks}, costs.blocks}};
}

bool moments_pay_for_sums(const Tree& tree, const DensityOptions& options) {
  const double reach =
      KernelScale(options.kernel, bandwidth_in(tree, options), tree.features).support_sq;
  double saved = 0.0;  // the share of the leaves that moments take as wholes
  double leaves = 0.0;
  for_sampled_leaves(tree, 16, [&](Index leaf) {
    saved +=
        leaves_near_leaf(tree, leaf, reach, -infinity) - leaves_near_leaf(tree, leaf, reach, reach);
    leaves += 1.0;
  });
  const std::vector<double> costs = costs_of(options.kernel).tree;
  const double pair = costs[0] * tree.features + costs[1];
  return saved / leaves * static_cast<double>(tree.locations) * pair > moment * tree.features;
}

bool blocks_pay_for_sums(const Tree& tree, const DensityOptions& options) {
  return blocks_may_pay(tree, most_features_for_tree(options.kernel)) &&
         work_of_sums(tree, options).blocks_pay();
}

}  // namespace quickshift
