// The parents of Algorithm 1: the nearest higher sample of every sample, at any distance.
#pragma once

#include <vector>

#include "parents/listed_parents.hpp"
#include "tree/block_sample.hpp"
#include "tree/heights.hpp"

namespace quickshift {

// How parents are found. All methods give the same parents.
enum class ParentMethod {
  automatic,  // the method that is estimated to be faster
  tree,       // searches of the tree, one for all samples of a leaf or one per sample
  blocks,     // matrix products of blocks of points, for many features; not for periodic features
};

// By slot: the squared distance to the nearest higher location, and its slot; infinity and -1 if
// there is none.
struct NearestHigher {
  std::vector<double> square;
  std::vector<Index> slot;
};

// ParentMethod::blocks, in nearest_higher_blocks.cpp.
NearestHigher nearest_higher_in_blocks(const Tree& tree, const Heights& heights, bool strict,
                                       const Execution& execution);

// With at most this many features, ParentMethod::automatic never chooses blocks.
inline constexpr int most_features_for_search = 4;

// The work of ParentMethod::tree and ParentMethod::blocks, and whether the latter is estimated to
// be faster, in nearest_higher_blocks_cost.cpp.
WorkEstimates work_of_parents(const Tree& tree, const Heights& heights, bool strict);
bool blocks_pay_for_parents(const Tree& tree, const Heights& heights, bool strict);

// For every row, writes the row of its parent and the distance to it in the caller's units. A row
// without a higher row is its own parent at distance infinity; a row of weight zero is its own
// parent at distance NaN. row_heights: one per row, rounded to `bits` significant bits before they
// are compared. strict: if true, samples of equal height are not higher. near: saves most searches
// of the tree.
void nearest_higher(const Tree& tree, const double* row_heights, int bits, bool strict,
                    ParentMethod method, const NearLists& near, const Execution& execution,
                    Index* parent, double* distance);

}  // namespace quickshift
