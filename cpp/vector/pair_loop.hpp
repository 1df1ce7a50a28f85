// The loop over two leaves, for the files that are compiled once for each instruction set.
//
// Four queries fill a vector, or several narrow ones; a wide vector holds them twice, side by side
// for two samples.
#pragma once

#include "vector/vec.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

constexpr int queries_wide = lanes < 4 ? lanes : 4;      // in a vector
constexpr int samples_wide = lanes > 4 ? lanes / 4 : 1;  // side by side

inline Vec load_queries(const double* from) {
#if QUICKSHIFT_LANES == 8
  return _mm512_broadcast_f64x4(_mm256_loadu_pd(from));
#else
  return load(from);
#endif
}
inline Vec load_samples(const double* from) {
#if QUICKSHIFT_LANES == 8
  const __m512i places = _mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1);
  return _mm512_permutexvar_pd(places, _mm512_castpd128_pd512(_mm_loadu_pd(from)));
#else
  return broadcast(*from);
#endif
}
// to[i] += factor * the total of query i over the even and the odd samples.
template <int apart, int count>
inline void add_totals(const Vec (&total)[apart][count], double factor, double* to) {
  for (int v = 0; v < count; ++v, to += queries_wide) {
#if QUICKSHIFT_LANES == 8
    __m256d half[2];
    __builtin_memcpy(half, &total[0][v], sizeof half);
    _mm256_storeu_pd(to, _mm256_loadu_pd(to) + factor * (half[0] + half[1]));
#else
    Vec sum = total[0][v];
    if constexpr (apart == 2) sum += total[1][v];
    store(to, load(to) + factor * sum);
#endif
  }
}

// Whose sums get the terms: those of the queries, or the samples' too. Between samples of equal
// weight every sum has its own sample's term, beside which the last bits of another are nothing, so
// squares may be fused; a query, or a light sample, may have but a single term near the edge of a
// support.
enum class SumFor { queries, both, both_equal };

// How the differences to a sample, feature after feature, become what a term is made of: the square
// of the distance,
template <class Terms, SumFor sides>
struct Squaring {
  explicit Squaring(const Terms& of) : terms(of) {}
  Vec first(Vec delta) const { return delta * delta; }
  Vec next(Vec square, Vec delta) const {
    return add_product<sides == SumFor::both_equal>(delta, delta, square);
  }
  Vec term(Vec square) const { return terms.of_square(square); }
  const Terms& terms;
};
// or, fused, what that leaves of h², for terms of which it is the better part.
template <class Terms>
  requires requires(Terms terms) { terms.of_rest(Vec{}); }
struct Squaring<Terms, SumFor::both_equal> {
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

