// Parents by pairs of blocks of points, for many features.
//
// A matrix product in single precision gives approximate squared distances between all points of
// two blocks, with a bound on their errors. A pair of points that cannot be parent and child even
// with the largest error is discarded. The squared distances of the few remaining pairs are
// computed by the definition in double precision, so the parents are exact.
#include <cmath>
#include <limits>
#include <numeric>

#include "parents/nearest_higher.hpp"
#include "support/radix_sort.hpp"
#include "tree/blocks.hpp"
#include "tree/pair_schedule.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr float infinity_single = std::numeric_limits<float>::infinity();

// The rank of each location, by position in the blocks; the highest location has rank 0. With
// strict ties, locations of equal height share a rank, so that neither is higher than the other.
std::vector<int> rank_locations(const Blocks& blocks, const Heights& heights, bool strict) {
  struct LocationHeight {
    double height;
    int position;
  };
  std::vector<LocationHeight> order;
  order.reserve(blocks.slots.size());
  for (const Index slot : blocks.slots) {
    order.push_back({heights.height(slot), static_cast<int>(order.size())});
  }
  radix_sort(order, [](const LocationHeight& location) { return falling(location.height); });
  const auto higher = [&](const LocationHeight& a, const LocationHeight& b) {
    return heights.higher(blocks.slots[a.position], blocks.slots[b.position]);
  };
  for (auto first = order.begin(); first != order.end();) {
    const double height = first->height;
    const auto last = std::find_if(first, order.end(), [&](const LocationHeight& location) {
      return location.height != height;
    });
    if (last - first > 1) std::sort(first, last, higher);
    first = last;
  }
  std::vector<int> ranks(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool shared = strict && i > 0 && order[i].height == order[i - 1].height;
    ranks[order[i].position] = shared ? ranks[order[i - 1].position] : static_cast<int>(i);
  }
  return ranks;
}

struct BlockSearchProblem {
  const Blocks& blocks;
  const Heights& heights;
  std::vector<int> ranks;     // by position
  std::vector<int> smallest;  // by block: its smallest rank, which its highest location has
  // The error of an approximate square is at most `error` times the sum of the squared norms of the
  // two points, plus `underflow`.
  double error;
  double underflow;

  BlockSearchProblem(const Blocks& all, const Heights& order, bool strict)
      : blocks(all),
        heights(order),
        ranks(rank_locations(all, order, strict)),
        smallest(static_cast<std::size_t>(all.count())),
        error(single_error(all.tree.features)),
        underflow(single_underflow(all.tree.features)) {
    for (Index block = 0; block < all.count(); ++block) {
      const auto first = ranks.begin() + all.begin(block);
      smallest[block] = *std::min_element(first, first + all.size(block));
    }
  }
};

// All or some points of a block in single precision, relative to a center.
struct CenteredPoints {
  CenteredPoints(const Blocks& blocks, int features)
      : room(single_panels_for(blocks.room) * single_panel_width),
        points(static_cast<std::size_t>(room * features)),
        norms(static_cast<std::size_t>(room)),
        ranks(norms.size()),
        positions(norms.size()) {}

  int count = 0;
  int room;
  std::vector<float> points;
  std::vector<float> norms;
  std::vector<int> ranks;
  std::vector<Index> positions;
  float largest = 0.0f;  // the largest norm
};

// Processes pairs of blocks; one object per thread.
class BlockSearchWorker {
 public:
  BlockSearchWorker(const BlockSearchProblem& problem, const Execution& execution,
                    NearestHigher& found, std::vector<double>& widest)
      : execution_(&execution),
        problem_(&problem),
        blocks_(&problem.blocks),
        features_(problem.blocks.tree.features),
        squares_(found.square.data()),
        slots_(found.slot.data()),
        rows_(*blocks_, features_),
        columns_(*blocks_, features_),
        widest_(widest.data()),
        to_box_(static_cast<std::size_t>(blocks_->room)),
        gathered_(static_cast<std::size_t>(blocks_->room * features_)),
        matrix_(static_cast<std::size_t>(rows_.room * rows_.room)),
        least_of_rows_(static_cast<std::size_t>(rows_.room)),
        least_of_columns_(least_of_rows_.size()),
        candidates_(least_of_rows_.size()) {}

