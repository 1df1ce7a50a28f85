// Estimates whether kernel sums are faster by blocks (density_blocks.cpp) than by the tree.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "density/methods.hpp"
#include "tree/block_sample.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Nanoseconds per pair, measured.
constexpr PairCost cost_in_tree{0.16, 1.5};
constexpr PairCost cost_in_blocks{0.055, 2.2};

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
  // Blocks compute the squares near the edge of a compact support twice. With few features this
  // makes them up to five times slower than the tree; with many features, the time for it is
  // negligible compared with that for the products.
  const int most = is_infinite(options.kernel) ? most_features_without_blocks : 32;
  if (!blocks_may_pay(tree, most)) return false;
  const bool every_pair = is_infinite(options.kernel) && options.rtol == 0.0;
  double by_tree = 0.0;
  double by_blocks = 0.0;
  for_sampled_leaves(tree, 16, [&](Index leaf) {
    const double reach = reach_of(tree, leaf, options);
    const double whole = has_moments(options.kernel) ? reach : -infinity;
    by_tree += every_pair ? 1.0 : leaves_near_leaf(tree, leaf, reach, whole);
    by_blocks += blocks_near_block(tree, leaf, reach);
  });
  return by_blocks * cost_in_blocks.of(tree) < by_tree * cost_in_tree.of(tree);
}

}  // namespace quickshift
