#include "forest/forest.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "support/disjoint_set.hpp"

namespace quickshift {

namespace {

// Replaces next[row] by the root of each row, by pointer jumping in place. Every pass at least
// doubles the length of the paths that are resolved. A thread may read an entry that another thread
// has already advanced in the same pass, which only shortens the way to the same root. Returns
// false if a path has no end. Jumping may also collapse a cycle into one of its rows, which then
// looks like a root, so true does not exclude cycles; the caller checks for them.
template <class Row>
bool follow(Row* next, Index rows, const Execution& execution) {
  Index reach = 1;
  for (std::atomic<bool> changed{true}; changed; reach *= 2) {
    if (reach > 2 * rows) return false;  // longer than any path that has an end
    changed = false;
    run_ranges(execution, rows, [&](Index begin, Index end) {
      bool moved = false;
      for (Index row = begin; row < end; ++row) {
        const Row up = __atomic_load_n(next + row, __ATOMIC_RELAXED);
        const Row further = __atomic_load_n(next + up, __ATOMIC_RELAXED);
        __atomic_store_n(next + row, further, __ATOMIC_RELAXED);
        moved = moved || further != up;
      }
      if (moved) changed = true;
    });
  }
  return true;
}

// find_roots, with row indices stored as the integer type Row. The smaller the type, the more
// entries fit into the caches.
template <class Row>
bool find_roots_by(const ParentEdges& edges, double tau, const Execution& execution, Index* root) {
  const auto goes_up = [&](Index row) {
    return edges.distance[row] <= tau && edges.parent[row] != row;
  };
  Array<Row> next = unset_array<Row>(edges.rows);
  std::atomic<bool> valid{true};
  run_ranges(execution, edges.rows, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const Index parent = edges.parent[row];
      if (parent < 0 || parent >= edges.rows) valid = false;
      next[row] = static_cast<Row>(goes_up(row) ? parent : row);
    }
  });
  if (!valid || !follow(next.data(), edges.rows, execution)) return false;
  run_ranges(execution, edges.rows, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      if (next[row] == row && goes_up(row)) valid = false;  // a collapsed cycle
      root[row] = next[row];
    }
  });
  return valid;
}

}  // namespace

bool find_roots(const ParentEdges& edges, double tau, const Execution& execution, Index* root) {
  const bool few = edges.rows <= std::numeric_limits<std::int32_t>::max();
  const auto find = few ? find_roots_by<std::int32_t> : find_roots_by<Index>;
  return find(edges, tau, execution, root);
}

std::vector<Index> list_roots(const Index* root, const double* distance, Index rows) {
  std::vector<Index> listed;
  for (Index row = 0; row < rows; ++row) {
    if (root[row] == row && !std::isnan(distance[row])) listed.push_back(row);
  }
  return listed;
}

bool number_trees(const Index* root, Index rows, std::span<const Index> roots,
                  const Execution& execution, Index* labels) {
  std::fill_n(labels, rows, Index{-1});
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const Index row = roots[i];
    if (row < 0 || row >= rows || root[row] != row) return false;
    labels[row] = static_cast<Index>(i);
  }
  std::atomic<bool> valid{true};
  run_ranges(execution, rows, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const Index top = root[row];
      if (top == row) continue;
      if (top >= 0 && top < rows && root[top] == top) {
        labels[row] = labels[top];
      } else {
        valid = false;
      }
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
