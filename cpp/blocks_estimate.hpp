// Whether blocks are cheaper than the tree, judged by a sample of leaves. The sample is taken in
// tree order, so the answer depends on the set of points alone.
#pragma once

#include "density.hpp"
#include "nearest_higher.hpp"

namespace quickshift {

bool blocks_pay_for_sums(const Tree& tree, const DensityOptions& options);
bool blocks_pay_for_parents(const Tree& tree, const Heights& heights, bool strict);

}  // namespace quickshift
