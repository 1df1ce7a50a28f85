// Estimates whether kernel sums are faster by expansions (density_expansions.cpp) than pair by
// pair.
#include <algorithm>
#include <vector>

#include "density/expansion_pairs.hpp"
#include "density/methods.hpp"
#include "support/scratch.hpp"

namespace quickshift {

namespace {

constexpr double most_weight_ratio_of_expansions = 1e30;
// Of bandwidths in the scale of the tree, whose squares have to stay in the range of doubles.
constexpr double least_bandwidth = 1e-140;

}  // namespace

bool expansions_serve(const Tree& samples, const DensityOptions& options) {
  return has_expansions(options.kernel) && samples.features <= 2 && !options.leave_out &&
         samples.greatest_weight <= most_weight_ratio_of_expansions * samples.least_weight &&
         bandwidth_in(samples, options) >= least_bandwidth;
}

bool expansions_pay(const Tree& queries, const Tree& samples, const DensityOptions&) {
  return &queries == &samples && queries.levels > 4;
}

}  // namespace quickshift
