// Vectors of doubles and the loop over two leaves, for the files that are compiled once for each
// instruction set, with QUICKSHIFT_ISA (a namespace) and QUICKSHIFT_LANES set by the build. Those
// include no standard templates: the linker could share their instances with code for older
// machines. The compiler fuses nothing by itself: where a sum is not sensitive to its last bits,
// `fused` says so. Squares that are compared with each other have the same bits in every
// instruction set.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

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
inline Bits load_bits(const long long* from) {
  Bits value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}
inline void store_bits(long long* to, Bits value) { __builtin_memcpy(to, &value, sizeof value); }
inline Vec broadcast(double x) { return x - Vec{}; }
inline Vec where(Bits condition, Vec value) {
  return reinterpret_cast<Vec>(condition & reinterpret_cast<Bits>(value));
}
// a * b + c, rounded once where the instruction set has that operation.
inline Vec fused(Vec a, Vec b, Vec c) {
#if defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#elif defined(__aarch64__)
  return vfmaq_f64(c, a, b);
#else
  return a * b + c;
#endif
}
inline Vec fused(Vec a, Vec b, double c) { return fused(a, b, broadcast(c)); }
template <bool fuse>
inline Vec add_product(Vec a, Vec b, Vec c) {
  if constexpr (fuse) return fused(a, b, c);
  return c + a * b;
}
// The larger one; the second where they cannot be compared.
inline Vec larger(Vec a, Vec b) {
#if defined(__AVX__)
  return _mm256_max_pd(a, b);
#elif defined(__SSE2__)
  return _mm_max_pd(a, b);
#else
  return a > b ? a : b;
#endif
}
// Whether any lane of a condition holds.
inline bool any(Bits condition) {
#if defined(__AVX__)
  return !_mm256_testz_si256(reinterpret_cast<__m256i>(condition),
                             reinterpret_cast<__m256i>(condition));
#else
  long long all = 0;
  for (int i = 0; i < lanes; ++i) all |= condition[i];
  return all != 0;
#endif
}
inline Vec positive(Vec x) { return larger(x, Vec{}); }
inline Vec root(Vec x) {
  for (int i = 0; i < lanes; ++i) x[i] = __builtin_sqrt(x[i]);
  return x;
}

// Four doubles, whatever the lanes, so that what is summed over four queries at a time has the same
// order on every instruction set.
struct Four {
  static constexpr int parts = 4 / lanes;
  Vec part[parts];
};

// to[j] += the sum of the four in from[j], times `factor`.
inline void add_each(const Four* from, int count, double factor, double* to) {
  int j = 0;
#if defined(__AVX__)
  for (; j + 4 <= count; j += 4) {  // the same sums, four at a time
    const __m256d low = _mm256_hadd_pd(from[j].part[0], from[j + 1].part[0]);
    const __m256d high = _mm256_hadd_pd(from[j + 2].part[0], from[j + 3].part[0]);
    const Vec sum =
        _mm256_permute2f128_pd(low, high, 0x20) + _mm256_permute2f128_pd(low, high, 0x31);
    store(to + j, load(to + j) + factor * sum);
  }
#endif
  for (; j < count; ++j) {
    double four[4];
    for (int i = 0; i < Four::parts; ++i) store(four + i * lanes, from[j].part[i]);
    to[j] += factor * ((four[0] + four[1]) + (four[2] + four[3]));
  }
}

// 2^t for -1000 <= t <= 0.5 to a relative `roughness`, and about 2^-1000 below; what is lost beside
// `exp_of` is below any tolerance it is used for.
inline Vec rough_power_of_two(Vec t) {
  constexpr double shift = 0x1.8p52;
  t = larger(t, broadcast(-1000.0));
  const Vec shifted = t + shift;
  const Vec r = t - (shifted - shift);
  // (2^r - 1) / r at Chebyshev's points, in powers of r²: a short chain, as in `exp_of`.
  const auto pair = [&](double first, double second) { return fused(broadcast(second), r, first); };
  const Vec r2 = r * r;
  Vec p = fused(broadcast(1.5297323760701074108e-5), r2,
                pair(1.3333502386162770741e-3, 1.5461444698569129083e-4));
  p = fused(p, r2, pair(5.5504108839096183929e-2, 9.6180566785246380754e-3));
  p = fused(p, r2, pair(6.9314718055994530942e-1, 2.4022650922288758071e-1));
  p = fused(p, r, 1.0);
  return reinterpret_cast<Vec>(reinterpret_cast<Bits>(p) + (reinterpret_cast<Bits>(shifted) << 52));
}

