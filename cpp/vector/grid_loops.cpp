// Spreading samples onto a grid, convolving the grid, interpolating from it. All terms are
// positive, so sums of products may use fused operations. The values of a window are products of
// many factors. They are computed without fused operations, so that windows have the same bits in
// every instruction set.
#include "vector/grid_loops.hpp"

#include "vector/vec.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

// The number of points that are handled together. All of them visit one plane of the patch before
// any visits the next, so that the plane stays in the cache.
constexpr int most_points = 16;

// The windows of one point, one per axis: the first grid point under the window, and the values of
// the window.
struct Footprint {
  int start[axes];
  double values[axes][widest_window];
};

// The window around each of four points along one feature. With c = steepness and s the distance
// from the point up to the grid point `center`, the window at center + j is exp(-c (j + s)²) =
// first * up^j * decay[j].
struct Middles {
  double center[4];  // the first grid point that is not before the point
  double first[4];   // exp(-c s²)
  double up[4];      // exp(-2 c s)
  double down[4];    // 1 / up
};

Middles middles_of(const Window& window, const double* x, double origin) {
  constexpr double shift = 0x1.8p52;
  Middles result;
  for (int i = 0; i < 4; i += lanes) {
    const Vec position = (load(x + i) - origin) * window.per_spacing;
    const Vec center = ((position + 0.5) + shift) - shift;
    const Vec beyond = positive(center - position);
    const Vec up = exp_of<false>((-2.0 * window.steepness) * beyond);
    store(result.center + i, center);
    store(result.first + i, exp_of<false>(-window.steepness * (beyond * beyond)));
    store(result.up + i, up);
    store(result.down + i, 1.0 / up);
  }
  return result;
}

inline double power(double x, int n) {
  double result = 1.0;
  for (int i = 0; i < n; ++i) result *= x;
  return result;
}

// Fast Gaussian gridding (Greengard and Lee 2004): exp(-c (j + s)²) is exp(-c s²) exp(-2 c s)^j
// exp(-c j²). The powers are computed from the middle outwards, so that each has few roundings.
template <int wide>
void fill(double first, double up, double down, const double* decay, double* values) {
  constexpr int middle = wide / 8;               // groups of four before the middle one
  constexpr int before = wide / 2 - middle * 4;  // from the first of the middle four to j = 0
  double ramp[4];
  ramp[0] = first * power(down, before);
  for (int i = 1; i < 4; ++i) ramp[i] = ramp[i - 1] * up;
  const double far_up = power(up, 4);
  const double far_down = power(down, 4);
  for (int i = 0; i < 4; i += lanes) {
    Vec rising = load(ramp + i);
    Vec falling = rising * far_down;
    for (int four = middle; four < wide / 4; ++four, rising *= far_up) {
      store(values + 4 * four + i, rising * load(decay + 4 * four + i));
    }
    for (int four = middle - 1; four >= 0; --four, falling *= far_down) {
      store(values + 4 * four + i, falling * load(decay + 4 * four + i));
    }
  }
}

// Along an axis without a feature, the window is 1 at the only grid point.
inline void close_axis(Footprint& point, int axis) {
  point.start[axis] = 0;
  point.values[axis][0] = 1.0;
}

template <int wide>
void find_footprints(const Window& window, const LeafPart& part, const double* origin,
                     Footprint* points) {
  const int skipped = axes - window.features;
  for (int group = part.begin / 4 * 4; group < part.end; group += 4) {
    const int first = group < part.begin ? part.begin : group;
    const int last = group + 4 < part.end ? group + 4 : part.end;
    for (int k = 0; k < window.features; ++k) {
      const int axis = skipped + k;
      const int half = (axis == axes - 1 ? wide : window.width) / 2;
      const Middles middles =
          middles_of(window, part.coordinates + k * part.stride + group, origin[k]);
      for (int slot = first; slot < last; ++slot) {
        const int i = slot - group;
        Footprint& point = points[slot - part.begin];
        point.start[axis] = static_cast<int>(middles.center[i]) - half;
        fill<wide>(middles.first[i], middles.up[i], middles.down[i], window.decay,
                   point.values[axis]);
      }
    }
    for (int slot = first; slot < last; ++slot) {
      for (int axis = 0; axis < skipped; ++axis) close_axis(points[slot - part.begin], axis);
    }
  }
}

