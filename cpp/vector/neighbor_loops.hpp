// The inner loops of a search for the K nearest samples: collecting squared distances, selecting
// the smallest ones, and adding up distances. One table per instruction set.
//
// A list of squares is padded with infinity up to a multiple of `neighbor_step`, so that the loops
// run over whole vectors.
#pragma once

#include "vector/pairs.hpp"

namespace quickshift {

inline constexpr int neighbor_step = 8;

// Constants that make a sum of distances exact. Adding `coarse` to a term and subtracting it again
// rounds the term to a multiple of a power of two that is large enough for sums of such multiples
// to be exact; `fine` does the same with the remainders.
struct ExactSum {
  double coarse;
  double fine;
};

struct NeighborLoops {
  // Appends to `kept` the squared distances from a point to the first `count` samples of a leaf
  // that are at most `reach`, and returns how many there are. Up to stride + neighbor_step values
  // are written.
  int (*keep_within)(const double* point, const LeafBlock& samples, int count, double reach,
                     double* kept);
  // The number of values that are at most `limit`.
  long long (*count_within)(const double* values, long long count, double limit);
  // The largest value that is at most `limit`; minus infinity if there is none.
  double (*largest_within)(const double* values, long long count, double limit);
  // Moves the values that are at most `limit` to the front, in their order, and returns how many
  // there are. Up to neighbor_step values after them are overwritten.
  long long (*move_to_front)(double* values, long long count, double limit);
  // The sum of the square roots of `count` values, which are not padded: the same bits for any
  // order of the values.
  double (*sum_of_roots)(const double* values, long long count, const ExactSum& exact);
};

// The loops for the instruction set in use.
const NeighborLoops& neighbor_loops();

}  // namespace quickshift
