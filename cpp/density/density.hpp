// The entry point for kernel sums: chooses the cheapest method and runs it.
#pragma once

#include "density/sums.hpp"

namespace quickshift {

// The sums Σ_j w_j k(|q - x_j| / h) over the samples x_j, at every query q, not normalized. If
// `queries` and `samples` are the same object, the sum at a sample includes the sample's own term,
// unless options.leave_out is set.
Sums kernel_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
                 const Execution& execution);

}  // namespace quickshift
