// Kernel sums of the samples at queries: Σ w_j k(|q - x_j| / h), not normalized.
#pragma once

#include "density/sums.hpp"

namespace quickshift {

// `queries` may be the very tree `samples`: then each sample's sum includes itself.
Sums kernel_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
                 const Execution& execution);

}  // namespace quickshift
