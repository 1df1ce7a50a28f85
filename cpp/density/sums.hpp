// What every method of summing kernels shares: its options, its result, how far terms matter.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "tree/kdtree.hpp"
#include "vector/kernel.hpp"

namespace quickshift {

// How sums are computed; each way gives the same sums within its promise. A way that does not serve
// the kernel or the dimension at hand is an error where it is asked for.
enum class DensityMethod {
  automatic,  // the cheapest by estimate
  direct,     // pair by pair, over the leaves within reach
  moments,    // polynomials of whole nodes: uniform and epanechnikov
  grid,       // through a grid, in linear time: gaussian, up to three features, rtol above 0
  blocks,     // products of whole blocks, for many features: samples only, none periodic
};

struct DensityOptions {
  Kernel kernel = Kernel::gaussian;
  double bandwidth = 1.0;  // in the caller's units
  double rtol = 1e-9;      // infinite kernels: relative error of every sum; 0 sums all pairs
  bool leave_out = false;  // queries are the samples: each leaves out its own location
  DensityMethod method = DensityMethod::automatic;
};

// The bandwidth in the scale of a tree. Beyond 2^60 times the data nothing changes any more, and
// its square times a weight must not overflow.
inline double bandwidth_in(const Tree& samples, const DensityOptions& options) {
  return std::fmin(scaled(options.bandwidth, samples.exponent), 0x1p60);
}

// What turns squares into terms, for sums over these samples.
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

// By slot of the query tree. The sum is values * exp(log_scales): far from every sample the terms
// of an infinite kernel would underflow, so they are taken relative to the nearest sample's. Empty
// where that cannot happen, because every query is a sample.
struct Sums {
  Array<double> values;
  Array<double> log_scales;
};

// Whether terms to a relative `roughness` serve. Far below the smallest sum they are not zero but
// tiny, which very unequal weights would bring up again.
bool rough_terms_suffice(const Tree& samples, const DensityOptions& options);

// The square beyond which the samples add less than half of rtol to a sum that is at least `least`
// times exp(-near); the other half is for the terms' own errors. Infinite kernels.
inline double reach_sq(const Tree& samples, const DensityOptions& options, double least,
                       double near = 0.0) {
  if (options.rtol == 0.0) return std::numeric_limits<double>::infinity();
  const double amount = near + std::log(samples.total_weight / (0.5 * options.rtol * least));
  return square_at_decay(options.kernel, std::fmax(amount, 0.0), bandwidth_in(samples, options));
}

// One sum by itself, slowly and with every term by its definition, over the samples whose squared
// distance is at most reach_sq: for queries so far away that the terms would underflow, and where
// cancellation or the exact edge of a support decides. Relative to exp(log_scale).
double single_sum(const Tree& samples, const DensityOptions& options, const double* point,
                  double reach_sq, double log_scale, Index excluded = -1);

}  // namespace quickshift
