// Points as the caller holds them: rows of float64 or float32 coordinates in C order, read only.
#pragma once

#include <cmath>
#include <cstdint>

namespace quickshift {

using Index = std::int64_t;

struct Points {
  const double* wide = nullptr;  // exactly one of the two is set
  const float* narrow = nullptr;
  Index rows = 0;
  int features = 0;

  double at(Index row, int feature) const {
    const Index i = row * features + feature;
    return wide ? wide[i] : static_cast<double>(narrow[i]);
  }
};

// The tree stores coordinates multiplied by 2^-exponent, which is exact. With the exponent that
// puts the largest coordinate of the samples into [1, 2), squared distances neither overflow nor
// underflow. Queries may have larger coordinates, which are clamped to `largest_coordinate`. This
// does not change any result, because from there on all samples are equally far away in double
// precision.
inline constexpr double largest_coordinate = 0x1p500;

inline double scaled(double value, int exponent) {
  const double result = std::ldexp(value, -exponent);
  return std::fmax(-largest_coordinate, std::fmin(largest_coordinate, result)) +
         0.0;  // + 0.0 turns -0.0 into 0.0
}

}  // namespace quickshift
