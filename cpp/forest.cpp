#include "forest.hpp"

#include <algorithm>
#include <vector>

#include "disjoint_set.hpp"

namespace quickshift {

bool find_roots(const Index* parent, const double* distance, Index rows, double tau, Index* root) {
  constexpr Index unknown = -1;
  std::fill_n(root, rows, unknown);
  for (Index row = 0; row < rows; ++row) {
    Index end = row;
    Index steps = 0;
    while (root[end] == unknown) {
      const Index next = parent[end];
      if (next < 0 || next >= rows || ++steps > rows) return false;
      if (next == end || !(distance[end] <= tau)) root[end] = end;
      end = root[end] == unknown ? next : end;
    }
    const Index found = root[end];
    for (Index at = row; root[at] == unknown; at = parent[at]) root[at] = found;
  }
  return true;
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
