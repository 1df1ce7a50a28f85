// The pixels around a pixel in the order in which a search looks at them.
#pragma once

#include <vector>

#include "image/picture.hpp"
#include "image/pixel_tile.hpp"
#include "vector/pixel_loops.hpp"

namespace quickshift {

class SortedSurroundings {
 public:
  // Those up to a radius, or up to some radius that makes them some thousand.
  static SortedSurroundings within(const Picture& picture, double radius);
  // Those of a box.
  static SortedSurroundings boxed(const Picture& picture, std::vector<Index> reach);

  const std::vector<Index>& halo() const { return reach_; }
  // Up to this square of the distance without colors none that was asked for is missing.
  double complete_sq() const { return complete_sq_; }

  // For the layout of a tile; `steps` is written, and kept by what is returned.
  Surroundings in(const PixelTile& tile, std::vector<Index>& steps) const;
  // The squares of the distance of the lines around a line.
  void write_line_squares(const Picture& picture, const std::vector<Index>& at,
                          std::vector<double>& line_sq) const;

 private:
  SortedSurroundings(const Picture& picture, std::vector<Index> reach, double radius);

  std::vector<Index> reach_;
  double complete_sq_;
  std::vector<std::vector<Index>> steps_;  // by axis
  std::vector<std::vector<Index>> lines_;  // around a line: steps by axis but the last
  std::vector<Index> number_, column_, line_;
  std::vector<double> least_sq_;
};

}  // namespace quickshift
