// Which part of the grid a set of points needs: the points cut into pieces that each fill a small
// box of grid points, and the tiles of every stage.
#pragma once

#include <array>
#include <vector>

#include "grid_plan.hpp"
#include "grid_tiles.hpp"
#include "kdtree.hpp"

namespace quickshift {

// A range of slots whose windows lie in one box: a node of the tree, or one location of a leaf
// that is too wide. Pieces follow the tree, so they do not depend on the order of rows.
struct Piece {
  Index first_slot;
  Index last_slot;  // exclusive
  GridBox box;
  std::array<double, axes> origin;  // of the box, by feature, in the coordinates of these points
};

struct GridLayout {
  GridPlan plan;
  Sides sides;
  std::vector<Piece> sources;
  std::vector<Piece> targets;
  bool same_pieces = false;  // targets are the sources, and not listed again
  // The tiles that samples are spread onto, then those after each pass along an axis, the last
  // feature's first: only what the sources reach and the targets still need.
  std::vector<CellSet> stages;

  const std::vector<Piece>& queried() const { return same_pieces ? sources : targets; }
  double passed() const;   // grid points written by all passes
  double patched() const;  // grid points of all pieces' boxes
  double bytes() const;    // of the tiles, at the most
};

// False where the pieces' boxes would hold more than `most_patched` grid points, or coordinates are
// too large for the step; queries with too large coordinates just get no piece. images: how far
// from an edge of a periodic feature samples are repeated beyond the other, 0 where all are open.
bool lay_out(const Tree& queries, const Tree& samples, const GridPlan& plan, double images,
             double most_patched, GridLayout& layout);

}  // namespace quickshift
