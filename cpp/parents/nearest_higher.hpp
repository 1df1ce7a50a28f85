// The parents of Algorithm 1: for every sample the nearest higher sample, at any distance.
#pragma once

#include <vector>

#include "tree/heights.hpp"

namespace quickshift {

// How parents are found. All methods give the same parents.
enum class ParentMethod {
  automatic,  // the cheapest, by estimate
  tree,       // one search of the tree per sample, or per leaf of samples
  blocks,     // matrix products of blocks of points, for many features; not for periodic features
};

// By slot: the squared distance to the nearest higher location, and its slot; infinity and -1 if
// there is none.
struct NearestHigher {
  std::vector<double> square;
  std::vector<Index> slot;
};

// nearest_higher_blocks.cpp
NearestHigher nearest_higher_in_blocks(const Tree& tree, const Heights& heights, bool strict,
                                       const Execution& execution);

// Up to this many features it is never chosen.
inline constexpr int most_features_for_search = 4;

// nearest_higher_blocks_cost.cpp: whether that is estimated to be faster than searching the tree.
bool blocks_pay_for_parents(const Tree& tree, const Heights& heights, bool strict);

// Writes for every row its parent's row and the distance in the caller's units. A row without a
// higher row is its own parent at distance infinity; a row of weight zero is its own parent at
// distance NaN. row_heights: one per row, rounded to `bits` significant bits before they are
// compared. strict: samples of equal height are not higher.
void nearest_higher(const Tree& tree, const double* row_heights, int bits, bool strict,
                    ParentMethod method, const Execution& execution, Index* parent,
                    double* distance);

}  // namespace quickshift
