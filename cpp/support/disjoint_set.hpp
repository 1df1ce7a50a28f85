// Union-find with path halving and union by size.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "support/points.hpp"

namespace quickshift {

class DisjointSet {
 public:
  explicit DisjointSet(Index size)
      : parent_(static_cast<std::size_t>(size)), size_(static_cast<std::size_t>(size), 1) {
    std::iota(parent_.begin(), parent_.end(), Index{0});
  }

  // The representative of the set that holds the item.
  Index find(Index item) {
    while (parent_[item] != item) {
      parent_[item] = parent_[parent_[item]];
      item = parent_[item];
    }
    return item;
  }

  // Joins two different sets, given by their representatives. Returns the representative of the
  // union.
  Index join(Index a, Index b) {
    if (size_[a] < size_[b]) std::swap(a, b);
    parent_[b] = a;
    size_[a] += size_[b];
    return a;
  }

  // Makes every item a set of its own again.
  void split() {
    std::iota(parent_.begin(), parent_.end(), Index{0});
    std::fill(size_.begin(), size_.end(), Index{1});
  }

  Index size(Index representative) const { return size_[representative]; }

 private:
  std::vector<Index> parent_;
  std::vector<Index> size_;
};

}  // namespace quickshift