// Which of the stored window values are used along an axis other than the last.
struct Side {
  int offset;
  int count;
};
inline Side side_of(const Window& window, int axis) {
  if (axis < axes - window.features) return {0, 1};
  return {(window.wide - window.width) / 2, window.width};
}

struct Span {
  int begin;
  int end;
};
inline Span planes_under(const Footprint* points, int count, int width) {
  Span span{points[0].start[0], points[0].start[0]};
  for (int i = 1; i < count; ++i) {
    const int start = points[i].start[0];
    span.begin = start < span.begin ? start : span.begin;
    span.end = start > span.end ? start : span.end;
  }
  return {span.begin, span.end + width};
}

template <int wide>
inline void add_plane(const Footprint& point, double factor, Side rows, int row_length,
                      double* plane) {
  constexpr int vectors = wide / lanes;
  Vec across[vectors];
  for (int v = 0; v < vectors; ++v) across[v] = load(point.values[2] + v * lanes);
  const double* along = point.values[1] + rows.offset;
  double* row = plane + point.start[1] * static_cast<long>(row_length) + point.start[2];
  for (int r = 0; r < rows.count; ++r, row += row_length) {
    const Vec scale = broadcast(factor * along[r]);
    for (int v = 0; v < vectors; ++v) {
      store(row + v * lanes, fused(scale, across[v], load(row + v * lanes)));
    }
  }
}

template <int wide>
inline Four take_plane(const Footprint& point, Side rows, int row_length, const double* plane) {
  constexpr int vectors = wide / lanes;
  Vec even[vectors] = {};
  Vec odd[vectors] = {};
  const double* along = point.values[1] + rows.offset;
  const double* row = plane + point.start[1] * static_cast<long>(row_length) + point.start[2];
  const auto add_row = [&](Vec* sums, double factor, const double* from) {
    for (int v = 0; v < vectors; ++v) {
      sums[v] = fused(broadcast(factor), load(from + v * lanes), sums[v]);
    }
  };
  int r = 0;
  for (; r + 2 <= rows.count; r += 2, row += 2 * row_length) {
    add_row(even, along[r], row);
    add_row(odd, along[r + 1], row + row_length);
  }
  if (r < rows.count) add_row(even, along[r], row);
  Four total = {};
  for (int v = 0; v < vectors; ++v) {
    Vec& part = total.part[v % Four::parts];
    part = fused(even[v] + odd[v], load(point.values[2] + v * lanes), part);
  }
  return total;
}

// Calls visit(i, point, share, rows, plane), plane by plane, for every plane of the patch and every
// point whose window crosses it. `share` is the window's value at that plane along the first axis.
template <int wide, class Visit>
inline void for_planes(const Window& window, const LeafPart& part, const Patch& patch,
                       const Visit& visit) {
  Footprint points[most_points];
  find_footprints<wide>(window, part, patch.origin, points);
  const int count = part.end - part.begin;
  const Side planes = side_of(window, 0);
  const Side rows = side_of(window, 1);
  const Span span = planes_under(points, count, planes.count);
  const long plane_size = static_cast<long>(patch.extent[1]) * patch.extent[2];
  for (int z = span.begin; z < span.end; ++z) {
    for (int i = 0; i < count; ++i) {
      const int at = z - points[i].start[0];
      if (at < 0 || at >= planes.count) continue;
      visit(i, points[i], points[i].values[0][planes.offset + at], rows,
            patch.values + z * plane_size);
    }
  }
}

