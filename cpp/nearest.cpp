#include "nearest.hpp"

#include "search.hpp"

namespace quickshift {

Nearest nearest_samples(const Tree& queries, const Tree& samples, bool leave_out,
                        const Execution& execution) {
  Nearest nearest;
  nearest.square.resize(static_cast<std::size_t>(queries.slots()));
  nearest.slot.assign(static_cast<std::size_t>(queries.slots()), -1);
  const bool same = &queries == &samples;
  search_from_leaves(queries, samples, execution, [&](Search& search, Index leaf) {
    std::vector<double> point(static_cast<std::size_t>(queries.features));
    for (int i = 0; i < queries.count(leaf); ++i) {
      const Index slot = leaf * queries.stride + i;
      copy_point(queries, slot, point.data());
      KeepNearest keeper(leave_out ? slot : -1);
      if (same) {
        search.from_leaf(leaf, point.data(), keeper);
      } else {
        search.from_root(point.data(), keeper);
      }
      nearest.square[slot] = keeper.square();
      nearest.slot[slot] = keeper.slot();
    }
  });
  return nearest;
}

}  // namespace quickshift
