// The first saddle between any two pieces: a hash table with linear probing.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "forest/pieces.hpp"

namespace quickshift {

class SaddleTable {
 public:
  // Keeps the saddle if it comes before the one that the table has for the same two pieces.
  void offer(const LinkedPair& saddle) {
    LinkedPair& entry = entry_of(saddle);
    if (entry.piece < 0) {
      entry = saddle;
      if (2 * ++count_ > entries_.size()) grow();
    } else if (saddle.is_before(entry)) {
      entry = saddle;
    }
  }
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const LinkedPair& entry : entries_) {
      if (entry.piece >= 0) visit(entry);
    }
  }

 private:
  // The entry of the saddle's pieces, or the free one where it belongs.
  LinkedPair& entry_of(const LinkedPair& saddle) {
    const auto [low, high] = std::minmax(saddle.piece, saddle.other);
    auto hash =
        static_cast<std::uint64_t>(low) * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(high);
    hash *= 0xbf58476d1ce4e5b9;
    const std::size_t mask = entries_.size() - 1;
    for (std::size_t at = (hash >> 20) & mask;; at = (at + 1) & mask) {
      LinkedPair& entry = entries_[at];
      if (entry.piece < 0) return entry;
      if (std::min(entry.piece, entry.other) == low && std::max(entry.piece, entry.other) == high) {
        return entry;
      }
    }
  }
  void grow() {
    const std::vector<LinkedPair> old =
        std::exchange(entries_, std::vector<LinkedPair>(2 * entries_.size()));
    for (const LinkedPair& entry : old) {
      if (entry.piece >= 0) entry_of(entry) = entry;
    }
  }

  std::vector<LinkedPair> entries_ = std::vector<LinkedPair>(1024);  // a power of two
  std::size_t count_ = 0;
};

}  // namespace quickshift
