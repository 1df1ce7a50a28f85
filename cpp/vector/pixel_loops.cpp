#include "vector/pixel_loops.hpp"

#include "vector/pair_terms.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

constexpr Index larger_of(Index a, Index b) { return a > b ? a : b; }
constexpr Index smaller_of(Index a, Index b) { return a < b ? a : b; }

// The colors of adjacent pixels, one per vector lane. `fixed_channels` is the number of channels if
// it is known at compile time; the colors are then kept in registers. It is 0 otherwise, and the
// colors are loaded each time that they are needed.
template <int fixed_channels>
struct Colors {
  Colors(const double* at, Index plane, int) {
    for (int k = 0; k < fixed_channels; ++k) values[k] = load(at + k * plane);
  }
  // Adds the squared differences to the colors at another position to a given square.
  Vec square_to(const double* other, Index plane, Vec square) const {
    for (int k = 0; k < fixed_channels; ++k) {
      const Vec delta = values[k] - load(other + k * plane);
      square = fused(delta, delta, square);
    }
    return square;
  }
  Vec values[fixed_channels];
};

template <>
struct Colors<0> {
  Colors(const double* place, Index, int count) : at(place), channels(count) {}
  Vec square_to(const double* other, Index plane, Vec square) const {
    for (int k = 0; k < channels; ++k) {
      const Vec delta = load(at + k * plane) - load(other + k * plane);
      square = fused(delta, delta, square);
    }
    return square;
  }
  const double* at;
  int channels;
};

template <int fixed_channels, int others>
void add_others(const LinesOfPixels& of) {
  // A copy, so that the compiler knows that storing to sums does not change it.
  const LinesOfPixels lines = of;
  for (Index apart = -lines.reach; apart <= lines.reach; ++apart) {
    Vec squares[others];
    for (int other = 0; other < others; ++other) {
      squares[other] = broadcast(lines.squares[other][apart < 0 ? -apart : apart]);
    }
    // The pairs that have at least one pixel in the columns of the box. Sums of other columns are
    // updated too, but not used.
    const Index begin = -larger_of(apart, 0);
    const Index end = lines.columns + larger_of(-apart, 0);
    for (Index i = begin; i < end; i += lanes) {
      const Colors<fixed_channels> here(lines.colors + i, lines.plane, lines.channels);
      Vec sum = load(lines.sums + i);
      for (int other = 0; other < others; ++other) {
        const Index there = i + apart;
        const Vec square =
            here.square_to(lines.other_colors[other] + there, lines.plane, squares[other]);
        const Vec term = power_of_two(square * lines.factor);
        double* const to = lines.other_sums[other] + there;
        sum += term;
        store(to, load(to) + term);
      }
      store(lines.sums + i, sum);
    }
  }
}

template <int fixed_channels>
void add_within(const LinesOfPixels& of) {
  const LinesOfPixels lines = of;
  for (Index i = 0; i < lines.columns; i += lanes) {
    const Colors<fixed_channels> here(lines.colors + i, lines.plane, lines.channels);
    Vec sum = load(lines.sums + i);
    for (Index apart = -lines.reach; apart <= lines.reach; ++apart) {
      if (apart == 0) continue;
      const Vec square = broadcast(lines.squares[0][apart < 0 ? -apart : apart]);
      sum += power_of_two(here.square_to(lines.colors + i + apart, lines.plane, square) *
                          lines.factor);
    }
    store(lines.sums + i, sum);
  }
}

template <int fixed_channels>
void add_lines_with(const LinesOfPixels& lines) {
  using Add = void (*)(const LinesOfPixels&);
  constexpr Add by_others[] = {add_within<fixed_channels>, add_others<fixed_channels, 1>,
                               add_others<fixed_channels, 2>};
  static_assert(sizeof by_others / sizeof *by_others == lines_per_call + 1);
  by_others[lines.others](lines);
}

void add_lines(const LinesOfPixels& lines) {
  if (lines.channels == 3) return add_lines_with<3>(lines);
  if (lines.channels == 1) return add_lines_with<1>(lines);
  add_lines_with<0>(lines);
}

typedef float Singles __attribute__((vector_size(4 * QUICKSHIFT_LANES)));  // as many as a Vec has

// Conversions between a Vec and as many floats. GCC's __builtin_convertvector splits wide vectors
// and passes their halves through memory.
inline Vec to_double(Singles x) {
#if QUICKSHIFT_LANES == 8
  return _mm512_cvtps_pd(x);
#elif QUICKSHIFT_LANES == 4 && defined(__AVX__)
  return _mm256_cvtps_pd(x);
#else
  return __builtin_convertvector(x, Vec);
#endif
}
inline Singles to_float(Vec x) {
#if QUICKSHIFT_LANES == 8
  return _mm512_cvtpd_ps(x);
#elif QUICKSHIFT_LANES == 4 && defined(__AVX__)
  return _mm256_cvtpd_ps(x);
#else
  return __builtin_convertvector(x, Singles);
#endif
}

inline Vec rounded_to_float(Vec x) { return to_double(to_float(x)); }

