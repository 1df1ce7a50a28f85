// Vectors whose elements start unset: large ones are filled by many threads, and pages that one
// thread had cleared before would be touched twice, the first time by that thread alone.
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
  static bool is_large(std::size_t count) { return count >= (1 << 22) / sizeof(Value); }
};

template <class Value>
using Array = std::vector<Value, UnsetAllocator<Value>>;

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

// Asks for what a loop over `places` in [begin, end) will visit some steps after `now`, for loops
// that visit memory in no order: the processor looks ahead only as far as it has room for what
// waits.
template <class Value, class Place>
void fetch_ahead(const Value* values, const Place* places, Index now, Index end) {
  const Place place = places[std::min(now + 48, end - 1)];
  __builtin_prefetch(values + std::max(place, Place{0}));
}

}  // namespace quickshift
