// Gaussian sums by means of a grid, in time proportional to the number of points: spread the
// samples onto the grid, convolve along its axes, interpolate at the queries.
#pragma once

#include <algorithm>
#include <optional>

#include "density/grid/grid_layout.hpp"
#include "density/sums.hpp"

namespace quickshift {

// The most bytes that the tiles of a grid for this many points usually take. Grids of samples that
// are spread widely take more, up to scratch_limit.
inline double usual_tile_bytes(double points) { return std::max(40.0 * points + 0x1p22, 0x1p24); }

// The most grid points that the patches of one batch may have in total: 4 MiB.
inline constexpr Index patch_batch_points = Index{1} << 19;

// A grid for given samples and queries, ready to run.
struct GridJob {
  GridLayout layout;
  double least_sum;  // the error bound holds for computed sums from this on, in the tree's scale
  double seconds;    // estimated, on one thread
};

// Returns the cheapest grid, or none if no grid can compute these sums within rtol. By the method
// `mixed`, some pairs are left to sums pair by pair, if the grid keeps any samples then.
std::optional<GridJob> prepare_grid(const Tree& queries, const Tree& samples,
                                    const DensityOptions& options);

// The outcome of comparing the grid with summing pair by pair.
struct GridChoice {
  std::optional<GridJob> job;   // none if no grid is supported, faster and within the memory limit
  double direct_seconds = 0.0;  // of summing pair by pair, estimated, on one thread
  double refused_bytes = 0.0;   // of the smallest faster grid that needs too much memory; or 0
};

// As prepare_grid, but the grid must also be estimated to be faster than summing pair by pair, and
// stay within scratch_limit.
GridChoice choose_grid_or_pairs(const Tree& queries, const Tree& samples,
                                const DensityOptions& options);

// The grid of an earlier choice for the same sums, laid out again from its plan. A layout takes up
// to a hundred bytes per point, a plan next to nothing.
GridJob grid_of_plan(const Tree& queries, const Tree& samples, const DensityOptions& options,
                     const GridPlan& plan);

// The estimated time of Gaussian sums pair by pair, on one thread: over the pairs within reach for
// the kernel's tolerance, or at the samples over those within a given squared distance. Pairs of
// other kernels take longer.
double direct_seconds(const Tree& queries, const Tree& samples, const DensityOptions& options);
double seconds_within(const Tree& samples, double reach_sq);

void grid_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
               const GridJob& job, const Execution& execution, Sums& sums);

}  // namespace quickshift
