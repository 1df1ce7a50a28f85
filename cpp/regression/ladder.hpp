// The ladder: some of the vertices, the rungs, at which a search begins. Two successive rungs are
// at most half a bandwidth apart, unless no vertex lies between them. For every rung the ladder
// knows in advance which samples can contribute to sums between it and the next rung, so that no
// query has to search for them.
#pragma once

#include <vector>

#include "regression/responses.hpp"

namespace quickshift {

// The ranks of the rungs, including the first and the last vertex: successive rungs are at most
// `width` apart, or there is no vertex between them.
std::vector<Index> rungs_of(const double* places, Index vertices, double width);

// In a dense stretch, successive responses are at most (1 - indistinct) tau apart.
inline constexpr double indistinct = 1e-3;

// The least sum that has to be accurate at a query whose nearest sample in x has the given weight.
// Sums are relative to the kernel at the distance of that sample. The sum at its response is thus
// at least its weight, so a mode that is kept has a sum of at least `least_ratio` times the weight.
double least_sum(const ModeOptions& options, double weight);

struct Ladder {
  std::vector<Index> ranks;    // of the rungs among all vertices
  std::vector<double> places;  // of the rungs
  std::vector<Index> gaps;     // ranks whose next vertex is more than (1 - indistinct) tau away
  // By rung: the first and the last rung whose samples can contribute to sums between this rung and
  // the next.
  std::vector<Index> first_reaching;
  std::vector<Index> last_reaching;

  Ladder(const Tree& tree, const Responses& responses, const ModeOptions& options);
  Index size() const { return static_cast<Index>(ranks.size()); }
};

}  // namespace quickshift
