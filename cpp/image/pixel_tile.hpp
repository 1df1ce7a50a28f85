// A tile: a box of a picture and the halo around it, copied into one plane of doubles per channel.
//
// Loops over a tile run along lines. A line consists of the pixels that differ only in their
// position on the last axis. Thanks to the halo, the loops need no special case at the border of
// the picture.
#pragma once

#include <vector>

#include "image/picture.hpp"

namespace quickshift {

class PixelTile {
 public:
  // halo: width of the halo in pixels, by axis.
  PixelTile(const Picture& picture, std::vector<Index> halo);

  static Index count(const Picture& picture);  // number of boxes that cover a picture

  // Loads a box and multiplies its colors by `scale`. Pixels outside the picture or its mask get
  // infinite colors, so that their kernels are 0.
  void load(Index box, double scale = 1.0);
  // Copies other values of the loaded pixels into a plane with the layout of the colors. Pixels
  // outside the picture or its mask get the value `outside`.
  void load_plane(const double* values, double outside, std::vector<double>& plane) const;

  // All lines of the tile, including those of the halo, are numbered in raster order.
  struct Line {
    Index number;           // in the tile
    Index first_pixel;      // number of its first pixel in the picture
    std::vector<Index> at;  // position in the picture, without the last axis
  };
  const std::vector<Line>& lines() const { return lines_; }  // those of the box
  Index columns() const { return end_.back() - begin_.back(); }
  Index first_column() const { return begin_.back(); }  // in the picture

  // These functions refer to the box with its halo.
  Index all_lines() const { return all_lines_; }
  std::vector<Index> position_of(Index line) const {  // relative to the first line of the halo
    return position_in(extents_, line);
  }
  const std::vector<Index>& line_extents() const { return extents_; }
  bool in_picture(const std::vector<Index>& position) const;
  bool is_inner(const std::vector<Index>& position) const;
  Index length() const { return length_; }  // of a line, padded to whole vectors

  Index plane_size() const { return all_lines_ * length_; }
  const double* colors() const { return colors_.data(); }  // plane after plane
  // Offset in a plane at which the box's part of a line begins.
  Index start(Index line) const { return line * length_ + halo_.back(); }

 private:
  template <class Copy>
  void for_runs(const Copy& copy) const;

  const Picture& picture_;
  std::vector<Index> halo_;
  std::vector<Index> begin_, end_;  // the box, in pixels
  std::vector<Index> extents_;      // of the box with its halo, by axis except the last
  Index all_lines_ = 0;
  Index length_ = 0;
  std::vector<Line> lines_;
  std::vector<double> colors_;
};

}  // namespace quickshift
