// A matrix product in single precision gives approximate squared distances between all points of
// two blocks, with a bound on their errors. Each point of a block keeps the samples whose
// approximate distance may be among its smallest; the few that remain after all blocks were visited
// are computed by the definition in double precision. So the scales have the same bits as those
// from the tree. These few are scattered over all blocks, so the definition is evaluated on a copy
// of the points in which the coordinates of a point are adjacent.
#include "scale/block_scales.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "scale/nearest_squares.hpp"
#include "tree/block_squares.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The samples that may be among the `wanted` nearest of one point, with bounds on their squared
// distances.
class Candidates {
 public:
  Candidates(Index wanted, int room) : wanted_(wanted), fewest_(2 * wanted + room) {}

  void reset() {
    count_ = 0;
    most_ = fewest_;
    reach_ = infinity;
  }
  // An upper bound on the squared distance to the farthest of the wanted samples.
  double reach() const { return reach_; }
  // Makes room for more candidates, and for the padding behind them.
  void reserve(int more) {
    const auto needed = static_cast<std::size_t>(count_ + more + neighbor_step);
    if (needed <= upper_.size()) return;
    const std::size_t size = std::max(needed, 2 * upper_.size());
    upper_.resize(size);
    lower_.resize(size);
    positions_.resize(size);
  }
  void add(double square, double error, Index position) {
    upper_[count_] = square + error;
    lower_[count_] = square - error;
    positions_[count_] = position;
    count_ += square - error <= reach_;
  }
  // Cutting back takes time in proportion to the length. If the errors are so large that nearly all
  // candidates remain, the list has to double before the next attempt.
  void cut_back_if_long() {
    if (count_ <= most_) return;
    cut_back();
    most_ = std::max(fewest_, 2 * count_);
  }
  // Lowers the reach and drops the candidates beyond it. A few more than the wanted samples may
  // remain, because that takes less time than to find the exact limit.
  void cut_back() {
    if (count_ < wanted_) return;
    std::fill_n(upper_.begin() + count_, neighbor_step, infinity);
    reach_ = std::min(reach_, limit_for(upper_, count_, wanted_, wanted_ + 8 + wanted_ / 8).limit);
    Index kept = 0;
    for (Index i = 0; i < count_; ++i) {
      upper_[kept] = upper_[i];
      lower_[kept] = lower_[i];
      positions_[kept] = positions_[i];
      kept += lower_[i] <= reach_;
    }
    count_ = kept;
  }
  Index size() const { return count_; }
  Index operator[](Index i) const { return positions_[i]; }

 private:
  Index wanted_;
  Index fewest_;    // the list may always become as long as this
  Index most_ = 0;  // the list is cut back when it grows beyond this
  Index count_ = 0;
  double reach_ = infinity;
  std::vector<double> upper_;  // bounds on the squared distance, by candidate
  std::vector<double> lower_;
  std::vector<Index> positions_;
};

// The points in the order of their positions, the coordinates of each point next to each other.
class AdjacentCoordinates {
 public:
  AdjacentCoordinates(const Blocks& blocks, const Execution& execution)
      : features_(blocks.tree.features),
        values_(unset_array<double>(blocks.tree.locations * features_)) {
    run_tasks(execution, blocks.count(), static_cast<double>(values_.size()), [&] {
      return [&](Index block) {
        double* to = values_.data() + blocks.begin(block) * features_;
        for (int i = 0; i < blocks.size(block); ++i) {
          const double* from = blocks.point(block, i);
          for (int k = 0; k < features_; ++k) *to++ = from[k * panel_width];
        }
      };
    });
  }

  // The squared distances from one point to `at_once` others, by the definition: each is a chain of
  // additions, and the chains run side by side.
  static constexpr int at_once = 8;
  void squares(Index position, const Index* others, double* result) const {
    const double* const x = values_.data() + position * features_;
    const double* y[at_once];
    for (int j = 0; j < at_once; ++j) y[j] = values_.data() + others[j] * features_;
    double sums[at_once] = {};
    for (int k = 0; k < features_; ++k) {
      for (int j = 0; j < at_once; ++j) {
        const double delta = x[k] - y[j][k];
        sums[j] += delta * delta;
      }
    }
    std::copy(sums, sums + at_once, result);
  }

