// Vectors whose elements are not initialized. Large arrays are filled by many threads; if they were
// cleared first, every page would be touched twice, the first time by a single thread. Large arrays
// are placed on large pages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "support/large_pages.hpp"
#include "support/parallel.hpp"
#include "support/points.hpp"

namespace quickshift {

// An allocator that leaves elements uninitialized unless a value is given.
template <class Value>
struct UnsetAllocator : std::allocator<Value> {
  template <class Other>
  struct rebind {
    using other = UnsetAllocator<Other>;
  };
  using std::allocator<Value>::allocator;

  Value* allocate(std::size_t count) {
    if (!is_large(count)) return std::allocator<Value>::allocate(count);
    if (count > PTRDIFF_MAX / sizeof(Value)) throw std::bad_array_new_length();
    return static_cast<Value*>(allocate_pages(count * sizeof(Value)));
  }
  void deallocate(Value* at, std::size_t count) noexcept {
    if (!is_large(count)) return std::allocator<Value>::deallocate(at, count);
    free_pages(at, count * sizeof(Value));
  }
  template <class Other>
  void construct(Other* at) noexcept {
    ::new (static_cast<void*>(at)) Other;
  }
  template <class Other, class... Arguments>
  void construct(Other* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) Other(std::forward<Arguments>(arguments)...);
  }

 private:
  static bool is_large(std::size_t count) { return count >= (1 << 22) / sizeof(Value); }  // 4 MiB
};

template <class Value>
using Array = std::vector<Value, UnsetAllocator<Value>>;

// An array whose elements must be written before they are read.
template <class Value>
Array<Value> unset_array(Index size) {
  return Array<Value>(static_cast<std::size_t>(size));
}

template <class Value>
Array<Value> filled_array(Index size, Value value, const Execution& execution) {
  Array<Value> array = unset_array<Value>(size);
  run_ranges(execution, size, [&](Index begin, Index end) {
    std::fill(array.begin() + begin, array.begin() + end, value);
  });
  return array;
}

// Prefetches values[places[now + 48]], for loops that read values[places[i]] for i up to `end` and
// are at i = `now`. The places are in no particular order, so hardware prefetching does not help,
// and without this the processor has only as many reads under way as fit into its instruction
// window. A negative place stands for "none".
template <class Value, class Place>
void fetch_ahead(const Value* values, const Place* places, Index now, Index end) {
  const Place place = places[std::min(now + 48, end - 1)];
  __builtin_prefetch(values + std::max(place, Place{0}));
}

}  // namespace quickshift
