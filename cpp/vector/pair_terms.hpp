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

// The polynomial Σ c_n x^n. The even and the odd powers are summed separately, so that the chains
// of dependent operations are shorter.
template <int count>
inline Vec polynomial(const double (&c)[count], Vec x) {
  const Vec square = x * x;
  Vec last = broadcast(c[count - 1]);
  Vec other = broadcast(c[count - 2]);
  for (int n = count - 3; n >= 0; n -= 2) {
    last = fused(last, square, c[n]);
    if (n > 0) other = fused(other, square, c[n - 1]);
  }
  return count % 2 ? fused(other, x, last) : fused(last, x, other);
}

struct Uniform {
  static constexpr bool may_fuse = false;
  static constexpr bool long_chain = false;
  const KernelScale& scale;
  Vec of_square(Vec square) const { return where(square <= scale.support_sq, broadcast(1.0)); }
};

// The other compact kernels are polynomials in the rest of the support r = 1 - t, t the distance
// divided by the radius of the support, or in 1 - t². They have the factor r, so the relative error
// stays small near the edge, and at the edge itself the term is exactly 0. Squared distances whose
// root is taken are not fused: where r is small, it would show the difference.
struct Triangular {
  static constexpr bool may_fuse = false;
  static constexpr bool long_chain = false;
  const KernelScale& scale;
  Vec of_square(Vec square) const {
    return positive(scale.width - root(square)) * (1.0 / scale.width);
  }
};

struct Tricube {
  static constexpr bool may_fuse = false;
  static constexpr bool long_chain = false;
  const KernelScale& scale;
  Vec of_square(Vec square) const {
    const Vec r = positive(scale.width - root(square)) * (1.0 / scale.width);
    const Vec rest = r * (r * (r - 3.0) + 3.0);  // 1 - t³; its error counts three times
    return rest * rest * rest;
  }
};

// The coefficients are those of the polynomial that interpolates k / r at Chebyshev points; its
// relative error is at most 2e-15.
struct Silverman {
  static constexpr bool may_fuse = false;
  static constexpr bool long_chain = true;
  static constexpr double c[16] = {
      2.2332064355227661963e-1,  5.2618686988421641979e-1,  4.1326620119951530673e-1,
      3.7889660982001493091e-10, -2.2943103957165380267e-1, -1.8019464099800900880e-1,
      -6.0653891937587550427e-2, 2.3725804571284792301e-6,  9.3453976485570158473e-3,
      4.4278967550712844670e-3,  9.0754961450757321266e-4,  4.8405154201509272371e-5,
      -1.1313458868711529183e-4, 7.5526581758615546997e-6,  -1.6295065785373992652e-5,
      2.8939223947651818605e-6};
  const KernelScale& scale;
  Vec of_square(Vec square) const {
    const double edge = scale.width * silverman_support;
    const Vec r = positive(edge - root(square)) * (1.0 / edge);
    return r * polynomial(c, r);
  }
};

// As a polynomial in r = 1 - t², found in the same way; its relative error is at most 2e-17. As
// with the Epanechnikov kernel, a rest within the rounding error counts as zero.
struct Cosine {
  static constexpr bool may_fuse = true;
  static constexpr bool long_chain = false;
  static constexpr double c[8] = {7.8539816339744829408e-1, 1.9634954084936406631e-1,
                                  1.7429258236358500791e-2, 8.0009737454894444387e-4,
                                  2.2506023772162213766e-5, 4.2817875851960100829e-7,
                                  5.8766878013068529893e-9, 6.3061695616568301239e-11};
  const KernelScale& scale;
  Vec of_square(Vec square) const {
    const Vec rest = scale.width_sq - square;
    return of_rest(where(rest > scale.rounding, rest));
  }
  Vec of_rest(Vec rest) const {
    const Vec r = positive(rest) * (1.0 / scale.width_sq);
    return r * polynomial(c, r);
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
struct TermsFor;  // every kernel needs a specialization below
template <>
struct TermsFor<Kernel::gaussian> {
  using type = Gaussian;
};
template <>
struct TermsFor<Kernel::exponential> {
  using type = Exponential;
};
template <>
struct TermsFor<Kernel::silverman> {
  using type = Silverman;
};
template <>
struct TermsFor<Kernel::uniform> {
  using type = Uniform;
};
template <>
struct TermsFor<Kernel::triangular> {
  using type = Triangular;
};
template <>
struct TermsFor<Kernel::tricube> {
  using type = Tricube;
};
template <>
struct TermsFor<Kernel::cosine> {
  using type = Cosine;
};
template <>
struct TermsFor<Kernel::epanechnikov> {
  using type = Epanechnikov;
};
template <Kernel kernel>
using TermsOf = typename TermsFor<kernel>::type;

}  // namespace

}  // namespace quickshift::QUICKSHIFT_ISA
