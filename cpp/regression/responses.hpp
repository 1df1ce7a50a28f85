// The responses of the samples as a sorted line, and what is asked of the modes along it.
#pragma once

#include "density/sums.hpp"
#include "tree/kdtree.hpp"

namespace quickshift {

// The responses of a tree's samples. Vertices are the distinct ones, and ranks their positions.
struct Responses {
  const double* values;  // by rank: rising, as the caller gave them, because tau is in their units
  const double* places;  // by rank: the same in the scale of the tree, where the kernel measures
  Index vertices;        // how many
  const Index* rungs;    // some ranks, as `rungs_of` finds them
  Index rung_count;
  const Index* begin;             // by slot of the tree: its samples, up to the next slot's
  const double* place_of_sample;  // rising within a slot
  const Index* rung_of_sample;    // the last rung that is not above it
  const double* weights;          // of the samples, scaled as the tree's

  // What turns a difference of values into one of places.
  double places_of_values() const {
    const Index last = vertices - 1;
    return last == 0 ? 0.0 : (places[last] - places[0]) / (values[last] - values[0]);
  }
};

struct ModeOptions {
  DensityOptions density;
  double tau = 0.0;          // longest edge
  double least_ratio = 0.0;  // roots below this share of the highest are dropped
  int bits = 53;             // of a sum, that decide who is higher
  bool keep_flat = true;     // roots that do not rise above the way to the next one
};

struct ConditionalMode {
  Index rank;
  double sum;     // of the kernels at (x, value), not normalised
  double valley;  // the higher of the lowest sums on the way to the modes on both sides; or 0
};

}  // namespace quickshift
