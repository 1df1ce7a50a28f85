// The loops along the lines of a tile of pixels, one table an instruction set.
#pragma once

#include "support/points.hpp"

namespace quickshift {

// A line of a tile, and others whose pixels meet those of the first up to `reach` columns apart.
// Pointers are to the first column of the tile without its halo.
inline constexpr int lines_at_once = 2;
struct LinesOfPixels {
  const double* colors;  // plane after plane
  Index plane;
  int channels;
  Index columns;
  Index reach;
  double factor;  // of a square, for the logarithm of its kernel to the base 2
  double* sums;
  int others;  // at most `lines_at_once`; none for the pairs within the line
  const double* other_colors[lines_at_once];
  double* other_sums[lines_at_once];
  const double* squares[lines_at_once];  // of the distance between pixels, by columns apart
};

// Where around a pixel others are looked for, from the nearest on.
struct Surroundings {
  Index count;
  const Index* step;       // in a plane of the tile
  const Index* number;     // what is to be added to a pixel's number
  const Index* column;     // how many columns away
  const Index* line;       // which of the lines around
  const double* least_sq;  // of the distance without colors, less what rounding can do to it
};

// What is looked through for the pixels of a line.
struct PixelSearch {
  const double* colors;  // plane after plane, at the first column
  Index plane;
  int channels;
  Index columns;
  const double* heights;  // at the first column; minus infinity at what is not there
  const double* places;   // coordinates along the line, at the first column
  const double* line_sq;  // by line around: the square of its distance
  double beyond;          // squares from this on do not count
  double* squares;        // by column, also of what fills up a vector: to the nearest found,
  Index* numbers;         // and what is to be added to the pixel's number; 0 where none was found
};
using FindHigher = void (*)(const PixelSearch&, const Surroundings&);

// Sums in single precision, in raster order of a square window.
struct RasterLine {
  const double* colors;  // plane after plane, at the first column
  Index plane;
  int channels;
  Index columns;
  Index length;  // of a line
  Index lines;   // of the window, to each side
  Index reach;   // columns of it
  float factor;  // from a square to the logarithm of its term
  double* sums;  // to start from, at the first column, with room for what fills up a vector
};

struct PixelLoops {
  // Adds the kernel of every pair of pixels to both its sums; every sum gets its terms in an order
  // that does not depend on the tile. A pixel's own term is left out.
  void (*add_lines)(const LinesOfPixels&);
  FindHigher find_higher;  // in the total order, and the highest of equally near ones
  // As scikit-image does: strictly higher, squares with the colors first, the first in raster
  // order of equally near ones.
  FindHigher find_raster;
  FindHigher find_raster_single;  // in single precision
  void (*add_raster_single)(const RasterLine&);
};

// Those of the instruction set in use.
const PixelLoops& pixel_loops();

}  // namespace quickshift
