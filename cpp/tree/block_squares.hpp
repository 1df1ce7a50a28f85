// Approximate squared distances between all points of two blocks, from a matrix product in single
// precision, with a bound on their errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tree/blocks.hpp"

namespace quickshift {

// Scratch memory of one thread.
class BlockSquares {
 public:
  explicit BlockSquares(const Blocks& blocks)
      : blocks_(blocks),
        features_(blocks.tree.features),
        error_(lowered_error(features_)),
        underflow_(single_underflow(features_)),
        room_(single_panels_for(blocks.room) * single_panel_width),
        rows_(static_cast<std::size_t>(room_ * features_)),
        columns_(rows_.size()),
        row_norms_(static_cast<std::size_t>(room_)),
        column_norms_(row_norms_.size()),
        lowered_(row_norms_.size()),
        matrix_(static_cast<std::size_t>(room_ * room_)),
        to_box_(row_norms_.size()),
        chosen_(row_norms_.size()),
        squares_(row_norms_.size()) {}

  // Computes the least squared distance from each point of block a to the box of block b, and
  // returns whether it is at most reach(i) for any point i.
  template <class Reach>
  bool is_near(Index a, Index b, const Reach& reach) {
    product_loops().squares_to_box(blocks_.panels_of(a), blocks_.size(a), features_, blocks_.box(b),
                                   to_box_.data());
    for (int i = 0; i < blocks_.size(a); ++i) {
      if (to_box_[i] <= reach(i)) return true;
    }
    return false;
  }
  // That distance, for the blocks of the last call of is_near.
  double to_box(int i) const { return to_box_[i]; }

  // Prepares the products of the points of block a with those of block b.
  void multiply(Index a, Index b) {
    const double* center = blocks_.center(b);
    count_ = blocks_.size(b);
    first_ = blocks_.begin(b);
    product_loops().center_single(blocks_.panels_of(b), count_, features_, center, columns_.data(),
                                  column_norms_.data());
    product_loops().center_single(blocks_.panels_of(a), blocks_.size(a), features_, center,
                                  rows_.data(), row_norms_.data());
    for (std::size_t c = 0; c < lowered_.size(); ++c) lowered_[c] = lowered(column_norms_[c]);
    width_ = single_panels_for(count_) * single_panel_width;
    product_loops().products_single(rows_.data(), 0, blocks_.size(a), columns_.data(),
                                    single_panels_for(count_), features_, matrix_.data());
  }

  // Calls visit(position, square, error) for the points of block b whose squared distance from the
  // i-th point of block a may be at most `reach`. The error bounds that of `square`. Each pair has
  // an error of its own: norms from which their share of the error has been subtracted give squares
  // that exceed the true ones by at most `underflow_`.
  template <class Visit>
  void for_each_within(int i, double reach, const Visit& visit) {
    const float* row = matrix_.data() + i * width_;
    const int chosen = product_loops().within(row, lowered(row_norms_[i]), lowered_.data(),
                                              rounded_up(reach + underflow_), width_,
                                              chosen_.data(), squares_.data());
    for (int c = 0; c < chosen; ++c) {
      const double norms = double{row_norms_[i]} + double{column_norms_[chosen_[c]]};
      visit(first_ + chosen_[c], double{squares_[c]} + error_ * norms, error_ * norms + underflow_);
    }
  }

 private:
  float lowered(float norm) const { return static_cast<float>((1.0 - error_) * double{norm}); }

  const Blocks& blocks_;
  int features_;
  double error_;      // of an approximate square, relative to the sum of the two norms
  double underflow_;  // added to that error
  int room_;
  std::vector<float> rows_;
  std::vector<float> columns_;
  std::vector<float> row_norms_;
  std::vector<float> column_norms_;
  std::vector<float> lowered_;  // the norms of the columns without their share of the error
  std::vector<float> matrix_;
  std::vector<double> to_box_;
  std::vector<int> chosen_;  // columns that for_each_within has found, and their squares
  std::vector<float> squares_;
  int count_ = 0;    // points of block b
  Index first_ = 0;  // the position of its first point
  int width_ = 0;    // columns of the matrix
};

// Calls visit(other) for all blocks, those that are close in the order of the tree first: they are
// often close in space.
template <class Visit>
void for_blocks_around(const Blocks& blocks, Index block, const Execution& execution,
                       const Visit& visit) {
  visit(block);
  for (Index step = 1; step < blocks.count() && !execution.stops(); ++step) {
    if (block - step >= 0) visit(block - step);
    if (block + step < blocks.count()) visit(block + step);
  }
}

}  // namespace quickshift
