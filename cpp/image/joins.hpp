// The smallest tau at which two rows of a forest belong to the same tree.
#pragma once

#include "forest/forest.hpp"
#include "image/picture.hpp"
#include "support/array.hpp"

namespace quickshift {

// Answers queries for the longest edge on the path between two rows of a forest.
//
// The constructor unites trees as in Kruskal's algorithm, in ascending order of edge length. The
// longest edge on the path between two rows is the edge that first unites their trees. Each union
// makes the root of the smaller tree a child of the root of the larger one, which gives a second
// forest. In it, every path to a root has at most log2(rows) steps, and later unions are higher up.
// The latest union on the path between two rows in the second forest is therefore the one that
// united their trees.
class Joins {
 public:
  explicit Joins(const ParentEdges& edges);

  // The length of the longest edge on the path from a to b: infinity if they are in different
  // trees, 0 if a is b.
  double longest_edge_between(Index a, Index b) const;

 private:
  Index root_of(Index row) const;

  const double* distance_;
  Array<Index> children_;  // rows that have an edge to their parent, in ascending order of length
  Array<Index> above_;     // by row: its parent in the second forest, itself for a root
  Array<Index> when_;      // by row: when it got that parent, as a position in children_
};

// strength[pixel] is the maximum of longest_edge_between over the pixel's neighbors along the axes:
// zero if it has no neighbor, NaN if it is outside the mask.
void boundary_strength(const Picture& picture, const ParentEdges& edges, const Execution& execution,
                       double* strength);

}  // namespace quickshift
