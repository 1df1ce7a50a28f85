// Links between points where few points are linked to any one: points that have a tau each, which
// is the distance to one of their nearest neighbors, or one small tau.
#pragma once

#include <deque>
#include <mutex>

#include "forest/saddle_table.hpp"

namespace quickshift {

// Every point searches its surroundings for points of other pieces. Of all links between two pieces
// only the first in the order of saddles counts, so one table per thread suffices.
struct NearbyLinks {
  // With lists of near locations, nothing is searched.
  NearbyLinks(const Tree& tree, const PieceOfRow& rows, std::span<const Saddle> edges,
              const LinkLength& length, const Execution& execution);

  // A table for the calling thread.
  SaddleTable& new_table() {
    const std::lock_guard lock(mutex);
    return tables.emplace_back();
  }
  // Offers the link from the point at `slot` to another point. The smaller piece comes first: both
  // points may find the same link, and which of them is first depends on the threads.
  void offer(SaddleTable& table, Index slot, Index other, double square) const {
    const auto [low, high] = std::minmax(points.pieces[slot], points.pieces[other]);
    table.offer({std::min(points.heights[slot], points.heights[other]), square, low, high});
  }

  const Tree& tree;
  PiecesOfLocations points;
  // For searches: the piece of a node that lies in one, -1 for the others; and by slot the largest
  // squared distance within its tau.
  Array<Index> piece_of_node;
  Array<double> reaches;
  std::deque<SaddleTable> tables;
  std::mutex mutex;
};

// Offers all links between pieces: by searches of the tree, or by products of blocks of points,
// which is faster with many features. Blocks do not support periodic features.
void link_by_search(NearbyLinks& links, const Execution& execution);
void link_by_blocks(NearbyLinks& links, const Execution& execution);

// Whether searches are estimated to be faster than the search from high to low of saddles.cpp, for
// one tau: there are many pieces, and few points are within tau of any one.
bool search_pays_for_links(const Tree& tree, Index pieces, double tau);

// find_saddles by links. With one tau, `search_pays_for_links` must hold.
std::vector<Saddle> find_saddles_nearby(const Tree& tree, const PieceOfRow& rows,
                                        std::span<const Saddle> edges, const LinkLength& length,
                                        const Execution& execution);

}  // namespace quickshift
