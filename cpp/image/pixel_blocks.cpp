#include "image/pixel_blocks.hpp"

#include <algorithm>
#include <limits>

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The side of a block in pixels. Blocks have 256 or 512 pixels for up to four axes.
Index side_for(int axes) { return axes == 1 ? 256 : axes == 2 ? 16 : axes == 3 ? 8 : 4; }

// The distance from a number to an interval.
double gap_to(double x, double low, double high) { return std::max({low - x, x - high, 0.0}); }

}  // namespace

PixelBlocks::PixelBlocks(const Picture& picture, const double* heights, const Execution& execution)
    : picture_(picture), heights_(heights), side_(side_for(picture.axes())) {
  Index blocks = 1;
  for (const Index extent : picture.shape) {
    grid_.push_back((extent + side_ - 1) / side_);
    blocks *= grid_.back();
  }
  highest_ = unset_array<double>(blocks);
  box_ = unset_array<double>(blocks * 2 * picture.colors.features);
  run_tasks(execution, blocks, 4.0 * static_cast<double>(picture.pixels()),
            [&] { return [&](Index block) { summarize(block); }; });
}

std::vector<Index> PixelBlocks::end_of(const std::vector<Index>& block) const {
  std::vector<Index> end(block.size());
  for (std::size_t axis = 0; axis < block.size(); ++axis) {
    end[axis] = std::min((block[axis] + 1) * side_, picture_.shape[axis]);
  }
  return end;
}

void PixelBlocks::summarize(Index block) {
  const std::vector<Index> position = position_in(grid_, block);
  const std::vector<Index> end = end_of(position);
  std::vector<Index> begin(position);
  for (Index& at : begin) at *= side_;
  const int channels = picture_.colors.features;
  double* low = box_.data() + block * 2 * channels;
  double* high = low + channels;
  std::fill(low, high, infinity);
  std::fill(high, high + channels, -infinity);
  highest_[block] = -infinity;
  std::vector<Index> at = begin;
  do {
    const Index pixel = number_of(at, picture_.shape);
    if (!picture_.inside(pixel)) continue;
    highest_[block] = std::max(highest_[block], heights_[pixel]);
    for (int k = 0; k < channels; ++k) {
      low[k] = std::min(low[k], picture_.colors.at(pixel, k));
      high[k] = std::max(high[k], picture_.colors.at(pixel, k));
    }
  } while (next_position(at, begin, end));
}

// A lower bound on the squared distances from a pixel to the pixels of a block. It adds its terms
// in the same order as square_between, so it is also a lower bound on the rounded results.
double PixelBlocks::least_square(const std::vector<Index>& at, Index pixel,
                                 const std::vector<Index>& block) const {
  double square = 0.0;
  const std::vector<Index> end = end_of(block);
  for (int axis = 0; axis < picture_.axes(); ++axis) {
    const double gap =
        gap_to(picture_.coordinate(axis, at[axis]), picture_.coordinate(axis, block[axis] * side_),
               picture_.coordinate(axis, end[axis] - 1));
    square += gap * gap;
  }
  const int channels = picture_.colors.features;
  const double* low = box_.data() + number_of(block, grid_) * 2 * channels;
  for (int k = 0; k < channels; ++k) {
    const double gap = gap_to(picture_.colors.at(pixel, k), low[k], low[channels + k]);
    square += gap * gap;
  }
  return square;
}

double PixelBlocks::square_between(Index a, const std::vector<Index>& at, Index b,
                                   const std::vector<Index>& other) const {
  double square = 0.0;
  for (int axis = 0; axis < picture_.axes(); ++axis) {
    const double delta =
        picture_.coordinate(axis, at[axis]) - picture_.coordinate(axis, other[axis]);
    square += delta * delta;
  }
  for (int k = 0; k < picture_.colors.features; ++k) {
    const double delta = picture_.colors.at(a, k) - picture_.colors.at(b, k);
    square += delta * delta;
  }
  return square;
}

Index PixelBlocks::search_block(Index pixel, const std::vector<Index>& at, Index block,
                                NearestPixel& nearest) const {
  const std::vector<Index> position = position_in(grid_, block);
  std::vector<Index> begin(position);
  for (Index& each : begin) each *= side_;
  const std::vector<Index> end = end_of(position);
  std::vector<Index> other = begin;
  Index visits = 0;
  do {
    ++visits;
    const Index candidate = number_of(other, picture_.shape);
    if (!picture_.inside(candidate) || !higher(candidate, pixel)) continue;
    const double square = square_between(pixel, at, candidate, other);
    const bool tie = square == nearest.square;
    if (square < nearest.square ||
        (tie && (nearest.pixel < 0 || higher(candidate, nearest.pixel)))) {
      nearest = {square, candidate};
    }
  } while (next_position(other, begin, end));
  return visits;
}

// Searches growing boxes of blocks around the pixel, each about twice as wide as the previous one,
// until all pixels outside the box are farther away than the nearest higher pixel found so far. In
// each box, the blocks that the previous box did not contain are searched in ascending order of
// their lower bounds.
Index PixelBlocks::find(Index pixel, NearestPixel& nearest, std::vector<Candidate>& scratch) const {
  const std::vector<Index> at = position_in(picture_.shape, pixel);
  const std::size_t axes = at.size();
  std::vector<Index> begin(axes), end(axes), seen_begin(axes), seen_end(axes);
  Index visits = 0;
  for (Index ring = 1;; ring *= 2) {
    double outside = infinity;  // squared distance, without colors, to the pixels outside the box
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const int k = static_cast<int>(axis);
      const Index home = at[axis] / side_;
      const double here = picture_.coordinate(k, at[axis]);
      begin[axis] = std::max<Index>(home - ring, 0);
      end[axis] = std::min(home + ring + 1, grid_[axis]);
      if (begin[axis] > 0) {
        const double gap = here - picture_.coordinate(k, begin[axis] * side_ - 1);
        outside = std::min(outside, gap * gap);
      }
      if (end[axis] < grid_[axis]) {
        const double gap = picture_.coordinate(k, end[axis] * side_) - here;
        outside = std::min(outside, gap * gap);
      }
    }
    scratch.clear();
    std::vector<Index> block = begin;
    do {
      ++visits;
      bool seen = ring > 1;
      for (std::size_t axis = 0; axis < axes; ++axis) {
        seen &= block[axis] >= seen_begin[axis] && block[axis] < seen_end[axis];
      }
      const Index number = number_of(block, grid_);
      if (seen || highest_[number] < heights_[pixel]) continue;
      const double square = least_square(at, pixel, block);
      if (square <= nearest.square) scratch.push_back({square, number});
    } while (next_position(block, begin, end));
    std::sort(scratch.begin(), scratch.end(),
              [](const Candidate& a, const Candidate& b) { return a.square < b.square; });
    for (const Candidate& candidate : scratch) {
      if (candidate.square > nearest.square) break;
      visits += search_block(pixel, at, candidate.block, nearest);
    }
    if (outside > nearest.square || outside == infinity) return visits;
    seen_begin = begin;
    seen_end = end;
  }
}

}  // namespace quickshift
