#include "density.hpp"

#include <cmath>
#include <stdexcept>

#include "blocks_estimate.hpp"
#include "box.hpp"
#include "density_grid.hpp"

namespace quickshift {

double single_sum(const Tree& samples, const DensityOptions& options, const double* point,
                  double reach_sq, double log_scale, Index excluded) {
  const double h = bandwidth_in(samples, options);
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

bool rough_terms_suffice(const Tree& samples, const DensityOptions& options) {
  return is_infinite(options.kernel) && options.rtol > 4.0 * roughness &&
         samples.total_weight < 1e25 * samples.least_weight;
}

namespace {

Way choose(const Tree& queries, const Tree& samples, const DensityOptions& options) {
  const bool moments = has_moments(options.kernel) && !options.leave_out;
  if (options.way == Way::moments && !moments) {
    throw std::invalid_argument("moments do not serve this kernel, or sums that leave out");
  }
  const bool blocks = &queries == &samples && !options.leave_out && !samples.periodic;
  if (options.way == Way::blocks && !blocks) {
    throw std::invalid_argument("blocks serve sums at the samples, none left out or periodic");
  }
  if (options.way != Way::automatic) return options.way;
  if (blocks && blocks_pay_for_sums(samples, options)) return Way::blocks;
  return moments ? Way::moments : Way::direct;
}

// The grid where it is asked for, or where it is the cheapest.
std::optional<GridJob> choose_grid(const Tree& queries, const Tree& samples,
                                   const DensityOptions& options) {
  if (options.way == Way::automatic) return prepare_worthy_grid(queries, samples, options);
  if (options.way != Way::grid) return {};
  auto job = prepare_grid(queries, samples, options);
  if (!job) {
    throw std::invalid_argument(
        "the grid serves the gaussian kernel in up to three dimensions, without leaving out, for "
        "rtol above 4e-13, long periods and weights in a range of 1e30");
  }
  return job;
}

}  // namespace

Sums kernel_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
                 const Execution& execution) {
  const bool includes_itself = &queries == &samples && !options.leave_out;
  Sums sums;
  sums.values = filled_array(queries.slots(), 0.0, execution);
  if (!includes_itself) sums.log_scales = filled_array(queries.slots(), 0.0, execution);
  if (const auto grid = choose_grid(queries, samples, options)) {
    grid_sums(queries, samples, options, *grid, execution, sums);
  } else {
    const Way way = choose(queries, samples, options);
    if (way == Way::blocks) {
      block_sums(samples, options, execution, sums);
    } else if (way == Way::moments) {
      moment_sums(queries, samples, options, execution, sums);
    } else {
      direct_sums(queries, samples, options, execution, sums);
    }
  }
  if (samples.weight_exponent != 0) {
    for (double& value : sums.values) value = std::ldexp(value, samples.weight_exponent);
  }
  return sums;
}

}  // namespace quickshift
