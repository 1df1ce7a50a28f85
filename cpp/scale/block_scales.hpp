// Local scales by products of blocks of points, for many features and samples of weight 1.
#pragma once

#include <functional>

#include "scale/options.hpp"
#include "tree/block_sample.hpp"

namespace quickshift {

// Calls write(slot, scale) for every location, in the units of the tree. Not for periodic features.
void scales_in_blocks(const Tree& tree, const ScaleOptions& options, const Execution& execution,
                      const std::function<void(Index, const ScaleOfPoint&)>& write);

// block_scales_cost.cpp: the shares of all points that are compared with a point, by a search of
// the tree and by blocks, estimated from a few leaves.
struct SearchedShares {
  double of_tree = 0.0;
  double of_blocks = 0.0;
  double undecided = 0.0;  // compared twice by blocks: UndecidedPairs
};
SearchedShares shares_searched(const Tree& tree, const ScaleOptions& options);
WorkEstimates work_of_scales(const Tree& tree, const ScaleOptions& options);

// block_scales_cost.cpp: estimates whether blocks are faster than searches of the tree, or than a
// search that takes only a part of their time.
bool blocks_pay_for_scales(const Tree& tree, const ScaleOptions& options, double part = 1.0);

}  // namespace quickshift
