#include "forest/linked_groups.hpp"

namespace quickshift {

namespace {

// One point after another is searched from until it has no link to another component. The points of
// the component that is the largest by then are left out: it usually holds nearly all points, and
// its links are found from their other ends. Leaves with such points are left for another round, in
// case that a different component becomes the largest.
class Grouping {
 public:
  Grouping(LinkSearch& search, const std::vector<Index>& leaves, Index pieces)
      : search_(search), left_(leaves), points_(static_cast<std::size_t>(pieces)) {
    for (const Index leaf : leaves) {
      const auto [begin, end] = search.slots_of(leaf);
      for (Index slot = begin; slot < end; ++slot) ++points_[search.piece_of(slot)];
    }
  }

  void join(Index piece, Index other) {
    const Index a = search_.find(piece);
    const Index b = search_.find(other);
    if (a == b) return;
    const Index points = points_[a] + points_[b];
    const Index joined = search_.join(a, b);
    points_[joined] = points;
    if (points <= points_[search_.find(largest_)]) return;
    largest_ = joined;
    replaced_ = true;
  }

  void run(const Execution& execution) {
    do {
      replaced_ = false;
      std::erase_if(left_, [&](Index leaf) { return completes(leaf, execution); });
    } while (replaced_ && !execution.stops());
  }

 private:
  // Searches from all points of a leaf that are not in the largest component. Returns whether these
  // are all.
  bool completes(Index leaf, const Execution& execution) {
    if (search_.is_in(leaf, search_.find(largest_))) return false;
    search_.collect_near(leaf, near_);
    bool all = true;
    const auto [begin, end] = search_.slots_of(leaf);
    for (Index slot = begin; slot < end; ++slot) {
      const bool left_out = search_.component_of(slot) == search_.find(largest_);
      all &= !left_out;
      if (!left_out && !execution.stops_after(steps_)) join_all_linked(slot, execution);
    }
    return all;
  }

  void join_all_linked(Index slot, const Execution& execution) {
    LinkedPair link;
    do {
      link = {0.0, search_.reach_sq()};
      search_.improve_among(near_, slot, link);
      if (link.piece >= 0) join(link.piece, link.other);
    } while (link.piece >= 0 && !execution.stops_after(steps_));
  }

  LinkSearch& search_;
  std::vector<Index> left_;    // leaves with points that have not been searched from
  std::vector<Index> near_;    // the nodes that matter to the points of the current leaf
  std::vector<Index> points_;  // by representative of a component
  Index largest_ = 0;          // a piece of the component with the most points
  bool replaced_ = false;      // whether another one has become the largest in this round
  unsigned steps_ = 0;
};

}  // namespace

LinkedGroups group_pieces(LinkSearch& search, const std::vector<Index>& leaves,
                          std::span<const LinkedPair> edges, Index pieces,
                          const Execution& execution) {
  Grouping grouping(search, leaves, pieces);
  for (const LinkedPair& edge : edges) grouping.join(edge.piece, edge.other);
  grouping.run(execution);
  LinkedGroups groups{std::vector<Index>(static_cast<std::size_t>(pieces)), {}};
  std::vector<Index> number(static_cast<std::size_t>(pieces), Index{-1});  // by representative
  for (Index piece = 0; piece < pieces; ++piece) {
    Index& group = number[search.find(piece)];
    if (group < 0) {
      group = static_cast<Index>(groups.sizes.size());
      groups.sizes.push_back(0);
    }
    groups.of_piece[piece] = group;
    ++groups.sizes[group];
  }
  return groups;
}

}  // namespace quickshift
