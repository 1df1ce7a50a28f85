// The inner loops over pairs of points: one source, compiled once for each instruction set.
//
// Queries lie in the lanes of a vector and samples come one after another (or two), so every query
// adds its terms in the order of the samples, for the infinite kernels the even and the odd ones
// apart, and every sample its terms in fours of queries: the order does not depend on the width of
// the vectors, but for Epanechnikov's kernel, whose even and odd ones are apart in wide ones alone.
#pragma once

#include "vector/kernel.hpp"

namespace quickshift {

inline constexpr int max_stride = 20;  // of a leaf

// Two leaves, or any two blocks stored as [feature][stride].
struct LeafPair {
  const double* queries;
  const double* samples;
  const double* query_weights;
  const double* weights;  // of the samples, as many as sample_stride; finite where unused
  const double* period;   // null where every feature is open
  int features;
  int query_stride;   // a multiple of 4, at most max_stride
  int query_count;    // at least query_stride - 4: the unused ones are among the last four
  int sample_stride;  // a multiple of 4, filled up
  int sample_count;
  bool equal_weights;  // of all queries and samples
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
  double width;             // h
  double width_sq;          // h²
  double support_sq;        // the largest square inside the support
  double rounding;          // how far h² - s may be off
  double log2_gaussian;     // what turns a square into the binary logarithm of a gaussian term
  double log2_exponential;  // and a distance into that of an exponential one

  bool own_terms = false;  // whether a sum at a sample has that sample's own term

  KernelScale(Kernel kernel, double h, int features)
      : width(h),
        width_sq(h * h),
        support_sq(largest_square_within(h * support(kernel))),
        rounding((features + 4) * 0x1p-53 * width_sq),
        log2_gaussian(-0.72134752044448170 / width_sq),
        log2_exponential(-1.4426950408889634 / width) {}
};

// sums[i] += Σ_j w_j k(|q_i - s_j|), and where other_sums is not null the same for the samples:
// other_sums[j] += Σ_i w_i k(|q_i - s_j|). For epanechnikov the terms are h² - s (divide the sum by
// h²).
using AddTerms = void (*)(const LeafPair&, const KernelScale&, double* sums, double* other_sums);
// Turns squares into such terms, in place; count is a multiple of 4.
using ToTerms = void (*)(const KernelScale&, int count, double* values);

// The samples of a leaf, with their heights.
struct HigherSamples {
  LeafBlock block;
  int count;
  const double* heights;
  long long first_slot;
};

// For each location of a leaf the nearest sample that is at least as high as `floor`.
struct HigherFound {
  double floor[max_stride];
  double square[max_stride];   // of the nearest so far; none beyond it counts
  long long slot[max_stride];  // -1 where there is none
  long long tied[max_stride];  // not 0 where two were equally near
};

inline constexpr double roughness = 1.2e-10;

struct PairKernels {
  const AddTerms* add_terms;    // by kernel
  const ToTerms* to_terms;      // by kernel
  const AddTerms* rough_terms;  // of the infinite kernels, to a relative `roughness`
  const ToTerms* to_rough_terms;
  // squares[j] = |point - s_j|² in the exact definition of the distance; all of the stride.
  void (*squares)(const double* point, const LeafBlock& samples, double* squares);
  // The same where heights[j] > height, infinity elsewhere.
  LeafView (*squares_above)(const double* point, const LeafBlock& samples, const double* heights,
                            double height, double* squares);
  // A bit for each four locations: whether the least square of one of them to a box
  // [low, high][feature] is at most its own in `squares`. Open features only.
  unsigned (*near_box)(const LeafBlock& locations, const double* squares, const double* box);
  // ranks[i] = how many keys are below keys[i]; count is a multiple of 4.
  void (*ranks)(const double* keys, int count, long long* ranks);
  // Offers the samples of a leaf to those fours of locations of another one. Open features only.
  void (*offer_higher)(const LeafBlock& locations, const HigherSamples& samples, unsigned fours,
                       HigherFound& found);
};

// Those of the instruction set in use.
const PairKernels& pair_kernels();

}  // namespace quickshift
