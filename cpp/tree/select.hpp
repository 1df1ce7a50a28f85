// Selection by rank (quickselect) without branches that depend on the data.
//
// A mispredicted branch costs more than moving an item, so a partition moves every item, or writes
// its position to a list, and advances the cursor by the outcome of the comparison (0 or 1). Items
// with equal keys are compared by the caller's `less` only if the wanted rank falls among them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/points.hpp"
#include "vector/pairs.hpp"

namespace quickshift {

inline constexpr Index most_sorted = 32;  // items that sort_small can sort

namespace detail {

inline constexpr Index long_partition = 4096;  // items; more of them exceed the nearest caches
inline constexpr Index large_range = 4096;  // items; for more, the pivot comes from a larger sample

// Moves the items for which `goes_first` holds to the front; returns the end of that part.
template <class Item, class GoesFirst>
Item* partition_short(Item* begin, Item* end, const GoesFirst& goes_first) {
  Item* front = begin;
  for (Item* item = begin; item != end; ++item) {
    const Item moved = *item;
    *item = *front;
    *front = moved;
    front += goes_first(moved);
  }
  return front;
}

// The offsets, within a block, of the items that are on the wrong side of a partition.
class MisplacedOffsets {
 public:
  static constexpr Index block = 64;

  template <class IsWrong>
  void list(const IsWrong& is_wrong) {
    begin_ = end_ = 0;
    for (Index i = 0; i < block; ++i) {
      offsets_[end_] = static_cast<unsigned char>(i);
      end_ += is_wrong(i);
    }
  }
  Index size() const { return end_ - begin_; }
  Index next() { return offsets_[begin_++]; }

 private:
  unsigned char offsets_[block];
  Index begin_ = 0;
  Index end_ = 0;
};

// As partition_short, for ranges that exceed the caches (the block partition of Edelkamp and Weiss,
// BlockQuicksort): only the items on the wrong side are moved. The offsets of such items are listed
// for one block at each end of the range, and the items are swapped pairwise.
template <class Item, class GoesFirst>
Item* partition_long(Item* begin, Item* end, const GoesFirst& goes_first) {
  constexpr Index block = MisplacedOffsets::block;
  MisplacedOffsets late;   // in the first block: items that belong behind, counted from `begin`
  MisplacedOffsets early;  // in the last block: items that belong in front, counted back from `end`
  while (end - begin >= 2 * block) {
    if (late.size() == 0) late.list([&](Index i) { return !goes_first(begin[i]); });
    if (early.size() == 0) early.list([&](Index i) { return goes_first(end[-1 - i]); });
    for (Index n = std::min(late.size(), early.size()); n > 0; --n) {
      std::swap(begin[late.next()], end[-1 - early.next()]);
    }
    if (late.size() == 0) begin += block;
    if (early.size() == 0) end -= block;
  }
  return partition_short(begin, end, goes_first);
}

template <class Item, class GoesFirst>
Item* partition_items(Item* begin, Item* end, const GoesFirst& goes_first) {
  return end - begin > long_partition ? partition_long(begin, end, goes_first)
                                      : partition_short(begin, end, goes_first);
}

// Returns a pivot: a key of about the wanted rank, estimated from an evenly spaced sample. If the
// rank is in the first or last third, the pivot is moved a little towards the median, so that the
// part that remains is small and most likely still holds the wanted rank.
template <Index sample_size, class Item, class Key>
double pivot_key(const Item* begin, const Item* middle, const Item* end, const Key& key) {
  double sample[sample_size + 1];
  const Index count = end - begin;
  for (Index i = 0; i < sample_size; ++i) {
    sample[i] = key(begin[(2 * i + 1) * count / (2 * sample_size)]);
  }
  const Index wanted = (middle - begin) * sample_size / count;
  constexpr Index step = sample_size / 12;
  const Index margin = wanted < sample_size / 3 ? step : wanted > 2 * sample_size / 3 ? -step : 0;
  const Index rank = std::clamp(wanted + margin, Index{0}, sample_size - 1);
  if constexpr (sample_size < most_sorted) {
    static_assert((sample_size + 1) % 4 == 0);
    long long ranks[sample_size + 1];
    sample[sample_size] = std::numeric_limits<double>::infinity();
    pair_kernels().ranks(sample, sample_size + 1, ranks);
    double sorted[sample_size + 1];
    sorted[rank] =
        std::numeric_limits<double>::quiet_NaN();  // remains NaN if equal keys skip this rank
    for (Index i = 0; i < sample_size; ++i) sorted[ranks[i]] = sample[i];
    if (!std::isnan(sorted[rank])) return sorted[rank];
  }
  std::nth_element(sample, sample + rank, sample + sample_size);
  return sample[rank];
}

// Computes the ranks of at most `most_sorted` items by comparing all pairs of keys. Returns false
// if two keys are equal, in which case the ranks are no permutation.
template <class Item, class Key>
bool find_ranks(const Item* begin, const Item* end, const Key& key, long long* ranks) {
  double keys[most_sorted];
  const Index count = end - begin;
  for (Index i = 0; i < most_sorted; ++i) {
    keys[i] = i < count ? key(begin[i]) : std::numeric_limits<double>::infinity();
  }
  pair_kernels().ranks(keys, static_cast<int>((count + 3) / 4 * 4), ranks);
  Index sum = 0;
  for (Index i = 0; i < count; ++i) sum += ranks[i];
  return 2 * sum == count * (count - 1);
}

}  // namespace detail

// Sorts at most `most_sorted` items.
template <class Item, class Key, class Less>
void sort_small(Item* begin, Item* end, const Key& key, const Less& less) {
  long long ranks[most_sorted];
  if (!detail::find_ranks(begin, end, key, ranks)) return std::sort(begin, end, less);
  Item items[most_sorted];
  std::copy(begin, end, items);
  for (Index i = 0; i < end - begin; ++i) begin[ranks[i]] = items[i];
}

// Like std::nth_element: reorders the items so that none in [begin, middle) comes after one in
// [middle, end). Keys must not be NaN, and `less` must order by key first.
template <class Item, class Key, class Less>
void select(Item* begin, Item* middle, Item* end, const Key& key, const Less& less) {
  while (end - begin > most_sorted) {
    const double pivot = end - begin > detail::large_range
                             ? detail::pivot_key<63>(begin, middle, end, key)
                             : detail::pivot_key<15>(begin, middle, end, key);
    Item* const lower =
        detail::partition_items(begin, end, [&](const Item& item) { return key(item) < pivot; });
    if (middle < lower) {
      end = lower;
      continue;
    }
    if (lower != begin) {
      begin = lower;
      continue;
    }
    Item* const upper =  // no key is below the pivot: split off those equal to it
        detail::partition_items(lower, end, [&](const Item& item) { return key(item) <= pivot; });
    if (middle < upper) {  // the wanted rank is among equal keys
      begin = lower;
      end = upper;
      break;
    }
    begin = upper;
  }
  if (end - begin <= most_sorted) return sort_small(begin, end, key, less);
  if (middle < end) std::nth_element(begin, middle, end, less);
}

}  // namespace quickshift
