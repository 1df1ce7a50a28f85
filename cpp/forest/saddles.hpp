// Algorithm 2 for all levels at once: the levels at which the components of the level sets join.
//
// A piece is a part of a tree of the forest in which heights never fall on the way to its top. The
// points of a piece in any level set are therefore connected. Two pieces join at the highest level
// whose level set contains a point of each that are linked (LinkLength); this pair of points is
// their saddle. The components of all level sets follow from the maximum spanning forest of the
// graph whose vertices are the pieces and whose edges are the saddles.
#pragma once

#include <span>
#include <vector>

#include "forest/pieces.hpp"

namespace quickshift {

// Returns the saddles of a maximum spanning forest of the pieces, in descending order of level.
// `edges` are additional candidates, which join two pieces whatever the distance of their points.
std::vector<Saddle> find_saddles(const Tree& tree, const PieceOfRow& rows,
                                 std::span<const Saddle> edges, const LinkLength& length,
                                 const Execution& execution);

// How many times the searches of find_saddles compute the distance of a point, or of a leaf's box,
// from a box of the tree, if it takes the points in descending order of height; for tests.
Index boxes_for_saddles(const Tree& tree, const PieceOfRow& rows, double tau);

}  // namespace quickshift
