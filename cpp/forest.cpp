#include "forest.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "disjoint_set.hpp"

namespace quickshift {

// Pointer jumping: every pass doubles the length of the paths that are resolved.
bool find_roots(const Index* parent, const double* distance, Index rows, double tau,
                const Execution& execution, Index* root) {
  std::atomic<bool> valid{true};
  run_ranges(execution, rows, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const bool kept = distance[row] <= tau;
      root[row] = kept ? parent[row] : row;
      if (parent[row] < 0 || parent[row] >= rows) valid = false;
    }
  });
  if (!valid) return false;
  std::vector<Index> room(static_cast<std::size_t>(rows));
  Index* from = root;
  Index* to = room.data();
  Index reach = 1;
  for (std::atomic<bool> changed{true}; changed;) {
    if (reach > 2 * rows) return false;  // longer than any path without a cycle
    changed = false;
    reach *= 2;
    run_ranges(execution, rows, [&](Index begin, Index end) {
      bool moved = false;
      for (Index row = begin; row < end; ++row) {
        to[row] = from[from[row]];
        moved = moved || to[row] != from[row];
      }
      if (moved) changed = true;
    });
    std::swap(from, to);
  }
  if (from != root) std::copy_n(from, rows, root);
  // Doubled steps can stand still on a cycle: what they end in must be a root.
  run_ranges(execution, rows, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const Index end_of_path = root[row];
      if (parent[end_of_path] != end_of_path && distance[end_of_path] <= tau) valid = false;
    }
  });
  return valid;
}

void write_linkage(const Index* parent, const double* distance, Index rows, const Index* children,
                   Index edges, double* linkage) {
  DisjointSet sets(rows);
  std::vector<Index> cluster(static_cast<std::size_t>(rows));
  std::iota(cluster.begin(), cluster.end(), Index{0});
  for (Index edge = 0; edge < edges; ++edge) {
    const Index child = children[edge];
    const Index a = sets.find(child);
    const Index b = sets.find(parent[child]);
    double* row = linkage + 4 * edge;
    row[0] = static_cast<double>(std::min(cluster[a], cluster[b]));
    row[1] = static_cast<double>(std::max(cluster[a], cluster[b]));
    row[2] = distance[child];
    const Index joined = sets.join(a, b);
    row[3] = static_cast<double>(sets.size(joined));
    cluster[joined] = rows + edge;
  }
}

}  // namespace quickshift
