// The inner loops of kernel sums through a grid: spread the samples onto the grid, convolve along
// an axis, interpolate at the queries. They are compiled once per instruction set and called
// through the table GridLoops.
//
// A grid always has three axes. With fewer features, the leading axes are one grid point long. The
// last axis is contiguous in memory.
#pragma once

namespace quickshift {

inline constexpr int axes = 3;
inline constexpr int widest_window = 32;

// The function exp(-steepness * j²), where j is the distance from a sample or a query, measured in
// grid points. It is cut off after a fixed number of grid points, and is used for spreading and for
// interpolation.
struct Window {
  int features;
  int width;            // grid points along each axis except the last; even
  int wide;             // grid points along the last axis: `width` rounded up to a multiple of 4
  double per_spacing;   // 1 / spacing of the grid
  double steepness;     // for j in grid points
  const double* decay;  // [wide]: exp(-steepness * j²) from j = -wide / 2 on
};

// A box of grid points: their values, and the coordinates of the first grid point.
struct Patch {
  double* values;
  int extent[axes];
  double origin[axes];
};

// The slots [begin, end) of a leaf. Its coordinates are stored as [feature][stride], where the
// stride is a multiple of 4.
struct LeafPart {
  const double* coordinates;
  int stride;
  int begin;
  int end;
};

struct GridLoops {
  // Adds the window of every sample, times weights[slot], to the values of the patch.
  void (*spread)(const Window&, const LeafPart&, const double* weights, const Patch&);
  // sums[slot] = Σ window * value over the grid points under the window of the query.
  void (*interpolate)(const Window&, const LeafPart&, const Patch&, double* sums);
  // out[i] = Σ_{|m| <= reach} taps[|m|] in[i + (m + reach) * step] for all i < count, where count
  // is a multiple of 4.
  void (*convolve)(const double* in, const double* taps, int reach, int step, int count,
                   double* out);
};

// The loops for the instruction set in use.
const GridLoops& grid_loops();

}  // namespace quickshift
