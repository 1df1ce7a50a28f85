// Estimates whether blocks (nearest_higher_blocks.cpp) find parents faster than searches of the
// tree.
#include <algorithm>
#include <vector>

#include "parents/keep_nearest_higher.hpp"
#include "parents/nearest_higher.hpp"
#include "tree/block_sample.hpp"

namespace quickshift {

namespace {

// Measured times in nanoseconds per pair; only their ratios matter.
constexpr PairCost cost_in_tree{0.2, 5.5};
constexpr PairCost cost_in_blocks{0.02, 0.7};
constexpr PairCost cost_undecided{1.0, 5.0};  // of a pair that single precision cannot decide
// Times in nanoseconds per location, in addition to those of its pairs.
constexpr double search_in_tree = 250.0;
constexpr double search_in_blocks = 900.0;

// A keeper that counts the leaves it scans.
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

bool blocks_pay_for_parents(const Tree& tree, const Heights& heights, bool strict) {
  if (!blocks_may_pay(tree, most_features_for_search)) return false;
  const auto all = static_cast<double>(tree.locations);
  TreeSearch search(tree);
  std::vector<double> point(static_cast<std::size_t>(tree.features));
  double by_tree = 0.0;
  double by_blocks = 0.0;
  for_sampled_leaves(tree, 32, [&](Index leaf) {
    const int middle = tree.count(leaf) / 2;  // the first and the last ones may be outliers
    copy_point(tree, leaf, middle, point.data());
    const double height = heights.height(leaf * tree.stride + middle);
    CountingKeeper keeper(heights, height, point.data(), strict, leaf);
    search.from_leaf(leaf, point.data(), keeper);
    const double scanned = static_cast<double>(keeper.leaves) / static_cast<double>(tree.leaves());
    // The product of two blocks serves both directions, so at most half of all pairs are computed.
    const double met = std::min(0.5, blocks_near_point(tree, point.data(), keeper.square()));
    by_tree += scanned * all * cost_in_tree.of(tree) + search_in_tree;
    const double undecided = undecided_near_point(tree, point.data(), keeper.square());
    by_blocks += met * all * cost_in_blocks.of(tree) + undecided * all * cost_undecided.of(tree) +
                 search_in_blocks;
  });
  return by_blocks < by_tree;
}

}  // namespace quickshift
