// A stable radix sort, which is fast if the keys differ in only a few of their bytes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace quickshift {

// A key that orders heights from highest to lowest. Heights may be negative.
inline std::uint64_t falling(double height) {
  const auto bits = std::bit_cast<std::uint64_t>(height + 0.0);
  const bool negative = bits >> 63;
  return negative ? bits : ~bits & (~std::uint64_t{0} >> 1);
}

// Sorts by increasing key(item), a std::uint64_t, one byte after another. Bytes that are the same
// in all keys are skipped.
template <class Item, class Key>
void radix_sort(std::vector<Item>& items, const Key& key) {
  std::array<std::array<std::size_t, 256>, 8> counts{};
  for (const Item& item : items) {
    const std::uint64_t k = key(item);
    for (int byte = 0; byte < 8; ++byte) ++counts[byte][(k >> (8 * byte)) & 255];
  }
  std::vector<Item> sorted(items.size());
  for (int byte = 0; byte < 8; ++byte) {
    const auto digit = [&](const Item& item) { return (key(item) >> (8 * byte)) & 255; };
    auto& places = counts[byte];
    if (items.empty() || places[digit(items.front())] == items.size()) continue;
    std::size_t place = 0;
    for (std::size_t& count : places) place += std::exchange(count, place);
    for (const Item& item : items) sorted[places[digit(item)]++] = item;
    items.swap(sorted);
  }
}

}  // namespace quickshift