template <int wide>
void spread_wide(const Window& window, const LeafPart& part, const double* weights,
                 const Patch& patch) {
  for_planes<wide>(
      window, part, patch,
      [&](int i, const Footprint& point, double share, const Side& rows, double* plane) {
        add_plane<wide>(point, weights[part.begin + i] * share, rows, patch.extent[2], plane);
      });
}

template <int wide>
void interpolate_wide(const Window& window, const LeafPart& part, const Patch& patch,
                      double* sums) {
  Four totals[most_points] = {};
  for_planes<wide>(
      window, part, patch,
      [&](int i, const Footprint& point, double share, const Side& rows, const double* plane) {
        const Four taken = take_plane<wide>(point, rows, patch.extent[2], plane);
        for (int p = 0; p < Four::parts; ++p) {
          totals[i].part[p] = fused(broadcast(share), taken.part[p], totals[i].part[p]);
        }
      });
  const int count = part.end - part.begin;
  for (int i = 0; i < count; ++i) sums[part.begin + i] = 0.0;
  add_each(totals, count, 1.0, sums + part.begin);
}

using Spread = void (*)(const Window&, const LeafPart&, const double*, const Patch&);
using Interpolate = void (*)(const Window&, const LeafPart&, const Patch&, double*);
constexpr Spread spreads[] = {spread_wide<4>,  spread_wide<8>,  spread_wide<12>, spread_wide<16>,
                              spread_wide<20>, spread_wide<24>, spread_wide<28>, spread_wide<32>};
constexpr Interpolate interpolates[] = {
    interpolate_wide<4>,  interpolate_wide<8>,  interpolate_wide<12>, interpolate_wide<16>,
    interpolate_wide<20>, interpolate_wide<24>, interpolate_wide<28>, interpolate_wide<32>};

// Runs over the part in pieces of at most `most_points` points.
template <class Run>
inline void by_parts(const LeafPart& part, const Run& run) {
  LeafPart piece = part;
  for (; piece.begin < part.end; piece.begin = piece.end) {
    const int end = piece.begin + most_points;
    piece.end = end < part.end ? end : part.end;
    run(piece);
  }
}

void spread(const Window& window, const LeafPart& part, const double* weights, const Patch& patch) {
  by_parts(part, [&](const LeafPart& piece) {
    spreads[window.wide / 4 - 1](window, piece, weights, patch);
  });
}

void interpolate(const Window& window, const LeafPart& part, const Patch& patch, double* sums) {
  by_parts(part, [&](const LeafPart& piece) {
    interpolates[window.wide / 4 - 1](window, piece, patch, sums);
  });
}

template <int block>
inline void convolve_block(const double* in, const double* taps, int reach, int step, double* out) {
  constexpr int vectors = block / lanes;
  const double* center = in + static_cast<long>(reach) * step;
  Vec total[vectors];
  for (int v = 0; v < vectors; ++v) total[v] = taps[0] * load(center + v * lanes);
  for (int m = 1; m <= reach; ++m) {
    const double* before = center - static_cast<long>(m) * step;
    const double* after = center + static_cast<long>(m) * step;
    for (int v = 0; v < vectors; ++v) {
      const Vec both = load(before + v * lanes) + load(after + v * lanes);
      total[v] = fused(broadcast(taps[m]), both, total[v]);
    }
  }
  for (int v = 0; v < vectors; ++v) store(out + v * lanes, total[v]);
}

void convolve(const double* in, const double* taps, int reach, int step, int count, double* out) {
  int i = 0;
  for (; i + 16 <= count; i += 16) convolve_block<16>(in + i, taps, reach, step, out + i);
  for (; i < count; i += 4) convolve_block<4>(in + i, taps, reach, step, out + i);
}

}  // namespace

extern const GridLoops grid_table;
const GridLoops grid_table = {spread, interpolate, convolve};

}  // namespace quickshift::QUICKSHIFT_ISA
