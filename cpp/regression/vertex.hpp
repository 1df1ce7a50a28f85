// A response as a vertex of the graph at one query.
#pragma once

#include "support/points.hpp"

namespace quickshift {

struct Vertex {
  Index rank;
  Index rung;     // the last one that is not above it
  double value;   // the response
  double height;  // the sum, rounded
  double sum;
  double place;  // in bandwidths
  double slope;  // of the sum's logarithm, in a bandwidth; gaussian only
};

inline bool above(const Vertex& a, const Vertex& b) {
  return a.height > b.height || (a.height == b.height && a.rank > b.rank);
}

}  // namespace quickshift
