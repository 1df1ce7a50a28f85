// Products, squared distances and sums of whole blocks of points.
//
// Products in single precision are fused into their sums: every decision that they lead to allows
// for an error bound. Products in double precision are not fused, because they become terms of
// kernel sums, whose bits should hardly differ between instruction sets.
#include "vector/products.hpp"

#include "vector/vec.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

template <class Number>
struct Wide {
  typedef Number type __attribute__((vector_size(8 * QUICKSHIFT_LANES)));
  static constexpr int lanes = 8 * QUICKSHIFT_LANES / static_cast<int>(sizeof(Number));
  static constexpr int width = 64 / static_cast<int>(sizeof(Number));  // of a panel
  static constexpr int vectors = width / lanes;                        // per feature of a panel
};
typedef int Ranks __attribute__((vector_size(8 * QUICKSHIFT_LANES)));
using Singles = Wide<float>::type;

inline Singles fused(Singles a, Singles b, Singles c) {
#if defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(__aarch64__)
  return vfmaq_f32(c, a, b);
#else
  return a * b + c;
#endif
}

// The number of rows for which the accumulators, one line of the panel and a factor fit into 16
// registers.
constexpr int tile_rows = QUICKSHIFT_LANES == 4 ? 6 : 2;

template <class Vector, class Number>
inline Vector load_as(const Number* from) {
  Vector value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}
template <class Vector, class Number>
inline void store_to(Number* to, Vector value) {
  __builtin_memcpy(to, &value, sizeof value);
}

// The products of `tile_rows` points with the points of a panel, over a run of features. Overwrites
// `out` on the first run and adds to it on later ones.
template <class Number>
inline void tile(const Number* const* rows, const Number* panel, int features, bool first,
                 Number* const* out) {
  using Shape = Wide<Number>;
  using Vector = typename Shape::type;
  Vector sum[tile_rows][Shape::vectors] = {};
  for (int k = 0; k < features; ++k) {
    Vector line[Shape::vectors];
    for (int v = 0; v < Shape::vectors; ++v) {
      line[v] = load_as<Vector>(panel + k * Shape::width + v * Shape::lanes);
    }
    for (int r = 0; r < tile_rows; ++r) {
      const Vector factor = rows[r][k * Shape::width] - Vector{};
      for (int v = 0; v < Shape::vectors; ++v) {
        if constexpr (sizeof(Number) == 8) {
          sum[r][v] += factor * line[v];
        } else {
          sum[r][v] = fused(factor, line[v], sum[r][v]);
        }
      }
    }
  }
  for (int r = 0; r < tile_rows && !first; ++r) {  // load all before storing any: rows may repeat
    for (int v = 0; v < Shape::vectors; ++v) {
      sum[r][v] += load_as<Vector>(out[r] + v * Shape::lanes);
    }
  }
  for (int r = 0; r < tile_rows; ++r) {
    for (int v = 0; v < Shape::vectors; ++v) store_to(out[r] + v * Shape::lanes, sum[r][v]);
  }
}

// Multiplies the rows with all panels, tile by tile. The last tile is completed by repeating the
// last row.
template <class Number>
void multiply(const Number* rows, int first, int last, const Number* columns, int panels,
              int features, Number* out) {
  constexpr int width = Wide<Number>::width;
  const int panel_size = features * width;
  for (int panel = 0; panel < panels; ++panel) {
    for (int row = first; row < last; row += tile_rows) {
      const Number* from[tile_rows];
      Number* to[tile_rows];
      for (int r = 0; r < tile_rows; ++r) {
        const int at = row + r < last ? row + r : last - 1;
        from[r] = rows + at / width * panel_size + at % width;
        to[r] = out + (at - first) * panels * width + panel * width;
      }
      for (int k = 0; k < features; k += product_run) {
        const int run = features - k < product_run ? features - k : product_run;
        tile<Number>(from, columns + panel * panel_size + k * width, run, k == 0, to);
        for (int r = 0; r < tile_rows; ++r) from[r] += product_run * width;
      }
    }
  }
}

void products(const double* rows, int first, int last, const double* columns, int panels,
              int features, double* out) {
  multiply(rows, first, last, columns, panels, features, out);
}
void products_single(const float* rows, int first, int last, const float* columns, int panels,
                     int features, float* out) {
  multiply(rows, first, last, columns, panels, features, out);
}

