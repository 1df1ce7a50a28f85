#include "vector/neighbor_loops.hpp"

#include "vector/vec.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

// Writes the lanes whose bit is set in `mask` to `to`, without gaps; the values after them are
// undefined. Returns how many there are.
inline int write_chosen(Vec values, unsigned mask, double* to) {
#if QUICKSHIFT_LANES == 8
  store(to, _mm512_maskz_compress_pd(static_cast<__mmask8>(mask), values));
  return __builtin_popcount(mask);
#elif QUICKSHIFT_LANES == 4 && defined(__AVX2__)
  // For each mask, the pairs of 32-bit halves that move to the front.
  alignas(32) static constexpr int halves[16][8] = {
      {0, 0, 0, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0, 0, 0}, {2, 3, 0, 0, 0, 0, 0, 0},
      {0, 1, 2, 3, 0, 0, 0, 0}, {4, 5, 0, 0, 0, 0, 0, 0}, {0, 1, 4, 5, 0, 0, 0, 0},
      {2, 3, 4, 5, 0, 0, 0, 0}, {0, 1, 2, 3, 4, 5, 0, 0}, {6, 7, 0, 0, 0, 0, 0, 0},
      {0, 1, 6, 7, 0, 0, 0, 0}, {2, 3, 6, 7, 0, 0, 0, 0}, {0, 1, 2, 3, 6, 7, 0, 0},
      {4, 5, 6, 7, 0, 0, 0, 0}, {0, 1, 4, 5, 6, 7, 0, 0}, {2, 3, 4, 5, 6, 7, 0, 0},
      {0, 1, 2, 3, 4, 5, 6, 7}};
  const __m256i order = _mm256_load_si256(reinterpret_cast<const __m256i*>(halves[mask]));
  const __m256i moved = _mm256_permutevar8x32_epi32(_mm256_castpd_si256(values), order);
  store(to, _mm256_castsi256_pd(moved));
  return __builtin_popcount(mask);
#else
  int count = 0;
  for (int i = 0; i < lanes; ++i) {
    to[count] = values[i];
    count += mask >> i & 1;
  }
  return count;
#endif
}

// One bit per lane: whether the value is at most `limit`.
inline unsigned mask_within(Vec values, double limit) {
#if QUICKSHIFT_LANES == 8
  return _mm512_cmp_pd_mask(values, broadcast(limit), _CMP_LE_OQ);
#elif QUICKSHIFT_LANES == 4 && defined(__AVX__)
  return static_cast<unsigned>(
      _mm256_movemask_pd(_mm256_cmp_pd(values, broadcast(limit), _CMP_LE_OQ)));
#else
  unsigned mask = 0;
  for (int i = 0; i < lanes; ++i) mask |= static_cast<unsigned>(values[i] <= limit) << i;
  return mask;
#endif
}

// A leaf has four slots more than it has vectors of eight, so its last vector may be a half one.
template <int features>
int keep_from_leaf(const double* point, const LeafBlock& samples, int count, double reach,
                   double* kept) {
  int found = 0;
  for (int first = 0; first < count; first += lanes) {
    double last[lanes];
    Vec s = {};
    const bool whole = first + lanes <= samples.stride;
    for (int k = 0; k < (features ? features : samples.features); ++k) {
      const double* from = samples.coordinates + k * samples.stride + first;
      if (!whole) {
        for (int i = 0; i < lanes; ++i) last[i] = from[first + i < samples.stride ? i : 0];
        from = last;
      }
      Vec delta = point[k] - load(from);
      if (!features && samples.period && samples.period[k] < __builtin_inf()) {
        delta = nearest_image(delta, samples.period[k]);
      }
      s += delta * delta;
    }
    unsigned mask = mask_within(s, reach);
    if (first + lanes > count) mask &= (1u << (count - first)) - 1;
    found += write_chosen(s, mask, kept + found);
  }
  return found;
}

int keep_within(const double* point, const LeafBlock& samples, int count, double reach,
                double* kept) {
  if (!samples.period && samples.features == 1) {
    return keep_from_leaf<1>(point, samples, count, reach, kept);
  }
  if (!samples.period && samples.features == 2) {
    return keep_from_leaf<2>(point, samples, count, reach, kept);
  }
  if (!samples.period && samples.features == 3) {
    return keep_from_leaf<3>(point, samples, count, reach, kept);
  }
  return keep_from_leaf<0>(point, samples, count, reach, kept);
}

long long count_within(const double* values, long long count, double limit) {
  Bits found = {};
  for (long long i = 0; i < count; i += lanes) found -= load(values + i) <= broadcast(limit);
  long long all = 0;
  for (int i = 0; i < lanes; ++i) all += found[i];
  return all;
}

double largest_within(const double* values, long long count, double limit) {
  Vec largest = broadcast(-__builtin_inf());
  for (long long i = 0; i < count; i += lanes) {
    const Vec value = load(values + i);
    largest = larger(value <= broadcast(limit) ? value : broadcast(-__builtin_inf()), largest);
  }
  double all = largest[0];
  for (int i = 1; i < lanes; ++i) all = largest[i] > all ? largest[i] : all;
  return all;
}

long long move_to_front(double* values, long long count, double limit) {
  long long kept = 0;
  for (long long i = 0; i < count; i += lanes) {
    const Vec value = load(values + i);
    kept += write_chosen(value, mask_within(value, limit), values + kept);
  }
  return kept;
}

double sum_of_roots(const double* values, long long count, const ExactSum& exact) {
  Vec coarse = {};
  Vec fine = {};
  long long i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Vec value = root(load(values + i));
    const Vec rounded = (value + exact.coarse) - exact.coarse;
    coarse += rounded;
    fine += ((value - rounded) + exact.fine) - exact.fine;
  }
  double sum = 0.0;
  double rest = 0.0;
  for (int lane = 0; lane < lanes; ++lane) {
    sum += coarse[lane];
    rest += fine[lane];
  }
  for (; i < count; ++i) {
    const double value = __builtin_sqrt(values[i]);
    const double rounded = (value + exact.coarse) - exact.coarse;
    sum += rounded;
    rest += ((value - rounded) + exact.fine) - exact.fine;
  }
  return sum + rest;
}

}  // namespace

extern const NeighborLoops neighbor_table;
const NeighborLoops neighbor_table = {keep_within, count_within, largest_within, move_to_front,
                                      sum_of_roots};

}  // namespace quickshift::QUICKSHIFT_ISA
