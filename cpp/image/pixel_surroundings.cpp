#include "image/pixel_surroundings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double usual_count = 2000.0;  // number of offsets, unless tau is smaller
constexpr double margin = 1.0 - 1e-6;   // factor of lower bounds; covers the rounding of floats

constexpr double pi = 3.14159265358979324;

// log Γ(axes / 2 + 1) by its recurrence. std::lgamma would write to a global variable, the sign of
// its result, which is a race if several threads call it.
double log_gamma(int axes) {
  double sum = axes % 2 == 1 ? 0.5 * std::log(pi) : 0.0;
  for (double factor = 0.5 * axes; factor > 0.0; factor -= 1.0) sum += std::log(factor);
  return sum;
}

// The radius of the ball that contains about usual_count pixels.
double usual_radius(const Picture& picture) {
  double log_volume = std::log(usual_count) + log_gamma(picture.axes());
  for (const double gap : picture.spacing) log_volume += std::log(gap);
  return std::exp(log_volume / picture.axes()) / std::sqrt(pi);
}

// The extent of a ball along each axis, in pixels.
std::vector<Index> reach_within(const Picture& picture, double radius) {
  std::vector<Index> reach;
  for (int axis = 0; axis < picture.axes(); ++axis) {
    const double most = static_cast<double>(picture.shape[axis] - 1);
    reach.push_back(
        static_cast<Index>(std::min(most, radius * (1.0 + 1e-9) / picture.spacing[axis])));
  }
  return reach;
}

}  // namespace

SortedSurroundings SortedSurroundings::within(const Picture& picture, double radius) {
  const double usual = std::min(radius, usual_radius(picture));
  SortedSurroundings around(picture, reach_within(picture, usual), usual);
  if (usual < radius) around.complete_sq_ = usual * usual;
  return around;
}

SortedSurroundings SortedSurroundings::boxed(const Picture& picture, std::vector<Index> reach) {
  return {picture, clipped(picture, std::move(reach)), infinity};
}

SortedSurroundings::SortedSurroundings(const Picture& picture, std::vector<Index> reach,
                                       double radius)
    : reach_(std::move(reach)), complete_sq_(infinity) {
  std::vector<Index> begin, end;
  for (const Index r : reach_) {
    begin.push_back(-r);
    end.push_back(r + 1);
  }
  std::vector<std::pair<double, std::vector<Index>>> found;
  std::vector<Index> step = begin;
  do {
    double square = 0.0;
    for (int axis = 0; axis < picture.axes(); ++axis) {
      const double gap = static_cast<double>(step[axis]) * picture.spacing[axis];
      square += gap * gap;
    }
    if (square > 0.0 && square * margin <= radius * radius)
      found.push_back({square * margin, step});
  } while (next_position(step, begin, end));
  std::sort(found.begin(), found.end());
  std::map<std::vector<Index>, Index> known;
  for (auto& [square, at] : found) {
    const std::vector<Index> line(at.begin(), at.end() - 1);
    const auto [entry, is_new] = known.try_emplace(line, static_cast<Index>(lines_.size()));
    if (is_new) lines_.push_back(line);
    line_.push_back(entry->second);
    least_sq_.push_back(square);
    number_.push_back(number_of(at, picture.shape));
    column_.push_back(at.back());
    steps_.push_back(std::move(at));
  }
}

Surroundings SortedSurroundings::in(const PixelTile& tile, std::vector<Index>& steps) const {
  std::vector<Index> extents = tile.line_extents();
  extents.push_back(tile.length());
  steps.clear();
  for (const std::vector<Index>& step : steps_) steps.push_back(number_of(step, extents));
  return {static_cast<Index>(steps.size()),
          steps.data(),
          number_.data(),
          column_.data(),
          line_.data(),
          least_sq_.data()};
}

void SortedSurroundings::write_line_squares(const Picture& picture, const std::vector<Index>& at,
                                            std::vector<double>& line_sq) const {
  line_sq.clear();
  for (const std::vector<Index>& line : lines_) {
    double square = 0.0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      const int k = static_cast<int>(axis);
      const double delta =
          picture.coordinate(k, at[axis]) - picture.coordinate(k, at[axis] + line[axis]);
      square += delta * delta;
    }
    line_sq.push_back(square);
  }
}

}  // namespace quickshift
