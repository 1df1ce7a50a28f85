#include "forest/pieces.hpp"

namespace quickshift {

PiecesOfLocations::PiecesOfLocations(const Tree& tree, const PieceOfRow& rows,
                                     std::span<const Saddle> given, const Execution& execution)
    : heights(unset_array<double>(tree.slots())), pieces(unset_array<Index>(tree.slots())) {
  for (const Saddle& edge : given) edges.push_back({edge.level, 0.0, edge.piece, edge.other});
  run_ranges(execution, tree.slots(), [&](Index begin, Index end) {
    for (Index slot = begin; slot < end; ++slot) {
      fetch_ahead(rows.height, tree.row_of_slot.data(), slot, end);
      fetch_ahead(rows.piece, tree.row_of_slot.data(), slot, end);
      const Index row = tree.row_of_slot[slot];
      heights[slot] = row < 0 ? -std::numeric_limits<double>::infinity() : rows.height[row];
      pieces[slot] = row < 0 ? -1 : rows.piece[row];
    }
  });
  if (tree.locations < tree.rows) add_other_rows(tree, rows);
}

// Raises locations to their highest rows, and joins the pieces of all rows of a location.
void PiecesOfLocations::add_other_rows(const Tree& tree, const PieceOfRow& rows) {
  for (Index row = 0; row < tree.rows; ++row) {
    const Index slot = tree.slot_of_row[row];
    if (slot < 0 || !(rows.height[row] > heights[slot])) continue;
    heights[slot] = rows.height[row];
    pieces[slot] = rows.piece[row];
  }
  for (Index row = 0; row < tree.rows; ++row) {
    const Index slot = tree.slot_of_row[row];
    if (slot < 0 || rows.piece[row] == pieces[slot]) continue;
    edges.push_back({rows.height[row], 0.0, rows.piece[row], pieces[slot]});
  }
}

}  // namespace quickshift
