// Rows of coordinates as the caller holds them: float64 or float32, C order, never written.
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

// Data are held times 2^-exponent, which is exact, so that the largest coordinate is in [1, 2) and
// squares neither overflow nor underflow. Queries may be larger: beyond `largest` every sample is
// equally far in double arithmetic, so they are clamped there without changing the answer.
inline constexpr double largest_coordinate = 0x1p500;

inline double scaled(double value, int exponent) {
  const double result = std::ldexp(value, -exponent);
  return std::fmax(-largest_coordinate, std::fmin(largest_coordinate, result)) + 0.0;  // no -0.0
}

}  // namespace quickshift
