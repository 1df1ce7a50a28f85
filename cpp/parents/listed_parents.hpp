// Parents among the locations that a search for local scales has listed.
#pragma once

#include <limits>

#include "tree/blocks.hpp"
#include "tree/heights.hpp"

namespace quickshift {

// The locations near each location, as scale/local_scale.hpp finds them: `count` slots per slot, or
// fewer and then -1. Every location that is not listed is farther away than the listed ones. If a
// listed location is higher, the nearest one is the parent, and no search is needed.
struct NearLists {
  const std::int32_t* slots = nullptr;  // null if there are no lists
  Index count = 0;
};

struct ListedParent {
  Index slot = -1;  // -1 if no listed location is higher
  double square = std::numeric_limits<double>::infinity();
};

// The nearest higher one of the locations that are listed for a slot; of equally near ones, the
// highest.
inline ListedParent listed_parent(const Tree& tree, const Heights& heights, bool strict,
                                  const NearLists& near, Index slot) {
  ListedParent parent;
  for (Index i = 0; i < near.count; ++i) {
    const Index other = near.slots[slot * near.count + i];
    if (other < 0) break;
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
