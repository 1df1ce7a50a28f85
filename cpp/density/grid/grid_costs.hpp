// What the parts of a sum cost, in seconds on one thread: measured, to compare the ways.
#pragma once

namespace quickshift::cost {

inline constexpr double pair_of_samples = 0.75e-9;  // summed for both
inline constexpr double pair = 1.4e-9;

inline constexpr double plan = 5e-5;
inline constexpr double window_value = 0.5e-9;
inline constexpr double spread_point = 0.1e-9;         // a grid point under a sample's window
inline constexpr double interpolated_point = 0.07e-9;  // under a query's
inline constexpr double piece = 2e-6;
inline constexpr double patch_point = 1.4e-9;  // a grid point in the box of a piece
inline constexpr double passed_point = 3e-9;   // a grid point written by a pass
inline constexpr double tap = 0.2e-9;          // and for each tap

}  // namespace quickshift::cost
