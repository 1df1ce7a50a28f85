// Algorithm 1's parents: for every sample its nearest higher one, however far.
#pragma once

#include <vector>

#include "tree/heights.hpp"

namespace quickshift {

// How parents are found; each way gives the same ones.
enum class ParentMethod {
  automatic,  // the cheapest by estimate
  tree,       // a search for every sample
  blocks,     // products of whole blocks, for many features: none periodic
};

// By slot: the nearest higher location and the square of its distance; -1 and infinity where there
// is none.
struct NearestHigher {
  std::vector<double> square;
  std::vector<Index> slot;
};
NearestHigher nearest_higher_in_blocks(const Tree& tree, const Heights& heights, bool strict,
                                       const Execution& execution);
// Up to this many features it is never chosen.
inline constexpr int most_features_for_search = 4;
// Whether that is estimated to be faster than a search for every sample.
bool blocks_pay_for_parents(const Tree& tree, const Heights& heights, bool strict);

// By row: the parent's row and the distance in the caller's units. A row without a higher one is
// its own parent at an infinite distance; a row of weight zero its own at NaN.
void nearest_higher(const Tree& tree, const double* row_heights, int bits, bool strict,
                    ParentMethod method, const Execution& execution, Index* parent,
                    double* distance);

}  // namespace quickshift
