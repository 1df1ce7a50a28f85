#include "nearest.hpp"

namespace quickshift {

Nearest nearest_samples(const Tree& queries, const Tree& samples, bool leave_out,
                        const Execution& execution) {
  Nearest nearest;
  nearest.square.resize(static_cast<std::size_t>(queries.slots()));
  nearest.slot.assign(static_cast<std::size_t>(queries.slots()), -1);
  const bool same = &queries == &samples;
  search_from_leaves(queries, samples, execution,
                     [&](Search& search, Index leaf, const double* points) {
                       const Index first = leaf * queries.stride;
                       std::vector<KeepNearest> keepers;
                       for (int i = 0; i < queries.count(leaf); ++i) {
                         keepers.emplace_back(leave_out ? first + i : -1);
                       }
                       if (same) {
                         search.from_leaf_together(leaf, points, keepers);
                       } else {
                         for (int i = 0; i < queries.count(leaf); ++i) {
                           search.from_root(points + i * queries.features, keepers[i]);
                         }
                       }
                       for (int i = 0; i < queries.count(leaf); ++i) {
                         nearest.square[first + i] = keepers[i].square();
                         nearest.slot[first + i] = keepers[i].slot();
                       }
                     });
  return nearest;
}

}  // namespace quickshift
