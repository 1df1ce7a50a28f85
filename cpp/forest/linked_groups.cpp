#include "forest/linked_groups.hpp"

namespace quickshift {

namespace {

// One point after another is searched from until it has no link to another component. The points of
// the component that is the largest by then are left out: it usually holds nearly all points, and
// its links are found from their other ends.
class Grouping {
 public:
  Grouping(LinkSearch& search, const std::vector<Index>& slots, Index pieces)
      : search_(search), left_(slots), points_(static_cast<std::size_t>(pieces)) {
    for (const Index slot : slots) ++points_[search.component_of(slot)];
  }

  void join(Index piece, Index other) {
    const Index a = search_.find(piece);
    const Index b = search_.find(other);
    if (a == b) return;
    const Index points = points_[a] + points_[b];
    const Index joined = search_.join(a, b);
    points_[joined] = points;
    if (points > points_[search_.find(largest_)]) largest_ = joined;
  }

  void run(const Execution& execution) {
    for (std::size_t before = left_.size() + 1; left_.size() < before && !execution.stops();) {
      before = left_.size();
      Index leaf = -1;
      std::erase_if(left_, [&](Index slot) {
        if (search_.component_of(slot) == search_.find(largest_) || stops(execution)) return false;
        if (leaf != search_.leaf_of(slot)) {
          leaf = search_.leaf_of(slot);
          search_.collect_near(leaf, near_);
        }
        join_all_linked(slot, execution);
        return true;
      });
    }
  }

 private:
  void join_all_linked(Index slot, const Execution& execution) {
    LinkedPair link;
    do {
      link = {0.0, search_.reach_sq()};
      search_.improve_among(near_, slot, link);
      if (link.piece >= 0) join(link.piece, link.other);
    } while (link.piece >= 0 && !stops(execution));
  }

  bool stops(const Execution& execution) {
    return ++steps_ % 256 == 0 ? execution.stops() : execution.stop.load();
  }

  LinkSearch& search_;
  std::vector<Index> left_;    // the slots that have not been searched from
  std::vector<Index> near_;    // the nodes that matter to the points of the current leaf
  std::vector<Index> points_;  // by representative of a component
  Index largest_ = 0;          // a piece of the component with the most points
  unsigned steps_ = 0;
};

}  // namespace

LinkedGroups group_pieces(LinkSearch& search, const std::vector<Index>& slots,
                          std::span<const LinkedPair> edges, Index pieces,
                          const Execution& execution) {
  Grouping grouping(search, slots, pieces);
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
