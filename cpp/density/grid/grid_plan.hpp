// How fine a grid must be, and how wide its windows, for Gaussian sums within a relative error.
//
// In units of h the kernel is a convolution of three Gaussians, of variance v, 1 - 2v and v: the
// window that spreads samples onto the grid, the taps that act on the grid, and the window that
// interpolates at queries. docs/decisions/21-grid.md tells why the error stays below rtol.
#pragma once

#include <vector>

#include "vector/grid_loops.hpp"

namespace quickshift {

// What is asked of a grid.
struct GridDemand {
  int features;
  double rtol;
  double weight_ratio;  // of all samples together to the least sum that the error is promised for
  double h;
};

struct GridPlan {
  double step = 0.0;      // of the grid: few bits, so that whole multiples of it are exact
  double spacing = 0.0;   // the same in units of h
  double variance = 0.0;  // v of the windows
  int width = 0;          // grid points under a window: even
  int reach = 0;          // of the taps, in grid points

  int wide() const { return (width + 3) / 4 * 4; }
  double steepness() const { return spacing * spacing / (2.0 * variance); }
  std::vector<double> decay() const;  // of a window, for GridLoops
  std::vector<double> taps() const;   // from the middle, with all constants
};

// Smaller tolerances would have to argue with rounding.
inline constexpr double least_grid_rtol = 0x1p-41;
inline constexpr double most_weight_ratio = 1e35;

// The coarsest grid whose windows are `width` wide; width 0 where there is none.
GridPlan plan_for_width(const GridDemand& demand, int width);

// In units of h: beyond this, samples change no promised sum.
double image_distance(const GridDemand& demand);

}  // namespace quickshift