void squares_to_box(const double* panels, int points, int features, const double* box,
                    double* out) {
  for (int first = 0; first < points; first += lanes) {
    const double* panel = panels + first / panel_width * panel_width * features;
    Vec square = {};
    for (int k = 0; k < features; ++k) {
      const Vec x = load(panel + k * panel_width + first % panel_width);
      const Vec gap = positive(larger(box[k] - x, x - box[features + k]));
      square += gap * gap;
    }
    store(out + first, square);
  }
}

// Centers one panel of doubles. A line of the output holds `width` numbers, of which this panel
// fills `panel_width`.
template <class Number>
inline void center_panel(const double* panel, int features, const double* center, int width,
                         Number* out, Number* norms) {
  typedef Number Narrow __attribute__((vector_size(sizeof(Number) * lanes)));
  constexpr int vectors = panel_width / lanes;
  Narrow total[vectors] = {};
  for (int begin = 0; begin < features; begin += norm_run) {
    const int end = features - begin < norm_run ? features : begin + norm_run;
    Narrow run[vectors] = {};
    for (int k = begin; k < end; ++k) {
      for (int v = 0; v < vectors; ++v) {
        const Vec delta = load(panel + k * panel_width + v * lanes) - center[k];
        const Narrow rounded = __builtin_convertvector(delta, Narrow);
        store_to(out + k * width + v * lanes, rounded);
        run[v] += rounded * rounded;
      }
    }
    for (int v = 0; v < vectors; ++v) total[v] += run[v];
  }
  for (int v = 0; v < vectors; ++v) store_to(norms + v * lanes, total[v]);
}

template <class Number>
void center_panels(const double* panels, int count, int features, const double* center, Number* out,
                   Number* norms) {
  constexpr int width = Wide<Number>::width;
  const int used = panels_for(count);
  for (int panel = 0; panel < used; ++panel) {
    const int first = panel * panel_width;
    center_panel(panels + first * features, features, center, width,
                 out + first / width * width * features + first % width, norms + first);
  }
  const int room = (count + width - 1) / width * width;
  for (int i = used * panel_width; i < room;
       ++i) {  // the second half of a panel of singles may be padding
    for (int k = 0; k < features; ++k) out[(i / width * features + k) * width + i % width] = 0;
  }
  for (int i = count; i < room; ++i) norms[i] = __builtin_inff();
}

void center(const double* panels, int count, int features, const double* middle, double* out,
            double* norms) {
  center_panels(panels, count, features, middle, out, norms);
}
void center_single(const double* panels, int count, int features, const double* middle, float* out,
                   float* norms) {
  center_panels(panels, count, features, middle, out, norms);
}

double squares(double norm, const double* norms, int columns, double* row) {
  Vec least = broadcast(__builtin_inf());
  for (int c = 0; c < columns; c += lanes) {
    const Vec square = positive((norm + load(norms + c)) - 2.0 * load(row + c));
    least = square < least ? square : least;
    store(row + c, square);
  }
  double all = __builtin_inf();
  for (int i = 0; i < lanes; ++i) all = least[i] < all ? least[i] : all;
  return all;
}

bool any_unsure(double norm, const double* norms, int columns, const Unsure& unsure,
                const double* row) {
  Bits unsure_lanes = {};
  for (int c = 0; c < columns; c += lanes) {
    const Vec square = load(row + c);
    const Vec worth = (norm + load(norms + c)) * unsure.worth;
    const Bits inexact = ((square < unsure.low) | (square > unsure.high)) & (square < worth);
    unsure_lanes |= (square < unsure.beyond) & ((square > unsure.edge) | inexact);
  }
  return any(unsure_lanes);
}

// Sums over a row are kept in four parts, so that every vector width adds in the same order.
constexpr int sum_parts = 4;
constexpr int part_vectors = sum_parts / lanes;

template <int rows, bool both>
inline void add_rows(const double* values, int columns, const double* row_weights,
                     const double* weights, double* row_sums, double* column_sums) {
  Vec sums[rows][part_vectors] = {};
  for (int c = 0; c < columns; c += sum_parts) {
    for (int v = 0; v < part_vectors; ++v) {
      const int at = c + v * lanes;
      const Vec weight = load(weights + at);
      Vec below = {};
      for (int r = 0; r < rows; ++r) {
        const Vec value = load(values + r * columns + at);
        sums[r][v] = fused(weight, value, sums[r][v]);
        if constexpr (both) below = fused(broadcast(row_weights[r]), value, below);
      }
      if constexpr (both) store(column_sums + at, load(column_sums + at) + below);
    }
  }
  for (int r = 0; r < rows; ++r) {
    double parts[sum_parts];
    for (int v = 0; v < part_vectors; ++v) store(parts + v * lanes, sums[r][v]);
    row_sums[r] += (parts[0] + parts[1]) + (parts[2] + parts[3]);
  }
}

