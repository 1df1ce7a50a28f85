// The offsets of the pixels around a pixel, sorted by distance: the order in which a search visits
// them.
#pragma once

#include <vector>

#include "image/picture.hpp"
#include "image/pixel_tile.hpp"
#include "vector/pixel_loops.hpp"

namespace quickshift {

class SortedSurroundings {
 public:
  // The offsets up to a radius, or up to a smaller radius that leaves about two thousand of them.
  static SortedSurroundings within(const Picture& picture, double radius);
  // The offsets of a box.
  static SortedSurroundings boxed(const Picture& picture, std::vector<Index> reach);

  const std::vector<Index>& halo() const { return reach_; }
  // Squared distance, without colors, up to which the offsets are complete; infinite if none of
  // those that were requested is missing.
  double complete_sq() const { return complete_sq_; }

  // The offsets for the memory layout of a tile. Writes `steps`, which the result points to.
  Surroundings in(const PixelTile& tile, std::vector<Index>& steps) const;
  // Writes the squared distances from a line, at a position, to the lines around it.
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
