// The data and the options of the search for conditional modes.
#pragma once

#include "density/sums.hpp"
#include "tree/kdtree.hpp"

namespace quickshift {

// The responses of the samples of a tree. The distinct responses are the vertices of Algorithm 3;
// the rank of a vertex is its position among them in increasing order. Its place is its value in
// the units of the tree, in which the kernel measures distances.
struct Responses {
  const double* values;  // by rank, increasing; in the caller's units, which are those of tau
  const double* places;  // by rank
  Index vertices;        // number of vertices
  const Index* rungs;    // ranks of the rungs of the ladder, from `rungs_of`
  Index rung_count;
  const Index* begin;             // CSR offsets: the samples in slot i are begin[i] to begin[i + 1]
  const double* place_of_sample;  // increasing within a slot
  const Index* rung_of_sample;    // the last rung that is not above the sample
  const double* weights;          // of the samples, in the scale of the tree's weights

  // The factor from a difference of values to a difference of places.
  double places_of_values() const {
    const Index last = vertices - 1;
    return last == 0 ? 0.0 : (places[last] - places[0]) / (values[last] - values[0]);
  }
};

struct ModeOptions {
  DensityOptions density;
  double tau = 0.0;          // longest edge
  double least_ratio = 0.0;  // roots whose sum is below this share of the highest sum are dropped
  int bits = 53;             // sums are rounded to this many bits before they are compared
  bool keep_flat = true;     // whether to keep flat roots (valleys.hpp)
};

struct ConditionalMode {
  Index rank;
  double sum;  // of the kernels at (x, value), not normalized
  // The lowest sum between this mode and its neighbor: the larger of the two if it has neighbors on
  // both sides, 0 if it has none.
  double valley;
};

}  // namespace quickshift
