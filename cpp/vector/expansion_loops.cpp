// Pairs of nodes are independent of each other: each lane of a vector holds one pair. In the loops
// over points, each lane holds one point.
#include "vector/expansion_loops.hpp"

#include "vector/vec.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

constexpr int tile = 3;  // coefficients that are computed together

// The number of vectors for the coefficients of an expansion, filled up to a whole square of lanes.
constexpr int padded(int order) { return (expansion_size(order) + lanes - 1) / lanes * lanes; }
static_assert(padded(most_expansion_order) <= expansion_stride(most_expansion_order));

// Lane e of the result is lane from[e] of a, or lane from[e] - lanes of b.
inline Vec shuffled(Vec a, Vec b, Bits from) {
#if defined(__clang__)
  Vec result;
  for (int e = 0; e < lanes; ++e) result[e] = from[e] < lanes ? a[from[e]] : b[from[e] - lanes];
  return result;
#else
  return __builtin_shuffle(a, b, from);
#endif
}

// Exchanges the off-diagonal squares of `width` columns and `width` rows.
template <int width>
inline void swap_squares(Vec (&rows)[lanes]) {
  Bits first;
  Bits second;
  for (int e = 0; e < lanes; ++e) {
    first[e] = e & width ? e - width + lanes : e;
    second[e] = e & width ? e + lanes : e + width;
  }
  for (int i = 0; i < lanes; ++i) {
    if (i & width) continue;
    const Vec a = rows[i];
    const Vec b = rows[i + width];
    rows[i] = shuffled(a, b, first);
    rows[i + width] = shuffled(a, b, second);
  }
}

inline void transpose(Vec (&rows)[lanes]) {
  swap_squares<1>(rows);
  if constexpr (lanes >= 4) swap_squares<2>(rows);
  if constexpr (lanes >= 8) swap_squares<4>(rows);
}

// out[i] = the i-th coefficients of the expansions, one per lane.
template <int count>
inline void gather(const double* const* from, Vec (&out)[count]) {
  for (int i = 0; i < count; i += lanes) {
    Vec rows[lanes];
    for (int lane = 0; lane < lanes; ++lane) rows[lane] = load(from[lane] + i);
    transpose(rows);
    for (int j = 0; j < lanes; ++j) out[i + j] = rows[j];
  }
}

// Adds the lanes of in[i] to the i-th coefficients of the expansions that are not null.
template <int count>
inline void scatter(const Vec (&in)[count], double* const* to) {
  for (int i = 0; i < count; i += lanes) {
    Vec rows[lanes];
    for (int j = 0; j < lanes; ++j) rows[j] = in[i + j];
    transpose(rows);
    for (int lane = 0; lane < lanes; ++lane) {
      if (to[lane]) store(to[lane] + i, load(to[lane] + i) + rows[lane]);
    }
  }
}

// The derivatives of a kernel by the squared distance, from the value itself on.
template <int order>
inline void radial_derivatives(const RadialSeries& kernel, Vec s, Vec (&out)[order + 1]) {
  Vec odd[order + 1] = {};
  for (int j = 0; j <= order; ++j) out[j] = Vec{};
  for (int i = kernel.evens - 1; i >= 0; --i) {
    for (int j = 0; j <= order; ++j) out[j] = fused(out[j], s, kernel.even[i][j]);
  }
  if (kernel.odds == 0) return;
  for (int i = kernel.odds - 1; i >= 0; --i) {
    for (int j = 0; j <= order; ++j) odd[j] = fused(odd[j], s, kernel.odd[i][j]);
  }
  const Vec inverse = 1.0 / s;
  Vec factor = root(s);
  for (int j = 0; j <= order; ++j) {
    out[j] = fused(odd[j], factor, out[j]);
    factor *= inverse;
  }
}

// One step from f = ∂^a g to ∂^(a + 1) g, for all of the first `count` derivatives g by the squared
// distance: ∂^(a + 1) g = 2x ∂^a g' + 2a ∂^(a - 1) g'. `before` has ∂^(a - 1) g.
inline void derive(Vec twice_x, int a, int count, Vec* f, Vec* before) {
  for (int j = 0; j < count; ++j) {
    const Vec next = fused(twice_x, f[j + 1], (2.0 * a) * before[j + 1]);
    before[j] = f[j];
    f[j] = next;
  }
}

