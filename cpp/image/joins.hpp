// When two rows come into one tree as tau grows.
#pragma once

#include "forest/forest.hpp"
#include "image/picture.hpp"
#include "support/array.hpp"

namespace quickshift {

// The longest edge on the way from a row to another, as a forest of its own: edges are united from
// the shortest on, the smaller tree below the larger, so that every way up is short, and its edges
// grow longer on it.
class Joins {
 public:
  explicit Joins(const ParentEdges& edges);

  double between(Index a, Index b) const;  // infinite where they never join

 private:
  Index root_of(Index row) const;

  const double* distance_;
  Array<Index> children_;  // by rising distance of their edges
  Array<Index> above_;     // by row, itself where there is none
  Array<Index> when_;      // by row: which edge put it there
};

// strength[pixel]: the largest of `between` to its neighbours along each axis; NaN outside of the
// mask, zero where there is no neighbour.
void boundary_strength(const Picture& picture, const ParentEdges& edges, const Execution& execution,
                       double* strength);

}  // namespace quickshift
