#include "regression/ladder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Sums below this share of the highest are not required to be accurate to rtol.
constexpr double least_accurate = 1e-6;

// The distance along the responses beyond which a sample contributes nothing that counts, for any
// query. For the exponential kernel it grows with the query's distance in x, so there is no limit.
double reach_along(const Tree& tree, const ModeOptions& options) {
  const DensityOptions& density = options.density;
  if (density.kernel == Kernel::exponential) return infinity;
  const double h = bandwidth_in(tree, density);
  const double square = density.kernel == Kernel::gaussian
                            ? reach_sq(tree, density, least_sum(options, tree.least_weight))
                            : largest_square_within(h * support(density.kernel));
  return std::sqrt(square) * (1.0 + 0x1p-50);
}

}  // namespace

double least_sum(const ModeOptions& options, double weight) {
  return 0.5 * std::max(options.least_ratio, least_accurate) * weight;
}

std::vector<Index> rungs_of(const double* places, Index vertices, double width) {
  std::vector<Index> ranks{0};
  for (Index rank = 0; rank < vertices - 1; ranks.push_back(rank)) {
    const double* next = std::upper_bound(places + rank, places + vertices, places[rank] + width);
    rank = std::max<Index>(rank + 1, next - places - 1);
  }
  return ranks;
}

Ladder::Ladder(const Tree& tree, const Responses& responses, const ModeOptions& options)
    : ranks(responses.rungs, responses.rungs + responses.rung_count),
      first_reaching(ranks.size()),
      last_reaching(ranks.size()) {
  for (Index rank : ranks) places.push_back(responses.places[rank]);
  for (Index rank = 0; rank + 1 < responses.vertices; ++rank) {
    const double gap = responses.values[rank + 1] - responses.values[rank];
    if (!(gap <= (1.0 - indistinct) * options.tau)) gaps.push_back(rank);
  }
  const double reach = reach_along(tree, options);
  Index first = 0;
  Index last = 0;
  for (Index rung = 0; rung < size(); ++rung) {
    const Index next = std::min(rung + 1, size() - 1);
    // Samples assigned to a rung lie between it and the next one.
    while (places[std::min(first + 1, size() - 1)] < places[rung] - reach) ++first;
    while (last + 1 < size() && places[last + 1] <= places[next] + reach) ++last;
    first_reaching[rung] = first;
    last_reaching[rung] = last;
  }
}

}  // namespace quickshift
