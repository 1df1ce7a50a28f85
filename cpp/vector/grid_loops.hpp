// The inner loops of the grid way: one source, compiled once for each instruction set.
//
// Everything has three axes: with fewer features the leading ones are one grid point long. The last
// axis is contiguous in memory.
#pragma once

namespace quickshift {

inline constexpr int axes = 3;
inline constexpr int widest_window = 32;

// exp(-steepness * j²), j counted in grid points from where a sample or a query lies, cut off to a
// fixed number of them.
struct Window {
  int features;
  int width;            // grid points along every axis but the last: even
  int wide;             // along the last: the next multiple of 4
  double per_spacing;   // 1 / spacing of the grid
  double steepness;     // of the window, per grid point
  const double* decay;  // [wide], from j = -wide / 2
};

// A box of grid points and where its first one lies, by feature.
struct Patch {
  double* values;
  int extent[axes];
  double origin[axes];
};

// Some of the slots of a leaf: coordinates as [feature][stride], stride a multiple of 4.
struct LeafPart {
  const double* coordinates;
  int stride;
  int begin;
  int end;
};

struct GridLoops {
  // Adds the windows of weighted samples. weights and sums: by slot of the leaf.
  void (*spread)(const Window&, const LeafPart&, const double* weights, const Patch&);
  // sums[slot] = Σ over the grid points of window times value.
  void (*interpolate)(const Window&, const LeafPart&, const Patch&, double* sums);
  // out[i] = Σ_m taps[|m|] in[i + (m + reach) * step], |m| <= reach, for i < count: a multiple
  // of 4.
  void (*convolve)(const double* in, const double* taps, int reach, int step, int count,
                   double* out);
};

// Those of the instruction set in use.
const GridLoops& grid_loops();

}  // namespace quickshift
