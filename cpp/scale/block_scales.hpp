// Local scales by products of blocks of points, for many features and samples of weight 1.
#pragma once

#include <functional>

#include "scale/options.hpp"
#include "tree/kdtree.hpp"

namespace quickshift {

// Calls write(slot, scale) for every location, in the units of the tree. Not for periodic features.
void scales_in_blocks(const Tree& tree, const ScaleOptions& options, const Execution& execution,
                      const std::function<void(Index, const ScaleOfPoint&)>& write);

// Estimates whether blocks are faster than searches of the tree.
bool blocks_pay_for_scales(const Tree& tree, const ScaleOptions& options);

}  // namespace quickshift
