// The loops along the lines of a tile of pixels, with one table of functions per instruction set.
#pragma once

#include "support/points.hpp"

namespace quickshift {

// A line of a tile, and other lines whose pixels are paired with those of the first line if they
// are at most `reach` columns apart. Pointers are to the first column of the tile without its halo.
inline constexpr int lines_per_call = 2;
struct LinesOfPixels {
  const double* colors;  // one plane per channel
  Index plane;
  int channels;
  Index columns;
  Index reach;
  double factor;  // the base-2 logarithm of a kernel is this times the squared distance
  double* sums;
  int others;  // at most lines_per_call; 0 for the pairs within the first line
  const double* other_colors[lines_per_call];
  double* other_sums[lines_per_call];
  const double* squares[lines_per_call];  // without colors, by difference of columns
};

// Offsets of the pixels around a pixel at which a search looks for parents, from the nearest on.
struct Surroundings {
  Index count;
  const Index* step;       // in a plane of the tile
  const Index* number;     // of the pixel numbers
  const Index* column;     // of the columns
  const Index* line;       // index into PixelSearch::line_sq
  const double* least_sq;  // lower bound of the squared distance, reduced to cover rounding
};

// A search for the nearest higher pixels of the pixels of a line.
struct PixelSearch {
  const double* colors;  // one plane per channel, at the first column
  Index plane;
  int channels;
  Index columns;
  const double* heights;      // at the first column; minus infinity outside the picture or its mask
  const double* coordinates;  // along the line, at the first column
  const double* line_sq;      // by surrounding line: its squared distance
  double beyond;              // squares of this size or larger are not admissible
  double* squares;  // results by column, padded to whole vectors: squared distance to the nearest
  Index* numbers;   // and offset of its pixel number, 0 if none was found
};
using FindHigher = void (*)(const PixelSearch&, const Surroundings&);

// Sums of kernels in single precision, added in raster order of a square window.
struct RasterLine {
  const double* colors;  // one plane per channel, at the first column
  Index plane;
  int channels;
  Index columns;
  Index length;  // distance between lines in a plane
  Index lines;   // half the height of the window
  Index reach;   // half the width of the window
  float factor;  // the natural logarithm of a kernel is this times the squared distance
  double* sums;  // initial values and results, at the first column, padded to whole vectors
};

struct PixelLoops {
  // Adds the kernel of every pair of pixels to the sums of both. The order of the terms of a sum
  // does not depend on the tile. A pixel's own term is omitted.
  void (*add_lines)(const LinesOfPixels&);
  FindHigher find_higher;  // in the total order; of equally near pixels, the highest
  // As scikit-image does: parents are strictly higher, squares add the colors first, and of equally
  // near pixels the first in raster order wins.
  FindHigher find_raster;
  FindHigher find_raster_single;  // in single precision
  void (*add_raster_single)(const RasterLine&);
};

// The loops for the instruction set in use.
const PixelLoops& pixel_loops();

}  // namespace quickshift
