// Vectors of doubles, for the files that are compiled once per instruction set. For each set, the
// build defines QUICKSHIFT_ISA, its namespace, and QUICKSHIFT_LANES, the number of doubles in a
// vector.
//
// These files must not include standard templates. The linker keeps one copy of each template
// instance for the whole program, so code for older machines could end up calling a copy that was
// compiled for a newer instruction set.
//
// The compiler does not fuse multiplications and additions by itself (-ffp-contract=off). Sums
// whose last bits do not matter call `fused` explicitly. Squared distances that are compared with
// each other are not fused, so they have the same bits in every instruction set.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "vector/pairs.hpp"

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
inline Bits load_bits(const long long* from) {
  Bits value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}
inline void store_bits(long long* to, Bits value) { __builtin_memcpy(to, &value, sizeof value); }
inline Vec broadcast(double x) { return x - Vec{}; }
// The value in the lanes where the condition holds, 0 in the others.
inline Vec where(Bits condition, Vec value) {
  return reinterpret_cast<Vec>(condition & reinterpret_cast<Bits>(value));
}
// a * b + c, rounded only once if the instruction set has a fused operation.
inline Vec fused(Vec a, Vec b, Vec c) {
#if QUICKSHIFT_LANES == 8
  return _mm512_fmadd_pd(a, b, c);
#elif QUICKSHIFT_LANES == 4 && defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#elif defined(__aarch64__)
  return vfmaq_f64(c, a, b);
#else
  return a * b + c;
#endif
}
inline Vec fused(Vec a, Vec b, double c) { return fused(a, b, broadcast(c)); }
// a + b, computed as 1 * a + b on the multiply-add units, for loops that keep the adders busy. The
// result has the same bits.
inline Vec added(Vec a, Vec b) {
#if defined(__FMA__)
  return fused(a, broadcast(1.0), b);
#else
  return a + b;
#endif
}
// c + a * b, with one rounding or with two.
template <bool fuse>
inline Vec add_product(Vec a, Vec b, Vec c) {
  if constexpr (fuse) return fused(a, b, c);
  return c + a * b;
}
// The larger of a and b; b if one of them is NaN.
inline Vec larger(Vec a, Vec b) {
#if QUICKSHIFT_LANES == 8
  return _mm512_max_pd(a, b);
#elif QUICKSHIFT_LANES == 4 && defined(__AVX__)
  return _mm256_max_pd(a, b);
#elif defined(__SSE2__)
  return _mm_max_pd(a, b);
#else
  return a > b ? a : b;
#endif
}
// Whether the condition holds in any lane.
inline bool any(Bits condition) {
#if QUICKSHIFT_LANES == 8
  return _mm512_test_epi64_mask(reinterpret_cast<__m512i>(condition),
                                reinterpret_cast<__m512i>(condition)) != 0;
#elif QUICKSHIFT_LANES == 4 && defined(__AVX__)
  return !_mm256_testz_si256(reinterpret_cast<__m256i>(condition),
                             reinterpret_cast<__m256i>(condition));
#else
  long long all = 0;
  for (int i = 0; i < lanes; ++i) all |= condition[i];
  return all != 0;
#endif
}
// Sets registers to zero, one by one. Given an initializer for the whole array, the compiler treats
// it as a block of memory and clears it by a string instruction, which takes as long as the loop
// that the array is cleared for.
template <int count>
inline void clear(Vec (&registers)[count]) {
#pragma GCC unroll 16
  for (Vec& value : registers) value = Vec{};
}
inline Vec positive(Vec x) { return larger(x, Vec{}); }
inline Vec root(Vec x) {
  for (int i = 0; i < lanes; ++i) x[i] = __builtin_sqrt(x[i]);
  return x;
}

// Four doubles, for any number of lanes, so that sums over groups of four queries are computed in
// the same order in every instruction set.
struct Four {
  static constexpr int parts = lanes < 4 ? 4 / lanes : 1;
  typedef double Part __attribute__((vector_size(32 / parts)));
  Part part[parts];
};

// to[j] += factor * the sum of the four doubles of from[j].
inline void add_each(const Four* from, int count, double factor, double* to) {
  int j = 0;
#if QUICKSHIFT_LANES >= 4 && defined(__AVX__)
  for (; j + 4 <= count; j += 4) {  // the same sums, four at a time
    const __m256d low = _mm256_hadd_pd(from[j].part[0], from[j + 1].part[0]);
    const __m256d high = _mm256_hadd_pd(from[j + 2].part[0], from[j + 3].part[0]);
    const __m256d sum =
        _mm256_permute2f128_pd(low, high, 0x20) + _mm256_permute2f128_pd(low, high, 0x31);
    _mm256_storeu_pd(to + j, _mm256_loadu_pd(to + j) + factor * sum);
  }
#endif
  for (; j < count; ++j) {
    double four[4];
    __builtin_memcpy(four, from + j, sizeof four);
    to[j] += factor * ((four[0] + four[1]) + (four[2] + four[3]));
  }
}

