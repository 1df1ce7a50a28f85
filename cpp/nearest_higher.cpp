#include "nearest_higher.hpp"

#include <cmath>

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Rows that do not stand for their location: below its top row they hang on it at distance 0; with
// strict ties an equally high row does as the top row does.
void write_other_rows(const Tree& tree, const Heights& heights, const double* density, int bits,
                      bool strict, Index* parent, double* distance) {
  for (Index row = 0; row < tree.rows; ++row) {
    const Index slot = tree.slot_of_row[row];
    if (slot < 0) {
      parent[row] = row;
      distance[row] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    const Index top = heights.top_row(slot);
    if (row == top) continue;
    if (!strict || round_to_bits(density[row], bits) < heights.density(slot)) {
      parent[row] = distance[top] == 0.0 ? parent[top] : top;  // a square may underflow to 0
      distance[row] = 0.0;
    } else {
      parent[row] = parent[top] == top ? row : parent[top];
      distance[row] = distance[top];
    }
  }
}

}  // namespace

void nearest_higher(const Tree& tree, const double* density, int bits, bool strict,
                    const Execution& execution, Index* parent, double* distance) {
  const Heights heights(tree, density, bits, execution);
  const auto write = [&](Index row, Index slot, const KeepNearestHigher& keeper) {
    const bool found = keeper.slot() >= 0;
    parent[row] = found ? heights.top_row(keeper.slot()) : heights.top_row(slot);
    distance[row] = found ? std::ldexp(std::sqrt(keeper.square()), tree.exponent) : infinity;
  };
  search_from_leaves(tree, tree, execution, [&](Search& search, Index leaf, const double* points) {
    const Index first = leaf * tree.stride;
    std::vector<KeepNearestHigher> keepers;
    keepers.reserve(max_stride);
    for (int i = 0; i < tree.count(leaf); ++i) {
      keepers.emplace_back(heights, heights.density(first + i), points + i * tree.features, strict,
                           leaf);
    }
    search.from_leaf_together(leaf, points, keepers);
    for (int i = 0; i < tree.count(leaf); ++i) {
      write(heights.top_row(first + i), first + i, keepers[i]);
    }
  });
  if (tree.locations < tree.rows) {
    write_other_rows(tree, heights, density, bits, strict, parent, distance);
  }
}

}  // namespace quickshift
