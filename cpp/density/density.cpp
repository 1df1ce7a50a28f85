#include "density/density.hpp"

#include <optional>
#include <stdexcept>

#include "density/grid/density_grid.hpp"
#include "density/methods.hpp"

namespace quickshift {

namespace {

DensityMethod choose(const Tree& queries, const Tree& samples, const DensityOptions& options) {
  const bool moments = has_moments(options.kernel) && !options.leave_out;
  if (options.method == DensityMethod::moments && !moments) {
    throw std::invalid_argument("moments do not serve this kernel, or sums that leave out");
  }
  const bool blocks = &queries == &samples && !options.leave_out && !samples.periodic;
  if (options.method == DensityMethod::blocks && !blocks) {
    throw std::invalid_argument("blocks serve sums at the samples, none left out or periodic");
  }
  if (options.method != DensityMethod::automatic) return options.method;
  if (blocks && blocks_pay_for_sums(samples, options)) return DensityMethod::blocks;
  return moments ? DensityMethod::moments : DensityMethod::direct;
}

// The grid where it is asked for, or where it is the cheapest.
std::optional<GridJob> choose_grid(const Tree& queries, const Tree& samples,
                                   const DensityOptions& options) {
  if (options.method == DensityMethod::automatic)
    return prepare_grid_if_cheaper(queries, samples, options);
  if (options.method != DensityMethod::grid) return {};
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
    const DensityMethod method = choose(queries, samples, options);
    if (method == DensityMethod::blocks) {
      block_sums(samples, options, execution, sums);
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
