#include "forest/merges.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "support/disjoint_set.hpp"

namespace quickshift {

namespace {

// Components of leaves, each with its highest leaf.
class Components {
 public:
  explicit Components(Index leaves) : sets_(leaves), highest_(static_cast<std::size_t>(leaves)) {
    std::iota(highest_.begin(), highest_.end(), Index{0});
  }
  Index highest(Index leaf) { return highest_[sets_.find(leaf)]; }
  void join(Index leaf, Index other) {
    const Index top = std::min(highest(leaf), highest(other));
    highest_[sets_.join(sets_.find(leaf), sets_.find(other))] = top;
  }

 private:
  DisjointSet sets_;
  std::vector<Index> highest_;  // by representative
};

// Follows `towards` from the leaf across the saddle to the first leaf that is higher than the
// absorbed one. Such a leaf exists, because the path ends at the highest leaf of its component,
// which is higher than the absorbed leaf.
Index first_above(Index absorbed, Index across, const std::vector<Index>& towards) {
  while (across > absorbed) across = towards[across];
  return across;
}

}  // namespace

Merges merges_from_saddles(std::span<const Saddle> saddles, std::span<const Index> leaf,
                           Index leaves) {
  Components components(leaves);
  Merges result{{}, std::vector<Index>(static_cast<std::size_t>(leaves))};
  std::iota(result.towards.begin(), result.towards.end(), Index{0});
  std::vector<Index> absorbed;  // the leaves that are absorbed at the current level
  for (auto first = saddles.begin(); first != saddles.end();) {
    absorbed.clear();
    const double level = first->level;
    for (; first != saddles.end() && first->level == level; ++first) {
      Index lower = leaf[first->piece];
      Index higher = leaf[first->other];
      if (components.highest(lower) == components.highest(higher)) continue;
      if (components.highest(lower) < components.highest(higher)) std::swap(lower, higher);
      const Index top = components.highest(lower);
      result.towards[top] = first_above(top, higher, result.towards);
      absorbed.push_back(top);
      components.join(lower, higher);
    }
    std::sort(absorbed.begin(), absorbed.end());
    for (const Index top : absorbed) {
      result.merges.push_back({components.highest(top), top, level});
    }
  }
  return result;
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
