// The forest of a parent graph: its trees after a cut, and all cuts together as a linkage matrix.
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

// Sets root[i] to the last row that can be reached from row i along edges no longer than tau.
// Returns false if parents form a cycle of more than one row, or if a parent is out of range.
bool find_roots(const ParentEdges& edges, double tau, const Execution& execution, Index* root);

// The rows that are their own roots. Rows of weight zero, whose distance is NaN, are left out.
std::vector<Index> list_roots(const Index* root, const double* distance, Index rows);

// Labels each row with the index of its root in `roots`, or with -1 if its root is not listed.
// Returns false if an entry of `root` or `roots` is not a row that is its own root.
bool number_trees(const Index* root, Index rows, std::span<const Index> roots,
                  const Execution& execution, Index* labels);

// Writes a linkage matrix in SciPy's format: one row (cluster, cluster, distance, size) per edge.
// Edges are given by their children, which must be in ascending order of distance.
void write_linkage(const Index* parent, const double* distance, Index rows, const Index* children,
                   Index edges, double* linkage);

}  // namespace quickshift
