// Lists of the locations near each location, which a search for local scales makes
// (scale/local_scale.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "tree/kdtree.hpp"

namespace quickshift {

// Every location that is not in the list of a location is farther from it than its tau, and those
// in the list are not.
struct NearLists {
  const std::int32_t* slots = nullptr;  // `most` per slot, or fewer and then -1; null: no lists
  Index most = 0;

  explicit operator bool() const { return slots != nullptr; }
  std::span<const std::int32_t> of(Index slot) const {
    const std::int32_t* const list = slots + slot * most;
    std::size_t count = 0;
    while (count < static_cast<std::size_t>(most) && list[count] >= 0) ++count;
    return {list, count};
  }
};

}  // namespace quickshift
