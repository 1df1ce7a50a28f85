#include "image/joins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index never = std::numeric_limits<Index>::max();

}  // namespace

Joins::Joins(const ParentEdges& edges)
    : distance_(edges.distance),
      above_(unset_array<Index>(edges.rows)),
      when_(unset_array<Index>(edges.rows)) {
  for (Index row = 0; row < edges.rows; ++row) {
    if (std::isfinite(edges.distance[row]) && edges.parent[row] != row) children_.push_back(row);
  }
  std::sort(children_.begin(), children_.end(), [&](Index a, Index b) {
    return distance_[a] != distance_[b] ? distance_[a] < distance_[b] : a < b;
  });
  std::iota(above_.begin(), above_.end(), Index{0});
  std::fill(when_.begin(), when_.end(), never);
  std::vector<Index> size(static_cast<std::size_t>(edges.rows), 1);
  for (std::size_t i = 0; i < children_.size(); ++i) {
    Index larger = root_of(edges.parent[children_[i]]);
    Index smaller = root_of(children_[i]);
    if (larger == smaller) continue;  // the given edges form a cycle; this one adds nothing
    if (size[larger] < size[smaller]) std::swap(larger, smaller);
    above_[smaller] = larger;
    when_[smaller] = static_cast<Index>(i);
    size[larger] += size[smaller];
  }
}

Index Joins::root_of(Index row) const {
  while (above_[row] != row) row = above_[row];
  return row;
}

double Joins::longest_edge_between(Index a, Index b) const {
  // Climb from both rows, always from the one that was united earlier, until the paths meet.
  Index last = -1;
  while (a != b) {
    if (when_[b] < when_[a]) std::swap(a, b);
    last = when_[a];
    if (last == never) return infinity;
    a = above_[a];
  }
  return last < 0 ? 0.0 : distance_[children_[last]];
}

void boundary_strength(const Picture& picture, const ParentEdges& edges, const Execution& execution,
                       double* strength) {
  const Joins joins(edges);
  run_ranges(execution, picture.pixels(), [&](Index begin, Index end) {
    for (Index pixel = begin; pixel < end; ++pixel) {
      strength[pixel] = picture.inside(pixel) ? 0.0 : std::numeric_limits<double>::quiet_NaN();
      Index step = 1;
      for (int axis = picture.axes() - 1; axis >= 0; step *= picture.shape[axis--]) {
        const Index at = pixel / step % picture.shape[axis];
        for (const Index side : {Index{-1}, Index{1}}) {
          const Index other = pixel + side * step;
          if (at + side < 0 || at + side >= picture.shape[axis]) continue;
          if (!picture.inside(pixel) || !picture.inside(other)) continue;
          strength[pixel] = std::max(strength[pixel], joins.longest_edge_between(pixel, other));
        }
      }
    }
  });
}

}  // namespace quickshift