  void process_vertices(Index a, Index b) {
    const Index blocks = blocks_->blocks_per_vertex();
    for (Index column = b * blocks; column < (b + 1) * blocks && !execution_->stops(); ++column) {
      for (Index row = a * blocks; row < (a + 1) * blocks && row <= column; ++row) {
        process_pair(row, column);
      }
    }
  }

 private:
  void process_pair(Index a, Index b) {
    if (a == b) {
      list_all_points(a, chosen_);
      offer(a, chosen_, b, false);
      return;
    }
    const double gap = between_boxes(blocks_->box(a), blocks_->box(b), features_, nullptr).least;
    list_points_in_reach(a, b, gap, chosen_);
    list_points_in_reach(b, a, gap, others_);
    const auto wanted = chosen_.size() + others_.size();
    if (wanted == 0) return;
    if (wanted < static_cast<std::size_t>(blocks_->size(a))) {
      if (!chosen_.empty()) offer(a, chosen_, b, false);
      if (!others_.empty()) offer(b, others_, a, false);
      return;
    }
    list_all_points(a, chosen_);
    offer(a, chosen_, b, true);
  }

  void list_all_points(Index block, std::vector<int>& points) const {
    points.resize(static_cast<std::size_t>(blocks_->size(block)));
    std::iota(points.begin(), points.end(), 0);
  }

  // Lists the points of a block whose parents may be in the other block: the points that are lower
  // than its highest point, and not farther from its box than from their best candidate so far.
  void list_points_in_reach(Index block, Index other, double gap, std::vector<int>& points) {
    points.clear();
    if (widest_[block] < gap) return;
    product_loops().squares_to_box(blocks_->panels_of(block), blocks_->size(block), features_,
                                   blocks_->box(other), to_box_.data());
    const Index first = blocks_->begin(block);
    double widest = 0.0;
    for (int i = 0; i < blocks_->size(block); ++i) {
      const bool lower = problem_->ranks[first + i] > problem_->smallest[other];
      const double square = squares_[blocks_->slots[first + i]];
      widest = std::max(widest, square);
      if (lower && square >= to_box_[i]) points.push_back(i);
    }
    widest_[block] = widest;
  }

  void load(Index block, const std::vector<int>& points, const double* center, CenteredPoints& to) {
    const double* from = blocks_->panels_of(block);
    to.count = static_cast<int>(points.size());
    if (to.count < blocks_->size(block)) {
      gather(block, points);
      from = gathered_.data();
    }
    product_loops().center_single(from, to.count, features_, center, to.points.data(),
                                  to.norms.data());
    to.largest = *std::max_element(to.norms.begin(), to.norms.begin() + to.count);
    for (int i = 0; i < to.count; ++i) {
      to.positions[i] = blocks_->begin(block) + points[i];
      to.ranks[i] = problem_->ranks[to.positions[i]];
    }
  }

