#include "tree/block_sample.hpp"

#include <vector>

namespace quickshift {

namespace {

// The share of all blocks within reach; least_to(box) is the least squared distance to a block's
// box.
template <class LeastTo>
double blocks_within(const Tree& tree, double reach_sq, const LeastTo& least_to) {
  const Index first = Index{1} << block_level(tree);
  Index near = 0;
  for (Index node = first; node < 2 * first; ++node) near += least_to(tree.low(node)) <= reach_sq;
  return static_cast<double>(near) / static_cast<double>(first);
}

}  // namespace

bool blocks_may_pay(const Tree& tree, int most_features_for_tree) {
  return tree.features > most_features_for_tree && tree.locations > 512;
}

double blocks_near_block(const Tree& tree, Index leaf, double reach_sq) {
  const int level = block_level(tree);
  const double* const own = tree.low((Index{1} << level) + (leaf >> (tree.levels - level)));
  return blocks_within(tree, reach_sq, [&](const double* box) {
    return between_boxes(own, box, tree.features, nullptr).least;
  });
}

double blocks_near_point(const Tree& tree, const double* point, double reach_sq) {
  return blocks_within(tree, reach_sq, [&](const double* box) {
    return least_to_box(point, box, tree.features, nullptr);
  });
}

double leaves_near_leaf(const Tree& tree, Index leaf, double reach_sq, double whole_sq) {
  const double* const own = tree.low(tree.leaves() + leaf);
  std::vector<Index> stack{1};
  Index near = 0;
  while (!stack.empty()) {
    const Index node = stack.back();
    stack.pop_back();
    const Bounds squares = between_boxes(own, tree.low(node), tree.features, nullptr);
    if (squares.least > reach_sq || squares.most <= whole_sq) continue;
    if (tree.is_leaf(node)) {
      ++near;
    } else {
      stack.push_back(2 * node);
      stack.push_back(2 * node + 1);
    }
  }
  return static_cast<double>(near) / static_cast<double>(tree.leaves());
}

}  // namespace quickshift
