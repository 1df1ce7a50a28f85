// Compiled with QUICKSHIFT_ISA (a namespace) and QUICKSHIFT_LANES set by the build. It includes no
// standard templates: their instances could be shared with code for older machines by the linker.
#include "pairs.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

constexpr int lanes = QUICKSHIFT_LANES;
typedef double Vec __attribute__((vector_size(8 * QUICKSHIFT_LANES)));
typedef long long Bits __attribute__((vector_size(8 * QUICKSHIFT_LANES)));

inline Vec load(const double* from) {
  Vec value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}
inline void store(double* to, Vec value) { __builtin_memcpy(to, &value, sizeof value); }
inline Vec broadcast(double x) { return x - Vec{}; }
inline Vec where(Bits condition, Vec value) {
  return reinterpret_cast<Vec>(condition & reinterpret_cast<Bits>(value));
}
inline Vec positive(Vec x) { return x > 0.0 ? x : Vec{}; }
inline Vec root(Vec x) {
  for (int i = 0; i < lanes; ++i) x[i] = __builtin_sqrt(x[i]);
  return x;
}

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

template <Kernel kernel>
inline Vec term(Vec s, const KernelScale& scale) {
  if constexpr (kernel == Kernel::uniform) {
    return where(s <= scale.support_sq, broadcast(1.0));
  } else if constexpr (kernel == Kernel::epanechnikov) {
    return positive(scale.width_sq - s);
  } else if constexpr (kernel == Kernel::gaussian) {
    return exp_of(s * (-0.5 * scale.inverse * scale.inverse));
  } else {
    const Vec t = root(s) * scale.inverse;
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
      // sin(a + π/4) = sin(3π/4 - a), which is exact where it vanishes
      return exp_of(-a) * sin_of(positive(2.3561944901923449 - a));
    }
  }
}

inline Vec nearest_image(Vec delta, double period) {
  const Vec over = where(delta > 0.5 * period, broadcast(period));
  const Vec under = where(delta < -0.5 * period, broadcast(period));
  return (delta - over) + under;
}

// `features` is the template's where it is not 0. Vectors 0 … count-1 of the queries at once.
template <Kernel kernel, int fixed_features, bool periodic, int count>
inline void add_block(const LeafPair& pair, const KernelScale& scale, int first, double* sums) {
  const int features = fixed_features ? fixed_features : pair.features;
  Vec total[count] = {};
  for (int j = 0; j < pair.sample_count; ++j) {
    Vec s[count] = {};
    for (int k = 0; k < features; ++k) {
      const double sample = pair.samples[k * pair.sample_stride + j];
      for (int v = 0; v < count; ++v) {
        Vec delta = load(pair.queries + k * pair.query_stride + first + v * lanes) - sample;
        if constexpr (periodic) {
          if (pair.period[k] < __builtin_inf()) delta = nearest_image(delta, pair.period[k]);
        }
        s[v] += delta * delta;
      }
    }
    for (int v = 0; v < count; ++v) total[v] += pair.weights[j] * term<kernel>(s[v], scale);
  }
  for (int v = 0; v < count; ++v) {
    double* to = sums + first + v * lanes;
    store(to, load(to) + total[v]);
  }
}

template <Kernel kernel, int fixed_features, bool periodic>
void add_all(const LeafPair& pair, const KernelScale& scale, double* sums) {
  constexpr int at_once = 16 / lanes;
  int first = 0;
  for (; first + 16 <= pair.query_stride; first += 16) {
    add_block<kernel, fixed_features, periodic, at_once>(pair, scale, first, sums);
  }
  for (; first < pair.query_stride; first += 4) {
    add_block<kernel, fixed_features, periodic, 4 / lanes>(pair, scale, first, sums);
  }
}

template <Kernel kernel>
void add_terms(const LeafPair& pair, const KernelScale& scale, double* sums) {
  if (pair.period) return add_all<kernel, 0, true>(pair, scale, sums);
  if (pair.features == 1) return add_all<kernel, 1, false>(pair, scale, sums);
  if (pair.features == 2) return add_all<kernel, 2, false>(pair, scale, sums);
  if (pair.features == 3) return add_all<kernel, 3, false>(pair, scale, sums);
  return add_all<kernel, 0, false>(pair, scale, sums);
}

void squares(const double* point, const double* block, const double* period, int features,
             int stride, double* out) {
  for (int first = 0; first < stride; first += lanes) {
    Vec s = {};
    for (int k = 0; k < features; ++k) {
      Vec delta = point[k] - load(block + k * stride + first);
      if (period && period[k] < __builtin_inf()) delta = nearest_image(delta, period[k]);
      s += delta * delta;
    }
    store(out + first, s);
  }
}

}  // namespace

extern const PairKernels table;
const PairKernels table = {
    {add_terms<Kernel::gaussian>, add_terms<Kernel::exponential>, add_terms<Kernel::silverman>,
     add_terms<Kernel::uniform>, add_terms<Kernel::triangular>, add_terms<Kernel::tricube>,
     add_terms<Kernel::cosine>, add_terms<Kernel::epanechnikov>},
    squares,
};

}  // namespace quickshift::QUICKSHIFT_ISA
