// Chooses the spacing of the grid and the width of its windows so that Gaussian sums keep a given
// relative error.
//
// In units of h the kernel is a convolution of three Gaussians, of variance v, 1 - 2v and v: the
// window that spreads samples onto the grid, the taps that act on the grid, and the window that
// interpolates at queries. docs/decisions/21-grid.md shows why the error stays below rtol.
#pragma once

#include <vector>

#include "support/points.hpp"
#include "vector/grid_loops.hpp"

namespace quickshift {

// The requirements on a grid.
struct GridDemand {
  int features;
  double rtol;
  double weight_ratio;  // total weight of the samples / least sum for which the error bound holds
  double h;             // bandwidth
};

struct GridPlan {
  double step = 0.0;      // spacing of the grid; has few bits, so that its multiples are exact
  double spacing = 0.0;   // the step in units of h
  double variance = 0.0;  // v of the windows
  int width = 0;          // grid points under a window along one axis; even
  int reach = 0;          // taps on either side of the middle one
  // Pieces of fewer locations than this, and leaves that are too wide for a piece, are left to sums
  // pair by pair. 0: all locations are on the grid.
  Index fewest = 0;

  // The width along the last axis: a multiple of 4.
  int wide() const { return (width + 3) / 4 * 4; }
  double steepness() const { return spacing * spacing / (2.0 * variance); }
  std::vector<double> decay() const;  // exp(-steepness j²) over a window, for Window::decay
  std::vector<double> taps() const;   // from the middle outwards, normalizing constants included
};

// Limits of the grid. For tolerances below `least_grid_rtol`, rounding errors would have to be
// taken into account.
inline constexpr double least_grid_rtol = 0x1p-41;
inline constexpr double most_weight_ratio = 1e35;  // of GridDemand::weight_ratio

// Returns the plan of the coarsest grid with windows of the given width. The plan has width 0 if no
// grid is fine enough.
GridPlan plan_for_width(const GridDemand& demand, int width);

// The distance, in units of h, beyond which all samples together are negligible in every sum for
// which the error bound holds.
double image_distance(const GridDemand& demand);

}  // namespace quickshift