// exp(x) for x <= 0 to about one unit in the last place; 0 below -708. Without fusing, the same
// bits in every instruction set.
template <bool fuse = true>
inline Vec exp_of(Vec x) {
  constexpr double shift = 0x1.8p52;
  const auto add = [](Vec a, Vec b, Vec c) { return add_product<fuse>(a, b, c); };
  const Vec clamped = larger(x, broadcast(-708.0));
  const Vec shifted = add(clamped, broadcast(1.4426950408889634074), broadcast(shift));
  const Vec n = shifted - shift;
  Vec r = add(n, broadcast(-0x1.62e42fefa0000p-1), clamped);
  r = add(n, broadcast(-0x1.cf79abc9e3b3ap-40), r);
  // The series from r²/2 on, in powers of r², r⁴ and r⁸: a short chain, so that several vectors are
  // under way at once.
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

// Whose sums get the terms: those of the queries, or the samples' too. Between samples of equal
// weight every sum has its own sample's term, beside which the last bits of another are nothing, so
// squares may be fused; a query, or a light sample, may have but a single term near the edge of a
// support.
enum class Sides { queries, both, both_equal };

// How the differences to a sample, feature after feature, become what a term is made of: the square
// of the distance,
template <class Terms, Sides sides>
struct Squaring {
  explicit Squaring(const Terms& of) : terms(of) {}
  Vec first(Vec delta) const { return delta * delta; }
  Vec next(Vec square, Vec delta) const {
    return add_product<sides == Sides::both_equal>(delta, delta, square);
  }
  Vec term(Vec square) const { return terms.of_square(square); }
  const Terms& terms;
};
// or, fused, what that leaves of h², for terms of which it is the better part.
template <class Terms>
  requires requires(Terms terms) { terms.of_rest(Vec{}); }
struct Squaring<Terms, Sides::both_equal> {
  explicit Squaring(const Terms& of) : terms(of), all(broadcast(of.scale.width_sq)) {}
  Vec first(Vec delta) const { return fused(-delta, delta, all); }
  Vec next(Vec rest, Vec delta) const { return fused(-delta, delta, rest); }
  Vec term(Vec rest) const { return terms.of_rest(rest); }
  const Terms& terms;
  Vec all;
};

// A block of queries, seen from the samples. `features` is the template's where that is not 0.
template <int fixed_features, bool periodic, int stride, int count>
class QueryBlock {
 public:
  QueryBlock(const LeafPair& pair, int first) : pair_(pair), queries_(pair.queries + first) {}

  // out[j] = the squares from sample `from` + j, for some samples at once.
  template <int samples, class Squares>
  [[gnu::always_inline]] void write_squares(const Squares& squares, int from,
                                            Vec (*out)[count]) const {
    const int features = fixed_features ? fixed_features : pair_.features;
    Vec square[samples][count];  // registers
    for_differences<samples>(0, from,
                             [&](int j, int v, Vec delta) { square[j][v] = squares.first(delta); });
    for (int k = 1; k < features; ++k) {
      for_differences<samples>(k, from, [&](int j, int v, Vec delta) {
        square[j][v] = squares.next(square[j][v], delta);
      });
    }
    for (int j = 0; j < samples; ++j) {
      for (int v = 0; v < count; ++v) out[j][v] = square[j][v];
    }
  }

 private:
  template <int samples, class Body>
  [[gnu::always_inline]] void for_differences(int k, int from, const Body& body) const {
    const double* queries = queries_ + k * (stride ? stride : pair_.query_stride);
    const double* first = pair_.samples + k * pair_.sample_stride + from;
    Vec sample[samples];
    for (int j = 0; j < samples; ++j) sample[j] = broadcast(first[j]);
    for (int v = 0; v < count; ++v) {
      const Vec query = load(queries + v * lanes);
      for (int j = 0; j < samples; ++j) body(j, v, image(query - sample[j], k));
    }
  }

  Vec image(Vec delta, int k) const {
    if constexpr (!periodic) return delta;
    return pair_.period[k] < __builtin_inf() ? nearest_image(delta, pair_.period[k]) : delta;
  }

  const LeafPair& pair_;
  const double* queries_;
};

// Which of the last four queries of a block are there.
inline void find_used(int first, int query_count, Bits (&used)[Four::parts]) {
  for (int i = 0; i < 4; ++i) used[i / lanes][i % lanes] = first + i < query_count ? -1 : 0;
}

// Terms provides the term of a squared distance; may_fuse, whether squares may ever be fused;
// long_chain, whether a term takes so long that the squares of the whole pair better come first.
template <class Terms, int fixed_features, bool periodic, int stride, int size, Sides sides>
inline void add_block(const LeafPair& pair, const Terms& terms, int first, double* sums,
                      double* other_sums) {
  constexpr int count = size / lanes;
  constexpr bool both = sides != Sides::queries;
  constexpr bool equal = sides == Sides::both_equal;
  const QueryBlock<fixed_features, periodic, stride, count> block(pair, first);
  const Squaring<Terms, sides> squares(terms);
  Vec ahead[Terms::long_chain ? max_stride : 1][count];
  for (int j = 0; Terms::long_chain && j < pair.sample_count; j += 2) {
    block.template write_squares<2>(squares, j, ahead + j);
  }
  Bits used[Four::parts];
  find_used(first + size - 4, pair.query_count, used);
  Vec total[count];
  for (int v = 0; v < count; ++v) total[v] = Vec{};
  Four back[max_stride];
  for (int j = 0; j < pair.sample_count; ++j) {
    if constexpr (!Terms::long_chain) block.template write_squares<1>(squares, j, ahead);
    const Vec(&square)[count] = ahead[Terms::long_chain ? j : 0];
    const Vec weight = broadcast(pair.weights[j]);
    Four sum = {};
    for (int v = 0; v < count; ++v) {
      const Vec term = squares.term(square[v]);
      Vec& to = sum.part[v % Four::parts];
      if constexpr (equal) {
        total[v] += term;
        to += v < count - Four::parts ? term : where(used[v % Four::parts], term);
      } else {
        total[v] = fused(weight, term, total[v]);
        if constexpr (both) to = fused(load(pair.query_weights + first + v * lanes), term, to);
      }
    }
    if constexpr (both) back[j] = sum;
  }
  const double factor = equal ? pair.weights[0] : 1.0;
  for (int v = 0; v < count; ++v) {
    double* to = sums + first + v * lanes;
    store(to, load(to) + factor * total[v]);
  }
  if constexpr (both) add_each(back, pair.sample_count, factor, other_sums);
}

template <class Terms, int fixed_features, bool periodic, Sides sides>
void add_blocks(const LeafPair& pair, const Terms& terms, double* sums, double* other_sums) {
  if (pair.query_stride == 16 && pair.query_count > 12) {
    return add_block<Terms, fixed_features, periodic, 16, 16, sides>(pair, terms, 0, sums,
                                                                     other_sums);
  }
  if (pair.query_stride == 16) {
    return add_block<Terms, fixed_features, periodic, 16, 12, sides>(pair, terms, 0, sums,
                                                                     other_sums);
  }
  if (pair.query_stride == 12) {
    return add_block<Terms, fixed_features, periodic, 12, 12, sides>(pair, terms, 0, sums,
                                                                     other_sums);
  }
  if (pair.query_stride == 20) {
    add_block<Terms, fixed_features, periodic, 20, 12, sides>(pair, terms, 0, sums, other_sums);
    if (pair.query_count > 16) {
      return add_block<Terms, fixed_features, periodic, 20, 8, sides>(pair, terms, 12, sums,
                                                                      other_sums);
    }
    return add_block<Terms, fixed_features, periodic, 20, 4, sides>(pair, terms, 12, sums,
                                                                    other_sums);
  }
  for (int first = 0; first < pair.query_stride; first += 4) {
    add_block<Terms, fixed_features, periodic, 0, 4, sides>(pair, terms, first, sums, other_sums);
  }
}

template <class Terms, Sides sides>
void add_to(const LeafPair& pair, const Terms& terms, double* sums, double* other_sums) {
  if (pair.period) return add_blocks<Terms, 0, true, sides>(pair, terms, sums, other_sums);
  if (pair.features == 1) return add_blocks<Terms, 1, false, sides>(pair, terms, sums, other_sums);
  if (pair.features == 2) return add_blocks<Terms, 2, false, sides>(pair, terms, sums, other_sums);
  if (pair.features == 3) return add_blocks<Terms, 3, false, sides>(pair, terms, sums, other_sums);
  return add_blocks<Terms, 0, false, sides>(pair, terms, sums, other_sums);
}

template <class Terms>
void add_terms(const LeafPair& pair, const KernelScale& scale, double* sums, double* other_sums) {
  const Terms terms{scale};
  if (!other_sums) return add_to<Terms, Sides::queries>(pair, terms, sums, nullptr);
  if constexpr (Terms::may_fuse) {
    if (scale.equal_weights) return add_to<Terms, Sides::both_equal>(pair, terms, sums, other_sums);
  }
  add_to<Terms, Sides::both>(pair, terms, sums, other_sums);
}

template <class Terms>
void to_terms(const KernelScale& scale, int count, double* values) {
  const Terms terms{scale};
  for (int i = 0; i < count; i += lanes) {
    store(values + i, terms.of_square(load(values + i)));
  }
}

}  // namespace

}  // namespace quickshift::QUICKSHIFT_ISA
