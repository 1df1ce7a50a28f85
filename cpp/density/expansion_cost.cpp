// Estimates whether kernel sums are faster by expansions (density_expansions.cpp) than pair by
// pair.
#include <algorithm>
#include <utility>
#include <vector>

#include "density/expansion_pairs.hpp"
#include "density/methods.hpp"

namespace quickshift {

namespace {

constexpr double most_weight_ratio_of_expansions = 1e30;
// Of bandwidths in the scale of the tree, whose squares have to stay in the range of doubles.
constexpr double least_bandwidth = 1e-140;

// Seconds on one thread, measured in November 2026 on an AMD EPYC with AVX-512, from forced runs
// with 1e5 and 1e6 points in two features. Only their ratios matter.
constexpr double seconds_per_translation[] = {1.2e-7, 1.8e-7, 2.7e-7, 5.5e-7};  // by order
constexpr double seconds_per_node = 6e-6;  // moments and polynomials, per smallest node
constexpr double one_sided = 1.8;          // pairs of a query and a sample, per pair of samples
constexpr double least_seconds = 2e-3;     // below this, nothing is estimated

double seconds_per_pair(Kernel kernel) {
  if (kernel == Kernel::silverman) return 0.3e-9;
  return kernel == Kernel::tricube ? 0.17e-9 : 0.13e-9;
}

// The time that expansions save at one leaf of queries, found by a traversal that follows only the
// nodes above this leaf.
class LeafSavings {
 public:
  LeafSavings(const Tree& queries, const Tree& samples, const ExpansionPairs& pairs,
              double seconds_of_leaves)
      : queries_(queries),
        samples_(samples),
        pairs_(pairs),
        seconds_of_leaves_(seconds_of_leaves) {}

  double operator()(Index leaf) {
    double saved = 0.0;
    std::vector<std::pair<int, Index>> stack{{0, 1}};  // the level of the query node, sample node
    while (!stack.empty()) {
      const auto [level, sample] = stack.back();
      stack.pop_back();
      const Index query = (queries_.leaves() + leaf) >> (queries_.levels - level);
      const Bounds squares = between_boxes(queries_.low(query), samples_.low(sample),
                                           samples_.features, samples_.periods());
      if (squares.least > pairs_.support_sq()) continue;
      if (pairs_.take_whole(query, sample, squares)) {
        saved += saved_by(query, sample, level);
        continue;
      }
      const bool ends = samples_.is_leaf(sample);
      if (ends && level == queries_.levels) continue;
      const int below = std::min(level + 1, queries_.levels);
      stack.emplace_back(below, ends ? sample : 2 * sample + 1);
      if (!ends) stack.emplace_back(below, 2 * sample);
    }
    return saved;
  }

 private:
  // The part of a translation that falls to one leaf below the query node.
  double saved_by(Index query, Index sample, int level) const {
    const ExpansionPairs::Spread spread = pairs_.spread(query, sample);
    const int order = pairs_.reach().order_for(spread.between_sq, spread.spread_sq);
    double leaves = 1.0;
    for (Index node = sample; !samples_.is_leaf(node); node *= 2) leaves *= 2.0;
    const bool both = &queries_ == &samples_;
    const double translation = seconds_per_translation[order] * (both ? 0.5 : 1.0);
    return leaves * seconds_of_leaves_ -
           translation / static_cast<double>(Index{1} << (queries_.levels - level));
  }

  const Tree& queries_;
  const Tree& samples_;
  const ExpansionPairs& pairs_;
  double seconds_of_leaves_;  // for a leaf of queries with a leaf of samples
};

}  // namespace

bool expansions_serve(const Tree& samples, const DensityOptions& options) {
  return has_expansions(options.kernel) && samples.features <= most_features_with_expansions &&
         !options.leave_out &&
         samples.greatest_weight <= most_weight_ratio_of_expansions * samples.least_weight &&
         bandwidth_in(samples, options) >= least_bandwidth;
}

bool expansions_pay(const Tree& queries, const Tree& samples, const DensityOptions& options) {
  const double per_pair =
      seconds_per_pair(options.kernel) * (&queries == &samples ? 1.0 : one_sided);
  const double all_pairs =
      static_cast<double>(queries.slots()) * static_cast<double>(samples.slots());
  if (all_pairs * per_pair < least_seconds) return false;
  const ExpansionPairs pairs(queries, samples, options);
  constexpr Index most_leaves = 32;
  const Index sampled = std::min(most_leaves, queries.leaves());
  LeafSavings savings(queries, samples, pairs, per_pair * queries.stride * samples.stride);
  double saved = 0.0;
  for (Index i = 0; i < sampled; ++i)
    saved += savings((2 * i + 1) * queries.leaves() / (2 * sampled));
  const auto nodes = static_cast<double>(expansion_ends(queries, pairs.reach()) +
                                         expansion_ends(samples, pairs.reach()));
  return saved / static_cast<double>(sampled) * static_cast<double>(queries.leaves()) >
         0.25 * nodes * seconds_per_node;
}

}  // namespace quickshift
