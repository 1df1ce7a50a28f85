// The kernels' names and what the traversals need to know of each.
#pragma once

#include <cmath>
#include <limits>

namespace quickshift {

// The order is part of the interface: kernels.py sends these codes.
enum class Kernel : int {
  gaussian = 0,
  exponential = 1,
  silverman = 2,
  uniform = 3,
  triangular = 4,
  tricube = 5,
  cosine = 6,
  epanechnikov = 7,
};
inline constexpr int kernel_count = 8;

inline constexpr double silverman_support = 3.332162203618774;  // 3π / (2√2)

inline bool is_infinite(Kernel kernel) {
  return kernel == Kernel::gaussian || kernel == Kernel::exponential;
}

inline double support(Kernel kernel) {
  if (is_infinite(kernel)) return std::numeric_limits<double>::infinity();
  return kernel == Kernel::silverman ? silverman_support : 1.0;
}

// k(t) for one distance; the vectorised terms are in pair_terms.hpp.
inline double profile(Kernel kernel, double distance, double h) {
  const double t = distance / h;
  if (kernel == Kernel::uniform && distance > h) return 0.0;
  if (kernel != Kernel::uniform && t >= support(kernel)) return 0.0;
  switch (kernel) {
    case Kernel::gaussian:
      return std::exp(-0.5 * t * t);
    case Kernel::exponential:
      return std::exp(-t);
    case Kernel::silverman: {
      const double a = t * 0.70710678118654752;
      return std::exp(-a) * std::sin(2.3561944901923449 - a);  // sin(a + π/4)
    }
    case Kernel::triangular:
      return 1.0 - t;
    case Kernel::tricube: {
      const double rest = 1.0 - t * t * t;
      return rest * rest * rest;
    }
    case Kernel::cosine:
      return std::sin(1.5707963267948966 * (1.0 - t));
    case Kernel::epanechnikov:
      return (1.0 - t) * (1.0 + t);
    case Kernel::uniform:
      break;
  }
  return 1.0;
}

// Sums of these are polynomials in the distance, so a node inside the support is added at once.
constexpr bool has_moments(Kernel kernel) {
  return kernel == Kernel::uniform || kernel == Kernel::epanechnikov;
}

// The largest s with fl(sqrt(s)) <= radius, which is not negative: turns a bound on the distance
// into one on its square.
inline double largest_square_within(double radius) {
  if (!(radius > 0.0)) return 0.0;
  double s = radius * radius;
  while (std::sqrt(s) > radius) s = std::nextafter(s, 0.0);
  for (double up = std::nextafter(s, std::numeric_limits<double>::infinity());
       std::sqrt(up) <= radius && up > s;
       up = std::nextafter(s, std::numeric_limits<double>::infinity())) {
    s = up;
  }
  return s;
}

// For infinite kernels k = exp(-decay): the decay at a squared distance, and back.
inline double decay(Kernel kernel, double s, double h) {
  return kernel == Kernel::gaussian ? 0.5 * (s / (h * h)) : std::sqrt(s) / h;
}
inline double square_at_decay(Kernel kernel, double amount, double h) {
  return kernel == Kernel::gaussian ? 2.0 * amount * (h * h) : (amount * h) * (amount * h);
}

}  // namespace quickshift
