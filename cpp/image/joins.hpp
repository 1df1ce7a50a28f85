// The tau from which on two rows belong to one tree.
#pragma once

#include "forest/forest.hpp"
#include "image/picture.hpp"
#include "support/array.hpp"

namespace quickshift {

// Answers queries for the longest edge on the path between two rows of a forest.
//
// Trees are united in the order of rising edge length, the root of the smaller tree becoming a
// child of the root of the larger one. In this second forest every path to a root has at most
// log2(rows) steps, and the edges along it become longer.
class Joins {
 public:
  explicit Joins(const ParentEdges& edges);

  // The longest edge on the path from a to b; infinite if they are in different trees.
  double between(Index a, Index b) const;

 private:
  Index root_of(Index row) const;

  const double* distance_;
  Array<Index> children_;  // rows with an edge to their parent, by rising length of that edge
  Array<Index> above_;     // by row: its parent in the second forest, itself for a root
  Array<Index> when_;      // by row: the position in children_ of the edge that united it
};

// strength[pixel] is the largest `between` from a pixel to its neighbors along each axis: zero if
// it has no neighbor, NaN if it is outside the mask.
void boundary_strength(const Picture& picture, const ParentEdges& edges, const Execution& execution,
                       double* strength);

}  // namespace quickshift
