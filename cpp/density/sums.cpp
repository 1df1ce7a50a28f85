#include "density/sums.hpp"

#include <cmath>
#include <vector>

#include "tree/box.hpp"

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

}  // namespace quickshift
