// The list of kernels, and the properties of each that the traversals of the tree need.
#pragma once

#include <cmath>
#include <limits>

// The one list of all kernels; the enum below and every table that is indexed by kernel are made
// from it. The position in the list is the kernel's code, which kernels.py sends to the core, so
// new kernels go to the end. CONTRIBUTING.md explains how to add one.
//
// If a kernel is WIDE, its sums over pairs of points are compiled for vectors of up to eight
// doubles (pairs_wide.cpp). NARROW kernels gain nothing from vectors of more than four doubles
// (pairs_narrow.cpp). A new kernel starts as NARROW.
#define QUICKSHIFT_KERNELS(WIDE, NARROW) \
  WIDE(gaussian)                         \
  WIDE(exponential)                      \
  WIDE(silverman)                        \
  NARROW(uniform)                        \
  WIDE(triangular)                       \
  WIDE(tricube)                          \
  WIDE(cosine)                           \
  WIDE(epanechnikov)
#define QUICKSHIFT_EACH_KERNEL(ENTRY) QUICKSHIFT_KERNELS(ENTRY, ENTRY)

namespace quickshift {

#define QUICKSHIFT_ENUMERATOR(name) name,
enum class Kernel : int { QUICKSHIFT_EACH_KERNEL(QUICKSHIFT_ENUMERATOR) };
#undef QUICKSHIFT_ENUMERATOR

#define QUICKSHIFT_ONE_MORE(name) +1
inline constexpr int kernel_count = QUICKSHIFT_EACH_KERNEL(QUICKSHIFT_ONE_MORE);
#undef QUICKSHIFT_ONE_MORE

inline constexpr double silverman_support = 3.332162203618774;  // 3π / (2√2)

// Whether the kernel has infinite support.
inline bool is_infinite(Kernel kernel) {
  return kernel == Kernel::gaussian || kernel == Kernel::exponential;
}

inline double support(Kernel kernel) {
  if (is_infinite(kernel)) return std::numeric_limits<double>::infinity();
  return kernel == Kernel::silverman ? silverman_support : 1.0;
}

// k(distance / h) for a single distance. pair_terms.hpp has the same for vectors of distances.
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

// Whether k is constant or linear in the squared distance inside its support. If so, the sum over a
// node that lies entirely inside the support follows from the node's weight and first two moments
// (density_moments.cpp).
constexpr bool has_moments(Kernel kernel) {
  return kernel == Kernel::uniform || kernel == Kernel::epanechnikov;
}

// The largest s with fl(sqrt(s)) <= radius, for radius >= 0. Comparing a squared distance with it
// gives the same result as comparing the rounded distance with `radius`.
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

// Infinite kernels are k = exp(-decay): the decay at the squared distance s, and its inverse, the
// squared distance at which the decay is `amount`.
inline double decay(Kernel kernel, double s, double h) {
  return kernel == Kernel::gaussian ? 0.5 * (s / (h * h)) : std::sqrt(s) / h;
}
inline double square_at_decay(Kernel kernel, double amount, double h) {
  return kernel == Kernel::gaussian ? 2.0 * amount * (h * h) : (amount * h) * (amount * h);
}

}  // namespace quickshift
