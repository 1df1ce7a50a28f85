// Gaussian sums by means of a grid, in time proportional to the number of points: spread the
// samples onto the grid, convolve along its axes, interpolate at the queries.
#pragma once

#include <algorithm>
#include <optional>

#include "density/grid/grid_layout.hpp"
#include "density/sums.hpp"

namespace quickshift {

// Bytes that the tiles of a grid may take for a number of points, unless the grid was requested
// explicitly: 40 per point and 4 MiB, but at least 16 MiB.
inline double tile_byte_limit(double points) { return std::max(40.0 * points + 0x1p22, 0x1p24); }

// Grid points of the patches in one batch: 4 MiB.
inline constexpr Index patch_batch_points = Index{1} << 19;

// A grid for given samples and queries, ready to run.
struct GridJob {
  GridLayout layout;
  double
      least_sum;   // the error bound holds for computed sums of at least this, in the tree's scale
  double seconds;  // estimated, on one thread
};

// Returns the cheapest grid, or none if no grid can compute these sums within rtol.
std::optional<GridJob> prepare_grid(const Tree& queries, const Tree& samples,
                                    const DensityOptions& options);

// As prepare_grid, but returns none as well if summing pair by pair is estimated to be faster, or
// if the grid would take much more memory than the points.
std::optional<GridJob> prepare_grid_if_cheaper(const Tree& queries, const Tree& samples,
                                               const DensityOptions& options);

void grid_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
               const GridJob& job, const Execution& execution, Sums& sums);

}  // namespace quickshift
