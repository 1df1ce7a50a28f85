// Which part of the grid a set of points needs: the points cut into pieces that each fill a small
// box of grid points, and the tiles of every stage.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "density/grid/grid_plan.hpp"
#include "density/grid/grid_tiles.hpp"
#include "tree/kdtree.hpp"

namespace quickshift {

// A range of slots whose windows lie in one box: a node of the tree, or one location of a leaf
// that is too wide. Pieces follow the tree, so they do not depend on the order of rows.
struct Piece {
  Index first_slot;
  Index last_slot;  // exclusive
  GridBox box;
  std::array<double, axes> origin;  // of the box, by feature, in the coordinates of these points
};

// The tiles that share their place along the first axis, which is worked along layer by layer, so
// that few are held at a time. With fewer than three features there is one layer.
struct GridLayer {
  std::vector<Index> sources;  // pieces that begin in this layer
  std::vector<Index> targets;  // pieces that end in it
  CellSet spread;              // where samples are spread
  CellSet partway;             // after the pass along the last axis
  CellSet planar;              // after that along the middle one
  CellSet needed;              // by targets, after all passes
};

struct GridLayout {
  GridPlan plan;
  TileSides sides;
  std::vector<Piece> sources;
  std::vector<Piece> targets;
  bool same_pieces = false;  // targets are the sources, and not listed again
  std::map<Index, GridLayer> layers;
  Index reach = 0;  // of the last pass, in layers
  Index span = 0;   // layers that a target may begin before the one it ends in

  const std::vector<Piece>& queried() const { return same_pieces ? sources : targets; }
  Index first_layer(const Piece& piece) const { return cell_at(piece.box.low[0], sides[0]); }
  Index last_layer(const Piece& piece) const {
    return cell_at(piece.box.low[0] + piece.box.extent[0] - 1, sides[0]);
  }
  double seconds_of_grid() const;  // for what grows with the grid, not with the points
  double bytes() const;            // of the tiles that are held at a time
};

// False where the grid would cost more than most_seconds, or coordinates are too large for the
// step; queries with too large coordinates just get no piece. images: how far from an edge of a
// periodic feature samples are repeated beyond the other, 0 where all are open.
bool lay_out(const Tree& queries, const Tree& samples, const GridPlan& plan, double images,
             double most_seconds, GridLayout& layout);

}  // namespace quickshift
