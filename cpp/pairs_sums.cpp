// Sums of kernels that are continuous at the edge of their support: nothing is decided by comparing
// distances, so products and sums may be fused.
#include "vec.hpp"

namespace quickshift::QUICKSHIFT_ISA {

void add_uniform(const LeafPair&, const KernelScale&, double*);
void squares(const double*, const LeafBlock&, double*);
LeafView squares_above(const double*, const LeafBlock&, const double*, double, double*);

namespace {

// exp(x) for x <= 0 to about one unit in the last place; 0 below -708.
inline Vec exp_of(Vec x) {
  constexpr double shift = 0x1.8p52;
  const Vec clamped = x > -708.0 ? x : broadcast(-708.0);
  const Vec shifted = clamped * 1.4426950408889634074 + shift;
  const Vec n = shifted - shift;
  const Vec r = (clamped - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b3ap-40;
  Vec p = broadcast(1.0 / 6227020800.0);
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = (p * (r * r) + r) + 1.0;
  const Bits power = (reinterpret_cast<Bits>(shifted) + 1023) << 52;
  return where(x > -708.0, p * reinterpret_cast<Vec>(power));
}

// sin(y) for 0 <= y <= 2.4, relative to sin(y) near 0.
inline Vec sin_of(Vec y) {
  const Vec z = y * y;
  Vec p = broadcast(1.0 / 1.0888869450418352e28);  // 27!
  p = 1.0 / 1.5511210043330986e25 - p * z;         // 25!
  p = 1.0 / 2.5852016738884978e22 - p * z;
  p = 1.0 / 5.109094217170944e19 - p * z;
  p = 1.0 / 121645100408832000.0 - p * z;
  p = 1.0 / 355687428096000.0 - p * z;
  p = 1.0 / 1307674368000.0 - p * z;
  p = 1.0 / 6227020800.0 - p * z;
  p = 1.0 / 39916800.0 - p * z;
  p = 1.0 / 362880.0 - p * z;
  p = 1.0 / 5040.0 - p * z;
  p = 1.0 / 120.0 - p * z;
  p = 1.0 / 6.0 - p * z;
  return y - y * (p * z);
}

// Sums h² - |q - x|² directly: one fused operation a feature.
struct Epanechnikov {
  const KernelScale& scale;
  Vec start() const { return broadcast(scale.width_sq); }
  Vec add(Vec rest, Vec delta) const { return rest - delta * delta; }
  Vec finish(Vec rest) const { return positive(rest); }
};

// The kernels that need the square itself.
template <Kernel kernel>
struct OfSquare {
  const KernelScale& scale;
  Vec start() const { return Vec{}; }
  Vec add(Vec square, Vec delta) const { return square + delta * delta; }
  Vec finish(Vec square) const {
    if constexpr (kernel == Kernel::gaussian) {
      return exp_of(square * (-0.5 * scale.inverse * scale.inverse));
    } else {
      return of_ratio(root(square) * scale.inverse);
    }
  }

 private:
  static Vec of_ratio(Vec t) {
    if constexpr (kernel == Kernel::exponential) {
      return exp_of(-t);
    } else if constexpr (kernel == Kernel::triangular) {
      return positive(1.0 - t);
    } else if constexpr (kernel == Kernel::tricube) {
      const Vec rest = positive(1.0 - t * t * t);
      return rest * rest * rest;
    } else if constexpr (kernel == Kernel::cosine) {
      return sin_of(positive(1.0 - t) * 1.5707963267948966);  // cos(πt/2)
    } else {
      static_assert(kernel == Kernel::silverman);
      const Vec a = t * 0.70710678118654752;
      return exp_of(-a) * sin_of(positive(2.3561944901923449 - a));  // sin(a + π/4)
    }
  }
};

}  // namespace

extern const PairKernels table;
const PairKernels table = {
    {add_terms<OfSquare<Kernel::gaussian>>, add_terms<OfSquare<Kernel::exponential>>,
     add_terms<OfSquare<Kernel::silverman>>, add_uniform, add_terms<OfSquare<Kernel::triangular>>,
     add_terms<OfSquare<Kernel::tricube>>, add_terms<OfSquare<Kernel::cosine>>,
     add_terms<Epanechnikov>},
    squares,
    squares_above,
};

}  // namespace quickshift::QUICKSHIFT_ISA
