// What a sample adds to a sum, by the square of its distance: one type a kernel, for the files that
// are compiled once for each instruction set.
#pragma once

#include "vector/vec.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

struct Gaussian {
  static constexpr bool may_fuse = false;
  static constexpr bool long_chain = true;
  const KernelScale& scale;
  Vec of_square(Vec square) const { return exp_of(square * (-0.5 / scale.width_sq)); }
};

struct Exponential {
  static constexpr bool may_fuse = false;
  static constexpr bool long_chain = true;
  const KernelScale& scale;
  Vec of_square(Vec square) const { return exp_of(-root(square) / scale.width); }
};

struct RoughGaussian {
  static constexpr bool may_fuse = true;
  static constexpr bool long_chain = true;
  const KernelScale& scale;
  Vec of_square(Vec square) const { return rough_power_of_two(square * scale.log2_gaussian); }
};

struct RoughExponential {
  static constexpr bool may_fuse = false;
  static constexpr bool long_chain = true;
  const KernelScale& scale;
  Vec of_square(Vec square) const {
    return rough_power_of_two(root(square) * scale.log2_exponential);
  }
};

// The kernels of t = |q - x| / h that vanish where the distance is not below the edge.
template <Kernel kernel>
struct Compact {
  static constexpr bool may_fuse = false;
  static constexpr bool long_chain = false;
  const KernelScale& scale;
  Vec of_square(Vec square) const {
    if constexpr (kernel == Kernel::uniform) {
      return where(square <= scale.support_sq, broadcast(1.0));
    } else {
      return of_ratio(root(square) / scale.width);
    }
  }

 private:
  static Vec of_ratio(Vec t) {
    if constexpr (kernel == Kernel::triangular) {
      return positive(1.0 - t);
    } else if constexpr (kernel == Kernel::tricube) {
      const Vec rest = positive(1.0 - t * t * t);
      return rest * rest * rest;
    } else if constexpr (kernel == Kernel::cosine) {
      return sin_of(positive(1.0 - t) * 1.5707963267948966);  // cos(πt/2)
    } else {
      static_assert(kernel == Kernel::silverman);
      const Vec a = t * 0.70710678118654752;
      const Vec value = exp_of(-a) * sin_of(positive(2.3561944901923449 - a));  // sin(a + π/4)
      return where(t < silverman_support, value);
    }
  }
};

// What is left of h² within rounding of the edge counts as outside, so that a sample at exactly h
// adds nothing; beside an own term of h² that is no matter.
struct Epanechnikov {
  static constexpr bool may_fuse = true;
  static constexpr bool long_chain = false;
  const KernelScale& scale;
  Vec of_square(Vec square) const {
    const Vec rest = scale.width_sq - square;
    return where(rest > scale.rounding, rest);
  }
  Vec of_rest(Vec rest) const { return positive(rest); }
};

}  // namespace

}  // namespace quickshift::QUICKSHIFT_ISA
