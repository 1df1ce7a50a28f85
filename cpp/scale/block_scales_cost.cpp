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
// Times in nanoseconds; only their ratios matter. Measured in November 2026 on busy cores of an AMD
// EPYC with AVX-512, before benchmarks/costs.py was written. The script prints them beside its own
// measurements.
const std::vector<double> costs_in_tree{
    300.0,  // a point
    0.19,   // a pair and a feature
    0.2,    // a pair
};
const std::vector<double> costs_in_blocks{
    1800.0,  // a point
    0.035,   // a pair and a feature
    0.27,    // a pair
    0.5,     // a pair that single precision cannot decide, and a feature
    12.0,    // a pair that single precision cannot decide
    50.0,    // a neighbor that is wanted
};

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

WorkEstimates work_of_scales(const Tree& tree, const ScaleOptions& options) {
  const SearchedShares shares = shares_searched(tree, options);
  const auto all = static_cast<double>(tree.locations);
  const double in_tree = shares.of_tree * all;
  const double in_blocks = shares.of_blocks * all;
  const double undecided = shares.undecided * all;
  return {{{1.0, in_tree * tree.features, in_tree}, costs_in_tree},
          {{1.0, in_blocks * tree.features, in_blocks, undecided * tree.features, undecided,
            options.most()},
           costs_in_blocks}};
}

bool blocks_pay_for_scales(const Tree& tree, const ScaleOptions& options, double part) {
  if (tree.features <= most_features_for_tree) return false;
  // So few points take no time; what counts is that blocks also list the samples within tau.
  if (tree.locations <= 512) return tree.features > 8;
  const WorkEstimates work = work_of_scales(tree, options);
  return work.blocks.time() < part * work.tree.time();
}

}  // namespace quickshift
