// What follows from the parents alone: the trees after a cut, and all cuts as one linkage.
#pragma once

#include "parallel.hpp"
#include "points.hpp"

namespace quickshift {

// root[i] is the row that i reaches over edges no longer than tau. Parents must not form cycles of
// more than one row; returns false if they do, or if a parent is out of range.
bool find_roots(const Index* parent, const double* distance, Index rows, double tau,
                const Execution& execution, Index* root);

// SciPy's linkage: rows of (cluster, cluster, distance, size), from the edges in the given order of
// children, which must be that of rising distance. Writes one row an edge.
void write_linkage(const Index* parent, const double* distance, Index rows, const Index* children,
                   Index edges, double* linkage);

}  // namespace quickshift
