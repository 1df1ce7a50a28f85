#include "tree/heights.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

double round_to_bits(double value, int bits) {
  auto pattern = std::bit_cast<std::uint64_t>(value);
  const int drop = 53 - bits;
  if (drop <= 0) return value;
  pattern += (std::uint64_t{1} << (drop - 1)) - 1 + ((pattern >> drop) & 1);
  pattern &= ~((std::uint64_t{1} << drop) - 1);
  return std::bit_cast<double>(pattern) + 0.0;
}

Heights::Heights(const Tree& tree, const double* row_heights, int bits, const Execution& execution)
    : tree_(tree),
      heights_(unset_array<double>(tree.slots())),
      top_rows_(tree.row_of_slot.data()),
      highest_below_(unset_array<Index>(tree.nodes())),
      greatest_heights_(unset_array<double>(tree.nodes())) {
  run_ranges(execution, tree.slots(), [&](Index begin, Index end) {
    for (Index slot = begin; slot < end; ++slot) {
      fetch_ahead(row_heights, tree.row_of_slot.data(), slot, end);
      const Index row = tree.row_of_slot[slot];
      heights_[slot] = row >= 0 ? round_to_bits(row_heights[row], bits) : -infinity;
    }
  });
  if (tree.locations < tree.rows) raise_tops(row_heights, bits);
  for_nodes_upwards(tree, execution, [&](Index node) {
    highest_below_[node] = highest_of(node);
    greatest_heights_[node] = heights_[highest_below_[node]];
  });
}

Index Heights::highest_of(Index node) const {
  if (!tree_.is_leaf(node)) {
    const Index left = highest_below_[2 * node];
    const Index right = highest_below_[2 * node + 1];
    return higher(left, right) ? left : right;
  }
  const Index leaf = tree_.leaf_of(node);
  Index best = leaf * tree_.stride;
  for (Index slot = best + 1; slot < leaf * tree_.stride + tree_.count(leaf); ++slot) {
    if (higher(slot, best)) best = slot;
  }
  return best;
}

// Gives each location the height of its highest row; of equally high rows the first is the top row.
void Heights::raise_tops(const double* row_heights, int bits) {
  raised_tops_ = tree_.row_of_slot;
  top_rows_ = raised_tops_.data();
  for (Index row = 0; row < tree_.rows; ++row) {
    const Index slot = tree_.slot_of_row[row];
    if (slot < 0) continue;
    const double value = round_to_bits(row_heights[row], bits);
    if (value > heights_[slot]) {
      heights_[slot] = value;
      raised_tops_[slot] = row;
    }
  }
}

bool Heights::higher(Index slot, Index other) const {
  if (heights_[slot] != heights_[other]) return heights_[slot] > heights_[other];
  for (int k = 0; k < tree_.features; ++k) {
    const double a = tree_.coordinate(slot, k);
    const double b = tree_.coordinate(other, k);
    if (a != b) return a > b;
  }
  return false;
}

bool Heights::is_at(Index slot, const double* point) const {
  for (int k = 0; k < tree_.features; ++k) {
    if (tree_.coordinate(slot, k) != point[k]) return false;
  }
  return true;
}

bool Heights::higher(Index slot, double height, const double* point) const {
  if (heights_[slot] != height) return heights_[slot] > height;
  for (int k = 0; k < tree_.features; ++k) {
    const double a = tree_.coordinate(slot, k);
    if (a != point[k]) return a > point[k];
  }
  return false;
}

void sort_by_height(const Tree& tree, const double* row_heights, int bits,
                    std::vector<Index>& rows) {
  std::sort(rows.begin(), rows.end(), [&](Index a, Index b) {
    const double height = round_to_bits(row_heights[a], bits);
    const double other = round_to_bits(row_heights[b], bits);
    if (height != other) return height > other;
    for (int k = 0; k < tree.features; ++k) {
      const double x = tree.coordinate(tree.slot_of_row[a], k);
      const double y = tree.coordinate(tree.slot_of_row[b], k);
      if (x != y) return x > y;
    }
    return a < b;
  });
}

}  // namespace quickshift
