// The offsets from a pixel to the pixels around it, sorted by distance. A search for the nearest
// higher pixel visits them in this order.
#pragma once

#include <vector>

#include "image/picture.hpp"
#include "image/pixel_tile.hpp"
#include "vector/pixel_loops.hpp"

namespace quickshift {

class SortedSurroundings {
 public:
  // The offsets up to a radius. If these are more than about two thousand, only the nearest two
  // thousand or so.
  static SortedSurroundings within(const Picture& picture, double radius);
  // The offsets in a box that extends reach[axis] pixels to each side.
  static SortedSurroundings boxed(const Picture& picture, std::vector<Index> reach);

  const std::vector<Index>& halo() const { return reach_; }
  // The squared distance, without colors, up to which the offsets are complete; infinite if all
  // requested offsets are included.
  double complete_sq() const { return complete_sq_; }

  // Converts the offsets to the memory layout of a tile. The result points into `steps`, which is
  // overwritten.
  Surroundings in(const PixelTile& tile, std::vector<Index>& steps) const;
  // Writes the squared distances from the line at a position to the lines around it.
  void write_line_squares(const Picture& picture, const std::vector<Index>& at,
                          std::vector<double>& line_sq) const;

 private:
  SortedSurroundings(const Picture& picture, std::vector<Index> reach, double radius);

  std::vector<Index> reach_;
  double complete_sq_;
  std::vector<std::vector<Index>> steps_;  // offsets by axis
  std::vector<std::vector<Index>> lines_;  // lines around a line: offsets by axis, except the last
  std::vector<Index> number_, column_, line_;
  std::vector<double> least_sq_;
};

}  // namespace quickshift
