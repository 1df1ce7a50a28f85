// A matrix product in single precision gives approximate squared distances between all points of
// two blocks, with a bound on their errors. Each point of a block keeps the samples whose
// approximate distance may be among its smallest; the few that remain after all blocks were visited
// are computed by the definition in double precision. So the scales have the same bits as those
// from the tree.
#include "scale/block_scales.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "scale/nearest_squares.hpp"
#include "tree/blocks.hpp"
#include "tree/box.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr float infinity_single = std::numeric_limits<float>::infinity();

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
        tree_(blocks.tree),
        features_(tree_.features),
        neighbors_(static_cast<Index>(options.neighbors) + 1),
        spacing_(std::min(options.spacing + 1, tree_.locations)),
        error_(1.01 * product_error(features_, 0x1p-24) + 4.0 * definition_error(features_)),
        underflow_((features_ + 4) * 0x1p-120),
        room_(single_panels_for(blocks.room) * single_panel_width),
        candidates_(static_cast<std::size_t>(blocks.room),
                    Candidates(std::max(neighbors_, spacing_), blocks.room)),
        found_(std::max(neighbors_, spacing_), tree_.stride),
        rows_(static_cast<std::size_t>(room_ * features_)),
        columns_(rows_.size()),
        row_norms_(static_cast<std::size_t>(room_)),
        column_norms_(row_norms_.size()),
        no_ranks_(row_norms_.size(), 0),
        least_(row_norms_.size()),
        no_limits_(row_norms_.size(), -infinity_single),
        matrix_(static_cast<std::size_t>(room_ * room_)),
        to_box_(static_cast<std::size_t>(room_)),
        chosen_(row_norms_.size()) {}

  template <class Write>
  void find(Index block, const Execution& execution, const Write& write) {
    for (Candidates& candidates : candidates_) candidates.reset();
    // Blocks that are close in the order of the tree are often close in space.
    meet(block, block);
    for (Index step = 1; step < blocks_.count() && !execution.stops(); ++step) {
      if (block - step >= 0) meet(block, block - step);
      if (block + step < blocks_.count()) meet(block, block + step);
    }
    for (int i = 0; i < blocks_.size(block); ++i) {
      const Index slot = blocks_.slots[blocks_.begin(block) + i];
      candidates_[i].cut_back();
      found_.reset(infinity);
      candidates_[i].for_each([&](Index other) { found_.add(square(slot, other)); });
      write(slot, found_.scale(neighbors_, spacing_));
    }
  }

 private:
  // Considers the points of block b as neighbors of those of block a.
  void meet(Index a, Index b) {
    if (!is_near(a, b)) return;
    const double* center = blocks_.center(b);
    const int count = blocks_.size(b);
    product_loops().center_single(blocks_.panels_of(b), count, features_, center, columns_.data(),
                                  column_norms_.data());
    product_loops().center_single(blocks_.panels_of(a), blocks_.size(a), features_, center,
                                  rows_.data(), row_norms_.data());
    const int panels = single_panels_for(count);
    const int width = panels * single_panel_width;
    const double largest = *std::max_element(column_norms_.begin(), column_norms_.begin() + count);
    product_loops().products_single(rows_.data(), 0, blocks_.size(a), columns_.data(), panels,
                                    features_, matrix_.data());
    for (int i = 0; i < blocks_.size(a); ++i) {
      if (to_box_[i] > candidates_[i].reach()) continue;
      float* row = matrix_.data() + i * width;
      // All columns have the rank 0 and the row has the rank 1, so every column counts.
      product_loops().minima(row_norms_[i], column_norms_.data(), 1, no_ranks_.data(), width, row,
                             least_.data());
      add_row(i, row, width, count, b, error_ * (row_norms_[i] + largest) + underflow_);
    }
  }

  void add_row(int i, const float* row, int width, int count, Index b, double error) {
    Candidates& candidates = candidates_[i];
    const double limit = candidates.reach() + error;
    const float single = limit < std::numeric_limits<float>::max()
                             ? std::nextafter(static_cast<float>(limit), infinity_single)
                             : std::numeric_limits<float>::max();
    const int chosen = product_loops().candidates(row, 1, single, no_ranks_.data(),
                                                  no_limits_.data(), width, chosen_.data());
    const Index first = blocks_.begin(b);
    for (int c = 0; c < chosen; ++c) {
      if (chosen_[c] < count) {
        candidates.add(row[chosen_[c]], error, blocks_.slots[first + chosen_[c]]);
      }
    }
    candidates.cut_back_if_long();
  }

  // Whether any point of block a may have a neighbor in block b. Sets to_box_.
  bool is_near(Index a, Index b) {
    product_loops().squares_to_box(blocks_.panels_of(a), blocks_.size(a), features_, blocks_.box(b),
                                   to_box_.data());
    for (int i = 0; i < blocks_.size(a); ++i) {
      if (to_box_[i] <= candidates_[i].reach()) return true;
    }
    return false;
  }

  double square(Index slot, Index other) const {
    const double* x = tree_.leaf_coordinates(slot / tree_.stride) + slot % tree_.stride;
    const double* y = tree_.leaf_coordinates(other / tree_.stride) + other % tree_.stride;
    double sum = 0.0;
    for (int k = 0; k < features_; ++k) {
      const double delta = x[k * tree_.stride] - y[k * tree_.stride];
      sum += delta * delta;
    }
    return sum;
  }

  const Blocks& blocks_;
  const Tree& tree_;
  int features_;
  Index neighbors_;   // K + 1
  Index spacing_;     // g + 1, or the number of locations if there are fewer
  double error_;      // of an approximate square, relative to the sum of the two norms
  double underflow_;  // added to that error
  int room_;
  std::vector<Candidates> candidates_;  // by point of the block
  NearestSquares found_;
  std::vector<float> rows_;
  std::vector<float> columns_;
  std::vector<float> row_norms_;
  std::vector<float> column_norms_;
  std::vector<int> no_ranks_;
  std::vector<float> least_;
  std::vector<float> no_limits_;
  std::vector<float> matrix_;
  std::vector<double> to_box_;
  std::vector<int> chosen_;
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