template <bool both>
void add_all(const double* values, int rows, int columns, const double* row_weights,
             const double* weights, double* row_sums, double* column_sums) {
  int r = 0;
  for (; r + 4 <= rows; r += 4) {
    add_rows<4, both>(values + r * columns, columns, row_weights + r, weights, row_sums + r,
                      column_sums);
  }
  for (; r < rows; ++r) {
    add_rows<1, both>(values + r * columns, columns, row_weights + r, weights, row_sums + r,
                      column_sums);
  }
}

void add_both(const double* values, int rows, int columns, const double* row_weights,
              const double* weights, double* row_sums, double* column_sums) {
  const auto add = column_sums ? add_all<true> : add_all<false>;
  add(values, rows, columns, row_weights, weights, row_sums, column_sums);
}

float minima(float norm, const float* norms, int rank, const int* ranks, int columns, float* row,
             float* least) {
  constexpr int width = Wide<float>::lanes;
  const Singles infinity = __builtin_inff() - Singles{};
  Singles least_of_row = infinity;
  for (int c = 0; c < columns; c += width) {
    const Singles square = (norm + load_as<Singles>(norms + c)) - 2.0f * load_as<Singles>(row + c);
    const Ranks other = load_as<Ranks>(ranks + c);
    const Singles above = other < rank ? square : infinity;
    const Singles below = other > rank ? square : infinity;
    const Singles before = load_as<Singles>(least + c);
    least_of_row = above < least_of_row ? above : least_of_row;
    store_to(least + c, below < before ? below : before);
    store_to(row + c, square);
  }
  float all = __builtin_inff();
  for (int i = 0; i < width; ++i) all = least_of_row[i] < all ? least_of_row[i] : all;
  return all;
}

int candidates(const float* row, int rank, float limit, const int* ranks, const float* limits,
               int columns, int* found) {
  constexpr int width = Wide<float>::lanes;
  int count = 0;
  for (int c = 0; c < columns; c += width) {
    const Singles square = load_as<Singles>(row + c);
    const Ranks other = load_as<Ranks>(ranks + c);
    const Ranks hit = ((square <= limit) & (other < rank)) |
                      ((square <= load_as<Singles>(limits + c)) & (other > rank));
    if (!any(reinterpret_cast<Bits>(hit))) continue;
    for (int i = 0; i < width; ++i) {
      if (hit[i]) found[count++] = c + i;
    }
  }
  return count;
}

// One bit per lane: whether the value is at most `limit`.
inline unsigned mask_within(Singles values, float limit) {
#if defined(__AVX__)
  const __m256 limits = _mm256_set1_ps(limit);
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(values, limits, _CMP_LE_OQ)));
#else
  const Ranks hit = values <= limit;
  unsigned mask = 0;
  if (!any(reinterpret_cast<Bits>(hit))) return mask;
  for (int i = 0; i < Wide<float>::lanes; ++i) mask |= static_cast<unsigned>(hit[i] & 1) << i;
  return mask;
#endif
}

int within(const float* row, float norm, const float* norms, float limit, int columns, int* found,
           float* squares) {
  constexpr int width = Wide<float>::lanes;
  int count = 0;
  for (int c = 0; c < columns; c += width) {
    const Singles square = (norm + load_as<Singles>(norms + c)) - 2.0f * load_as<Singles>(row + c);
    unsigned mask = mask_within(square, limit);
    for (; mask; mask &= mask - 1) {
      const int i = __builtin_ctz(mask);
      found[count] = c + i;
      squares[count++] = (norm + norms[c + i]) - 2.0f * row[c + i];
    }
  }
  return count;
}

}  // namespace

extern const ProductLoops product_table;
const ProductLoops product_table = {squares_to_box,  center,     center_single, products,
                                    products_single, squares,    any_unsure,    add_both,
                                    minima,          candidates, within};

}  // namespace quickshift::QUICKSHIFT_ISA
