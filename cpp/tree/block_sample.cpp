#include "tree/block_sample.hpp"

#include <numeric>
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

double WorkEstimate::time() const {
  return std::inner_product(amounts.begin(), amounts.end(), costs.begin(), 0.0);
}

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

double undecided_near_point(const Tree& tree, const double* point, double reach_sq) {
  const int level = block_level(tree);
  std::vector<double> other(static_cast<std::size_t>(tree.features));
  Index seen = 0;
  Index undecided = 0;
  for_sampled_leaves(tree, 32, [&](Index leaf) {
    const double* const low = tree.low((Index{1} << level) + (leaf >> (tree.levels - level)));
    double norm = 0.0;     // of the point, relative to the center of the block
    double largest = 0.0;  // a bound on the norms of the points of the block
    for (int k = 0; k < tree.features; ++k) {
      const double offset = point[k] - (0.5 * low[k] + 0.5 * low[tree.features + k]);
      const double half = 0.5 * low[tree.features + k] - 0.5 * low[k];
      norm += offset * offset;
      largest += half * half;
    }
    const double error =
        single_error(tree.features) * (norm + largest) + single_underflow(tree.features);
    for (int i = 0; i < tree.count(leaf); ++i) {
      copy_point(tree, leaf, i, other.data());
      double square = 0.0;
      for (int k = 0; k < tree.features; ++k) {
        square += (point[k] - other[k]) * (point[k] - other[k]);
      }
      ++seen;
      undecided += square > reach_sq && square <= reach_sq + 2.0 * error;
    }
  });
  return static_cast<double>(undecided) / static_cast<double>(seen);
}

UndecidedPairs::UndecidedPairs(const Tree& tree) : features_(tree.features) {
  const int below = tree.levels - block_level(tree);
  const auto features = static_cast<std::size_t>(features_);
  for_sampled_leaves(tree, 32, [&](Index leaf) {
    const auto count = static_cast<std::size_t>(tree.count(leaf));
    leaves_.push_back({std::vector<double>(features), std::vector<double>(count * features),
                       std::vector<double>(count)});
    auto& [center, offsets, norms] = leaves_.back();
    find_medians(tree, leaf >> below, center.data());
    for (std::size_t i = 0; i < count; ++i) {
      double* const offset = offsets.data() + i * features;
      copy_point(tree, leaf, static_cast<int>(i), offset);
      for (int k = 0; k < features_; ++k) {
        offset[k] -= center[k];
        norms[i] += offset[k] * offset[k];
      }
    }
  });
}

double UndecidedPairs::near_point(const double* point, double reach_sq) const {
  const double error = lowered_error(features_);
  const double underflow = single_underflow(features_);
  std::vector<double> own(static_cast<std::size_t>(features_));
  Index seen = 0;
  Index undecided = 0;
  for (const auto& [center, offsets, norms] : leaves_) {
    double norm = 0.0;
    for (int k = 0; k < features_; ++k) {
      own[k] = point[k] - center[k];
      norm += own[k] * own[k];
    }
    const double* offset = offsets.data();
    for (const double other : norms) {
      double square = 0.0;
      for (int k = 0; k < features_; ++k) {
        const double delta = own[k] - *offset++;
        square += delta * delta;
      }
      ++seen;
      undecided +=
          square > reach_sq && square <= reach_sq + 2.0 * (error * (norm + other) + underflow);
    }
  }
  return static_cast<double>(undecided) / static_cast<double>(seen);
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
