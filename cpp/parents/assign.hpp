// Labels for new points: which sample each of them follows.
#pragma once

#include "tree/kdtree.hpp"

namespace quickshift {

// For every query the row of the sample whose label it takes: an equal sample; else the nearest
// higher one within tau; else the nearest. Of equally near ones the highest.
void assign_queries(const Tree& tree, const double* row_heights, int bits, bool strict, double tau,
                    const Points& queries, const double* query_heights, const Execution& execution,
                    Index* row);

}  // namespace quickshift
