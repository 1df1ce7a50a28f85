// Spreading onto a grid, convolving it, interpolating from it. Every term is positive, so products
// and sums may be fused; windows are products of many factors, which have the same bits everywhere.
#include "vector/grid_loops.hpp"

#include "vector/vec.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

constexpr int most_points = 16;  // handled together, so that a plane of the patch stays near

// The windows of one point: the first grid point under each and its values.
struct Footprint {
  int start[axes];
  double values[axes][widest_window];
};

// What four points need along one feature.
struct Middles {
  double centre[4];  // the nearest grid point that is not before the point
  double first[4];   // window there
  double up[4];      // ratio of neighbours apart from the table, towards rising j
  double down[4];
};

Middles middles_of(const Window& window, const double* x, double origin) {
  constexpr double shift = 0x1.8p52;
  Middles result;
  for (int i = 0; i < 4; i += lanes) {
    const Vec position = (load(x + i) - origin) * window.per_spacing;
    const Vec centre = ((position + 0.5) + shift) - shift;
    const Vec beyond = positive(centre - position);
    const Vec up = exp_of<false>((-2.0 * window.steepness) * beyond);
    store(result.centre + i, centre);
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
// exp(-c j²). Powers grow from the middle outwards, so few roundings meet in each.
template <int wide>
void fill(double first, double up, double down, const double* decay, double* values) {
  constexpr int middle = wide / 8;               // fours before the middle one
  constexpr int before = wide / 2 - middle * 4;  // points from the middle four's first to j = 0
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

// A point's window along an axis that features do not reach is 1 at the only grid point.
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
        point.start[axis] = static_cast<int>(middles.centre[i]) - half;
        fill<wide>(middles.first[i], middles.up[i], middles.down[i], window.decay,
                   point.values[axis]);
      }
    }
    for (int slot = first; slot < last; ++slot) {
      for (int axis = 0; axis < skipped; ++axis) close_axis(points[slot - part.begin], axis);
    }
  }
}

// Where the values along an axis that is not the last begin, and how many there are.
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

// Runs visit(i, point, share, rows, plane) for every plane of the patch and every point whose
// window it crosses, plane by plane; share: the window's value there along the first axis.
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

// Leaves may hold more points than are handled together.
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
  const double* centre = in + static_cast<long>(reach) * step;
  Vec total[vectors];
  for (int v = 0; v < vectors; ++v) total[v] = taps[0] * load(centre + v * lanes);
  for (int m = 1; m <= reach; ++m) {
    const double* before = centre - static_cast<long>(m) * step;
    const double* after = centre + static_cast<long>(m) * step;
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
