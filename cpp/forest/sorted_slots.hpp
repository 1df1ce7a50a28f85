// Slots of a tree by group of linked pieces, from high to low.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "forest/linked_groups.hpp"
#include "forest/pieces.hpp"
#include "support/radix_sort.hpp"

namespace quickshift {

class SortedSlots {
 public:
  // Slots of groups with a single piece are left out.
  SortedSlots(std::span<const Index> slots, const PiecesOfLocations& points,
              const LinkedGroups& groups)
      : begin_(groups.sizes.size() + 1) {
    const auto group_of = [&](Index slot) { return groups.of_piece[points.pieces[slot]]; };
    std::vector<Placed> kept;
    kept.reserve(slots.size());
    for (const Index slot : slots) {
      if (groups.sizes[group_of(slot)] == 1) continue;
      kept.push_back({falling(points.heights[slot]), slot});
      ++begin_[group_of(slot) + 1];
    }
    radix_sort(kept, [](const Placed& placed) { return placed.falling; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    std::vector<Index> next(begin_.begin(), begin_.end() - 1);  // place, by group
    slots_.resize(kept.size());
    for (const Placed& placed : kept) slots_[next[group_of(placed.slot)]++] = placed.slot;
  }

  // The slots of a group, in descending order of height.
  std::span<const Index> of(Index group) const {
    return std::span(slots_).subspan(begin_[group], begin_[group + 1] - begin_[group]);
  }

 private:
  // A slot next to its key, which the sort reads many times.
  struct Placed {
    std::uint64_t falling;
    Index slot;
  };

  std::vector<Index> slots_;
  std::vector<Index> begin_;  // by group, and the end
};

}  // namespace quickshift
