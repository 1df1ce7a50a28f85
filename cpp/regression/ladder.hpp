// Rungs along the line of responses: vertices at most half a bandwidth apart wherever another
// vertex lies between two of them. A search begins at the rungs and looks between two of them only
// where it must.
#pragma once

#include <vector>

#include "regression/responses.hpp"

namespace quickshift {

// Ranks to begin with, the first and the last among them: where two of them are further apart than
// `width`, no vertex lies in between.
std::vector<Index> rungs_of(const double* places, Index vertices, double width);

// Part of tau by which the gaps of a dense stretch of responses stay below it.
inline constexpr double indistinct = 1e-3;

// The least sum that counts at a query whose nearest sample has the given weight: every mode that
// is kept has at least this much, as a multiple of that sample's term.
double least_sum(const ModeOptions& options, double weight);

struct Ladder {
  std::vector<Index> ranks;    // of the rungs among all vertices
  std::vector<double> places;  // of the rungs
  std::vector<Index> gaps;     // ranks whose next vertex is about tau away, or further
  // By rung: the first and the last rung whose samples reach what lies from it to the next.
  std::vector<Index> first_reaching;
  std::vector<Index> last_reaching;

  Ladder(const Tree& tree, const Responses& responses, const ModeOptions& options);
  Index size() const { return static_cast<Index>(ranks.size()); }
};

}  // namespace quickshift
