// A matrix product in single precision gives approximate squared distances between all points of
// two blocks, with a bound on their errors. Each point of a block keeps the samples whose
// approximate distance may be among its smallest; the few that remain after all blocks were visited
// are computed by the definition in double precision. So the scales have the same bits as those
// from the tree.
#include "scale/block_scales.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "scale/nearest_squares.hpp"
#include "tree/block_squares.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The samples that may be among the `wanted` nearest of one point.
class Candidates {
 public:
  Candidates(Index wanted, int room)
      : wanted_(static_cast<std::size_t>(wanted)),
        most_(2 * wanted_ + static_cast<std::size_t>(room)) {}

  void reset() {
    found_.clear();
    reach_ = infinity;
  }
  // An upper bound on the squared distance to the farthest of the wanted samples.
  double reach() const { return reach_; }
  void add(double square, double error, Index slot) {
    if (square - error <= reach_) found_.push_back({square + error, square - error, slot});
  }
  void cut_back_if_long() {
    if (found_.size() > most_) cut_back();
  }
  void cut_back() {
    if (found_.size() < wanted_) return;
    const auto last = found_.begin() + static_cast<std::ptrdiff_t>(wanted_) - 1;
    std::nth_element(found_.begin(), last, found_.end());
    reach_ = std::min(reach_, last->most);
    std::erase_if(found_, [&](const Candidate& candidate) { return candidate.least > reach_; });
  }
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Candidate& candidate : found_) visit(candidate.slot);
  }

 private:
  struct Candidate {  // bounds on the squared distance
    double most;
    double least;
    Index slot;
    bool operator<(const Candidate& other) const { return most < other.most; }
  };

  std::size_t wanted_;
  std::size_t most_;  // the list is cut back when it grows beyond this
  std::vector<Candidate> found_;
  double reach_ = infinity;
};

// Finds the scales of the points of one block; one object per thread.
class BlockScales {
 public:
  BlockScales(const Blocks& blocks, const ScaleOptions& options)
      : blocks_(blocks),
        squares_(blocks),
        neighbors_(static_cast<Index>(options.neighbors) + 1),
        spacing_(std::min(options.spacing + 1, blocks.tree.locations)),
        candidates_(static_cast<std::size_t>(blocks.room),
                    Candidates(std::max(neighbors_, spacing_), blocks.room)),
        found_(std::max(neighbors_, spacing_), blocks.tree.stride) {}

  template <class Write>
  void find(Index block, const Execution& execution, const Write& write) {
    for (Candidates& candidates : candidates_) candidates.reset();
    for_blocks_around(blocks_, block, execution, [&](Index other) { meet(block, other); });
    if (execution.stops()) return;  // there may be too few candidates
    for (int i = 0; i < blocks_.size(block); ++i) {
      const Index slot = blocks_.slots[blocks_.begin(block) + i];
      candidates_[i].cut_back();
      found_.reset(infinity);
      candidates_[i].for_each(
          [&](Index other) { found_.add(square_between(blocks_.tree, slot, other)); });
      write(slot, found_.scale(neighbors_, spacing_));
    }
  }

 private:
  // Considers the points of block b as neighbors of those of block a.
  void meet(Index a, Index b) {
    if (!squares_.is_near(a, b, [&](int i) { return candidates_[i].reach(); })) return;
    squares_.multiply(a, b);
    for (int i = 0; i < blocks_.size(a); ++i) {
      Candidates& candidates = candidates_[i];
      if (squares_.to_box(i) > candidates.reach()) continue;
      squares_.for_each_within(i, candidates.reach(), [&](Index slot, double square, double error) {
        candidates.add(square, error, slot);
      });
      candidates.cut_back_if_long();
    }
  }

  const Blocks& blocks_;
  BlockSquares squares_;
  Index neighbors_;                     // K + 1
  Index spacing_;                       // g + 1, or the number of locations if there are fewer
  std::vector<Candidates> candidates_;  // by point of the block
  NearestSquares found_;
};

}  // namespace

void scales_in_blocks(const Tree& tree, const ScaleOptions& options, const Execution& execution,
                      const std::function<void(Index, const ScaleOfPoint&)>& write) {
  const Blocks blocks(tree, execution);
  run_tasks(execution, blocks.count(), 2.0 * work_of(blocks), [&] {
    return [&, worker = BlockScales(blocks, options)](Index block) mutable {
      worker.find(block, execution, write);
    };
  });
}

bool blocks_pay_for_scales(const Tree& tree, const ScaleOptions&) { return tree.features > 8; }

}  // namespace quickshift
