// Prediction for new points: the sample whose label each of them takes.
#pragma once

#include "tree/kdtree.hpp"

namespace quickshift {

// Writes for every query the row of the sample whose label it takes: a sample with the same
// coordinates if there is one; otherwise the nearest higher sample within tau; otherwise the
// nearest sample. Of equally near samples the highest is taken. row_heights: one per row of the
// samples. bits: significant bits to which heights are rounded. strict: samples of equal height are
// not higher.
void assign_queries(const Tree& tree, const double* row_heights, int bits, bool strict, double tau,
                    const Points& queries, const double* query_heights, const Execution& execution,
                    Index* row);

}  // namespace quickshift
