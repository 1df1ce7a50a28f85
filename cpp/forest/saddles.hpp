// Algorithm 2 for all levels at once: the levels at which the components of the level sets join.
//
// A piece is a part of a tree of the forest along which the height never falls on the way to its
// top, so its intersection with any level set is connected or empty. Two pieces join at the highest
// level whose level set holds a point of each, nearer than tau to each other; that pair is their
// saddle. The components of all level sets follow from the maximum spanning forest of the pieces,
// with saddles as edges.
#pragma once

#include <span>
#include <vector>

#include "tree/kdtree.hpp"

namespace quickshift {

struct Saddle {
  Index piece;
  Index other;
  double level;
};

struct PieceOfRow {
  const Index* piece;    // by row, from 0; ignored for rows of weight zero
  const double* height;  // by row
  Index pieces;          // the number of pieces
};

// Returns the saddles that join the pieces, in descending order of level. `edges` join pieces in
// addition to the points that are nearer than tau.
std::vector<Saddle> find_saddles(const Tree& tree, const PieceOfRow& rows,
                                 std::span<const Saddle> edges, double tau,
                                 const Execution& execution);

}  // namespace quickshift
