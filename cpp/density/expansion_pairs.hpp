// Which pairs of nodes of two trees are summed by expansions (docs/decisions/34-expansions.md).
#pragma once

#include <cmath>

#include "density/expansion_reach.hpp"
#include "density/sums.hpp"
#include "support/scratch.hpp"
#include "tree/box.hpp"

namespace quickshift {

// The level of the smallest nodes with expansions; -1 if there are none. One array of expansions
// may take half of the scratch memory.
inline int expansion_level(const Tree& tree, const ExpansionReach& reach) {
  const auto points = static_cast<double>(tree.locations);
  const double limit = 0.5 * scratch_limit(points, tree.features) / sizeof(double);
  const auto fits = [&](int level) {
    return (tree.locations >> level) >= reach.least_points() &&
           std::ldexp(expansion_stride(reach.order()), level + 1) <= limit;
  };
  int level = tree.levels - 1;
  while (level >= 0 && !fits(level)) --level;
  return level;
}
// Nodes with expansions have smaller numbers than this. The number of the root is 1.
inline Index expansion_ends(const Tree& tree, const ExpansionReach& reach) {
  return Index{1} << (expansion_level(tree, reach) + 1);
}

class ExpansionPairs {
 public:
  ExpansionPairs(const Tree& queries, const Tree& samples, const DensityOptions& options)
      : queries_(queries),
        samples_(samples),
        support_sq_(scale_for(samples, options).support_sq),
        unit_(1.0 / (bandwidth_in(samples, options) * support(options.kernel))),
        reach_(expansion_reach(options.kernel, samples.features)),
        query_ends_(expansion_ends(queries, reach_)),
        sample_ends_(expansion_ends(samples, reach_)) {}

  double support_sq() const { return support_sq_; }
  double unit() const { return unit_; }
  const ExpansionReach& reach() const { return reach_; }

  struct Spread {
    double between[2];  // from the center of the samples' box to that of the queries' box
    double between_sq;
    double spread_sq;  // as in ExpansionReach
  };

  // In units of the radius of the support.
  Spread spread(Index query, Index sample) const {
    Spread result{};
    for (int k = 0; k < samples_.features; ++k) {
      double c = middle(queries_, query, k) - middle(samples_, sample, k);
      if (samples_.periodic && std::isfinite(samples_.period[k])) {
        c -= samples_.period[k] * std::rint(c / samples_.period[k]);
      }
      const double half = 0.5 * ((queries_.high(query)[k] - queries_.low(query)[k]) +
                                 (samples_.high(sample)[k] - samples_.low(sample)[k]));
      result.between[k] = c * unit_;
      result.between_sq += result.between[k] * result.between[k];
      result.spread_sq += half * half * (unit_ * unit_);
    }
    return result;
  }

  bool take_whole(Index query, Index sample, Bounds squares) const {
    if (squares.most > support_sq_ || query >= query_ends_ || sample >= sample_ends_) return false;
    const Spread found = spread(query, sample);
    return reach_.allows(found.between_sq, found.spread_sq);
  }

 private:
  const Tree& queries_;
  const Tree& samples_;
  double support_sq_;
  double unit_;
  const ExpansionReach& reach_;
  Index query_ends_;
  Index sample_ends_;
};

}  // namespace quickshift
