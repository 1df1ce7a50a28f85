// Which share of the density at a query do the samples of each cluster contribute?
#pragma once

#include "density/density.hpp"
#include "membership/share_table.hpp"

namespace quickshift {

// Writes the shares of the clusters, which sum to 1 at each query. For infinite kernels, each share
// has an absolute error of a few rtol. All shares are 0 where the kernels of all samples are zero
// or underflow.
void kernel_shares(const Tree& queries, const Tree& samples, const Labels& labels,
                   const DensityOptions& options, const Execution& execution,
                   const ShareTable& table);

}  // namespace quickshift
