// The squared distances to the nearest samples of a point, collected leaf by leaf, for samples that
// all have the weight 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "scale/options.hpp"
#include "tree/kdtree.hpp"
#include "vector/neighbor_loops.hpp"

namespace quickshift {

// The constants of an exact sum of `terms` numbers that are not negative and add up to no more than
// `bound`, a positive number. With bound < 2^e, multiples of 2^(e - 51) that add up to less than
// 2^(e + 1) are added without rounding. The remainders are at most 2^(e - 52) each.
inline ExactSum exact_sum(double bound, double terms) {
  const int exponent = std::ilogb(bound) + 1;
  const int rest = exponent - 52 + std::ilogb(terms) + 1;
  return {std::ldexp(1.5, exponent + 1), std::ldexp(1.5, rest + 1)};
}

// Every K + 1: the point itself is among its nearest samples.
inline std::vector<Index> with_itself(const ScaleOptions& options) {
  std::vector<Index> counts;
  for (const double k : options.neighbors) counts.push_back(static_cast<Index>(k) + 1);
  return counts;
}

struct Limit {
  double limit;
  Index within;  // the number of values that are at most the limit
};

// Returns a limit within which at least `fewest` and at most `most` of some padded values are. If a
// few steps do not find one, for example because many values are equal, more may be within it. All
// finite values are at least 0.
inline Limit limit_for(const std::vector<double>& values, Index count, Index fewest, Index most) {
  constexpr int most_steps = 16;
  const NeighborLoops& loops = neighbor_loops();
  Limit low{0.0, 0};
  Limit high{loops.largest_within(values.data(), count, std::numeric_limits<double>::max()), count};
  // Interpolates in the number of values within a limit, which is found by counting. Every other
  // step takes the middle, because interpolation alone can be slow from one side.
  for (int step = 0; step < most_steps && high.within > most; ++step) {
    const double share = step % 2 == 1 ? 0.5
                                       : static_cast<double>(fewest - low.within) /
                                             static_cast<double>(high.within - low.within);
    const double limit = low.limit + (high.limit - low.limit) * share;
    const Limit next{limit, loops.count_within(values.data(), count, limit)};
    (next.within < fewest ? low : high) = next;
  }
  return high;
}

class NearestSquares {
 public:
  // wanted: the number of smallest squares that must not be lost. stride: slots per leaf.
  NearestSquares(Index wanted, int stride)
      : wanted_(wanted),
        most_(2 * wanted + 2 * stride),
        values_(static_cast<std::size_t>(most_ + stride + 2 * neighbor_step)) {}

  // Squares above `reach` are ignored from now on.
  void reset(double reach) {
    count_ = 0;
    reach_ = reach;
  }
  double reach() const { return reach_; }
  bool is_complete() const { return count_ >= wanted_; }

  void add(double square) {
    values_[count_++] = square;
    if (count_ > most_) cut_back();
  }
  void add_leaf(const double* point, const LeafBlock& block, int count) {
    count_ += loops_.keep_within(point, block, count, reach_, values_.data() + count_);
    if (count_ > most_) cut_back();
  }

  // The k-th smallest square, for 1 <= k <= the number of squares.
  double smallest(Index k) {
    std::fill_n(values_.begin() + count_, neighbor_step, infinity);
    const Limit found = limit_for(values_, count_, k, k);
    if (found.within == k) return loops_.largest_within(values_.data(), count_, found.limit);
    std::vector<double> sorted(values_.begin(), values_.begin() + count_);
    std::nth_element(sorted.begin(), sorted.begin() + k - 1, sorted.end());
    return sorted[k - 1];
  }

  // Keeps the k smallest squares, of which `limit` is the largest.
  void keep(double limit, Index k) {
    std::fill_n(values_.begin() + count_, neighbor_step, infinity);
    count_ = loops_.move_to_front(values_.data(), count_, limit);
    if (count_ == k) return;
    // Several squares are equal to the limit, and not all of them are kept.
    std::fill_n(values_.begin() + count_, neighbor_step, infinity);
    count_ = loops_.move_to_front(values_.data(), count_, std::nextafter(limit, -1.0));
    std::fill(values_.begin() + count_, values_.begin() + k, limit);
    count_ = k;
  }

  // The scale of a point in the units of the tree. The point itself is among its nearest samples,
  // at the distance 0, so the K others are the K + 1 nearest samples. neighbors: every K + 1, in
  // rising order. spacing: g + 1. All are at most `wanted`. The list is used up.
  ScaleOfPoint scale(const std::vector<Index>& neighbors, Index spacing) {
    double spaced = -1.0;  // not known yet
    double farthest = 0.0;
    r_.resize(neighbors.size());
    for (std::size_t k = neighbors.size(); k-- > 0;) {
      if (spacing > neighbors[k] && spaced < 0.0) spaced = smallest(spacing);
      const double limit = smallest(neighbors[k]);
      farthest = std::max(farthest, limit);
      keep(limit, neighbors[k]);
      r_[k] = sum_of_distances(limit) / static_cast<double>(neighbors[k] - 1);
    }
    if (spaced < 0.0) spaced = smallest(spacing);
    return {r_.data(), std::sqrt(spaced), std::max(farthest, spaced)};
  }

 private:
  void cut_back() {
    reach_ = smallest(wanted_);
    keep(reach_, wanted_);
  }

  // The sum of the distances whose squares are kept; `limit` is the largest square.
  double sum_of_distances(double limit) const {
    const auto terms = static_cast<double>(count_);
    const double bound = terms * std::sqrt(limit);
    if (!(bound > 0.0)) return 0.0;
    return loops_.sum_of_roots(values_.data(), count_, exact_sum(bound, terms));
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();

  const NeighborLoops& loops_ = neighbor_loops();
  Index wanted_;
  Index most_;  // the list is cut back to `wanted_` squares when it grows beyond this
  std::vector<double> values_;
  std::vector<double> r_;  // of the last point, one per K
  Index count_ = 0;
  double reach_ = infinity;
};

}  // namespace quickshift
