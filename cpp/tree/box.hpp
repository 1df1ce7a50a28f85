// Bounds on squared distances from bounding boxes.
//
// Rounding is monotone and the terms are added in the same order as in a distance, so these are
// bounds on the computed squares, not only on the exact ones. No safety margin is needed, except
// for periodic features.
#pragma once

#include <algorithm>
#include <cmath>

#include "tree/kdtree.hpp"

namespace quickshift {

// The coordinate of the middle of a node's box.
inline double middle(const Tree& tree, Index node, int k) {
  return 0.5 * tree.low(node)[k] + 0.5 * tree.high(node)[k];
}

struct Bounds {
  double least;
  double most;
};

// Bounds on |a - b| for a periodic feature, a and b in the given intervals. They include a margin
// for rounding, because this function finds the nearest image by other operations than the
// functions that compute distances. If the nearest image changes within the intervals, `most` is at
// least half a period, which may be more than any two points are apart.
inline Bounds periodic_gap(double a_low, double a_high, double b_low, double b_high,
                           double period) {
  const double half = 0.5 * ((a_high - a_low) + (b_high - b_low));
  const double between = 0.5 * ((a_low - b_low) + (a_high - b_high));
  const double middle = std::fabs(between - period * std::rint(between / period));
  const double margin = 8.0 * 0x1p-52 * period;
  return {std::max(0.0, middle - half - margin), middle + half + margin};
}

// Bounds on |a - b| for a feature that is not periodic (an open one).
inline Bounds open_gap(double a_low, double a_high, double b_low, double b_high) {
  return {std::max(0.0, std::max(a_low - b_high, b_low - a_high)),
          std::max(a_high - b_low, b_high - a_low)};
}

typedef double Two __attribute__((vector_size(16)));

inline Two load_two(const double* from) {
  Two value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

// As between_boxes, for open features only: computes two features at a time, and adds the squares
// in the order of the features.
[[gnu::always_inline]] inline Bounds between_open_boxes(const double* a, const double* b,
                                                        int features) {
  Bounds squares{0.0, 0.0};
  int k = 0;
  for (; k + 2 <= features; k += 2) {
    const Two before = load_two(a + k) - load_two(b + features + k);
    const Two after = load_two(b + k) - load_two(a + features + k);
    const Two larger = before > after ? before : after;
    const Two smaller = before < after ? before : after;
    const Two gap = larger > 0.0 ? larger : Two{};
    const Two least = gap * gap;
    const Two most = smaller * smaller;
    squares.least = squares.least + least[0] + least[1];
    squares.most = squares.most + most[0] + most[1];
  }
  if (k < features) {
    const Bounds gap = open_gap(a[k], a[features + k], b[k], b[features + k]);
    squares.least += gap.least * gap.least;
    squares.most += gap.most * gap.most;
  }
  return squares;
}

// Bounds on the squared distance between a point of box a and a point of box b. Boxes are stored as
// [low, high][feature]; period is null if all features are open.
inline Bounds between_boxes(const double* a, const double* b, int features, const double* period) {
  if (!period && features == 2) return between_open_boxes(a, b, 2);  // unrolled
  if (!period) return between_open_boxes(a, b, features);
  Bounds squares{0.0, 0.0};
  for (int k = 0; k < features; ++k) {
    const Bounds gap = std::isinf(period[k])
                           ? open_gap(a[k], a[features + k], b[k], b[features + k])
                           : periodic_gap(a[k], a[features + k], b[k], b[features + k], period[k]);
    squares.least += gap.least * gap.least;
    squares.most += gap.most * gap.most;
  }
  return squares;
}

// The least squared distance from a point to a box, open features only.
inline double least_to_open_box(const double* point, const double* box, int features) {
  double square = 0.0;
  int k = 0;
  for (; k + 2 <= features; k += 2) {
    const Two x = load_two(point + k);
    const Two below = load_two(box + k) - x;
    const Two above = x - load_two(box + features + k);
    const Two larger = below > above ? below : above;
    const Two gap = larger > 0.0 ? larger : Two{};
    const Two term = gap * gap;
    square = square + term[0] + term[1];
  }
  if (k < features) {
    const double gap = std::max(0.0, std::max(box[k] - point[k], point[k] - box[features + k]));
    square += gap * gap;
  }
  return square;
}

// The least squared distance from a point to a box.
inline double least_to_box(const double* point, const double* box, int features,
                           const double* period) {
  if (!period) return least_to_open_box(point, box, features);
  double square = 0.0;
  for (int k = 0; k < features; ++k) {
    const Bounds gap = std::isinf(period[k])
                           ? open_gap(point[k], point[k], box[k], box[features + k])
                           : periodic_gap(point[k], point[k], box[k], box[features + k], period[k]);
    square += gap.least * gap.least;
  }
  return square;
}

}  // namespace quickshift