// All partial derivatives up to the order of the kernel at the point (x, y).
template <int order>
inline void derivatives(const RadialSeries& kernel, Vec x, Vec y, Vec* out) {
  Vec along_y[order + 1];
  radial_derivatives<order>(kernel, fused(x, x, y * y), along_y);
  Vec before_y[order + 1] = {};
  for (int b = 0; b <= order; ++b) {
    Vec along_x[order + 1];
    Vec before_x[order + 1] = {};
    for (int j = 0; j <= order - b; ++j) along_x[j] = along_y[j];
    for (int a = 0; a <= order - b; ++a) {
      out[expansion_place(a + b, b)] = along_x[0];
      derive(2.0 * x, a, order - b - a, along_x, before_x);
    }
    derive(2.0 * y, b, order - b, along_y, before_y);
  }
}

// The coefficients from place (degree, first) on, `count` of them: Σ derivatives * moments. Both
// directions of a pair use the same derivatives.
template <int order, int count>
inline void contract(const Vec* derivative, const Vec* moments, const Vec* back_moments, int degree,
                     int first, Vec* expansion, Vec* back_expansion) {
  Vec forth[count];
  Vec back[count];
  clear(forth);
  clear(back);
  for (int other = 0; other <= order - degree; ++other) {
    const Vec* const d = derivative + expansion_place(degree + other, first);
    const Vec* const m = moments + expansion_place(other, 0);
    const Vec* const b = back_moments + expansion_place(other, 0);
    for (int i = 0; i <= other; ++i) {
      for (int j = 0; j < count; ++j) {
        forth[j] = fused(d[i + j], m[i], forth[j]);
        back[j] = fused(d[i + j], b[i], back[j]);
      }
    }
  }
  const int place = expansion_place(degree, first);
  for (int j = 0; j < count; ++j) {
    expansion[place + j] = forth[j];
    back_expansion[place + j] = degree % 2 ? -back[j] : back[j];
  }
}

// The kernel at c + p - q, where p is a point relative to the center of B and q one relative to
// that of A, is Σ D^(a + b) k(c) p^a (-q)^b / (a! b!), with multi-indices a and b. In the direction
// back, c changes its sign.
template <int order>
void translate_lanes(const RadialSeries& kernel, const double* x, const double* y,
                     const double* const* from, double* const* to, const double* const* back_from,
                     double* const* back_to) {
  Vec derivative[expansion_size(order)];
  derivatives<order>(kernel, load(x), load(y), derivative);
  Vec moments[padded(order)];
  Vec back_moments[padded(order)];
  gather(from, moments);
  gather(back_from, back_moments);
  for (int degree = 1; degree <= order; degree += 2) {
    for (int i = 0; i <= degree; ++i) {
      Vec& moment = moments[expansion_place(degree, i)];
      moment = -moment;
    }
  }
  Vec expansion[padded(order)];
  Vec back_expansion[padded(order)];
  for (int i = expansion_size(order); i < padded(order); ++i) {
    expansion[i] = back_expansion[i] = Vec{};
  }
  for (int degree = 0; degree <= order; ++degree) {
    // The last tile of a row overlaps the one before it.
    for (int end = tile; end < degree + 1 + tile; end += tile) {
      const int first = (end <= degree + 1 ? end : degree + 1) - tile;
      if (first >= 0) {
        contract<order, tile>(derivative, moments, back_moments, degree, first, expansion,
                              back_expansion);
        continue;
      }
      for (int i = 0; i <= degree; ++i) {
        contract<order, 1>(derivative, moments, back_moments, degree, i, expansion, back_expansion);
      }
    }
  }
  scatter(expansion, to);
  scatter(back_expansion, back_to);
}

// Calls run<order>() with the order as a constant.
template <class Run>
inline void with_order(int order, const Run& run) {
  if (order == expansion_orders[0]) return run.template operator()<expansion_orders[0]>();
  if (order == expansion_orders[1]) return run.template operator()<expansion_orders[1]>();
  if (order == expansion_orders[2]) return run.template operator()<expansion_orders[2]>();
  run.template operator()<expansion_orders[3]>();
}

