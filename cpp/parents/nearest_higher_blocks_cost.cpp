// Estimates whether blocks (nearest_higher_blocks.cpp) find parents faster than searches of the
// tree.
#include <algorithm>
#include <cmath>
#include <vector>

#include "parents/leaf_parents.hpp"
#include "parents/nearest_higher.hpp"
#include "tree/block_sample.hpp"

namespace quickshift {

namespace {

// Times in nanoseconds; only their ratios matter. Measured by benchmarks/costs.py in November 2026
// on an AMD EPYC with AVX-512.
//
// Searches of the tree, per location, and per pair of a location and a sample of a leaf: in
// searches for four locations at once, and in those for one.
constexpr double location_in_tree = 40.0;
constexpr PairCost pair_in_group{0.15, 0.0};
constexpr PairCost pair_alone{0.0, 2.6};
constexpr double leaf_with_ties = 50.0;  // per scanned leaf, if coordinates decide between heights
constexpr double feature_of_box = 0.85;  // per feature of a box on the way
constexpr double leaf_not_cached = 9.0;  // per scanned leaf and doubling of the data beyond this:
constexpr double cached_values = 6e4;
// Blocks, per feature of a location, per pair, per pair that single precision cannot decide, and
// per block and location.
constexpr double feature_in_blocks = 11.6;
constexpr PairCost pair_in_blocks{0.005, 0.6};
constexpr PairCost pair_undecided{0.0, 3.8};
constexpr double block_of_location = 0.65;

// Estimates the times per location from the parents of some locations.
class ParentSample {
 public:
  ParentSample(const Tree& tree, const Heights& heights, bool strict)
      : tree_(tree),
        heights_(heights),
        strict_(strict),
        search_(tree),
        parents_(tree, heights, strict, search_),
        point_(static_cast<std::size_t>(tree.features)) {}

  // Only the location in the middle of a leaf; the first and the last ones may be outliers.
  void add_middle(Index leaf) {
    const int middle = tree_.count(leaf) / 2;
    const double square =
        search_alone(tree_, heights_, strict_, search_, leaf, middle, point_.data()).square();
    add_point(square);
    add_undecided(square);
    locations_ += 1.0;
  }

  void add_leaf(Index leaf) {
    const Index before = search_.work().leaves;
    const int middle = tree_.count(leaf) / 2;
    parents_.find(leaf, point_.data(), [&](Index slot, Index, double square) {
      squares_[slot % tree_.stride] = square;
    });
    if (!parents_.searches_together(leaf)) {
      with_ties_ += static_cast<double>(search_.work().leaves - before);
    }
    for (int i = middle % every; i < tree_.count(leaf); i += every) {
      copy_point(tree_, leaf, i, point_.data());
      add_point(squares_[i]);
    }
    copy_point(tree_, leaf, middle, point_.data());
    add_undecided(squares_[middle]);
    locations_ += tree_.count(leaf);
  }

  double by_tree() const {
    const SearchWork& work = search_.work();
    const auto values = static_cast<double>(tree_.locations * tree_.features);
    const auto alone = static_cast<double>(work.leaves);
    const auto groups = static_cast<double>(work.groups);
    const double not_cached = leaf_not_cached * std::max(0.0, std::log2(values / cached_values));
    const double time =
        tree_.stride * (4.0 * groups * pair_in_group.of(tree_) + alone * pair_alone.of(tree_)) +
        static_cast<double>(work.boxes) * tree_.features * feature_of_box +
        with_ties_ * leaf_with_ties + (alone + groups) * not_cached;
    return location_in_tree + time / locations_;
  }

  double by_blocks() const {
    const auto all = static_cast<double>(tree_.locations);
    const auto blocks = static_cast<double>(Index{1} << block_level(tree_));
    return tree_.features * feature_in_blocks + met_ / points_ * all * pair_in_blocks.of(tree_) +
           undecided_ / leaves_ * all * pair_undecided.of(tree_) + blocks * block_of_location;
  }

 private:
  // The two take the squared distance from the copied point to its parent.
  void add_point(double square) {
    // The product of two blocks serves both directions, so at most half of all pairs are computed.
    met_ += std::min(0.5, blocks_near_point(tree_, point_.data(), square));
    points_ += 1.0;
  }
  void add_undecided(double square) {
    undecided_ += undecided_near_point(tree_, point_.data(), square);
    leaves_ += 1.0;
  }

  static constexpr int every = 4;  // the locations of a leaf for which blocks are counted

  const Tree& tree_;
  const Heights& heights_;
  bool strict_;
  TreeSearch search_;
  LeafParents parents_;
  std::vector<double> point_;
  double squares_[max_stride];
  double with_ties_ = 0.0;
  double met_ = 0.0;
  double points_ = 0.0;
  double undecided_ = 0.0;
  double locations_ = 0.0;
  double leaves_ = 0.0;
};

}  // namespace

bool blocks_pay_for_parents(const Tree& tree, const Heights& heights, bool strict) {
  if (!blocks_may_pay(tree, most_features_for_search)) return false;
  // Searches are so slow on some data that those of a few whole leaves would take as long as
  // blocks.
  constexpr double clearly = 4.0;
  ParentSample rough(tree, heights, strict);
  for_sampled_leaves(tree, 8, [&](Index leaf) { rough.add_middle(leaf); });
  if (rough.by_tree() > clearly * rough.by_blocks()) return true;
  ParentSample sample(tree, heights, strict);
  // Few enough leaves that they take a small part of the time.
  const Index most = std::clamp<Index>(tree.leaves() / 32, 4, 32);
  for_sampled_leaves(tree, most, [&](Index leaf) { sample.add_leaf(leaf); });
  return sample.by_blocks() < sample.by_tree();
}

}  // namespace quickshift
