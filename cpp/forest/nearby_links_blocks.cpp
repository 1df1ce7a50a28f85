// Links by approximate squared distances between the points of two blocks; those that may be within
// reach are computed by the definition, so that the links are exact.
#include "forest/nearby_links.hpp"
#include "tree/block_squares.hpp"

namespace quickshift {

namespace {

class BlockLinks {
 public:
  BlockLinks(const NearbyLinks& links, const Blocks& blocks, SaddleTable& table)
      : links_(links), blocks_(blocks), squares_(blocks), table_(table) {}

  // Offers the links from the points of a block to all others.
  void find(Index block, const Execution& execution) {
    for_blocks_around(blocks_, block, execution, [&](Index other) { meet(block, other); });
  }

 private:
  void meet(Index a, Index b) {
    const Index only = piece_of(b);
    if (only >= 0 && only == piece_of(a)) return;
    const Index first = blocks_.begin(a);
    // The reach of a point that is in the only piece of the other block is negative.
    const auto reach = [&](int i) {
      const Index slot = blocks_.slots[first + i];
      return links_.points.pieces[slot] == only ? -1.0 : links_.reaches[slot];
    };
    if (!squares_.is_near(a, b, reach)) return;
    squares_.multiply(a, b);
    for (int i = 0; i < blocks_.size(a); ++i) {
      const double limit = reach(i);
      if (squares_.to_box(i) > limit) continue;
      const Index slot = blocks_.slots[first + i];
      squares_.for_each_within(
          i, limit, [&](Index other, double, double) { offer(slot, blocks_.slots[other]); });
    }
  }

  void offer(Index slot, Index other) {
    if (links_.points.pieces[slot] == links_.points.pieces[other]) return;
    const double square = square_between(links_.tree, slot, other);
    if (square <= links_.reaches[slot]) links_.offer(table_, slot, other, square);
  }

  Index piece_of(Index block) const { return links_.piece_of_node[blocks_.count() + block]; }

  const NearbyLinks& links_;
  const Blocks& blocks_;
  BlockSquares squares_;
  SaddleTable& table_;
};

}  // namespace

void link_by_blocks(NearbyLinks& links, const Execution& execution) {
  const Blocks blocks(links.tree, execution, BlockCenter::medians);
  run_tasks(execution, blocks.count(), 2.0 * work_of(blocks), [&] {
    return [&, worker = BlockLinks(links, blocks, links.new_table())](Index block) mutable {
      worker.find(block, execution);
    };
  });
}

}  // namespace quickshift
