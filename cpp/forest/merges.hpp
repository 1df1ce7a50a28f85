// What follows from the saddles alone: which leaf outlives which, and when any two meet.
#pragma once

#include <span>
#include <vector>

#include "forest/saddles.hpp"

namespace quickshift {

// Leaves are numbered from the highest one down.
struct Merges {
  // Each joins the component of leaf `piece`, its highest, with that of leaf `other`, which is
  // absorbed.
  std::vector<Saddle> merges;
  // By leaf: a higher leaf that is next to it where it is absorbed; itself where nothing absorbs
  // it.
  std::vector<Index> towards;
};

// Rewrites saddles, in falling order of level, as merges; leaf[p] is the leaf of piece p. Of
// several merges at one level each absorbed leaf joins the highest of all, so the merges do not
// depend on the order of equal saddles.
Merges name_merges(std::span<const Saddle> saddles, std::span<const Index> leaf, Index leaves);

// The merges as a forest of small depth: leaf l is in one component with up[l] below the level
// at[l]; up[l] is l, and the level minus infinity, at a root.
struct MergeForest {
  std::vector<Index> up;
  std::vector<double> at;
};
MergeForest merge_forest(std::span<const Saddle> merges, Index leaves);

}  // namespace quickshift
