// Measured costs of the parts of a Gaussian sum, in seconds on one thread. They serve to choose
// between a grid and summing pair by pair, so only their ratios matter.
#pragma once

namespace quickshift::cost {

// Pair by pair.
inline constexpr double pair_of_samples = 0.75e-9;  // two samples, whose term goes into both sums
inline constexpr double pair = 1.4e-9;              // a query and a sample

// Through a grid.
inline constexpr double plan = 5e-5;                   // once per call
inline constexpr double window_value = 0.5e-9;         // one factor of a window along one axis
inline constexpr double spread_point = 0.1e-9;         // per grid point under a sample's window
inline constexpr double interpolated_point = 0.07e-9;  // per grid point under a query's window
inline constexpr double piece = 2e-6;                  // per piece
inline constexpr double patch_point = 1.4e-9;          // per grid point in the box of a piece
inline constexpr double passed_point = 3e-9;           // per grid point that a pass writes
inline constexpr double tap = 0.2e-9;                  // per tap and grid point that a pass writes

}  // namespace quickshift::cost
