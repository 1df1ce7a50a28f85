#include "vector/pixel_loops.hpp"

#include "vector/vec.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

constexpr Index larger_of(Index a, Index b) { return a > b ? a : b; }

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

typedef float Singles __attribute__((vector_size(4 * QUICKSHIFT_LANES)));

// Rounds to float. If x is the sum, difference or product of two floats, computed in double
// precision, the result is that of float arithmetic: a double has enough bits that rounding twice
// gives the same result as rounding once.
inline Vec to_single(Vec x) {
  return __builtin_convertvector(__builtin_convertvector(x, Singles), Vec);
}

template <bool single>
inline Vec rounded(Vec x) {
  if constexpr (single) return to_single(x);
  return x;
}

template <bool single>
inline Vec with_colors(const double* a, const double* b, Index plane, int channels, Vec square) {
  for (int k = 0; k < channels; ++k) {
    const Vec delta = rounded<single>(load(a + k * plane) - load(b + k * plane));
    square = rounded<single>(square + rounded<single>(delta * delta));
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
    return with_colors<false>(here, here + step, line.plane, line.channels, line_sq + along);
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
    const Vec colors =
        with_colors<single>(here, here + step, line.plane, line.channels, broadcast(0.0));
    return rounded<single>(rounded<single>(colors + line_sq) + along);
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

// The colors of adjacent pixels in one channel. They are floats that are stored as doubles.
inline Singles colors_at(const double* at) { return __builtin_convertvector(load(at), Singles); }

// Sums in the arithmetic of float32, which rounds after every operation. Squared distances are
// computed with vectors of floats. Exponentials are double, as in scikit-image, and their sum is
// rounded after every addition.
template <int fixed_channels>
void add_raster_channels(const RasterLine& line) {
  const int channels = fixed_channels ? fixed_channels : line.channels;
  for (Index i = 0; i < line.columns; i += lanes) {
    const double* here = line.colors + i;
    Singles own[fixed_channels ? fixed_channels : 1];
    for (int k = 0; k < fixed_channels; ++k) own[k] = colors_at(here + k * line.plane);
    Vec sum = load(line.sums + i);
    for (Index down = -line.lines; down <= line.lines; ++down) {
      const double* const there = here + down * line.length;
      const float down_sq = static_cast<float>(down * down);
      for (Index apart = -line.reach; apart <= line.reach; ++apart) {
        Singles square = {};
        for (int k = 0; k < channels; ++k) {
          const Singles mine = fixed_channels ? own[k] : colors_at(here + k * line.plane);
          const Singles delta = mine - colors_at(there + k * line.plane + apart);
          square += delta * delta;
        }
        square = (square + down_sq) + static_cast<float>(apart * apart);
        const Singles decay = square * line.factor;
        sum = to_single(sum + exp_of(__builtin_convertvector(decay, Vec)));
      }
    }
    store(line.sums + i, sum);
  }
}

void add_raster_single(const RasterLine& line) {
  if (line.channels == 3) return add_raster_channels<3>(line);
  add_raster_channels<0>(line);
}

}  // namespace

extern const PixelLoops pixel_table;
const PixelLoops pixel_table = {add_lines, find<TotalOrder>, find<RasterOrder<false>>,
                                find<RasterOrder<true>>, add_raster_single};

}  // namespace quickshift::QUICKSHIFT_ISA
