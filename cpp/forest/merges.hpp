// Merges of the leaves of a cluster tree, computed from saddles: which leaf absorbs which, and at
// which level any two leaves are joined.
#pragma once

#include <span>
#include <vector>

#include "forest/saddles.hpp"

namespace quickshift {

// Leaves are numbered from the highest to the lowest.
struct Merges {
  // Each merge joins two components of leaves. `piece` is the highest leaf of both, which survives;
  // `other` is the highest leaf of the lower component, which is absorbed.
  std::vector<Saddle> merges;
  // By leaf: a higher leaf on the other side of the saddle at which it is absorbed; the leaf itself
  // if it is never absorbed.
  std::vector<Index> towards;
};

// Converts saddles, sorted by descending level, into merges; leaf[p] is the leaf of piece p. If
// more than two components are joined at the same level, all absorbed leaves are merged into the
// highest leaf, so that the merges do not depend on the order of saddles of equal level.
Merges merges_from_saddles(std::span<const Saddle> saddles, std::span<const Index> leaf,
                           Index leaves);

// The merges as a forest of small depth: below the level at[l], leaf l is in the same component as
// leaf up[l]. At a root, up[l] is l and at[l] is minus infinity.
struct MergeForest {
  std::vector<Index> up;
  std::vector<double> at;
};
MergeForest merge_forest(std::span<const Saddle> merges, Index leaves);

}  // namespace quickshift
