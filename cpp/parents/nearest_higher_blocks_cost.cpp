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
const std::vector<double> costs_in_tree{
    40.0,  // a location
    0.15,  // a sample of a leaf and a feature, if four locations are searched for at once
    2.6,   // a sample of a leaf, if one location is searched for
    0.85,  // a box on the way and a feature
    50.0,  // a scanned leaf, if coordinates have to decide between equal heights
    9.0,   // a scanned leaf and each doubling of the data beyond `cached_values`
};
constexpr double cached_values = 6e4;
const std::vector<double> costs_in_blocks{
    11.6,   // a feature of a location
    0.005,  // a pair and a feature
    0.6,    // a pair
    3.8,    // a pair that single precision cannot decide
    0.65,   // a block
};

// Estimates the work per location from the parents of some locations.
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

  WorkEstimates estimates() const {
    const auto all = static_cast<double>(tree_.locations);
    const auto blocks = static_cast<double>(Index{1} << block_level(tree_));
    const double met = met_ / points_ * all;
    const double features = tree_.features;
    const SearchWork& work = search_.work();
    const auto alone = static_cast<double>(work.leaves);
    const auto groups = static_cast<double>(work.groups);
    const double doublings = std::max(0.0, std::log2(all * features / cached_values));
    WorkEstimate tree{
        {locations_, 4.0 * groups * tree_.stride * features, alone * tree_.stride,
         static_cast<double>(work.boxes) * features, with_ties_, (alone + groups) * doublings},
        costs_in_tree};
    for (double& amount : tree.amounts) amount /= locations_;
    return {tree,
            {{features, met * features, met, undecided_ / leaves_ * all, blocks}, costs_in_blocks}};
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

WorkEstimates work_of_parents(const Tree& tree, const Heights& heights, bool strict) {
  // Searches are so slow on some data that those of a few whole leaves would take as long as
  // blocks.
  constexpr double clearly = 4.0;
  ParentSample rough(tree, heights, strict);
  for_sampled_leaves(tree, 8, [&](Index leaf) { rough.add_middle(leaf); });
  const WorkEstimates roughly = rough.estimates();
  if (roughly.tree.time() > clearly * roughly.blocks.time()) return roughly;
  ParentSample sample(tree, heights, strict);
  // Few enough leaves that they take a small part of the time.
  const Index most = std::clamp<Index>(tree.leaves() / 32, 4, 32);
  for_sampled_leaves(tree, most, [&](Index leaf) { sample.add_leaf(leaf); });
  return sample.estimates();
}

bool blocks_pay_for_parents(const Tree& tree, const Heights& heights, bool strict) {
  return blocks_may_pay(tree, most_features_for_search) &&
         work_of_parents(tree, heights, strict).blocks_pay();
}

}  // namespace quickshift
