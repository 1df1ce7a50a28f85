// The inner loops over pairs of blocks of points, for data with many features: scalar products x·y,
// and squared distances |x|² + |y|² - 2 x·y from them. They are compiled once per instruction set
// and called through the table ProductLoops.
//
// A panel holds the coordinates of a few points as [feature][width], one cache line per feature. A
// block consists of whole panels, of which the last may be padded. The products of a pair of blocks
// form a matrix [row][column], with one column per slot of the panels, padding included.
//
// A "norm" is a squared norm |x|², a "square" is a squared distance.
#pragma once

namespace quickshift {

inline constexpr int panel_width = 8;          // doubles
inline constexpr int single_panel_width = 16;  // floats

// Products and norms are summed over runs of this many features, and then over the runs, so that
// the rounding error grows with run + features / run instead of with features.
inline constexpr int product_run = 32;
inline constexpr int norm_run = 8;

inline constexpr int panels_for(int points) { return (points + panel_width - 1) / panel_width; }
inline constexpr int single_panels_for(int points) {
  return (points + single_panel_width - 1) / single_panel_width;
}

// Decides which squares must be computed again by the definition of the distance. The error of a
// square from products is proportional to the sum of the two norms, which may be much larger than
// the square itself. A square s is unsure
// - if edge < s < beyond: it is not certain on which side of the edge of the support s lies;
// - if s < low or high < s < beyond: the error of s may change the term by more than the tolerance.
//   But if s is at least `worth` times the sum of the norms, its error is no more than twice that
//   of the definition, so computing it again is not worth the time.
struct Unsure {
  double low;
  double high;
  double worth;  // a ratio, s / (|x|² + |y|²)
  double edge;
  double beyond;
};

struct ProductLoops {
  // out[i] = the squared distance from the i-th point to a box [low, high][feature], with the
  // operations in the order of the definition. `out` has room for `points` rounded up to a multiple
  // of 4.
  void (*squares_to_box)(const double* panels, int points, int features, const double* box,
                         double* out);
  // Writes the differences points - center to `out`, and their norms to `norms`; the norms of the
  // padding after `count` points are infinite. The version for single precision writes panels of
  // `single_panel_width`.
  void (*center)(const double* panels, int count, int features, const double* center, double* out,
                 double* norms);
  void (*center_single)(const double* panels, int count, int features, const double* center,
                        float* out, float* norms);
  // out[row - first][column] = x_row · y_column for the rows [first, last) and all columns of the
  // panels.
  void (*products)(const double* rows, int first, int last, const double* columns, int panels,
                   int features, double* out);
  void (*products_single)(const float* rows, int first, int last, const float* columns, int panels,
                          int features, float* out);
  // Replaces a row of products by squares, clamped at 0 from below, and returns the smallest.
  double (*squares)(double norm, const double* norms, int columns, double* row);
  // Whether any square of a row is unsure.
  bool (*any_unsure)(double norm, const double* norms, int columns, const Unsure& unsure,
                     const double* row);
  // row_sums[r] += Σ_c values[r][c] weights[c], column_sums[c] += Σ_r row_weights[r] values[r][c].
  // If column_sums is null, only row_sums are updated.
  void (*add_both)(const double* values, int rows, int columns, const double* row_weights,
                   const double* weights, double* row_sums, double* column_sums);
  // Replaces a row of products by squares. Returns the smallest square over the columns whose rank
  // is below `rank`. For each column whose rank is above `rank`, lowers least[column] to the square
  // of that column if that is smaller.
  float (*minima)(float norm, const float* norms, int rank, const int* ranks, int columns,
                  float* row, float* least);
  // Writes to `found` the columns whose rank is below `rank` and whose square is at most `limit`,
  // and those whose rank is above `rank` and whose square is at most limits[column]. Returns how
  // many there are.
  int (*candidates)(const float* row, int rank, float limit, const int* ranks, const float* limits,
                    int columns, int* found);
  // Writes to `found` the columns whose square, computed from a row of products, is at most
  // `limit`, and their squares to `squares`. Returns how many there are.
  int (*within)(const float* row, float norm, const float* norms, float limit, int columns,
                int* found, float* squares);
};

// The loops for the instruction set in use.
const ProductLoops& product_loops();

}  // namespace quickshift
