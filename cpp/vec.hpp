// Vectors of doubles and the loop over two leaves, for the files that are compiled once for each
// instruction set, with QUICKSHIFT_ISA (a namespace) and QUICKSHIFT_LANES set by the build. Those
// include no standard templates: the linker could share their instances with code for older
// machines.
#pragma once

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
  // The series from r²/2 on, in powers of r², r⁴ and r⁸: a short chain, so that several vectors are
  // under way at once.
  const Vec r2 = r * r;
  const Vec r4 = r2 * r2;
  const Vec low = (r * (1.0 / 6.0) + 0.5) + (r * (1.0 / 120.0) + 1.0 / 24.0) * r2;
  const Vec middle =
      (r * (1.0 / 5040.0) + 1.0 / 720.0) + (r * (1.0 / 362880.0) + 1.0 / 40320.0) * r2;
  const Vec high = (r * (1.0 / 39916800.0) + 1.0 / 3628800.0) +
                   (r * (1.0 / 6227020800.0) + 1.0 / 479001600.0) * r2;
  const Vec p = ((high * (r4 * r4) + (middle * r4 + low)) * r2 + r) + 1.0;
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

inline Vec nearest_image(Vec delta, double period) {
  const Vec over = where(delta > 0.5 * period, broadcast(period));
  const Vec under = where(delta < -0.5 * period, broadcast(period));
  return (delta - over) + under;
}

// Terms provides: its running value before the first feature, how a difference changes it, what it
// is after a given square, and the term it ends in. `features` is the template's where it is not 0.
template <class Terms, int fixed_features, bool periodic, int count>
inline void add_block(const LeafPair& pair, const Terms& terms, int first, double* sums) {
  const int features = fixed_features ? fixed_features : pair.features;
  Vec total[count] = {};
  for (int j = 0; j < pair.sample_count; ++j) {
    Vec running[count];
    for (int v = 0; v < count; ++v) running[v] = terms.start();
    for (int k = 0; k < features; ++k) {
      const double sample = pair.samples[k * pair.sample_stride + j];
      for (int v = 0; v < count; ++v) {
        Vec delta = load(pair.queries + k * pair.query_stride + first + v * lanes) - sample;
        if constexpr (periodic) {
          if (pair.period[k] < __builtin_inf()) delta = nearest_image(delta, pair.period[k]);
        }
        running[v] = terms.add(running[v], delta);
      }
    }
    for (int v = 0; v < count; ++v) total[v] += pair.weights[j] * terms.finish(running[v]);
  }
  for (int v = 0; v < count; ++v) {
    double* to = sums + first + v * lanes;
    store(to, load(to) + total[v]);
  }
}

template <class Terms, int fixed_features, bool periodic>
void add_blocks(const LeafPair& pair, const Terms& terms, double* sums) {
  int first = 0;
  for (; first + 16 <= pair.query_stride; first += 16) {
    add_block<Terms, fixed_features, periodic, 16 / lanes>(pair, terms, first, sums);
  }
  for (; first < pair.query_stride; first += 4) {
    add_block<Terms, fixed_features, periodic, 4 / lanes>(pair, terms, first, sums);
  }
}

template <class Terms>
void add_terms(const LeafPair& pair, const KernelScale& scale, double* sums) {
  const Terms terms{scale};
  if (pair.period) return add_blocks<Terms, 0, true>(pair, terms, sums);
  if (pair.features == 1) return add_blocks<Terms, 1, false>(pair, terms, sums);
  if (pair.features == 2) return add_blocks<Terms, 2, false>(pair, terms, sums);
  if (pair.features == 3) return add_blocks<Terms, 3, false>(pair, terms, sums);
  return add_blocks<Terms, 0, false>(pair, terms, sums);
}

template <class Terms>
void to_terms(const KernelScale& scale, int count, double* values) {
  const Terms terms{scale};
  for (int i = 0; i < count; i += lanes) {
    store(values + i, terms.finish(terms.after(load(values + i))));
  }
}

}  // namespace

}  // namespace quickshift::QUICKSHIFT_ISA
