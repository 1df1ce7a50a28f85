#include "regression/valleys.hpp"

#include <algorithm>
#include <numeric>

namespace quickshift {

namespace {

constexpr int valley_points = 7;             // evenly spaced between two roots
constexpr int dip_points = 16;               // next to the lower root, if valley points show no dip
constexpr double steps_per_bandwidth = 8.0;  // of the dip points

}  // namespace

void Valleys::write(const ResponseWindow& window, const Execution& execution,
                    std::vector<Vertex>& roots, std::vector<ConditionalMode>& modes) {
  std::sort(roots.begin(), roots.end(),
            [](const Vertex& a, const Vertex& b) { return a.rank < b.rank; });
  link_roots(window, execution, roots);
  if (execution.stops()) return;
  order_.resize(roots.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(),
            [&](std::size_t a, std::size_t b) { return above(roots[b], roots[a]); });
  for (const std::size_t i : order_) {  // the lowest first
    if (!options_.keep_flat && linked_[i].valley() >= linked_[i].mode.sum) {
      unlink(i);
    } else {
      kept_.push_back(i);
    }
  }
  for (; !kept_.empty(); kept_.pop_back()) {
    const LinkedRoot& here = linked_[kept_.back()];
    modes.push_back(here.mode);
    modes.back().valley = here.valley();
  }
}

void Valleys::link_roots(const ResponseWindow& window, const Execution& execution,
                         const std::vector<Vertex>& roots) {
  linked_.clear();
  for (std::size_t i = 0; i < roots.size() && !execution.stops(); ++i) {
    const double sum = window.sum_at(responses_.places[roots[i].rank], roots[i].rung);
    linked_.push_back({{roots[i].rank, sum, 0.0}, i, i});
    if (i == 0) continue;
    const double valley = lowest_between(window, linked_[i - 1].mode, linked_[i].mode);
    linked_[i - 1].after = i;
    linked_[i].before = i - 1;
    linked_[i - 1].valley_after = linked_[i].valley_before = valley;
  }
}

// Removes a root from the list and joins the valleys on both sides of it.
void Valleys::unlink(std::size_t i) {
  const LinkedRoot& here = linked_[i];
  const bool inner = here.before != i && here.after != i;
  const double valley = inner ? std::min(here.valley_before, here.valley_after) : 0.0;
  if (here.before != i) {
    linked_[here.before].after = inner ? here.after : here.before;
    linked_[here.before].valley_after = valley;
  }
  if (here.after != i) {
    linked_[here.after].before = inner ? here.before : here.after;
    linked_[here.after].valley_before = valley;
  }
}

// The lowest of the sums at both roots and at some places between them. If no sum at the evenly
// spaced places is below both roots, there may still be a narrow dip next to the lower root.
double Valleys::lowest_between(const ResponseWindow& window, const ConditionalMode& low,
                               const ConditionalMode& high) const {
  const double from = responses_.places[low.rank];
  const double to = responses_.places[high.rank];
  const double ends = std::min(low.sum, high.sum);
  double lowest = ends;
  // Places are clamped, because a place that is rounded to one below the first rung has no rung.
  const auto add = [&](double place) {
    lowest = std::min(lowest, sum_at(window, std::clamp(place, from, to)));
  };
  for (int i = 1; i <= valley_points; ++i) {
    const double share = i / (valley_points + 1.0);
    add((1.0 - share) * from + share * to);
  }
  for (int i = 1; i <= dip_points && lowest == ends; ++i) {
    const double step = std::min(i * width_ / steps_per_bandwidth, to - from);
    add(low.sum < high.sum ? from + step : to - step);
  }
  return lowest;
}

double Valleys::sum_at(const ResponseWindow& window, double place) const {
  const auto above = std::upper_bound(ladder_.places.begin(), ladder_.places.end(), place);
  return window.sum_at(place, above - ladder_.places.begin() - 1);
}

}  // namespace quickshift