// Adds the squared differences of the colors of adjacent pixels.
inline Vec with_colors(const double* a, const double* b, Index plane, int channels, Vec square) {
  for (int k = 0; k < channels; ++k) {
    const Vec delta = load(a + k * plane) - load(b + k * plane);
    square = square + delta * delta;
  }
  return square;
}

// The same in the arithmetic of float32, for colors that are floats stored as doubles.
inline Singles with_single_colors(const double* a, const double* b, Index plane, int channels) {
  Singles square = {};
  for (int k = 0; k < channels; ++k) {
    const Singles delta = to_float(load(a + k * plane)) - to_float(load(b + k * plane));
    square = square + delta * delta;
  }
  return square;
}

// The nearest higher pixels found so far, for adjacent pixels in the lanes of a vector.
struct Nearest {
  Vec square;  // squared distance
  Vec height;
  Bits number;  // number of the higher pixel minus that of the lane's own pixel
};

// The total order: of equal heights, the pixel with the larger number is higher.
struct TotalOrder {
  static Bits higher(Vec there, Vec here, Index number) {
    return number > 0 ? there >= here : there > here;
  }
  static Vec square(const PixelSearch& line, Index i, Index step, double line_sq, Vec along) {
    const double* here = line.colors + i;
    return with_colors(here, here + step, line.plane, line.channels, line_sq + along);
  }
  static Bits wins_tie(Vec height, Bits number, const Nearest& nearest) {
    return (height > nearest.height) | ((height == nearest.height) & (number > nearest.number));
  }
};

// The order of scikit-image: only larger heights are higher, and of equally near pixels the first
// in raster order wins. `single` selects the arithmetic of float32.
template <bool single>
struct RasterOrder {
  static Bits higher(Vec there, Vec here, Index) { return there > here; }
  static Vec square(const PixelSearch& line, Index i, Index step, double line_sq, Vec along) {
    const double* here = line.colors + i;
    if constexpr (single) {
      const Singles colors = with_single_colors(here, here + step, line.plane, line.channels);
      return to_double((colors + static_cast<float>(line_sq)) + to_float(along));
    }
    return with_colors(here, here + step, line.plane, line.channels, Vec{}) + line_sq + along;
  }
  static Bits wins_tie(Vec, Bits number, const Nearest& nearest) { return number < nearest.number; }
};

template <class Order>
void find(const PixelSearch& line, const Surroundings& around) {
  for (Index i = 0; i < line.columns; i += lanes) {
    const Vec height = load(line.heights + i);
    const Vec coordinate = load(line.coordinates + i);
    // Pixels outside the picture or its mask start with a squared distance of 0, which ends their
    // search at once.
    const Bits present = height > -__builtin_inf();
    Nearest nearest{where(present, broadcast(line.beyond)), broadcast(__builtin_inf()), Bits{}};
    for (Index k = 0; k < around.count; ++k) {
      if (!any(nearest.square > around.least_sq[k])) break;
      const Vec there = load(line.heights + i + around.step[k]);
      const Bits higher = Order::higher(there, height, around.number[k]);
      if (!any(higher)) continue;
      const Vec along = coordinate - load(line.coordinates + i + around.column[k]);
      const Vec square =
          Order::square(line, i, around.step[k], line.line_sq[around.line[k]], along * along);
      const Bits as_near = higher & (square <= nearest.square);
      if (!any(as_near)) continue;
      const Bits number = around.number[k] - Bits{};
      const Bits wins =
          as_near & ((square < nearest.square) | Order::wins_tie(there, number, nearest));
      nearest.square = wins ? square : nearest.square;
      nearest.height = wins ? there : nearest.height;
      nearest.number = wins ? number : nearest.number;
    }
    store(line.squares + i, nearest.square);
    __builtin_memcpy(line.numbers + i, &nearest.number, sizeof nearest.number);
  }
}

// exp(x) for x <= 0, as accurate as `exp_of`, and about 3e-308 below -708. It has fewer operations
// than `exp_of`, but each depends on the one before, so it is only fast where the processor can
// work on several vectors at once.
inline Vec chained_exp_of(Vec x) {
  constexpr double shift = 0x1.8p52;
  const Vec clamped = larger(x, broadcast(-708.0));
  const Vec shifted = fused(clamped, broadcast(1.4426950408889634074), broadcast(shift));
  const Vec n = shifted - shift;
  Vec r = fused(n, broadcast(-0x1.62e42fefa0000p-1), clamped);
  r = fused(n, broadcast(-0x1.cf79abc9e3b3ap-40), r);
  // (exp(r) - 1 - r) / r², interpolated at Chebyshev points. Relative to exp(r), the error is at
  // most 2e-17.
  constexpr double c[] = {0.50000000000000010211,   0.16666666666666667452,
                          4.1666666666624161578e-2, 8.3333333333300644245e-3,
                          1.388888891719688114e-3,  1.98412698630406699e-4,
                          2.4801521322116824174e-5, 2.755726848011633485e-6,
                          2.7620075999810651055e-7, 2.5100375924709716851e-8};
  const Vec p = fused(polynomial(c, r), r * r, r) + 1.0;
  return reinterpret_cast<Vec>(reinterpret_cast<Bits>(p) + (reinterpret_cast<Bits>(shifted) << 52));
}

