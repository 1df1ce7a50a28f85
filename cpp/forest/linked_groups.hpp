// Groups of pieces: two pieces are in the same group if links lead from one to the other, over any
// number of pieces and at any level.
#pragma once

#include <span>
#include <vector>

#include "forest/link_search.hpp"

namespace quickshift {

struct LinkedGroups {
  std::vector<Index> of_piece;
  std::vector<Index> sizes;  // the number of pieces, by group
};

// Joins all linked pieces in a new search, and numbers the groups. `leaves` are those of
// leaves_near_other_pieces; `edges` are further links.
LinkedGroups group_pieces(LinkSearch& search, const std::vector<Index>& leaves,
                          std::span<const LinkedPair> edges, Index pieces,
                          const Execution& execution);

}  // namespace quickshift
