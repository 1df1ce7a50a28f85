// Selection by rank (quickselect) without branches that depend on the data.
//
// A mispredicted branch costs more than moving an item, so a partition moves every item, or writes
// its position to a list, and advances the cursor by the outcome of the comparison (0 or 1).
//
// Pivots come from a sample at fixed places, and an order of the items can be made up for which
// they are always bad. After some passes over the items, pivots are therefore medians of medians
// (Blum et al., Time bounds for selection), of which at least three tenths of the items are on
// either side. The number of keys read is at most proportional to the number of items.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

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

namespace detail {

template <class Item, class Key, class Less>
std::pair<Item*, Item*> select_within(Item* begin, Item* middle, Item* end, const Key& key,
                                      const Less& less, Index most_reads);

// Returns the place of the median of five items.
template <class Item, class Key>
Item* median_of_five(Item* items, const Key& key) {
  double keys[5];
  for (int i = 0; i < 5; ++i) keys[i] = key(items[i]);
  for (int i = 0;; ++i) {
    int rank = 0;
    for (int j = 0; j < 5; ++j) rank += keys[j] < keys[i] || (keys[j] == keys[i] && j < i);
    if (rank == 2) return items + i;
  }
}

// Returns the median of the medians of groups of five. The medians are moved to the front.
template <class Item, class Key>
double median_of_medians(Item* begin, Item* end, const Key& key) {
  Item* front = begin;
  for (Item* group = begin; end - group >= 5; group += 5) {
    std::swap(*front++, *median_of_five(group, key));
  }
  Item* const middle = begin + (front - begin) / 2;
  const auto less = [&](const Item& a, const Item& b) { return key(a) < key(b); };
  select_within(begin, middle, front, key, less, 0);
  return key(*middle);
}

template <class Item, class Key>
double next_pivot(Item* begin, Item* middle, Item* end, const Key& key, bool safe) {
  if (safe) return median_of_medians(begin, end, key);
  return end - begin > large_range ? pivot_key<63>(begin, middle, end, key)
                                   : pivot_key<15>(begin, middle, end, key);
}

// As `select`. Pivots are taken from a sample until partitions have read `most_reads` keys.
template <class Item, class Key, class Less>
std::pair<Item*, Item*> select_within(Item* begin, Item* middle, Item* end, const Key& key,
                                      const Less& less, Index most_reads) {
  while (end - begin > most_sorted) {
    const double pivot = next_pivot(begin, middle, end, key, most_reads <= 0);
    const auto below = [&](const Item& item) { return key(item) < pivot; };
    most_reads -= end - begin;
    Item* const lower = partition_items(begin, end, below);
    if (middle < lower) {
      end = lower;
      continue;
    }
    if (lower != begin) {
      begin = lower;
      continue;
    }
    // No key is below the pivot: split off those equal to it.
    const auto not_above = [&](const Item& item) { return key(item) <= pivot; };
    most_reads -= end - begin;
    Item* const upper = partition_items(begin, end, not_above);
    if (middle < upper) {
      end = upper;
      break;
    }
    begin = upper;
  }
  if (end - begin > most_sorted) return {begin, end};
  sort_small(begin, end, key, less);
  return {middle, middle};
}

}  // namespace detail

// Reorders the items so that none in [begin, middle) comes after one in [middle, end), as far as
// keys tell. `middle` must be before `end`, keys must not be NaN, and `less` must order by key
// first. If the wanted rank is among many items with equal keys, their range is returned; they are
// in no order. Otherwise an empty range is returned, and the items are in the order of `less`.
template <class Item, class Key, class Less>
std::pair<Item*, Item*> select(Item* begin, Item* middle, Item* end, const Key& key,
                               const Less& less) {
  const Index most_reads = 3 * (end - begin);  // nearly twice as many as usual
  return detail::select_within(begin, middle, end, key, less, most_reads);
}

}  // namespace quickshift
