// Parents among the locations that a search for local scales has listed.
#pragma once

#include <limits>

#include "tree/blocks.hpp"
#include "tree/heights.hpp"
#include "tree/near_lists.hpp"

namespace quickshift {

struct ListedParent {
  Index slot = -1;  // -1 if no listed location is higher
  double square = std::numeric_limits<double>::infinity();
};

// The nearest higher one of the locations that are listed for a slot; of equally near ones, the
// highest. Locations that are not listed are farther away, so it is the parent.
inline ListedParent listed_parent(const Tree& tree, const Heights& heights, bool strict,
                                  const NearLists& near, Index slot) {
  ListedParent parent;
  for (const Index other : near.of(slot)) {
    const bool higher =
        strict ? heights.height(other) > heights.height(slot) : heights.higher(other, slot);
    if (!higher) continue;
    const double square = square_between(tree, slot, other);
    if (square < parent.square || (square == parent.square && heights.higher(other, parent.slot))) {
      parent = {other, square};
    }
  }
  return parent;
}

}  // namespace quickshift
