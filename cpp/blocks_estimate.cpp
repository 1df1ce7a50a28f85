#include "blocks_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "blocks.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index sampled_leaves = 8;

// With fewer features or locations the tree always wins, and the sample would cost too much.
bool worth_a_thought(const Tree& tree, int most_for_trees) {
  return tree.features > most_for_trees && tree.locations > 512;
}

// Nanoseconds for a pair as a multiple of features and a rest, measured; only their ratios matter.
struct Cost {
  double a_feature;
  double rest;
  double of(const Tree& tree) const { return a_feature * tree.features + rest; }
};
constexpr Cost sum_in_tree{0.16, 1.5};
constexpr Cost sum_in_blocks{0.055, 2.2};
constexpr Cost scan_in_tree{0.2, 5.5};
constexpr Cost parent_in_blocks{0.02, 0.7};
// And for a location, whatever it meets.
constexpr double search_in_tree = 250.0;
constexpr double search_in_blocks = 500.0;

template <class Body>
void for_sampled_leaves(const Tree& tree, const Body& body) {
  const Index count = std::min(sampled_leaves, tree.leaves());
  for (Index i = 0; i < count; ++i) body((2 * i + 1) * tree.leaves() / (2 * count));
}

// The share of the blocks within reach, by the least square to a box.
template <class LeastTo>
double blocks_within(const Tree& tree, double reach, const LeastTo& least_to) {
  const Index first = Index{1} << block_level(tree);
  Index near = 0;
  for (Index node = first; node < 2 * first; ++node) near += least_to(tree.low(node)) <= reach;
  return static_cast<double>(near) / static_cast<double>(first);
}

double blocks_near_block(const Tree& tree, Index leaf, double reach) {
  const int level = block_level(tree);
  const double* const own = tree.low((Index{1} << level) + (leaf >> (tree.levels - level)));
  return blocks_within(tree, reach, [&](const double* box) {
    return between_boxes(own, box, tree.features, nullptr).least;
  });
}

double blocks_near_point(const Tree& tree, const double* point, double reach) {
  return blocks_within(tree, reach, [&](const double* box) {
    return least_to_box(point, box, tree.features, nullptr);
  });
}

// The share of the samples that a leaf meets one by one: within reach, but not in a node that is
// taken whole because it lies within `whole`.
double samples_within(const Tree& tree, Index leaf, double reach, double whole) {
  const double* const own = tree.low(tree.leaves() + leaf);
  std::vector<Index> stack{1};
  Index near = 0;
  while (!stack.empty()) {
    const Index node = stack.back();
    stack.pop_back();
    const Bounds squares = between_boxes(own, tree.low(node), tree.features, nullptr);
    if (squares.least > reach || squares.most <= whole) continue;
    if (tree.is_leaf(node)) {
      ++near;
    } else {
      stack.push_back(2 * node);
      stack.push_back(2 * node + 1);
    }
  }
  return static_cast<double>(near) / static_cast<double>(tree.leaves());
}

// Beyond this square a leaf's sums change by less than rtol: every sum is at least what its own
// leaf gives.
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

// A keeper that counts the leaves it looks at.
class CountingKeeper : public KeepNearestHigher {
 public:
  using KeepNearestHigher::KeepNearestHigher;
  void scan(const PairKernels& kernels, const Tree& tree, Index leaf, const double* point,
            double* squares) {
    ++leaves;
    KeepNearestHigher::scan(kernels, tree, leaf, point, squares);
  }
  Index leaves = 0;
};

}  // namespace

bool blocks_pay_for_sums(const Tree& tree, const DensityOptions& options) {
  // Near the edge of a support blocks compute squares twice, which takes up to five times as long
  // as the tree with few features, and is no matter beside the products of many.
  if (!worth_a_thought(tree, is_infinite(options.kernel) ? 6 : 32)) return false;
  const bool every_pair = is_infinite(options.kernel) && options.rtol == 0.0;
  double by_tree = 0.0;
  double by_blocks = 0.0;
  for_sampled_leaves(tree, [&](Index leaf) {
    const double reach = reach_of(tree, leaf, options);
    const double whole = has_moments(options.kernel) ? reach : -infinity;
    by_tree += every_pair ? 1.0 : samples_within(tree, leaf, reach, whole);
    by_blocks += blocks_near_block(tree, leaf, reach);
  });
  return by_blocks * sum_in_blocks.of(tree) < by_tree * sum_in_tree.of(tree);
}

bool blocks_pay_for_parents(const Tree& tree, const Heights& heights, bool strict) {
  if (!worth_a_thought(tree, 4)) return false;
  const auto all = static_cast<double>(tree.locations);
  Search search(tree);
  std::vector<double> point(static_cast<std::size_t>(tree.features));
  double by_tree = 0.0;
  double by_blocks = 0.0;
  for_sampled_leaves(tree, [&](Index leaf) {
    copy_point(tree, leaf, 0, point.data());
    CountingKeeper keeper(heights, heights.density(leaf * tree.stride), point.data(), strict, leaf);
    search.from_leaf(leaf, point.data(), keeper);
    const double scanned = static_cast<double>(keeper.leaves) / static_cast<double>(tree.leaves());
    // Two blocks that meet as a whole do so once for both.
    const double met = std::min(0.5, blocks_near_point(tree, point.data(), keeper.square()));
    by_tree += scanned * all * scan_in_tree.of(tree) + search_in_tree;
    by_blocks += met * all * parent_in_blocks.of(tree) + search_in_blocks;
  });
  return by_blocks < by_tree;
}

}  // namespace quickshift
