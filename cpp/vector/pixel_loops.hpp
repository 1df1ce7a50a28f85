// The inner loops over the lines of a tile of pixels (image/pixel_tile.hpp), compiled once per
// instruction set.
#pragma once

#include "support/points.hpp"

namespace quickshift {

// A line of a tile, and other lines whose pixels are paired with those of the first line if they
// are at most `reach` columns apart. Pointers are to the first column after the halo.
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
  const double* squares[lines_per_call];  // squared distances without colors, by column difference
};

// The offsets from a pixel to the pixels around it that are searched for its parent, in ascending
// order of distance.
struct Surroundings {
  Index count;
  const Index* step;       // offset in a plane of the tile
  const Index* number;     // difference of the pixel numbers
  const Index* column;     // difference of the columns
  const Index* line;       // the line of the other pixel, as an index into PixelSearch::line_sq
  const double* least_sq;  // lower bound on the squared distance, reduced to cover rounding
};

// A search for the nearest higher pixels of the pixels of a line.
struct PixelSearch {
  const double* colors;  // one plane per channel, at the first column
  Index plane;
  int channels;
  Index columns;
  const double* heights;      // at the first column; minus infinity outside the picture or its mask
  const double* coordinates;  // along the line, at the first column
  const double* line_sq;      // squared distances to the lines around this line
  double beyond;              // squares of this size or larger are not admissible
  // The results, by column, padded to whole vectors.
  double* squares;  // squared distance to the nearest higher pixel
  Index* numbers;   // its pixel number minus that of the pixel; 0 if none was found
};
using FindHigher = void (*)(const PixelSearch&, const Surroundings&);

// Two lines whose sums of kernels are computed in single precision: a line and itself, or a line
// and a later one. Calls for one line after the other, each with the later lines in ascending
// order, add the terms of every sum in raster order of a rectangular window.
inline constexpr Index raster_columns = 128;  // of the first line that are worked on at once
inline constexpr Index raster_padding = 32;   // columns of zeros on both sides of them
struct alignas(64) RasterTerms {
  double at[raster_padding + raster_columns + raster_padding];
};
struct RasterLines {
  const float* colors;        // of the first line; one plane per channel, at the first column
  const float* other_colors;  // of the other line
  Index plane;
  int channels;
  Index columns;
  Index reach;              // half the width of the window
  float lines_sq;           // squared distance between the lines
  const float* columns_sq;  // squared differences of columns, from -reach to reach
  float factor;             // the natural logarithm of a kernel is this times the squared distance
  double* sums;             // at the first column
  double* other_sums;       // null if only the sums of the first line are wanted
  RasterTerms* terms;       // scratch, zero at first: one for each difference of columns
};

struct PixelLoops {
  // Adds the kernel of every pair of pixels to the sums of both. The order of the terms of a sum
  // does not depend on the tile. A pixel's own term is omitted.
  void (*add_lines)(const LinesOfPixels&);
  // Finds the nearest pixel that is higher in the total order; of equally near pixels, the highest.
  FindHigher find_higher;
  // Finds parents as scikit-image does: they are strictly higher, squared distances add up the
  // colors first, and of equally near pixels the first in raster order wins.
  FindHigher find_raster;
  FindHigher find_raster_single;  // the same in single precision
  void (*add_raster_single)(const RasterLines&);
};

// The table for the instruction set that this process uses.
const PixelLoops& pixel_loops();

}  // namespace quickshift
