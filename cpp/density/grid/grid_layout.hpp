// The part of the grid that a set of points needs: the points are divided into pieces that each
// cover a small box of grid points, and every stage (spread, passes, interpolate) has its set of
// tiles.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "density/grid/grid_plan.hpp"
#include "density/grid/grid_tiles.hpp"
#include "tree/kdtree.hpp"

namespace quickshift {

// The most locations of a piece: gives enough pieces to share among threads.
inline constexpr Index most_locations = 2048;

// A range of slots whose windows lie in one box: a node of the tree, or a single location if its
// leaf is too wide. Pieces follow the tree, so they do not depend on the order of the rows.
struct Piece {
  Index first_slot;
  Index last_slot;  // exclusive
  GridBox box;
  std::array<double, axes> origin;  // by feature: of the box, in the coordinates of the points
};

// All tiles with the same index along the first axis. The grid is processed layer by layer along
// that axis, so that only a few layers are in memory at a time. With fewer than three features
// there is only one layer.
struct GridLayer {
  std::vector<Index> sources;  // pieces of samples whose box begins in this layer
  std::vector<Index> targets;  // pieces of queries whose box ends in this layer
  CellSet spread;              // tiles onto which samples are spread
  CellSet partway;             // tiles written by the pass along the last axis
  CellSet planar;              // tiles written by the pass along the middle axis
  CellSet needed;              // tiles from which targets interpolate, after all passes
};

struct GridLayout {
  GridPlan plan;
  TileSides sides;
  std::vector<Piece> sources;
  std::vector<Piece> targets;
  bool same_pieces = false;  // the targets are the sources; `targets` is empty
  std::vector<Index> apart;  // leaves that are not on the grid, see GridPlan::fewest
  std::map<Index, GridLayer> layers;
  Index reach = 0;  // of the pass along the first axis, in layers
  Index span = 0;   // the largest difference between the last and the first layer of a target

  const std::vector<Piece>& queried() const { return same_pieces ? sources : targets; }
  Index first_layer(const Piece& piece) const { return cell_at(piece.box.low[0], sides[0]); }
  Index last_layer(const Piece& piece) const {
    return cell_at(piece.box.low[0] + piece.box.extent[0] - 1, sides[0]);
  }
  // The estimated time of the parts whose cost grows with the size of the grid, not with the number
  // of points.
  double seconds_of_grid() const;
  // The most memory that tiles take at a time.
  double bytes() const;
};

// The estimated time of spreading samples and interpolating at queries: the part whose cost grows
// with their number.
double seconds_at_points(const GridPlan& plan, int features, double sources, double targets);

// Lays out the grid for a plan. Returns false if it would cost more than most_seconds, if samples
// have coordinates that are too large for the step of the grid, or if no sample is left for it.
// Queries with such coordinates get no piece, and their sums remain 0. images: samples within this
// distance of one edge of a periodic feature are repeated beyond the other edge; 0 if no feature is
// periodic.
bool lay_out(const Tree& queries, const Tree& samples, const GridPlan& plan, double images,
             double most_seconds, GridLayout& layout);

}  // namespace quickshift
