#include "density.hpp"

#include <cmath>

#include "box.hpp"

namespace quickshift {

double single_sum(const Tree& samples, const DensityOptions& options, const double* point,
                  double reach_sq, double log_scale, Index excluded) {
  const double h = scaled(options.bandwidth, samples.exponent);
  const auto term = [&](double square) {
    if (!is_infinite(options.kernel)) return profile(options.kernel, std::sqrt(square), h);
    return std::exp(-log_scale - decay(options.kernel, square, h));
  };
  std::vector<double> squares(static_cast<std::size_t>(samples.stride));
  std::vector<Index> stack{1};
  double sum = 0.0;
  while (!stack.empty()) {
    const Index node = stack.back();
    stack.pop_back();
    const double least =
        least_to_box(point, samples.low(node), samples.features, samples.periods());
    if (least > reach_sq) continue;
    if (!samples.is_leaf(node)) {
      stack.push_back(2 * node + 1);
      stack.push_back(2 * node);
      continue;
    }
    const Index leaf = samples.leaf_of(node);
    pair_kernels().squares(point, samples.leaf_block(leaf), squares.data());
    for (int i = 0; i < samples.count(leaf); ++i) {
      const Index slot = leaf * samples.stride + i;
      if (slot != excluded) sum += samples.weights[slot] * term(squares[i]);
    }
  }
  return sum;
}

namespace {

// Where almost nothing is in a compact support, rounding must not make nothing into something.
void settle_empty_supports(const Tree& queries, const Tree& samples, const DensityOptions& options,
                           Sums& sums) {
  const double h = scaled(options.bandwidth, samples.exponent);
  const double reach_sq = largest_square_within(h * support(options.kernel));
  std::vector<double> point(static_cast<std::size_t>(queries.features));
  for (Index slot = 0; slot < queries.slots(); ++slot) {
    const double value = sums.values[slot];
    if (value == 0.0 || value > 1e-14 * samples.total_weight) continue;
    for (int k = 0; k < queries.features; ++k) point[k] = queries.coordinate(slot, k);
    sums.values[slot] = single_sum(samples, options, point.data(), reach_sq, 0.0,
                                   options.leave_out ? slot : Index{-1});
  }
}

}  // namespace

Sums kernel_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
                 const Execution& execution) {
  const bool includes_itself = &queries == &samples && !options.leave_out;
  const bool moments = has_moments(options.kernel) && options.use_moments && !options.leave_out;
  Sums sums;
  sums.values.assign(static_cast<std::size_t>(queries.slots()), 0.0);
  if (!includes_itself) sums.log_scales.assign(static_cast<std::size_t>(queries.slots()), 0.0);
  (moments ? moment_sums : direct_sums)(queries, samples, options, execution, sums);
  if (!includes_itself && !is_infinite(options.kernel)) {
    settle_empty_supports(queries, samples, options, sums);
  }
  return sums;
}

}  // namespace quickshift
