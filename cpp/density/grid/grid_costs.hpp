// Measured costs of the parts of a Gaussian sum, in seconds on one thread. They serve to choose
// between a grid and summing pair by pair, so only their ratios matter.
//
// Measured in November 2026 on an AMD EPYC with AVX-512, by benchmarks/choices.py. With AVX2 alone,
// pairs take 1.25 times as long compared with the grid, with SSE2 2.5 times. The choice must not
// depend on the instruction set, because sums have to agree between instruction sets within a few
// units in the last place, so the numbers lie between those of AVX-512 and AVX2.
#pragma once

namespace quickshift::cost {

// Pair by pair.
inline constexpr double pair_of_samples = 0.36e-9;  // two samples, whose term goes into both sums
inline constexpr double pair = 0.65e-9;             // a query and a sample

// Through a grid.
inline constexpr double plan = 5e-5;                   // once per call
inline constexpr double planned_piece = 1e-7;          // per piece, to lay it out
inline constexpr double planned_tile = 2e-7;           // per tile of each pass, to lay it out
inline constexpr double window_value = 0.5e-9;         // one factor of a window along one axis
inline constexpr double spread_point = 0.1e-9;         // per grid point under a sample's window
inline constexpr double interpolated_point = 0.07e-9;  // per grid point under a query's window
inline constexpr double piece = 2e-6;                  // per piece
inline constexpr double patch_point = 1.4e-9;          // per grid point in the box of a piece
inline constexpr double passed_point = 3e-9;           // per grid point that a pass writes
inline constexpr double tap = 0.2e-9;                  // per tap and grid point that a pass writes

}  // namespace quickshift::cost
