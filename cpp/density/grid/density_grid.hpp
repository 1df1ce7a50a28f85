// Gaussian sums through a grid: whether it serves, what it would cost, and how it runs.
#pragma once

#include <algorithm>
#include <optional>

#include "density/grid/grid_layout.hpp"
#include "density/sums.hpp"

namespace quickshift {

// Bytes that the tiles of a grid may take for a number of points, unless the grid is forced: 40 per
// point and a little, and never less than 16 MiB.
inline double tile_byte_limit(double points) { return std::max(40.0 * points + 0x1p22, 0x1p24); }

// Grid points of the patches that are added to the tiles together: 4 MiB.
inline constexpr Index patch_batch_points = Index{1} << 19;

struct GridJob {
  GridLayout layout;
  double least_sum;  // in the scale of the samples' weights: smaller sums are not promised
  double seconds;    // estimated, on one thread
};

// The cheapest grid, which may be none where it does not serve these sums.
std::optional<GridJob> prepare_grid(const Tree& queries, const Tree& samples,
                                    const DensityOptions& options);

// The same, or none where summing pair by pair is estimated to be faster or the grid would take
// much more memory than the points.
std::optional<GridJob> prepare_grid_if_cheaper(const Tree& queries, const Tree& samples,
                                               const DensityOptions& options);

void grid_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
               const GridJob& job, const Execution& execution, Sums& sums);

}  // namespace quickshift
