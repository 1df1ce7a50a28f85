// Gaussian sums by means of a grid, in time proportional to the number of points: spread the
// samples onto the grid, convolve along its axes, interpolate at the queries.
#pragma once

#include <algorithm>
#include <optional>

#include "density/grid/grid_layout.hpp"
#include "density/sums.hpp"

namespace quickshift {

// The most bytes that the tiles of a grid for this many points may take, unless the grid was
// requested explicitly: 4 MiB plus 40 bytes per point, or 16 MiB if that is more.
inline double tile_byte_limit(double points) { return std::max(40.0 * points + 0x1p22, 0x1p24); }

// The most grid points that the patches of one batch may have in total: 4 MiB.
inline constexpr Index patch_batch_points = Index{1} << 19;

// A grid for given samples and queries, ready to run.
struct GridJob {
  GridLayout layout;
  double least_sum;  // the error bound holds for computed sums from this on, in the tree's scale
  double seconds;    // estimated, on one thread
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
