// The inner loops of the blocked path: products of two blocks of points, and what is made of them.
// One source, compiled once for each instruction set.
//
// A panel holds the coordinates of a few points side by side, [feature][width]: one cache line a
// feature. A block is some panels, the last one filled up; the matrix of a pair of blocks is
// [row][columns], with as many columns as the panels have room for.
#pragma once

namespace quickshift {

inline constexpr int panel_width = 8;          // doubles
inline constexpr int single_panel_width = 16;  // floats

// Products and norms are added up in runs of this many features, and the runs one after another, so
// that rounding grows with run + features / run instead of features.
inline constexpr int product_run = 32;
inline constexpr int norm_run = 8;

inline constexpr int panels_for(int points) { return (points + panel_width - 1) / panel_width; }
inline constexpr int single_panels_for(int points) {
  return (points + single_panel_width - 1) / single_panel_width;
}

// Which squares from products have to be computed again. Those between `edge` and `beyond`; and
// those below `low` or above `high` as far as they are below `beyond` and below `worth` times the
// sum of the norms, to which their error is proportional.
struct Unsure {
  double low;
  double high;
  double worth;
  double edge;
  double beyond;
};

struct ProductLoops {
  // out[i] = the least square of the i-th point to a box [low, high][feature], in the order of the
  // definition; there is room for a multiple of 4.
  void (*squares_to_box)(const double* panels, int points, int features, const double* box,
                         double* out);
  // out = points - centre, and the squared norms of the results; infinite past `count`, where the
  // points are only filling. The single version makes panels of `single_panel_width`.
  void (*centre)(const double* panels, int count, int features, const double* centre, double* out,
                 double* norms);
  void (*centre_single)(const double* panels, int count, int features, const double* centre,
                        float* out, float* norms);
  // out[row][column] = x_row · y_column for the rows [first, last) and all columns of the panels.
  void (*products)(const double* rows, int first, int last, const double* columns, int panels,
                   int features, double* out);
  void (*products_single)(const float* rows, int first, int last, const float* columns, int panels,
                          int features, float* out);
  // Turns a row of products into squares, not below 0; returns the least one.
  double (*squares)(double norm, const double* norms, int columns, double* row);
  // Whether any of these squares is unsure.
  bool (*any_unsure)(double norm, const double* norms, int columns, const Unsure& unsure,
                     const double* row);
  // row_sums[r] += Σ_c values[r][c] weights[c], column_sums[c] += Σ_r row_weights[r] values[r][c].
  // Without column sums (null) the rows' alone.
  void (*add_both)(const double* values, int rows, int columns, const double* row_weights,
                   const double* weights, double* row_sums, double* column_sums);
  // Turns a row of products into squares; returns the least one over the columns of a smaller rank,
  // and lowers `least` of the columns of a larger rank.
  float (*minima)(float norm, const float* norms, int rank, const int* ranks, int columns,
                  float* row, float* least);
  // Lists the columns whose square is at most `limit` and rank smaller, or at most their own limit
  // and rank larger; returns how many.
  int (*candidates)(const float* row, int rank, float limit, const int* ranks, const float* limits,
                    int columns, int* found);
};

// Those of the instruction set in use.
const ProductLoops& product_loops();

}  // namespace quickshift
