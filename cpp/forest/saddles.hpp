// Algorithm 2 for every level at once: where the pieces of the level sets meet.
//
// A piece is a part of a tree of the forest along which the density never falls towards its top, so
// it meets every level set in one part or not at all. Two pieces join at the highest level at which
// the level set holds two points of theirs, one of each, nearer than tau. All levels at once are
// the maximum spanning forest of the pieces under these saddles.
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
  const Index* piece;    // by row, from 0; anything for rows of weight zero
  const double* height;  // by row
  Index pieces;          // how many there are
};

// The saddles by which the pieces are joined, in falling order of level. `edges` join pieces
// besides those that are nearer than tau.
std::vector<Saddle> find_saddles(const Tree& tree, const PieceOfRow& rows,
                                 std::span<const Saddle> edges, double tau,
                                 const Execution& execution);

}  // namespace quickshift