// Splits t = n + r into an integer n and r in [-0.5, 0.5]. `power` turns 2^r into 2^t.
struct SplitPower {
#if QUICKSHIFT_LANES == 8
  explicit SplitPower(Vec t) : r(_mm512_reduce_pd(t, 0)), n(t - r) {}
  Vec power(Vec p) const { return _mm512_scalef_pd(p, n); }
  Vec r, n;
#else
  static constexpr double shift = 0x1.8p52;
  explicit SplitPower(Vec t) {
    t = larger(t, broadcast(-1000.0));
    shifted = t + shift;
    r = t - (shifted - shift);
  }
  Vec power(Vec p) const {
    return reinterpret_cast<Vec>(reinterpret_cast<Bits>(p) +
                                 (reinterpret_cast<Bits>(shifted) << 52));
  }
  Vec r, shifted;
#endif
};

// 2^t with a relative error of at most `roughness` for -1000 <= t <= 0.5, and at most 2^-1000 for
// smaller t. Faster than `exp_of`, and used only for sums whose tolerance is larger than this
// error.
inline Vec rough_power_of_two(Vec t) {
  const SplitPower split(t);
  const Vec r = split.r;
  // (2^r - 1) / r, interpolated at Chebyshev points and evaluated in powers of r², so that the
  // chain of dependent operations is short, as in `exp_of`.
  const auto pair = [&](double first, double second) { return fused(broadcast(second), r, first); };
  const Vec r2 = r * r;
  Vec p = fused(broadcast(1.5297323760701074108e-5), r2,
                pair(1.3333502386162770741e-3, 1.5461444698569129083e-4));
  p = fused(p, r2, pair(5.5504108839096183929e-2, 9.6180566785246380754e-3));
  p = fused(p, r2, pair(6.9314718055994530942e-1, 2.4022650922288758071e-1));
  return split.power(fused(p, r, 1.0));
}

// 2^t on the same range as `rough_power_of_two`, with a relative error of at most 4e-14.
inline Vec power_of_two(Vec t) {
  const SplitPower split(t);
  const Vec r = split.r;
  const auto pair = [&](double first, double second) { return fused(broadcast(second), r, first); };
  const Vec r2 = r * r;
  Vec p = fused(broadcast(1.0203121063391729220e-7), r2,
                pair(1.5252686846267718960e-5, 1.3255224878668816975e-6));
  p = fused(p, r2, pair(1.3333558179043111144e-3, 1.5403455852453839442e-4));
  p = fused(p, r2, pair(5.5504108664760423921e-2, 9.6181291594025581885e-3));
  p = fused(p, r2, pair(6.9314718055994530942e-1, 2.4022650695812988210e-1));
  return split.power(fused(p, r, 1.0));
}

// exp(x) for x <= 0, accurate to about one unit in the last place, and 0 below -708. With
// fuse = false the result has the same bits in every instruction set.
template <bool fuse = true>
inline Vec exp_of(Vec x) {
  constexpr double shift = 0x1.8p52;
  const auto add = [](Vec a, Vec b, Vec c) { return add_product<fuse>(a, b, c); };
  const Vec clamped = larger(x, broadcast(-708.0));
  const Vec shifted = add(clamped, broadcast(1.4426950408889634074), broadcast(shift));
  const Vec n = shifted - shift;
  Vec r = add(n, broadcast(-0x1.62e42fefa0000p-1), clamped);
  r = add(n, broadcast(-0x1.cf79abc9e3b3ap-40), r);
  // The series of exp(r) from r²/2 on, evaluated in powers of r², r⁴ and r⁸. That keeps the chain
  // of dependent operations short, so the processor can work on several vectors at once.
  const auto pair = [&](double first, double second) {
    return add(broadcast(second), r, broadcast(first));
  };
  const Vec r2 = r * r;
  const Vec r4 = r2 * r2;
  const Vec low = add(pair(1.0 / 24.0, 1.0 / 120.0), r2, pair(0.5, 1.0 / 6.0));
  const Vec middle = add(pair(1.0 / 40320.0, 1.0 / 362880.0), r2, pair(1.0 / 720.0, 1.0 / 5040.0));
  const Vec high =
      add(pair(1.0 / 479001600.0, 1.0 / 6227020800.0), r2, pair(1.0 / 3628800.0, 1.0 / 39916800.0));
  const Vec rest = add(high, r4 * r4, add(middle, r4, low));
  const Vec p = add(rest, r2, r) + 1.0;
  const Bits power = (reinterpret_cast<Bits>(shifted) + 1023) << 52;
  return where(x > -708.0, p * reinterpret_cast<Vec>(power));
}

// The difference to the nearest periodic image, for |delta| <= period.
inline Vec nearest_image(Vec delta, double period) {
  const Vec over = where(delta > 0.5 * period, broadcast(period));
  const Vec under = where(delta < -0.5 * period, broadcast(period));
  return (delta - over) + under;
}

}  // namespace

}  // namespace quickshift::QUICKSHIFT_ISA
