#include "forest.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "disjoint_set.hpp"

namespace quickshift {

// Pointer jumping in place: every pass at least doubles the length of the paths that are resolved.
// A thread may read what another has written, which leads to the same root by fewer steps.
bool find_roots(const Index* parent, const double* distance, Index rows, double tau,
                const Execution& execution, Index* root) {
  const auto relaxed = std::memory_order_relaxed;
  std::atomic<bool> valid{true};
  run_ranges(execution, rows, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const bool kept = distance[row] <= tau;
      root[row] = kept ? parent[row] : row;
      if (parent[row] < 0 || parent[row] >= rows) valid = false;
    }
  });
  Index reach = 1;
  for (std::atomic<bool> changed{true}; changed && valid;) {
    if (reach > 2 * rows) return false;  // longer than any path without a cycle
    changed = false;
    reach *= 2;
    run_ranges(execution, rows, [&](Index begin, Index end) {
      bool moved = false;
      for (Index row = begin; row < end; ++row) {
        const Index up = std::atomic_ref(root[row]).load(relaxed);
        const Index further = std::atomic_ref(root[up]).load(relaxed);
        std::atomic_ref(root[row]).store(further, relaxed);
        moved = moved || further != up;
      }
      if (moved) changed = true;
    });
  }
  if (!valid) return false;
  // Doubled steps can stand still on a cycle: what ends there must be a root.
  run_ranges(execution, rows, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      if (root[row] == row && parent[row] != row && distance[row] <= tau) valid = false;
    }
  });
  return valid;
}

void number_trees(const Index* root, Index rows, std::span<const Index> roots,
                  const Execution& execution, Index* labels) {
  run_ranges(execution, rows, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      if (root[row] == row) labels[row] = -1;
    }
  });
  for (std::size_t i = 0; i < roots.size(); ++i) labels[roots[i]] = static_cast<Index>(i);
  run_ranges(execution, rows, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      if (root[row] != row) labels[row] = labels[root[row]];
    }
  });
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