 private:
  Index features_;
  Array<double> values_;
};

// Finds the scales of the points of one block; one object per thread.
class BlockScales {
 public:
  BlockScales(const Blocks& blocks, const AdjacentCoordinates& coordinates,
              const ScaleOptions& options)
      : blocks_(blocks),
        coordinates_(coordinates),
        squares_(blocks),
        neighbors_(with_itself(options)),
        spacing_(std::min(options.spacing + 1, blocks.tree.locations)),
        candidates_(static_cast<std::size_t>(blocks.room),
                    Candidates(std::max(neighbors_.back(), spacing_), blocks.room)),
        found_(std::max(neighbors_.back(), spacing_), blocks.tree.stride) {}

  template <class Write>
  void find(Index block, const Execution& execution, const Write& write) {
    for (Candidates& candidates : candidates_) candidates.reset();
    for_blocks_around(blocks_, block, execution, [&](Index other) { meet(block, other); });
    if (execution.stops()) return;  // there may be too few candidates
    for (int i = 0; i < blocks_.size(block); ++i) {
      const Index position = blocks_.begin(block) + i;
      candidates_[i].cut_back();
      measure(position, candidates_[i]);
      ScaleOfPoint scale = found_.scale(neighbors_, spacing_);
      list_near(position, candidates_[i], scale.tau);
      scale.near = near_;
      write(blocks_.slots[position], scale);
    }
  }

 private:
  // Collects the squared distances from a point to its candidates.
  void measure(Index position, const Candidates& candidates) {
    constexpr int at_once = AdjacentCoordinates::at_once;
    Index others[at_once];
    double squares[at_once];
    found_.reset(infinity);
    measured_.clear();
    for (Index first = 0; first < candidates.size(); first += at_once) {
      const int count = static_cast<int>(std::min<Index>(at_once, candidates.size() - first));
      for (int j = 0; j < at_once; ++j) others[j] = candidates[first + (j < count ? j : 0)];
      coordinates_.squares(position, others, squares);
      for (int j = 0; j < count; ++j) found_.add(squares[j]);
      measured_.insert(measured_.end(), squares, squares + count);
    }
  }

  // Lists the candidates that are within tau of a point. No other location is.
  void list_near(Index position, const Candidates& candidates, double tau) {
    near_.clear();
    for (Index j = 0; j < candidates.size(); ++j) {
      if (candidates[j] == position || !(std::sqrt(measured_[j]) <= tau)) continue;
      near_.push_back(blocks_.slots[candidates[j]]);
    }
  }

  // Considers the points of block b as neighbors of those of block a.
  void meet(Index a, Index b) {
    if (!squares_.is_near(a, b, [&](int i) { return candidates_[i].reach(); })) return;
    squares_.multiply(a, b);
    for (int i = 0; i < blocks_.size(a); ++i) {
      Candidates& candidates = candidates_[i];
      if (squares_.to_box(i) > candidates.reach()) continue;
      candidates.reserve(blocks_.size(b));
      squares_.for_each_within(i, candidates.reach(),
                               [&](Index position, double square, double error) {
                                 candidates.add(square, error, position);
                               });
      candidates.cut_back_if_long();
    }
  }

  const Blocks& blocks_;
  const AdjacentCoordinates& coordinates_;
  BlockSquares squares_;
  std::vector<Index> neighbors_;        // every K + 1
  Index spacing_;                       // g + 1, or the number of locations if there are fewer
  std::vector<Candidates> candidates_;  // by point of the block
  NearestSquares found_;
  std::vector<double> measured_;  // the squared distance to each candidate of the last point
  std::vector<Index> near_;
};

}  // namespace

void scales_in_blocks(const Tree& tree, const ScaleOptions& options, const Execution& execution,
                      const std::function<void(Index, const ScaleOfPoint&)>& write) {
  const Blocks blocks(tree, execution, BlockCenter::medians);
  const AdjacentCoordinates coordinates(blocks, execution);
  run_tasks(execution, blocks.count(), 2.0 * work_of(blocks), [&] {
    return [&, worker = BlockScales(blocks, coordinates, options)](Index block) mutable {
      worker.find(block, execution, write);
    };
  });
}

}  // namespace quickshift
