// The pieces of a forest by location, and the order of the saddles between them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tree/kdtree.hpp"
#include "tree/near_lists.hpp"

namespace quickshift {

struct Saddle {
  Index piece;
  Index other;
  double level;         // at which the two join: the smaller height of the two points
  double square = 0.0;  // the squared distance of the two points in the scale of the tree
};

struct PieceOfRow {
  const Index* piece;    // by row, from 0; ignored for rows of weight zero
  const double* height;  // by row
  Index pieces;          // the number of pieces
};

// Which points are linked: those nearer than `tau` or, if `tau_of_row` is not null, those no
// farther apart than the larger of their own two values.
struct LinkLength {
  double tau = 0.0;
  const double* tau_of_row = nullptr;
  NearLists near;  // optional, with `tau_of_row`; saves a search
};

// A saddle with the squared distance of its two points.
struct LinkedPair {
  double level = -std::numeric_limits<double>::infinity();
  double square = 0.0;
  Index piece = -1;
  Index other = -1;

  // Whether this saddle comes before another one. Saddles of the same level are common, because a
  // low point may be near several higher pieces. The shortest counts first, and then the one of the
  // higher pieces, so that the order depends on the points alone.
  bool is_before(const LinkedPair& saddle) const {
    if (level != saddle.level) return level > saddle.level;
    if (square != saddle.square) return square < saddle.square;
    return std::minmax(piece, other) < std::minmax(saddle.piece, saddle.other);
  }
};

// The height and the piece of every location: those of its highest row. The other rows of the
// location are at distance zero from that row, so an edge at their own height joins their piece to
// it. These edges follow those of the caller.
struct PiecesOfLocations {
  PiecesOfLocations(const Tree& tree, const PieceOfRow& rows, std::span<const Saddle> given,
                    const Execution& execution);

  Array<double> heights;  // by slot
  Array<Index> pieces;    // by slot
  std::vector<LinkedPair> edges;

 private:
  void add_other_rows(const Tree& tree, const PieceOfRow& rows);
};

}  // namespace quickshift
