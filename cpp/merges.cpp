#include "merges.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "disjoint_set.hpp"

namespace quickshift {

std::vector<Saddle> name_merges(std::span<const Saddle> saddles, std::span<const Index> leaf,
                                Index leaves) {
  DisjointSet components(leaves);
  std::vector<Index> highest(static_cast<std::size_t>(leaves));  // by representative
  std::iota(highest.begin(), highest.end(), Index{0});
  std::vector<Saddle> merges;
  std::vector<Index> met;  // the highest leaves of the components that meet at one level
  for (auto first = saddles.begin(); first != saddles.end();) {
    const auto last = std::find_if(
        first, saddles.end(), [&](const Saddle& saddle) { return saddle.level != first->level; });
    met.clear();
    for (auto saddle = first; saddle != last; ++saddle) {
      met.push_back(highest[components.find(leaf[saddle->piece])]);
      met.push_back(highest[components.find(leaf[saddle->other])]);
    }
    for (auto saddle = first; saddle != last; ++saddle) {
      const Index a = components.find(leaf[saddle->piece]);
      const Index b = components.find(leaf[saddle->other]);
      if (a == b) continue;
      const Index top = std::min(highest[a], highest[b]);
      highest[components.join(a, b)] = top;
    }
    std::sort(met.begin(), met.end());
    met.erase(std::unique(met.begin(), met.end()), met.end());
    for (const Index absorbed : met) {
      const Index survivor = highest[components.find(absorbed)];
      if (survivor != absorbed) merges.push_back({survivor, absorbed, first->level});
    }
    first = last;
  }
  return merges;
}

MergeForest merge_forest(std::span<const Saddle> merges, Index leaves) {
  DisjointSet components(leaves);
  MergeForest forest{std::vector<Index>(static_cast<std::size_t>(leaves)),
                     std::vector<double>(static_cast<std::size_t>(leaves),
                                         -std::numeric_limits<double>::infinity())};
  std::iota(forest.up.begin(), forest.up.end(), Index{0});
  for (const Saddle& merge : merges) {
    const Index a = components.find(merge.piece);
    const Index b = components.find(merge.other);
    if (a == b) continue;
    const Index joined = components.join(a, b);
    const Index below = joined == a ? b : a;
    forest.up[below] = joined;
    forest.at[below] = merge.level;
  }
  return forest;
}

}  // namespace quickshift
