// Estimates whether blocks (block_scales.cpp) find local scales faster than searches of the tree.
#include <algorithm>
#include <vector>

#include "scale/block_scales.hpp"
#include "scale/leaf_scales.hpp"
#include "tree/block_sample.hpp"

namespace quickshift {

namespace {

// Up to this many features, blocks are never faster.
constexpr int most_features_for_tree = 6;
// Times in nanoseconds per pair of points, and per point; only their ratios matter. Measured in
// November 2026 on busy cores of an AMD EPYC with AVX-512, with 2500 and 8000 points of four shapes
// (one seed), 7 to 16 features and 1 to 128 neighbors. The slower method was chosen in a few of
// these 96 cases, and took at most 1.5 times as long as the other.
constexpr PairCost cost_in_tree{0.19, 0.2};
constexpr PairCost cost_in_blocks{0.035, 0.27};
constexpr double point_in_tree = 300.0;
constexpr double point_in_blocks = 1800.0;
constexpr double neighbor_in_blocks = 50.0;
// The same for a pair that single precision cannot decide.
constexpr PairCost cost_undecided{0.5, 12.0};

}  // namespace

SearchedShares shares_searched(const Tree& tree, const ScaleOptions& options) {
  constexpr Index every = 4;  // the points of a leaf for which undecided distances are counted
  LeafScales search(tree, options);
  const UndecidedPairs pairs(tree);
  SearchedShares shares;
  std::vector<double> point(static_cast<std::size_t>(tree.features));
  double leaves = 0.0;
  for_sampled_leaves(tree, 8, [&](Index leaf) {
    double reach_sq = 0.0;
    double undecided = 0.0;
    double points = 0.0;
    search.find(leaf, [&](Index slot, const ScaleOfPoint& scale) {
      reach_sq = std::max(reach_sq, scale.reach_sq);
      if (slot % every != 0) return;
      copy_point(tree, leaf, static_cast<int>(slot % tree.stride), point.data());
      undecided += pairs.near_point(point.data(), scale.reach_sq);
      points += 1.0;
    });
    shares.of_tree += leaves_near_leaf(tree, leaf, reach_sq, -1.0);
    shares.of_blocks += blocks_near_block(tree, leaf, reach_sq);
    shares.undecided += undecided / points;
    leaves += 1.0;
  });
  shares.of_tree /= leaves;
  shares.of_blocks /= leaves;
  shares.undecided /= leaves;
  return shares;
}

bool blocks_pay_for_scales(const Tree& tree, const ScaleOptions& options, double part) {
  if (tree.features <= most_features_for_tree) return false;
  // So few points take no time; what counts is that blocks also list the samples within tau.
  if (tree.locations <= 512) return tree.features > 8;
  const auto all = static_cast<double>(tree.locations);
  const SearchedShares shares = shares_searched(tree, options);
  const double by_tree = shares.of_tree * all * cost_in_tree.of(tree) + point_in_tree;
  const double by_blocks = shares.of_blocks * all * cost_in_blocks.of(tree) +
                           shares.undecided * all * cost_undecided.of(tree) + point_in_blocks +
                           neighbor_in_blocks * options.most();
  return by_blocks < part * by_tree;
}

}  // namespace quickshift
