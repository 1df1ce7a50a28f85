// Gaussian sums through a grid: whether it serves, what it would cost, and how it runs.
#pragma once

#include <optional>

#include "density/grid/grid_layout.hpp"
#include "density/sums.hpp"

namespace quickshift {

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
std::optional<GridJob> prepare_worthy_grid(const Tree& queries, const Tree& samples,
                                           const DensityOptions& options);

void grid_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
               const GridJob& job, const Execution& execution, Sums& sums);

}  // namespace quickshift
