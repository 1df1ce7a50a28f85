// A vertex (a distinct response) whose sum at the current query has been computed.
#pragma once

#include "support/points.hpp"

namespace quickshift {

struct Vertex {
  Index rank;
  Index rung;     // the last rung that is not above it
  double value;   // the response
  double height;  // the sum, rounded to ModeOptions::bits, by which vertices are compared
  double sum;
  double place;  // in bandwidths
  double slope;  // of the logarithm of the sum, per bandwidth; gaussian only
};

// The total order of decision 5: of equal heights, the larger response is higher.
inline bool above(const Vertex& a, const Vertex& b) {
  return a.height > b.height || (a.height == b.height && a.rank > b.rank);
}

}  // namespace quickshift
