#include "image/pixel_tile.hpp"

#include <algorithm>
#include <limits>

namespace quickshift {

namespace {

constexpr Index most_columns = 256;
constexpr Index widest_vector = 16;

// The side of a box along an axis, in pixels: small enough that a tile fits into the cache, but
// large relative to the halo.
Index side_of(const Picture& picture, int axis) {
  const int axes = picture.axes();
  if (axis == axes - 1) return most_columns;
  return axes == 2 ? 128 : axes == 3 ? 16 : 8;
}

Index boxes_along(const Picture& picture, int axis) {
  const Index side = side_of(picture, axis);
  return (picture.shape[axis] + side - 1) / side;
}

}  // namespace

PixelTile::PixelTile(const Picture& picture, std::vector<Index> halo)
    : picture_(picture), halo_(std::move(halo)), begin_(picture.shape.size()), end_(begin_) {}

Index PixelTile::count(const Picture& picture) {
  Index count = 1;
  for (int axis = 0; axis < picture.axes(); ++axis) count *= boxes_along(picture, axis);
  return count;
}

void PixelTile::load(Index box, double scale) {
  for (int axis = picture_.axes() - 1; axis >= 0; --axis) {
    const Index along = boxes_along(picture_, axis);
    begin_[axis] = box % along * side_of(picture_, axis);
    end_[axis] = std::min(begin_[axis] + side_of(picture_, axis), picture_.shape[axis]);
    box /= along;
  }
  const int last = picture_.axes() - 1;
  length_ = columns() + 2 * halo_[last] + widest_vector;
  extents_.resize(static_cast<std::size_t>(last));
  all_lines_ = 1;
  for (int axis = 0; axis < last; ++axis) {
    extents_[axis] = end_[axis] - begin_[axis] + 2 * halo_[axis];
    all_lines_ *= extents_[axis];
  }
  colors_.assign(static_cast<std::size_t>(plane_size() * picture_.colors.features),
                 std::numeric_limits<double>::infinity());
  for_runs([&](Index to, Index from, Index count) {
    for (int channel = 0; channel < picture_.colors.features; ++channel) {
      double* plane = colors_.data() + channel * plane_size() + to;
      for (Index i = 0; i < count; ++i) {
        if (picture_.inside(from + i)) plane[i] = scale * picture_.colors.at(from + i, channel);
      }
    }
  });
  lines_.clear();
  for (Index line = 0; line < all_lines_; ++line) {
    std::vector<Index> at = position_of(line);
    if (!is_inner(at)) continue;
    for (int axis = 0; axis < last; ++axis) at[axis] += begin_[axis] - halo_[axis];
    at.push_back(begin_[last]);
    const Index first = number_of(at, picture_.shape);
    at.pop_back();
    lines_.push_back({line, first, std::move(at)});
  }
}

void PixelTile::load_plane(const double* values, double outside, std::vector<double>& plane) const {
  plane.assign(static_cast<std::size_t>(plane_size()), outside);
  for_runs([&](Index to, Index from, Index count) {
    for (Index i = 0; i < count; ++i) {
      if (picture_.inside(from + i)) plane[to + i] = values[from + i];
    }
  });
}

// Calls copy(offset in a plane, first pixel, number of pixels) for each line of the tile, with the
// part of the line that lies in the picture.
template <class Copy>
void PixelTile::for_runs(const Copy& copy) const {
  const int last = picture_.axes() - 1;
  const Index left = std::max<Index>(begin_[last] - halo_[last], 0);
  const Index right = std::min(end_[last] + halo_[last], picture_.shape[last]);
  for (Index line = 0; line < all_lines_; ++line) {
    std::vector<Index> at = position_of(line);
    if (!in_picture(at)) continue;
    for (int axis = 0; axis < last; ++axis) at[axis] += begin_[axis] - halo_[axis];
    at.push_back(left);
    copy(start(line) + left - begin_[last], number_of(at, picture_.shape), right - left);
  }
}

bool PixelTile::in_picture(const std::vector<Index>& position) const {
  for (std::size_t axis = 0; axis < position.size(); ++axis) {
    const Index at = position[axis] + begin_[axis] - halo_[axis];
    if (at < 0 || at >= picture_.shape[axis]) return false;
  }
  return true;
}

bool PixelTile::is_inner(const std::vector<Index>& position) const {
  for (std::size_t axis = 0; axis < position.size(); ++axis) {
    if (position[axis] < halo_[axis] || position[axis] >= extents_[axis] - halo_[axis]) {
      return false;
    }
  }
  return true;
}

}  // namespace quickshift
