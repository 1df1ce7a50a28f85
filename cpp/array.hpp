// Vectors whose elements start unset: large ones are filled by many threads, and pages that one
// thread had cleared before would be touched twice, the first time by that thread alone.
#pragma once

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "points.hpp"

namespace quickshift {

template <class Value>
struct UnsetAllocator : std::allocator<Value> {
  template <class Other>
  struct rebind {
    using other = UnsetAllocator<Other>;
  };
  using std::allocator<Value>::allocator;

  template <class Other>
  void construct(Other* at) noexcept {
    ::new (static_cast<void*>(at)) Other;
  }
  template <class Other, class... Arguments>
  void construct(Other* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) Other(std::forward<Arguments>(arguments)...);
  }
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

}  // namespace quickshift
