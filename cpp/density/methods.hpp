// The methods of summing kernels, one per file, apart from the grid
// (density/grid/density_grid.hpp).
#pragma once

#include "density/sums.hpp"

namespace quickshift {

void moment_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
                 const Execution& execution, Sums& sums);
void direct_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
                 const Execution& execution, Sums& sums);
// Terms of this decay or more are 0 in the sums of blocks.
inline constexpr double vanished_decay = 709.0;
void block_sums(const Tree& samples, const DensityOptions& options, const Execution& execution,
                Sums& sums);
// Up to this many features blocks are never chosen.
inline constexpr int most_features_without_blocks = 6;
// Whether block_sums is estimated to be faster than the sums through the tree.
bool blocks_pay_for_sums(const Tree& samples, const DensityOptions& options);

}  // namespace quickshift
