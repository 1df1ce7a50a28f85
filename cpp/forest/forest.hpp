// What follows from the parents alone: the trees after a cut, and all cuts as one linkage.
#pragma once

#include <span>
#include <vector>

#include "support/array.hpp"
#include "support/points.hpp"

namespace quickshift {

// What a search for parents found, by row.
struct ParentEdges {
  const Index* parent;
  const double* distance;
  Index rows;
};

// root[i] is the row that i reaches over edges no longer than tau. Parents must not form cycles of
// more than one row; returns false if they do, or if a parent is out of range.
bool find_roots(const ParentEdges& edges, double tau, const Execution& execution, Index* root);

// The rows that are their own roots, but for those without a distance.
std::vector<Index> list_roots(const Index* root, const double* distance, Index rows);

// Numbers the trees in the order of `roots`; rows whose root is not listed get -1. Returns false if
// what is named as a root is none.
bool number_trees(const Index* root, Index rows, std::span<const Index> roots,
                  const Execution& execution, Index* labels);

// SciPy's linkage: rows of (cluster, cluster, distance, size), from the edges in the given order of
// children, which must be that of rising distance. Writes one row an edge.
void write_linkage(const Index* parent, const double* distance, Index rows, const Index* children,
                   Index edges, double* linkage);

}  // namespace quickshift
