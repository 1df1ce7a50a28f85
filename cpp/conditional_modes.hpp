// Algorithm 3: the modes of f(y | x) at queries x, by branch and bound over the sorted responses.
//
// The vertices are the distinct responses of all samples. Along the line of responses the sum of
// the kernels at x is that of the samples near x, so a vertex costs as much as the window has
// samples, and there are far more vertices than that. But the sum between two vertices is bounded
// by the sums at both: its logarithm (gaussian) or itself (most others) is convex once a parabola
// is added, whose size is known. So the highest vertex of a range is found from few sums.
#pragma once

#include <vector>

#include "density.hpp"
#include "kdtree.hpp"

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

// Ranks to begin with, the first and the last among them: where two of them are further apart than
// `width`, no vertex lies in between.
std::vector<Index> rungs_of(const double* places, Index vertices, double width);

// Part of tau by which the gaps of a dense stretch of responses stay below it.
inline constexpr double indistinct = 1e-3;

struct LineOptions {
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

// The modes at every query, from `offsets[query]` to before `offsets[query + 1]`, highest first.
struct ConditionalModes {
  std::vector<Index> offsets;
  std::vector<ConditionalMode> modes;
  std::vector<double> marginals;   // by query: the sum of the kernels at x, whatever the response
  std::vector<double> log_scales;  // by query: sums are relative to exp of it
};

ConditionalModes conditional_modes(const Tree& tree, const Responses& responses,
                                   const Points& queries, const LineOptions& options,
                                   const Execution& execution);

}  // namespace quickshift
