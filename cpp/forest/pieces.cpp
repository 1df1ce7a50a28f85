#include "forest/pieces.hpp"

namespace quickshift {

PiecesOfLocations::PiecesOfLocations(const Tree& tree, const PieceOfRow& rows,
                                     std::span<const Saddle> given, const Execution& execution)
    : heights(filled_array(tree.slots(), -std::numeric_limits<double>::infinity(), execution)),
      pieces(filled_array(tree.slots(), Index{-1}, execution)) {
  for (const Saddle& edge : given) edges.push_back({edge.level, 0.0, edge.piece, edge.other});
  for (Index row = 0; row < tree.rows; ++row) {
    const Index slot = tree.slot_of_row[row];
    if (slot < 0 || !(rows.height[row] > heights[slot] || pieces[slot] < 0)) continue;
    heights[slot] = rows.height[row];
    pieces[slot] = rows.piece[row];
  }
  for (Index row = 0; row < tree.rows && tree.locations < tree.rows; ++row) {
    const Index slot = tree.slot_of_row[row];
    if (slot < 0 || rows.piece[row] == pieces[slot]) continue;
    edges.push_back({rows.height[row], 0.0, rows.piece[row], pieces[slot]});
  }
}

}  // namespace quickshift
