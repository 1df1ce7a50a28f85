// A box of a picture with a halo around it, copied into planes of doubles: loops over it have no
// borders, and run along the last axis. A line is what the other axes leave fixed.
#pragma once

#include <vector>

#include "image/picture.hpp"

namespace quickshift {

class PixelTile {
 public:
  // halo: pixels around the box, by axis.
  PixelTile(const Picture& picture, std::vector<Index> halo);

  static Index count(const Picture& picture);  // of the boxes that cover a picture

  // Moves to a box. Colors are multiplied by `scale`; those of what is outside of the picture or
  // of its mask are infinite, so far from all others that no kernel reaches them.
  void load(Index box, double scale = 1.0);
  // Copies what else is known of pixels, into a plane like those of the colors.
  void load_plane(const double* values, double outside, std::vector<double>& plane) const;

  // Lines of the box with its halo are numbered in raster order.
  struct Line {
    Index number;           // with the halo
    Index first_pixel;      // of the picture
    std::vector<Index> at;  // its position in the picture, but for the last axis
  };
  const std::vector<Line>& lines() const { return lines_; }  // without the halo
  Index columns() const { return end_.back() - begin_.back(); }
  Index first_column() const { return begin_.back(); }  // in the picture

  // Of all lines, with the halo.
  Index all_lines() const { return all_lines_; }
  std::vector<Index> position_of(Index line) const {  // from the first of the halo
    return position_in(extents_, line);
  }
  const std::vector<Index>& line_extents() const { return extents_; }
  bool in_picture(const std::vector<Index>& position) const;
  bool is_inner(const std::vector<Index>& position) const;
  Index length() const { return length_; }  // of a line, with the halo and what fills up a vector

  Index plane_size() const { return all_lines_ * length_; }
  const double* colors() const { return colors_.data(); }  // plane after plane
  // Where the box's part of a line begins in a plane.
  Index start(Index line) const { return line * length_ + halo_.back(); }

 private:
  template <class Copy>
  void for_runs(const Copy& copy) const;

  const Picture& picture_;
  std::vector<Index> halo_;
  std::vector<Index> begin_, end_;  // of the box
  std::vector<Index> extents_;      // of the lines with the halo, by axis but the last
  Index all_lines_ = 0;
  Index length_ = 0;
  std::vector<Line> lines_;
  std::vector<double> colors_;
};

}  // namespace quickshift
