// Prediction: finds the samples whose labels are assigned to new points.
#pragma once

#include "tree/kdtree.hpp"

namespace quickshift {

// For every query, writes the row of the sample whose label is assigned to it. This is the sample
// with the same coordinates if there is one; otherwise the nearest higher sample within
// tau[query]; otherwise the nearest sample. Of equally near samples the highest is taken.
// row_heights: one per row of the samples. bits: the number of significant bits to which heights
// are rounded. strict: if true, samples of equal height are not higher.
void assign_queries(const Tree& tree, const double* row_heights, int bits, bool strict,
                    const double* tau, const Points& queries, const double* query_heights,
                    const Execution& execution, Index* row);

}  // namespace quickshift