  // out[j] = the squares from sample `from` + j (or from samples side by side), for some j at once.
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
    for (int j = 0; j < samples; ++j) sample[j] = load_samples(first + j * samples_wide);
    for (int v = 0; v < count; ++v) {
      const Vec query = load_queries(queries + v * queries_wide);
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

// Which of the samples side by side in the last vector are there.
inline Bits last_samples(int sample_count) {
  Bits used;
  for (int i = 0; i < lanes; ++i) {
    used[i] = i / queries_wide <= (sample_count - 1) % samples_wide ? -1 : 0;
  }
  return used;
}

// Terms provides the term of a squared distance; may_fuse, whether squares may ever be fused;
// long_chain, whether a term takes so long that the squares of the whole pair better come first.
template <class Terms, int fixed_features, bool periodic, int stride, int size, SumFor sides>
inline void add_block(const LeafPair& pair, const Terms& terms, int first, double* sums,
                      double* other_sums) {
  constexpr int count = size / queries_wide;
  constexpr bool both = sides != SumFor::queries;
  constexpr bool equal = sides == SumFor::both_equal;
  const QueryBlock<fixed_features, periodic, stride, count> block(pair, first);
  const Squaring<Terms, sides> squares(terms);
  Vec ahead[Terms::long_chain ? max_stride / samples_wide : 1][count];
  for (int j = 0; Terms::long_chain && j * samples_wide < pair.sample_count; j += 2) {
    block.template write_squares<2>(squares, j * samples_wide, ahead + j);
  }
  const Bits last = last_samples(pair.sample_count);
  constexpr int apart = Terms::long_chain ? 2 / samples_wide : 1;
  Vec total[apart][count];
  for (auto& part : total) clear(part);
  Four back[max_stride];
  for (int j = 0; j < pair.sample_count; j += samples_wide) {
    if constexpr (!Terms::long_chain) block.template write_squares<1>(squares, j, ahead);
    const Vec(&square)[count] = ahead[Terms::long_chain ? j / samples_wide : 0];
    const Vec weight = load_samples(pair.weights + j);
    Vec(&to_queries)[count] = total[j % apart];
    Vec sum[Four::parts];
    for (int v = 0; v < count; ++v) {
      Vec term = squares.term(square[v]);
      if (samples_wide > 1 && j + samples_wide > pair.sample_count) term = where(last, term);
      Vec& to = sum[v % Four::parts];
      if constexpr (equal) {
        to_queries[v] = added(term, to_queries[v]);
        to = v < Four::parts ? term : to + term;
      } else {
        to_queries[v] = fused(weight, term, to_queries[v]);
        if constexpr (both) {
          const Vec own = load_queries(pair.query_weights + first + v * queries_wide);
          to = v < Four::parts ? own * term : fused(own, term, to);
        }
      }
    }
    if constexpr (both) __builtin_memcpy(back + j, sum, sizeof sum);
  }
  const double factor = equal ? pair.weights[0] : 1.0;
  add_totals(total, factor, sums + first);
  if constexpr (both) add_each(back, pair.sample_count, factor, other_sums);
}

// A leaf of a length that is known, in one block, or two where registers do not hold it. The
// queries that are there reach into its last four slots, or end before them.
template <class Terms, int fixed_features, bool periodic, SumFor sides, int stride>
void add_leaf(const LeafPair& pair, const Terms& terms, double* sums, double* other_sums) {
  const auto add = [&]<int first, int size>() {
    add_block<Terms, fixed_features, periodic, stride, size, sides>(pair, terms, first, sums,
                                                                    other_sums);
  };
  constexpr int begun = stride > 16 ? 12 : 0;
  if constexpr (begun > 0) add.template operator()<0, begun>();
  if (pair.query_count > stride - 4) return add.template operator()<begun, stride - begun>();
  add.template operator()<begun, stride - 4 - begun>();
}

template <class Terms, int fixed_features, bool periodic, SumFor sides>
void add_blocks(const LeafPair& pair, const Terms& terms, double* sums, double* other_sums) {
  const auto add = [&]<int stride>() {
    add_leaf<Terms, fixed_features, periodic, sides, stride>(pair, terms, sums, other_sums);
  };
  if (pair.query_stride == 12) return add.template operator()<12>();
  if (pair.query_stride == 16) return add.template operator()<16>();
  if (pair.query_stride == 20) return add.template operator()<20>();
  for (int first = 0; first < pair.query_count; first += 4) {
    add_block<Terms, fixed_features, periodic, 0, 4, sides>(pair, terms, first, sums, other_sums);
  }
}

template <class Terms, SumFor sides>
void add_to(const LeafPair& pair, const Terms& terms, double* sums, double* other_sums) {
  if (pair.period) return add_blocks<Terms, 0, true, sides>(pair, terms, sums, other_sums);
  if (pair.features == 1) return add_blocks<Terms, 1, false, sides>(pair, terms, sums, other_sums);
  if (pair.features == 2) return add_blocks<Terms, 2, false, sides>(pair, terms, sums, other_sums);
  if (pair.features == 3) return add_blocks<Terms, 3, false, sides>(pair, terms, sums, other_sums);
  return add_blocks<Terms, 0, false, sides>(pair, terms, sums, other_sums);
}

// Features up to which the roundings of fused squares stay below a few units of a sum, even where
// coordinates repeat and all round alike.
constexpr int most_fused = 5;

template <class Terms>
void add_terms(const LeafPair& pair, const KernelScale& scale, double* sums, double* other_sums) {
  const Terms terms{scale};
  if (!other_sums) return add_to<Terms, SumFor::queries>(pair, terms, sums, nullptr);
  if constexpr (Terms::may_fuse) {
    const bool full = pair.query_count % 4 == 0;  // blocks have no query that is not there
    if (scale.own_terms && pair.equal_weights && full && pair.features <= most_fused)
      return add_to<Terms, SumFor::both_equal>(pair, terms, sums, other_sums);
  }
  add_to<Terms, SumFor::both>(pair, terms, sums, other_sums);
}

template <class Terms>
void to_terms(const KernelScale& scale, int count, double* values) {
  const Terms terms{scale};
  int i = 0;
  for (; i + lanes <= count; i += lanes) store(values + i, terms.of_square(load(values + i)));
  if (lanes <= 4 || i == count) return;
  Vec rest = {};  // four in a vector for eight
  __builtin_memcpy(&rest, values + i, sizeof rest / 2);
  rest = terms.of_square(rest);
  __builtin_memcpy(values + i, &rest, sizeof rest / 2);
}

}  // namespace

}  // namespace quickshift::QUICKSHIFT_ISA
