// The inner loops over pairs of points: kernel sums, squared distances, nearest higher samples.
// They are compiled once per instruction set and called through the table PairKernels.
//
// In a kernel sum, each lane of a vector holds one query, and the loop runs over the samples. The
// order of summation is the same for every vector width, with one exception:
// - The sum at a query adds its terms in the order of the samples. The infinite kernels keep
//   separate sums over the even and over the odd samples and add the two at the end.
// - The sum at a sample adds its terms in groups of four queries.
// - The exception is the Epanechnikov kernel: vectors of eight doubles keep separate sums over the
//   even and the odd samples, narrower vectors keep one sum.
#pragma once

#include "vector/kernel.hpp"

namespace quickshift {

inline constexpr int max_stride = 20;  // the largest number of slots in a leaf

// Two leaves, or any two blocks of points stored as [feature][stride]. A stride is the number of
// slots of a block; its last slots may be unused.
struct LeafPair {
  const double* queries;
  const double* samples;
  const double* query_weights;
  const double* weights;  // of the samples, [sample_stride]; finite in unused slots too
  const double* period;   // [feature], infinite if not periodic; null if no feature is periodic
  int features;
  int query_stride;   // a multiple of 4, at most max_stride
  int query_count;    // at least query_stride - 4: unused slots are among the last four
  int sample_stride;  // a multiple of 4; unused slots hold finite coordinates
  int sample_count;
  bool equal_weights;  // whether all queries and samples have the same weight
};

// The points of one leaf, to which the distances from other points are computed.
struct LeafBlock {
  const double* coordinates;  // [feature][stride]
  const double* period;       // as in LeafPair
  int features;
  int stride;  // a multiple of 4
};

// The result of `squares_above`, for one point and one leaf of samples.
struct LeafView {
  double least;  // the smallest squared distance to a sample whose height is above the point's
  int equal;     // the number of samples whose height equals the point's
};

// The exponential kernel minus a smooth function: exp(-t) - Σ c_n z^n with z = 2 s / reach_sq - 1,
// for squared distances s below reach_sq, and 0 beyond (density_gaussians.cpp).
struct NearTerms {
  static constexpr int count = 28;
  double coefficients[count];  // c_n
  double reach_sq;
};

// The constants that turn a squared distance s into a term of a kernel sum.
struct KernelScale {
  double width;             // h
  double width_sq;          // h²
  double support_sq;        // the largest s inside the support
  double rounding;          // a bound on the rounding error of h² - s
  double log2_gaussian;     // log2 of a gaussian term is this times s
  double log2_exponential;  // log2 of an exponential term is this times the distance

  // Whether the sum at a sample includes that sample's own term, as all sums except leave-one-out
  // sums do.
  bool own_terms = false;

  const NearTerms* near = nullptr;  // for PairKernels::near_terms only

  KernelScale(Kernel kernel, double h, int features)
      : width(h),
        width_sq(h * h),
        support_sq(largest_square_within(h * support(kernel))),
        rounding((features + 4) * 0x1p-53 * width_sq),
        log2_gaussian(-0.72134752044448170 / width_sq),
        log2_exponential(-1.4426950408889634 / width) {}
};

// sums[i] += Σ_j w_j k(|q_i - s_j|) and, unless other_sums is null, the same for the samples:
// other_sums[j] += Σ_i w_i k(|q_i - s_j|). The terms of the Epanechnikov kernel are h² - s; the
// caller divides the sums by h².
using AddTerms = void (*)(const LeafPair&, const KernelScale&, double* sums, double* other_sums);
// Replaces `count` squared distances by the terms k of these sums, in place. `count` is a multiple
// of 4.
using ToTerms = void (*)(const KernelScale&, int count, double* values);

// The samples of a leaf with their heights, as candidates for the nearest higher sample.
struct HigherSamples {
  LeafBlock block;
  int count;
  const double* heights;
  long long first_slot;  // of the leaf, in the tree
};

// For each location of a leaf, the nearest sample found so far whose height is at least the
// location's `floor`.
struct HigherFound {
  double floor[max_stride];
  double square[max_stride];   // squared distance to it; samples farther away are ignored
  long long slot[max_stride];  // its slot in the tree, or -1 if none was found
  long long tied[max_stride];  // nonzero if a sample was as near as the nearest one before it
};

inline constexpr double roughness = 1.2e-10;  // relative error of the rough terms

struct PairKernels {
  const AddTerms* add_terms;  // [kernel]
  const ToTerms* to_terms;    // [kernel]
  // The same for the infinite kernels only, faster: each term has a relative error of at most
  // `roughness`.
  const AddTerms* rough_terms;
  const ToTerms* to_rough_terms;
  AddTerms near_terms;  // those of KernelScale::near
  // squares[j] = |point - s_j|² by the definition of the distance, without fused operations, for
  // all slots of the leaf.
  void (*squares)(const double* point, const LeafBlock& samples, double* squares);
  // Writes the same for the slots with heights[j] > height, and infinity for the others.
  LeafView (*squares_above)(const double* point, const LeafBlock& samples, const double* heights,
                            double height, double* squares);
  // Returns one bit per group of four locations: whether any location i of the group is within the
  // squared distance squares[i] of a box [low, high][feature]. Not for periodic features.
  unsigned (*near_box)(const LeafBlock& locations, const double* squares, const double* box);
  // ranks[i] = the number of keys below keys[i]. `count` is a multiple of 4.
  void (*ranks)(const double* keys, int count, long long* ranks);
  // Updates `found` for the locations of a leaf with the samples of another leaf. `fours` has one
  // bit per group of four locations; groups whose bit is 0 are skipped. Not for periodic features.
  void (*offer_higher)(const LeafBlock& locations, const HigherSamples& samples, unsigned fours,
                       HigherFound& found);
};

// The loops for the instruction set in use.
const PairKernels& pair_kernels();

}  // namespace quickshift
