// Bounds on squared distances from bounding boxes.
//
// Rounding is monotone and the terms are added in the same order as in a distance, so these are
// bounds on the computed squares, not only on the true ones: no margins are needed.
#pragma once

#include <algorithm>
#include <cmath>

#include "kdtree.hpp"

namespace quickshift {

struct Bounds {
  double least;
  double most;
};

// Range of |a - b| on a circle, a and b in the intervals. Safe by a margin of rounding, because
// images are formed here in another order than in a distance.
inline Bounds periodic_gap(double a_low, double a_high, double b_low, double b_high,
                           double period) {
  const double half = 0.5 * ((a_high - a_low) + (b_high - b_low));
  const double between = 0.5 * ((a_low - b_low) + (a_high - b_high));
  const double middle = std::fabs(between - period * std::rint(between / period));
  const double margin = 8.0 * 0x1p-52 * period;
  return {std::max(0.0, middle - half - margin), std::min(0.5 * period, middle + half + margin)};
}

inline Bounds open_gap(double a_low, double a_high, double b_low, double b_high) {
  return {std::max(0.0, std::max(a_low - b_high, b_low - a_high)),
          std::max(a_high - b_low, b_high - a_low)};
}

// Both features at once: most of the time in the plane goes here.
inline Bounds between_boxes_in_plane(const double* a, const double* b) {
  typedef double Two __attribute__((vector_size(16)));
  Two a_low, a_high, b_low, b_high;
  __builtin_memcpy(&a_low, a, 16);
  __builtin_memcpy(&a_high, a + 2, 16);
  __builtin_memcpy(&b_low, b, 16);
  __builtin_memcpy(&b_high, b + 2, 16);
  const Two before = a_low - b_high;
  const Two after = b_low - a_high;
  const Two least = before > after ? before : after;
  const Two most = before < after ? before : after;
  const Two gap = least > 0.0 ? least : Two{};
  return {gap[0] * gap[0] + gap[1] * gap[1], most[0] * most[0] + most[1] * most[1]};
}

// Between the points of two boxes, given as [low, high][feature]. period: null where all are open.
inline Bounds between_boxes(const double* a, const double* b, int features, const double* period) {
  Bounds squares{0.0, 0.0};
  if (features == 2 && !period) return between_boxes_in_plane(a, b);
  for (int k = 0; k < features; ++k) {
    const bool open = !period || std::isinf(period[k]);
    const Bounds gap = open ? open_gap(a[k], a[features + k], b[k], b[features + k])
                            : periodic_gap(a[k], a[features + k], b[k], b[features + k], period[k]);
    squares.least += gap.least * gap.least;
    squares.most += gap.most * gap.most;
  }
  return squares;
}

// The least square from a point to the points of a box.
inline double least_to_box(const double* point, const double* box, int features,
                           const double* period) {
  double square = 0.0;
  for (int k = 0; k < features; ++k) {
    const bool open = !period || std::isinf(period[k]);
    const double gap =
        open ? std::max(0.0, std::max(box[k] - point[k], point[k] - box[features + k]))
             : periodic_gap(point[k], point[k], box[k], box[features + k], period[k]).least;
    square += gap * gap;
  }
  return square;
}

}  // namespace quickshift
