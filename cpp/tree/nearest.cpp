#include "tree/nearest.hpp"

namespace quickshift {

Nearest nearest_samples(const Tree& queries, const Tree& samples, bool leave_out,
                        const Execution& execution) {
  Nearest nearest;
  nearest.square.resize(static_cast<std::size_t>(queries.slots()));
  nearest.slot.assign(static_cast<std::size_t>(queries.slots()), -1);
  const bool same = &queries == &samples;
  search_from_leaves(queries, samples, execution,
                     [&](TreeSearch& search, Index leaf, double* point) {
                       for (int i = 0; i < queries.count(leaf); ++i) {
                         const Index slot = leaf * queries.stride + i;
                         copy_point(queries, leaf, i, point);
                         KeepNearest keeper(leave_out ? slot : -1);
                         if (same) {
                           search.from_leaf(leaf, point, keeper);
                         } else {
                           search.from_root(point, keeper);
                         }
                         nearest.square[slot] = keeper.square();
                         nearest.slot[slot] = keeper.slot();
                       }
                     });
  return nearest;
}

}  // namespace quickshift
