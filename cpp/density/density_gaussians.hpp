// Exponential sums at the samples as sums of Gaussians (docs/decisions/32-exponential.md).
#pragma once

#include <optional>
#include <vector>

#include "density/grid/density_grid.hpp"
#include "density/sums.hpp"

namespace quickshift {

// One Gaussian: weight * exp(-(t / width)² / 2), t = distance / h.
struct GaussianPart {
  double weight;
  double width;
  std::optional<GridPlan> grid;  // none: it is summed pair by pair
};

struct GaussianMixture {
  std::vector<GaussianPart> parts;
  NearTerms near;  // what the Gaussians lack of the kernel, for near pairs
};

// Returns the mixture with the least estimated time; none if it does not support these sums or,
// unless it is forced, if summing pair by pair is estimated to be faster.
std::optional<GaussianMixture> prepare_gaussians(const Tree& samples, const DensityOptions& options,
                                                 bool forced);

void gaussian_sums(const Tree& samples, const DensityOptions& options,
                   const GaussianMixture& mixture, const Execution& execution, Sums& sums);

}  // namespace quickshift