void translate(const RadialSeries& kernel, int order, const NodePairs& given) {
  NodePairs pairs = given;
  for (int i = pairs.count; i < NodePairs::most; ++i) {  // lanes without a pair
    pairs.x[i] = pairs.y[i] = 1.0;
    pairs.moments[i] = pairs.back_moments[i] = pairs.moments[0];
    pairs.expansion[i] = pairs.back_expansion[i] = nullptr;
  }
  for (int i = 0; i < pairs.count; i += lanes) {
    with_order(order, [&]<int fixed>() {
      translate_lanes<fixed>(kernel, pairs.x + i, pairs.y + i, pairs.moments + i,
                             pairs.expansion + i, pairs.back_moments + i, pairs.back_expansion + i);
    });
  }
}

// As many doubles as a vector holds, or the four that are left of a leaf; zero in the other lanes.
inline Vec load_some(const double* from, int left) {
  if (lanes <= 4 || left >= lanes) return load(from);
  Vec value = {};
  __builtin_memcpy(&value, from, 32);
  return value;
}
inline void store_some(double* to, Vec value, int left) {
  if (lanes <= 4 || left >= lanes) return store(to, value);
  __builtin_memcpy(to, &value, 32);
}

// Calls visit(u, v, first slot, slots left) for every vector of points, with their coordinates
// about the center.
template <class Visit>
inline void for_points(const LeafRange& range, const Visit& visit) {
  for (long long leaf = 0; leaf < range.leaves; ++leaf) {
    const double* const block = range.coordinates + leaf * range.features * range.stride;
    for (int i = 0; i < range.stride; i += lanes) {
      const int left = range.stride - i;
      const Vec u = (load_some(block + i, left) - range.center[0]) * range.unit;
      Vec v = {};
      if (range.features == 2) {
        v = (load_some(block + range.stride + i, left) - range.center[1]) * range.unit;
      }
      visit(u, v, leaf * range.stride + i, left);
    }
  }
}

template <int order>
void write_moments_of(const LeafRange& range, const double* weights, double* moments) {
  Vec sums[expansion_size(order)] = {};
  for_points(range, [&](Vec u, Vec v, long long slot, int left) {
    Vec along_u[order + 1];
    along_u[0] = broadcast(1.0);
    for (int a = 1; a <= order; ++a) along_u[a] = along_u[a - 1] * (u * (1.0 / a));
    Vec along_v = load_some(weights + slot, left);
    for (int b = 0; b <= order; ++b) {
      for (int a = 0; a + b <= order; ++a) {
        Vec& sum = sums[expansion_place(a + b, b)];
        sum = fused(along_u[a], along_v, sum);
      }
      along_v *= v * (1.0 / (b + 1));
    }
  });
  for (int i = 0; i < expansion_stride(order); ++i) moments[i] = 0.0;
  for (int i = 0; i < expansion_size(order); ++i) {
    for (int lane = 0; lane < lanes; ++lane) moments[i] += sums[i][lane];
  }
}

void write_moments(const LeafRange& range, int order, const double* weights, double* moments) {
  with_order(order, [&]<int fixed>() { write_moments_of<fixed>(range, weights, moments); });
}

template <int order>
void evaluate_at(const LeafRange& range, const double* expansion, double* sums) {
  for_points(range, [&](Vec u, Vec v, long long slot, int left) {
    Vec value = {};
    for (int b = order; b >= 0; --b) {
      Vec row = {};
      for (int a = order - b; a >= 0; --a) {
        row = fused(row, u * (1.0 / (a + 1)), expansion[expansion_place(a + b, b)]);
      }
      value = fused(value, v * (1.0 / (b + 1)), row);
    }
    store_some(sums + slot, load_some(sums + slot, left) + value, left);
  });
}

void evaluate(const LeafRange& range, int order, const double* expansion, double* sums) {
  with_order(order, [&]<int fixed>() { evaluate_at<fixed>(range, expansion, sums); });
}

}  // namespace

extern const ExpansionLoops expansion_table;
const ExpansionLoops expansion_table = {write_moments, translate, evaluate};

}  // namespace quickshift::QUICKSHIFT_ISA
