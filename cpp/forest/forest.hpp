// Results that follow from the parents alone: the trees after a cut, and all cuts as one linkage
// matrix.
#pragma once

#include <span>
#include <vector>

#include "support/array.hpp"
#include "support/points.hpp"

namespace quickshift {

// The edges of a parent graph, by row.
struct ParentEdges {
  const Index* parent;
  const double* distance;
  Index rows;
};

// Sets root[i] to the last row that row i reaches along edges no longer than tau. Returns false if
// parents form a cycle of more than one row, or if a parent is out of range.
bool find_roots(const ParentEdges& edges, double tau, const Execution& execution, Index* root);

// The rows that are their own roots, except those whose distance is NaN (rows of weight zero).
std::vector<Index> list_roots(const Index* root, const double* distance, Index rows);

// Labels each row with the index of its root in `roots`, or with -1 if its root is not listed.
// Returns false if an entry of `root` or `roots` is not a row that is its own root.
bool number_trees(const Index* root, Index rows, std::span<const Index> roots,
                  const Execution& execution, Index* labels);

// Writes a linkage matrix as SciPy's: one row (cluster, cluster, distance, size) per edge. An edge
// is given by its child; children must be in ascending order of distance.
void write_linkage(const Index* parent, const double* distance, Index rows, const Index* children,
                   Index edges, double* linkage);

}  // namespace quickshift
