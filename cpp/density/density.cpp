#include "density/density.hpp"

#include <optional>
#include <stdexcept>

#include "density/density_gaussians.hpp"
#include "density/grid/density_grid.hpp"
#include "density/methods.hpp"
#include "tree/blocks.hpp"

namespace quickshift {

namespace {

// Chooses one of the methods other than the grid and the sum of Gaussians.
DensityMethod choose(const Tree& queries, const Tree& samples, const DensityOptions& options) {
  const bool moments = has_moments(options.kernel) && !options.leave_out;
  if (options.method == DensityMethod::moments && !moments) {
    throw std::invalid_argument(
        "method moments supports the uniform and epanechnikov kernels, without leave_out; use "
        "another method");
  }
  const bool blocks = &queries == &samples && !options.leave_out && !samples.periodic;
  if (options.method == DensityMethod::blocks && !blocks) {
    throw std::invalid_argument(
        "method blocks supports sums at the samples only, without leave_out and periodic features; "
        "use another method");
  }
  const bool expansions = expansions_serve(samples, options);
  if (options.method == DensityMethod::expansions && !expansions) {
    throw std::invalid_argument(
        "method expansions supports the silverman, triangular, tricube and cosine kernels with one "
        "or two features, without leave_out, for weights within a range of 1e30; use another "
        "method");
  }
  if (options.method != DensityMethod::automatic) return options.method;
  if (blocks && blocks_fit(samples, 1) && blocks_pay_for_sums(samples, options)) {
    return DensityMethod::blocks;
  }
  if (expansions && expansions_pay(queries, samples, options)) return DensityMethod::expansions;
  const bool pays = moments && (&queries != &samples || samples.periodic ||
                                moments_pay_for_sums(samples, options));
  return pays ? DensityMethod::moments : DensityMethod::direct;
}

// The grid, ready to run, if it is requested or estimated to be the cheapest method; else none.
std::optional<GridJob> choose_grid(const Tree& queries, const Tree& samples,
                                   const DensityOptions& options) {
  if (options.method == DensityMethod::automatic)
    return choose_grid_or_pairs(queries, samples, options).job;
  const bool mixed = options.method == DensityMethod::mixed;
  if (options.method != DensityMethod::grid && !mixed) return {};
  auto job = prepare_grid(queries, samples, options);
  if (!job && mixed) {
    throw std::invalid_argument(
        "method mixed supports what method grid does, at the samples and without periodic "
        "features; use another method");
  }
  if (!job) {
    throw std::invalid_argument(
        "method grid supports the gaussian kernel with up to three features, without leave_out, "
        "for rtol above 4e-13, periods of about twenty bandwidths or more, and weights within a "
        "range of 1e30; use another method");
  }
  return job;
}

// The sum of Gaussians, ready to run, if it is requested or estimated to be faster; else none.
std::optional<GaussianMixture> choose_gaussians(const Tree& queries, const Tree& samples,
                                                const DensityOptions& options) {
  const bool forced = options.method == DensityMethod::gaussians;
  if (!forced && options.method != DensityMethod::automatic) return {};
  if (&queries == &samples) {
    if (auto mixture = prepare_gaussians(samples, options, forced)) return mixture;
  }
  if (forced) {
    throw std::invalid_argument(
        "method gaussians supports the exponential kernel with up to three features, at the "
        "samples, without leave_out and periodic features, for rtol above 1e-11 and weights within "
        "a range of 1e30; use another method");
  }
  return {};
}

}  // namespace

Sums kernel_sums(const Tree& queries, const Tree& samples, const DensityOptions& given,
                 const Execution& execution) {
  DensityOptions options = given;
  options.at_samples = &queries == &samples;
  const bool includes_itself = options.at_samples && !options.leave_out;
  Sums sums;
  sums.values = filled_array(queries.slots(), 0.0, execution);
  if (!includes_itself) sums.log_scales = filled_array(queries.slots(), 0.0, execution);
  if (const auto grid = choose_grid(queries, samples, options)) {
    grid_sums(queries, samples, options, *grid, execution, sums);
  } else if (const auto gaussians = choose_gaussians(queries, samples, options)) {
    gaussian_sums(samples, options, *gaussians, execution, sums);
  } else {
    const DensityMethod method = choose(queries, samples, options);
    if (method == DensityMethod::blocks) {
      block_sums(samples, options, execution, sums);
    } else if (method == DensityMethod::expansions) {
      expansion_sums(queries, samples, options, execution, sums);
    } else if (method == DensityMethod::moments) {
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
