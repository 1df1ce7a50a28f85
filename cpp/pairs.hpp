// The inner loops over pairs of points: one source, compiled once for each instruction set.
//
// Queries lie in the lanes of a vector and samples come one after another, so every query adds its
// terms in the order of the samples: the sum's bits do not depend on the width of the vectors.
#pragma once

#include "kernel.hpp"

namespace quickshift {

// Two leaves, or any two blocks stored as [feature][stride].
struct LeafPair {
  const double* queries;
  const double* samples;
  const double* weights;  // of the samples
  const double* period;   // null where every feature is open
  int features;
  int query_stride;  // a multiple of 4: all of them are computed
  int sample_stride;
  int sample_count;
};

// One leaf, seen from a point.
struct LeafBlock {
  const double* coordinates;  // [feature][stride]
  const double* period;       // null where every feature is open
  int features;
  int stride;  // a multiple of 4
};

struct LeafView {
  double least;  // of the squares that were not masked
  int equal;     // how many heights equal the point's
};

// What a kernel needs to turn a squared distance into a term.
struct KernelScale {
  double width;       // h
  double width_sq;    // h²
  double support_sq;  // the largest square inside the support
  double rounding;    // how far h² - s may be off

  KernelScale(Kernel kernel, double h, int features)
      : width(h),
        width_sq(h * h),
        support_sq(largest_square_within(h * support(kernel))),
        rounding((features + 4) * 0x1p-53 * width_sq) {}
};

using AddTerms = void (*)(const LeafPair&, const KernelScale&, double* sums);
using ToTerms = void (*)(const KernelScale&, int count, double* values);

struct PairKernels {
  // sums[i] += Σ_j w_j k(|q_i - s_j|). For epanechnikov the terms are h² - s (divide the sum by
  // h²).
  const AddTerms* add_terms;  // by kernel
  // Turns squares into such terms, in place; count is a multiple of 4.
  const ToTerms* to_terms;  // by kernel
  // squares[j] = |point - s_j|² in the exact definition of the distance; all of the stride.
  void (*squares)(const double* point, const LeafBlock& samples, double* squares);
  // The same where heights[j] > height, infinity elsewhere.
  LeafView (*squares_above)(const double* point, const LeafBlock& samples, const double* heights,
                            double height, double* squares);
};

// The fastest set that this machine can run.
const PairKernels& pair_kernels();

}  // namespace quickshift
