// A picture: a grid of any number of axes, with colors at its pixels.
//
// A pixel is the point (coordinates, colors). Pixels are numbered in raster order, in which the
// last axis varies fastest. Of two pixels, the one with the larger number therefore has the
// lexicographically larger coordinates.
#pragma once

#include <vector>

#include "support/points.hpp"

namespace quickshift {

struct Picture {
  Points colors;  // one row per pixel
  std::vector<Index> shape;
  std::vector<double> spacing;  // distance between neighboring pixels, by axis
  std::vector<Index> origin;    // position of the first pixel in a larger picture
  const bool* mask = nullptr;   // whether each pixel is inside; null if all are

  int axes() const { return static_cast<int>(shape.size()); }
  Index pixels() const { return colors.rows; }
  bool inside(Index pixel) const { return !mask || mask[pixel]; }
  double coordinate(int axis, Index at) const {
    return static_cast<double>(origin[axis] + at) * spacing[axis];
  }
};

// Advances to the next position of a box in raster order; returns false after the last one.
inline bool next_position(std::vector<Index>& at, const std::vector<Index>& begin,
                          const std::vector<Index>& end) {
  for (std::size_t axis = at.size(); axis-- > 0;) {
    if (++at[axis] < end[axis]) return true;
    at[axis] = begin[axis];
  }
  return false;
}

// The number, in raster order, of a position in a grid of the given shape.
inline Index number_of(const std::vector<Index>& at, const std::vector<Index>& shape) {
  Index number = 0;
  for (std::size_t axis = 0; axis < at.size(); ++axis) number = number * shape[axis] + at[axis];
  return number;
}

// The position that has the given number; the inverse of number_of.
inline std::vector<Index> position_in(const std::vector<Index>& shape, Index number) {
  std::vector<Index> at(shape.size());
  for (std::size_t axis = at.size(); axis-- > 0; number /= shape[axis]) {
    at[axis] = number % shape[axis];
  }
  return at;
}

// Half the width of a window by axis, reduced to the largest difference of positions in the
// picture.
inline std::vector<Index> clipped(const Picture& picture, std::vector<Index> reach) {
  for (std::size_t axis = 0; axis < reach.size(); ++axis) {
    if (reach[axis] > picture.shape[axis] - 1) reach[axis] = picture.shape[axis] - 1;
  }
  return reach;
}

}  // namespace quickshift
