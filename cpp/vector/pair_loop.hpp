// Kernel sums between two leaves: the loop over all pairs of a query and a sample, for the files
// that are compiled once per instruction set. pairs.hpp describes the order of summation.
//
// Queries are handled in groups of four. A group fills one vector of four doubles, or two vectors
// of two. A vector of eight doubles holds the same group twice, to be paired with two samples at
// once: its lower half with an even sample, its upper half with the odd sample after it.
#pragma once

#include "vector/vec.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

constexpr int queries_per_vector = lanes < 4 ? lanes : 4;
constexpr int samples_per_vector = lanes > 4 ? lanes / 4 : 1;

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
// to[i] += factor * the total of query i, which is the sum of two parts if the even and the odd
// samples were summed separately.
template <int apart, int count>
inline void add_totals(const Vec (&total)[apart][count], double factor, double* to) {
  for (int v = 0; v < count; ++v, to += queries_per_vector) {
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

// Which sums a term is added to: those of the queries only, or those of the samples as well.
//
// `both_equal` is the case of samples that all have the same weight and whose sums include their
// own terms. A sample's own term is then the largest of its sum, so errors in the last bits of the
// other terms are negligible and squared distances may be computed with fused operations. This does
// not hold for a query that is not a sample, nor for a sample of small weight: such a sum may
// consist of a single term near the edge of the support, where the last bits of the squared
// distance matter.
enum class SumFor { queries, both, both_equal };

// Accumulates the differences between a query and a sample, one feature at a time, into the squared
// distance s, and computes the term from s.
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
// The same for terms that are computed from h² - s: accumulates h² - s in place of s, with fused
// operations.
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

// A block of `count` vectors of queries, whose distances to samples are computed. The template
// parameters `fixed_features` and `stride` replace the values of the pair unless they are 0.
template <int fixed_features, bool periodic, int stride, int count>
class QueryBlock {
 public:
  QueryBlock(const LeafPair& pair, int first) : pair_(pair), queries_(pair.queries + first) {}

  // Accumulates the differences to the samples from `from` on into out[j][v], for the j-th vector
  // of samples (which holds `samples_per_vector` of them) and the v-th vector of queries.
  template <int samples, class Squares>
  [[gnu::always_inline]] void write_squares(const Squares& squares, int from,
                                            Vec (*out)[count]) const {
    const int features = fixed_features ? fixed_features : pair_.features;
    Vec square[samples][count];  // kept in registers
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
    for (int j = 0; j < samples; ++j) sample[j] = load_samples(first + j * samples_per_vector);
    for (int v = 0; v < count; ++v) {
      const Vec query = load_queries(queries + v * queries_per_vector);
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

// A mask of the lanes of the last vector of samples that hold a sample; the samples may not fill
// it.
inline Bits last_samples(int sample_count) {
  Bits used;
  for (int i = 0; i < lanes; ++i) {
    used[i] = i / queries_per_vector <= (sample_count - 1) % samples_per_vector ? -1 : 0;
  }
  return used;
}

// Adds the terms between `size` queries from `first` on and all samples of the pair to the sums of
// these queries and, depending on `sides`, to those of the samples. The members that `Terms` must
// have are described in pair_terms.hpp.
template <class Terms, int fixed_features, bool periodic, int stride, int size, SumFor sides>
inline void add_block(const LeafPair& pair, const Terms& terms, int first, double* sums,
                      double* other_sums) {
  constexpr int count = size / queries_per_vector;
  constexpr bool both = sides != SumFor::queries;
  constexpr bool equal = sides == SumFor::both_equal;
  const QueryBlock<fixed_features, periodic, stride, count> block(pair, first);
  const Squaring<Terms, sides> squares(terms);
  Vec ahead[Terms::long_chain ? max_stride / samples_per_vector : 1][count];
  for (int j = 0; Terms::long_chain && j * samples_per_vector < pair.sample_count; j += 2) {
    block.template write_squares<2>(squares, j * samples_per_vector, ahead + j);
  }
  const Bits last = last_samples(pair.sample_count);
  constexpr int apart = Terms::long_chain ? 2 / samples_per_vector : 1;
  Vec total[apart][count];
  for (auto& part : total) clear(part);
  Four back[max_stride];
  for (int j = 0; j < pair.sample_count; j += samples_per_vector) {
    if constexpr (!Terms::long_chain) block.template write_squares<1>(squares, j, ahead);
    const Vec(&square)[count] = ahead[Terms::long_chain ? j / samples_per_vector : 0];
    const Vec weight = load_samples(pair.weights + j);
    Vec(&to_queries)[count] = total[j % apart];
    Vec sum[Four::parts];
    for (int v = 0; v < count; ++v) {
      Vec term = squares.term(square[v]);
      if (samples_per_vector > 1 && j + samples_per_vector > pair.sample_count)
        term = where(last, term);
      Vec& to = sum[v % Four::parts];
      if constexpr (equal) {
        to_queries[v] = added(term, to_queries[v]);
        to = v < Four::parts ? term : to + term;
      } else {
        to_queries[v] = fused(weight, term, to_queries[v]);
        if constexpr (both) {
          const Vec own = load_queries(pair.query_weights + first + v * queries_per_vector);
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

// Handles a leaf of queries whose stride is known at compile time: as one block, or as two if the
// registers cannot hold all its sums. The last four slots are skipped if they are all unused.
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

// The largest number of features for which squared distances are computed with fused operations. Up
// to this number, the rounding errors that fusing causes stay below a few units in the last place
// of a sum, even on data whose coordinates repeat, where all these errors have the same sign.
constexpr int most_fused = 5;

template <class Terms>
void add_terms(const LeafPair& pair, const KernelScale& scale, double* sums, double* other_sums) {
  const Terms terms{scale};
  if (!other_sums) return add_to<Terms, SumFor::queries>(pair, terms, sums, nullptr);
  if constexpr (Terms::may_fuse) {
    const bool full = pair.query_count % 4 == 0;  // no group of queries has unused slots
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
  Vec rest = {};  // the last four values, in a vector for eight
  __builtin_memcpy(&rest, values + i, sizeof rest / 2);
  rest = terms.of_square(rest);
  __builtin_memcpy(values + i, &rest, sizeof rest / 2);
}

}  // namespace

}  // namespace quickshift::QUICKSHIFT_ISA
