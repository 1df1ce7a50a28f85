// The local scale of every sample: the mean distance r to its K nearest other samples, and tau, the
// distance to its g-th nearest other location (docs/decisions/27-local-scale.md).
//
// Samples are counted by weight, the last one in part. Of the w samples at the location itself, the
// j-th of the w - 1 others counts as if it were at the distance rho (j / w)^(1/d), where rho is
// half the distance to the nearest other location.
#pragma once

#include "scale/options.hpp"
#include "tree/kdtree.hpp"

namespace quickshift {

// Writes r (one array per K) and tau of every row in the caller's units; NaN for rows of weight
// zero. All are 1 if all rows are at one location. If `reach` is not null, writes to it the
// distance within which all samples are that determine these numbers, as long as there are enough
// of them.
//
// Returns the locations near each location, if they were found on the way: by slot, the slots of
// the others no farther away than tau. There are g of them, or fewer and then -1. Otherwise, and if
// some location has more than g because of equal distances, the array is empty.
Array<std::int32_t> local_scales(const Tree& tree, const ScaleOptions& options,
                                 const Execution& execution, const std::vector<double*>& r,
                                 double* tau, double* reach = nullptr);

// Writes r, for one K, and tau of points that need not be samples. A point at a sample's location
// has that sample's values. For any other point, r and tau are taken over all samples. Both are 1
// at the only location of samples. queries: a tree of these points in the scale of the samples.
// reach: as above.
void local_scales_at(const Tree& tree, const Tree& queries, const ScaleOptions& options,
                     const Execution& execution, double* r, double* tau, double* reach = nullptr);

// The distance from each location to the nearest other one, by slot, in the caller's units.
// Infinite if there is only one location.
Array<double> nearest_distances(const Tree& tree, const Execution& execution);

}  // namespace quickshift
