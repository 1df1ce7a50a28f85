// Selection by rank over keyed items, without branches that depend on the data.
//
// A mispredicted branch costs more than moving an item, so the partition moves every item and
// advances its cursor by the outcome of the comparison. Equal keys are told apart by the caller's
// order, but only where the wanted rank falls among them.
#pragma once

#include <algorithm>

#include "points.hpp"

namespace quickshift {

struct Keyed {
  double key;
  Index at;
};

namespace detail {

// Moves the items for which `goes_first` holds to the front; returns the end of them.
template <class GoesFirst>
Keyed* partition_items(Keyed* begin, Keyed* end, const GoesFirst& goes_first) {
  Keyed* front = begin;
  for (Keyed* item = begin; item != end; ++item) {
    const Keyed moved = *item;
    *item = *front;
    *front = moved;
    front += goes_first(moved.key);
  }
  return front;
}

// A key of about the wanted rank, a little beyond it towards the middle, so that the next part is
// small and still holds the rank.
template <Index sample_size>
double pivot_key(const Keyed* begin, const Keyed* middle, const Keyed* end) {
  double sample[sample_size];
  const Index count = end - begin;
  for (Index i = 0; i < sample_size; ++i) {
    sample[i] = begin[(2 * i + 1) * count / (2 * sample_size)].key;
  }
  const Index wanted = (middle - begin) * sample_size / count;
  constexpr Index step = sample_size / 12;
  const Index margin = wanted < sample_size / 3 ? step : wanted > 2 * sample_size / 3 ? -step : 0;
  const Index rank = std::clamp(wanted + margin, Index{0}, sample_size - 1);
  std::nth_element(sample, sample + rank, sample + sample_size);
  return sample[rank];
}

}  // namespace detail

// Like std::nth_element: what is before `middle` comes before what is after it. `less` must order
// by key first.
template <class Less>
void select(Keyed* begin, Keyed* middle, Keyed* end, const Less& less) {
  constexpr Index small = 64;
  while (end - begin > small) {
    const double pivot = end - begin > 4096 ? detail::pivot_key<63>(begin, middle, end)
                                            : detail::pivot_key<15>(begin, middle, end);
    Keyed* const lower = detail::partition_items(begin, end, [=](double x) { return x < pivot; });
    if (middle < lower) {
      end = lower;
      continue;
    }
    Keyed* const upper = detail::partition_items(lower, end, [=](double x) { return x <= pivot; });
    if (middle < upper) {
      begin = lower;
      end = upper;
      break;
    }
    begin = upper;
  }
  if (middle < end) std::nth_element(begin, middle, end, less);
}

}  // namespace quickshift
