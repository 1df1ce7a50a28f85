#include "density/grid/grid_tiles.hpp"

#include <cstdint>

namespace quickshift {

namespace {

// Faster than the comparison of arrays, which calls a function of the C library. The last index
// differs most often.
bool equal(const Cell& a, const Cell& b) { return a[2] == b[2] && a[1] == b[1] && a[0] == b[0]; }

}  // namespace

std::size_t CellSet::place_of(const Cell& cell) const {
  std::uint64_t hash = 0;
  for (Index at : cell) {
    hash = (hash ^ static_cast<std::uint64_t>(at)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  const std::size_t mask = places_.size() - 1;
  std::size_t place = hash & mask;
  while (places_[place] >= 0 && !equal(cells_[places_[place]], cell)) place = (place + 1) & mask;
  return place;
}

void CellSet::grow() {
  places_.assign(std::max<std::size_t>(64, places_.size() * 2), -1);
  for (std::size_t i = 0; i < cells_.size(); ++i)
    places_[place_of(cells_[i])] = static_cast<int>(i);
}

Index CellSet::find(const Cell& cell) const {
  return places_.empty() ? -1 : places_[place_of(cell)];
}

bool CellSet::insert(const Cell& cell) {
  if (2 * (cells_.size() + 1) > places_.size()) grow();
  const std::size_t place = place_of(cell);
  if (places_[place] >= 0) return false;
  places_[place] = static_cast<int>(cells_.size());
  cells_.push_back(cell);
  return true;
}

CellSet dilated(const CellSet& cells, int axis, int reach) {
  CellSet result;
  for (Index i = 0; i < cells.size(); ++i) {
    for (Index offset = -reach; offset <= reach; ++offset) {
      Cell cell = cells[i];
      cell[axis] += offset;
      result.insert(cell);
    }
  }
  return result;
}

CellSet common(const CellSet& cells, const CellSet& others) {
  CellSet result;
  for (Index i = 0; i < cells.size(); ++i) {
    if (others.find(cells[i]) >= 0) result.insert(cells[i]);
  }
  return result;
}

void insert_all(const CellSet& cells, Index layer, CellSet& into) {
  for (Index i = 0; i < cells.size(); ++i) into.insert({layer, cells[i][1], cells[i][2]});
}

void Layers::copy_to_box(const GridBox& box, double* values) const {
  for_cells_of(box, sides_, [&](const Cell& cell) {
    const double* const from = find(cell);
    for_shared_rows(box, cell, sides_, [&](Index in_box, Index in_tile, Index length) {
      double* const to = values + in_box;
      from ? std::copy_n(from + in_tile, length, to) : std::fill_n(to, length, 0.0);
    });
  });
}

}  // namespace quickshift
