// Definitions shared by all methods of computing kernel sums: the options, the result, the scale of
// a tree, and the distance beyond which samples no longer matter.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "tree/kdtree.hpp"
#include "vector/kernel.hpp"

namespace quickshift {

// How sums are computed. All methods agree within the promised error. Requesting a method that does
// not support the kernel or the data throws std::invalid_argument.
enum class DensityMethod {
  automatic,  // the cheapest, by estimate
  direct,     // pair by pair, over the leaves within reach
  moments,    // whole nodes as polynomials: uniform and epanechnikov, without leave_out
  grid,  // spread, convolve, interpolate; linear time: gaussian, up to three features, rtol > 0
  gaussians,   // as a sum of Gaussians, each by the grid or directly: exponential, up to three
               // features, sums at the samples, rtol > 0, without leave_out and periodic features
  expansions,  // whole nodes by expansions: silverman, triangular, tricube and cosine, one or two
               // features, without leave_out
  blocks,  // matrix products of blocks of points, for many features: sums at the samples, without
           // leave_out and periodic features
  mixed,   // the grid for dense parts, pair by pair for sparse ones: like the grid, at the samples,
           // without periodic features
};

struct DensityOptions {
  Kernel kernel = Kernel::gaussian;
  double bandwidth = 1.0;   // in the caller's units
  double rtol = 1e-9;       // infinite kernels: relative error of every sum; 0 sums all pairs
  bool at_samples = false;  // whether the queries are the samples; kernel_sums sets it
  bool leave_out = false;   // leave-one-out sums at the samples: without the sample's own location
  DensityMethod method = DensityMethod::automatic;
  // By slot of the queries, for infinite kernels at queries that are not the samples: if not null,
  // the error of a sum may be rtol times this number instead of rtol times the sum itself. Sums of
  // one cluster need to be accurate only relative to the sum over all. The numbers must be far from
  // underflow, and the sums have no log_scales.
  const double* totals = nullptr;
};

// The sum at a query is values * exp(log_scales); both are indexed by slot of the query tree. Far
// from every sample the terms of an infinite kernel would underflow, so they are computed relative
// to the term of the nearest sample. log_scales is empty if that cannot happen, because every query
// is a sample and has its own term.
struct Sums {
  Array<double> values;
  Array<double> log_scales;
};

// The bandwidth in the scale of a tree, in which the largest coordinate is in [1, 2). It is
// limited, because the square of the bandwidth times a weight must not overflow. At the samples, a
// bandwidth above 2^60 would not change any sum, and at queries with coordinates up to 2^436 none
// above 2^490 would.
inline double bandwidth_in(const Tree& samples, const DensityOptions& options) {
  return std::fmin(scaled(options.bandwidth, samples.exponent),
                   options.at_samples ? 0x1p60 : 0x1p490);
}

// The constants that turn squared distances into terms, for sums over these samples.
inline KernelScale scale_for(const Tree& samples, const DensityOptions& options) {
  KernelScale scale(options.kernel, bandwidth_in(samples, options), samples.features);
  scale.own_terms = !options.leave_out;
  return scale;
}

inline LeafPair leaf_pair(const Tree& queries, Index query_leaf, const Tree& samples,
                          Index sample_leaf) {
  return {queries.leaf_coordinates(query_leaf),
          samples.leaf_coordinates(sample_leaf),
          queries.weights.data() + query_leaf * queries.stride,
          samples.weights.data() + sample_leaf * samples.stride,
          samples.periods(),
          samples.features,
          queries.stride,
          queries.count(query_leaf),
          samples.stride,
          samples.count(sample_leaf),
          queries.leaf_weights[query_leaf] == samples.leaf_weights[sample_leaf]};
}

// Whether terms with a relative error of `roughness` are accurate enough. Far from a sample, rough
// terms stay tiny instead of becoming zero; with very unequal weights, such terms would matter.
bool rough_terms_suffice(const Tree& samples, const DensityOptions& options);

// In block sums a term exp(-decay) counts as 0 from this decay on; there it is about the smallest
// normal double.
inline constexpr double vanished_decay = 709.0;

// For infinite kernels: the squared distance beyond which all samples together contribute less than
// a relative rtol / 2 to any sum of at least `least` times exp(-near). The other half of rtol is
// left for the errors of the terms themselves.
inline double reach_sq(const Tree& samples, const DensityOptions& options, double least,
                       double near = 0.0) {
  if (options.rtol == 0.0) return std::numeric_limits<double>::infinity();
  const double amount = near + std::log(samples.total_weight / (0.5 * options.rtol * least));
  return square_at_decay(options.kernel, std::fmax(amount, 0.0), bandwidth_in(samples, options));
}

// The sum at one point, divided by exp(log_scale), over the samples whose squared distance is at
// most reach_sq; slot `excluded` is left out. Every term is computed by the definition of the
// kernel, which is slow. It serves queries that are so far from all samples that terms would
// underflow, and sums that suffer from cancellation or depend on the exact edge of a support.
double single_sum(const Tree& samples, const DensityOptions& options, const double* point,
                  double reach_sq, double log_scale, Index excluded = -1);

}  // namespace quickshift