  void gather(Index block, const std::vector<int>& points) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double* from = blocks_->point(block, points[i]);
      double* to = gathered_.data() + i / panel_width * panel_width * features_ + i % panel_width;
      for (int k = 0; k < features_; ++k) to[k * panel_width] = from[k * panel_width];
    }
  }

  // Considers the points of block b as parents of the chosen points of block a. If `both` is true,
  // the chosen points of a are also considered as parents of the points of b.
  void offer(Index a, const std::vector<int>& chosen, Index b, bool both) {
    const double* center = blocks_->center(b);
    if (b != loaded_) {
      list_all_points(b, all_);
      load(b, all_, center, columns_);
      loaded_ = b;
    }
    load(a, chosen, center, rows_);
    const int panels = single_panels_for(columns_.count);
    width_ = panels * single_panel_width;
    product_loops().products_single(rows_.points.data(), 0, rows_.count, columns_.points.data(),
                                    panels, features_, matrix_.data());
    std::fill(least_of_columns_.begin(), least_of_columns_.end(), infinity_single);
    for (int i = 0; i < rows_.count; ++i) {
      least_of_rows_[i] = product_loops().minima(
          rows_.norms[i], columns_.norms.data(), rows_.ranks[i], columns_.ranks.data(), width_,
          matrix_.data() + i * width_, least_of_columns_.data());
    }
    turn_into_limits(rows_, columns_.largest, least_of_rows_);
    if (both) {
      turn_into_limits(columns_, rows_.largest, least_of_columns_);
    } else {
      std::fill(least_of_columns_.begin(), least_of_columns_.end(), -infinity_single);
    }
    check_candidates(both);
  }

  // Replaces the least approximate square of each point by the largest approximate square that its
  // nearest higher point can have: a point whose approximate square exceeds the least one by more
  // than twice the error is certainly farther away. The limit is minus infinity if no point of the
  // other block can be the parent.
  void turn_into_limits(const CenteredPoints& points, float largest,
                        std::vector<float>& least) const {
    for (int i = 0; i < points.count; ++i) {
      const double off =
          problem_->error * (static_cast<double>(points.norms[i]) + largest) + problem_->underflow;
      const double best = squares_[blocks_->slots[points.positions[i]]];
      const bool none = least[i] == infinity_single || least[i] - off > best;
      const double most = std::min(least[i] + 2.0 * off, best + off);
      least[i] = none ? -infinity_single : rounded_up(most);
    }
    std::fill(least.begin() + points.count, least.end(), -infinity_single);
  }

  // Computes the squares of the remaining pairs, which may be parent and child, in double
  // precision.
  void check_candidates(bool both) {
    for (int i = 0; i < rows_.count; ++i) {
      if (!both && least_of_rows_[i] == -infinity_single) continue;
      const int count = product_loops().candidates(
          matrix_.data() + i * width_, rows_.ranks[i], least_of_rows_[i], columns_.ranks.data(),
          least_of_columns_.data(), width_, candidates_.data());
      const Index row = blocks_->slots[rows_.positions[i]];
      for (int f = 0; f < count; ++f) {
        const Index column = blocks_->slots[columns_.positions[candidates_[f]]];
        if (columns_.ranks[candidates_[f]] < rows_.ranks[i]) {
          compare(row, column);
        } else {
          compare(column, row);
        }
      }
    }
  }

  void compare(Index slot, Index other) {
    const double square = square_between(blocks_->tree, slot, other);
    const bool nearer = square < squares_[slot];
    if (nearer || (square == squares_[slot] && problem_->heights.higher(other, slots_[slot]))) {
      squares_[slot] = square;
      slots_[slot] = other;
    }
  }

  const Execution* execution_;
  const BlockSearchProblem* problem_;
  const Blocks* blocks_;
  int features_;
  double* squares_;  // by slot: squared distance to the nearest higher location so far
  Index* slots_;     // by slot: the slot of that location
  CenteredPoints rows_;
  CenteredPoints columns_;
  double* widest_;  // by block: an upper bound on squares_ of its points
  std::vector<double> to_box_;
  Index loaded_ = -1;  // the block that columns_ holds
  std::vector<double> gathered_;
  std::vector<float> matrix_;
  int width_ = 0;  // columns of the matrix
  std::vector<float> least_of_rows_;
  std::vector<float> least_of_columns_;
  std::vector<int> candidates_;
  std::vector<int> chosen_;
  std::vector<int> others_;
  std::vector<int> all_;
};

}  // namespace

NearestHigher nearest_higher_in_blocks(const Tree& tree, const Heights& heights, bool strict,
                                       const Execution& execution) {
  const Blocks blocks(tree, execution);
  const BlockSearchProblem problem(blocks, heights, strict);
  const auto slots = static_cast<std::size_t>(tree.slots());
  NearestHigher found{std::vector<double>(slots, infinity), std::vector<Index>(slots, -1)};
  std::vector<double> widest(static_cast<std::size_t>(blocks.count()), infinity);
  run_pairs(
      execution, blocks.vertices(), work_of(blocks), [](Index, Index) { return true; },
      [&] {
        return [worker = BlockSearchWorker(problem, execution, found, widest)](
                   Index a, Index b) mutable { worker.process_vertices(a, b); };
      });
  return found;
}

}  // namespace quickshift