// Twice as many floats as a Vec has doubles.
typedef float WideSingles __attribute__((vector_size(8 * QUICKSHIFT_LANES)));

inline WideSingles load_singles(const float* from) {
  WideSingles value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

// Computes the terms of the pairs of adjacent pixels of a line, from column i on, with pixels of
// another line, and adds them to the sums of the former. Squared distances are computed in the
// arithmetic of float32, which rounds after every operation. Exponentials are double, as in
// scikit-image, and their sum is rounded after every addition.
template <int fixed_channels>
void add_to_first(const RasterLines& lines, Index i, Index column) {
  const int channels = fixed_channels ? fixed_channels : lines.channels;
  WideSingles own[fixed_channels ? fixed_channels : 1];
  for (int k = 0; k < fixed_channels; ++k)
    own[k] = load_singles(lines.colors + i + k * lines.plane);
  Vec sums[2] = {load(lines.sums + i), load(lines.sums + i + lanes)};
  // Pixels in the halo are paired only with pixels in the box.
  const Index begin =
      i + 2 * lanes <= 0 ? larger_of(-lines.reach, 1 - i - 2 * lanes) : -lines.reach;
  const Index end = i >= lines.columns ? lines.columns - 1 - i : lines.reach;
  for (Index apart = begin; apart <= end; ++apart) {
    WideSingles square;
    for (int k = 0; k < channels; ++k) {
      const WideSingles mine =
          fixed_channels ? own[k] : load_singles(lines.colors + i + k * lines.plane);
      const WideSingles delta =
          mine - load_singles(lines.other_colors + i + apart + k * lines.plane);
      square = k == 0 ? delta * delta : square + delta * delta;
    }
    square = (square + lines.lines_sq) + lines.columns_sq[apart + lines.reach];
    const WideSingles decay = square * lines.factor;
    Singles halves[2];
    __builtin_memcpy(halves, &decay, sizeof halves);
    for (int half = 0; half < 2; ++half) {
      const Vec term = chained_exp_of(to_double(halves[half]));
      sums[half] = rounded_to_float(sums[half] + term);
      store(lines.terms[apart + lines.reach].at + column + half * lanes, term);
    }
  }
  for (int half = 0; half < 2; ++half) store(lines.sums + i + half * lanes, sums[half]);
}

// Adds the terms that `add_to_first` has computed for the columns from `begin` to `end` to the sums
// of the other line, in ascending order of those columns. Several vectors are worked on at once,
// because every addition has to wait for the rounding of the one before.
template <int vectors>
void add_to_other(const RasterLines& lines, Index begin, Index end, Index i) {
  Vec sums[vectors];
  for (int v = 0; v < vectors; ++v) sums[v] = load(lines.other_sums + i + v * lanes);
  const Index last = larger_of(-lines.reach, i - end + 1);
  for (Index apart = smaller_of(lines.reach, i + vectors * lanes - 1 - begin); apart >= last;
       --apart) {
    const double* terms =
        lines.terms[apart + lines.reach].at + raster_padding + (i - apart - begin);
    for (int v = 0; v < vectors; ++v) sums[v] = rounded_to_float(sums[v] + load(terms + v * lanes));
  }
  for (int v = 0; v < vectors; ++v) store(lines.other_sums + i + v * lanes, sums[v]);
}

template <int fixed_channels>
void add_raster_channels(const RasterLines& of) {
  const RasterLines lines = of;
  constexpr int several = 4;
  static_assert(several * lanes <= raster_padding);
  // Pixels in the halo of the first line are paired with pixels in the box of the other.
  const Index halo = lines.other_sums ? lines.reach : 0;
  for (Index begin = -halo; begin < lines.columns + halo; begin += raster_columns) {
    const Index end = smaller_of(begin + raster_columns, lines.columns + halo);
    for (Index i = begin; i < end; i += 2 * lanes) {
      add_to_first<fixed_channels>(lines, i, raster_padding + (i - begin));
    }
    if (!lines.other_sums) continue;
    const Index reached = smaller_of(lines.columns, end + lines.reach);
    Index i = larger_of(0, (begin - lines.reach) / lanes * lanes);
    for (; i + several * lanes <= reached; i += several * lanes) {
      add_to_other<several>(lines, begin, end, i);
    }
    for (; i < reached; i += lanes) add_to_other<1>(lines, begin, end, i);
  }
}

void add_raster_single(const RasterLines& lines) {
  if (lines.channels == 3) return add_raster_channels<3>(lines);
  add_raster_channels<0>(lines);
}

}  // namespace

extern const PixelLoops pixel_table;
const PixelLoops pixel_table = {add_lines, find<TotalOrder>, find<RasterOrder<false>>,
                                find<RasterOrder<true>>, add_raster_single};

}  // namespace quickshift::QUICKSHIFT_ISA
