// The term that a sample adds to a kernel sum, as a function of its squared distance: one type per
// kernel, found by TermsOf. For the files that are compiled once per instruction set.
//
// Each type has two flags for the loop over two leaves (pair_loop.hpp):
//   may_fuse    whether squared distances may be computed with fused operations;
//   long_chain  whether a term is a long chain of dependent operations, so that it pays to compute
//               the squared distances of the whole pair of leaves before the first term.
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

// RoughGaussian and RoughExponential have a relative error of at most `roughness`.
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

// See NearTerms. The relative error of the exponential is at most 4e-14.
struct NearExponential {
  static constexpr bool may_fuse = true;
  static constexpr bool long_chain = true;
  const KernelScale& scale;
  Vec of_square(Vec square) const {
    const double* const c = scale.near->coefficients;
    const Vec z = fused(square, broadcast(2.0 / scale.near->reach_sq), -1.0);
    const Vec z2 = z * z;
    // The even and the odd powers separately, so that the chains of operations are shorter.
    Vec even = broadcast(c[NearTerms::count - 2]);
    Vec odd = broadcast(c[NearTerms::count - 1]);
    for (int n = NearTerms::count - 4; n >= 0; n -= 2) {
      even = fused(even, z2, c[n]);
      odd = fused(odd, z2, c[n + 1]);
    }
    const Vec whole = power_of_two(root(square) * scale.log2_exponential);
    return where(square < scale.near->reach_sq, whole - fused(odd, z, even));
  }
};

// The compact kernels. A kernel other than the uniform one is given as a function of
// t = distance / h that is zero from the edge of the support on.
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
      static_assert(kernel == Kernel::silverman, "add a branch for this kernel above");
      const Vec a = t * 0.70710678118654752;
      const Vec value = exp_of(-a) * sin_of(positive(2.3561944901923449 - a));  // sin(a + π/4)
      return where(t < silverman_support, value);
    }
  }
};

// The term is h² - s for a squared distance s; the caller divides the sum by h².
//
// A difference h² - s within the rounding error counts as zero, so that a sample at distance h
// exactly adds nothing. `of_rest` takes the difference h² - s itself and skips that test: it is
// used only for sums at samples that include the sample's own term, h², compared with which a
// rounding error is negligible.
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

template <Kernel kernel>
struct TermsFor {
  using type = Compact<kernel>;
};
template <>
struct TermsFor<Kernel::gaussian> {
  using type = Gaussian;
};
template <>
struct TermsFor<Kernel::exponential> {
  using type = Exponential;
};
template <>
struct TermsFor<Kernel::epanechnikov> {
  using type = Epanechnikov;
};
template <Kernel kernel>
using TermsOf = typename TermsFor<kernel>::type;

}  // namespace

}  // namespace quickshift::QUICKSHIFT_ISA
