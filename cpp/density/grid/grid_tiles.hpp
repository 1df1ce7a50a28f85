// A sparse grid: small boxes of grid points (tiles), allocated only where they are needed.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "support/array.hpp"
#include "support/points.hpp"
#include "vector/grid_loops.hpp"

namespace quickshift {

using Cell = std::array<Index, axes>;     // the position of a tile, in units of tiles
using TileSides = std::array<int, axes>;  // the extent of a tile, in grid points

inline TileSides tile_sides(int features) {
  if (features == 1) return {1, 16, 16};
  if (features == 2) return {1, 16, 16};
  return {8, 16, 16};
}
inline int volume_of(const TileSides& sides) { return sides[0] * sides[1] * sides[2]; }

// A set of cells, numbered in the order of insertion.
class CellSet {
 public:
  Index size() const { return static_cast<Index>(cells_.size()); }
  const Cell& operator[](Index i) const { return cells_[i]; }
  Index find(const Cell& cell) const;  // its number; -1 if it is not in the set
  bool insert(const Cell& cell);       // returns whether it was new

 private:
  std::size_t place_of(const Cell& cell) const;
  void grow();

  std::vector<Cell> cells_;
  std::vector<int> places_;  // hash table with open addressing: numbers of cells, or -1
};

// All cells within `reach` of a cell of the set, along one axis.
CellSet dilated(const CellSet& cells, int axis, int reach);
// The intersection, numbered in the order of `cells`.
CellSet common(const CellSet& cells, const CellSet& others);
// Inserts all cells, moved into the given layer.
void insert_all(const CellSet& cells, Index layer, CellSet& into);

// A box of grid points.
struct GridBox {
  std::array<Index, axes> low;
  std::array<int, axes> extent;

  Index volume() const { return Index{extent[0]} * extent[1] * extent[2]; }
};

// The index of the tile that holds a grid point, along one axis: point / side, rounded down.
inline Index cell_at(Index point, int side) {
  return point >= 0 ? point / side : -((-point + side - 1) / side);
}

// Calls visit(cell) for every cell that the box overlaps.
template <class Visit>
void for_cells_of(const GridBox& box, const TileSides& sides, const Visit& visit) {
  Cell low;
  Cell high;
  for (int a = 0; a < axes; ++a) {
    low[a] = cell_at(box.low[a], sides[a]);
    high[a] = cell_at(box.low[a] + box.extent[a] - 1, sides[a]);
  }
  for (Index z = low[0]; z <= high[0]; ++z) {
    for (Index y = low[1]; y <= high[1]; ++y) {
      for (Index x = low[2]; x <= high[2]; ++x) visit(Cell{z, y, x});
    }
  }
}

// Memory for tiles, in chunks. Layers come and go quickly, and the first touch of memory from the
// system costs more than most passes over it, so the chunks of a layer are used again by the next.
class TileMemory {
 public:
  static constexpr Index tiles_per_chunk = 16;

  explicit TileMemory(const TileSides& sides) : volume_(volume_of(sides)) {}

  int volume() const { return volume_; }
  Array<double> take() {
    if (spare_.empty()) return unset_array<double>(tiles_per_chunk * volume_);
    Array<double> chunk = std::move(spare_.back());
    spare_.pop_back();
    return chunk;
  }
  void give_back(std::vector<Array<double>>& chunks) {
    for (Array<double>& chunk : chunks) spare_.push_back(std::move(chunk));
    chunks.clear();
  }

 private:
  int volume_;
  std::vector<Array<double>> spare_;
};

// The values of the tiles of one layer, that is, of cells with the same index along the first axis.
class Tiles {
 public:
  Tiles(TileMemory& memory, CellSet cells) : memory_(memory), cells_(std::move(cells)) {
    const Index chunks = (cells_.size() + chunk - 1) / chunk;
    for (Index i = 0; i < chunks; ++i) {
      chunks_.push_back(memory_.take());
      starts_.push_back(chunks_.back().data());
    }
  }
  ~Tiles() { memory_.give_back(chunks_); }
  Tiles(const Tiles&) = delete;

  const CellSet& cells() const { return cells_; }
  double size() const { return static_cast<double>(cells_.size()) * memory_.volume(); }
  double* tile(Index i) const {
    return starts_[static_cast<std::size_t>(i / chunk)] + i % chunk * memory_.volume();
  }
  double* find(const Cell& cell) const {
    const Index i = cells_.find(cell);
    return i < 0 ? nullptr : tile(i);
  }
  void clear() {
    for (Array<double>& values : chunks_) std::fill(values.begin(), values.end(), 0.0);
  }

 private:
  static constexpr Index chunk = TileMemory::tiles_per_chunk;

  TileMemory& memory_;
  CellSet cells_;
  std::vector<Array<double>> chunks_;  // uninitialized until a tile is written
  std::vector<double*> starts_;        // of the chunks
};

// The layers that are in memory, by index.
class Layers {
 public:
  Layers(const TileSides& sides, TileMemory& memory) : sides_(sides), memory_(memory) {}

  Tiles& add(Index layer, const CellSet& cells) {
    return layers_.try_emplace(layer, memory_, cells).first->second;
  }
  bool has(Index layer) const { return layers_.count(layer) > 0; }
  void drop_before(Index layer) { layers_.erase(layers_.begin(), layers_.lower_bound(layer)); }

  double* find(const Cell& cell) const {
    const auto layer = layers_.find(cell[0]);
    return layer == layers_.end() ? nullptr : layer->second.find(cell);
  }
  // Copies the values of a box of grid points; they are zero where there is no tile.
  void copy_to_box(const GridBox& box, double* values) const;

 private:
  TileSides sides_;
  TileMemory& memory_;
  std::map<Index, Tiles> layers_;
};

// Calls visit(offset in the box, offset in the tile, length) for every row of grid points that a
// box and a tile have in common.
template <class Visit>
void for_shared_rows(const GridBox& box, const Cell& cell, const TileSides& sides,
                     const Visit& visit) {
  std::array<Index, axes> begin;
  std::array<Index, axes> end;
  for (int a = 0; a < axes; ++a) {
    begin[a] = std::max(box.low[a], cell[a] * sides[a]);
    end[a] = std::min(box.low[a] + box.extent[a], (cell[a] + 1) * sides[a]);
  }
  for (Index z = begin[0]; z < end[0]; ++z) {
    for (Index y = begin[1]; y < end[1]; ++y) {
      const Index in_box = ((z - box.low[0]) * box.extent[1] + (y - box.low[1])) * box.extent[2] +
                           (begin[2] - box.low[2]);
      const Index in_tile =
          ((z - cell[0] * sides[0]) * sides[1] + (y - cell[1] * sides[1])) * sides[2] +
          (begin[2] - cell[2] * sides[2]);
      visit(in_box, in_tile, end[2] - begin[2]);
    }
  }
}

}  // namespace quickshift
