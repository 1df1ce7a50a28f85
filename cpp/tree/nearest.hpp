// Nearest samples, whatever their density.
#pragma once

#include <limits>
#include <vector>

#include "tree/kdtree.hpp"
#include "tree/search.hpp"

namespace quickshift {

struct Nearest {
  std::vector<double> square;  // by slot of the queries; infinite where there is no sample
  std::vector<Index> slot;     // of the samples; -1 where there is none
};

// For every query location its nearest sample location; with `queries` the tree `samples` itself
// and leave_out, its nearest other one.
Nearest nearest_samples(const Tree& queries, const Tree& samples, bool leave_out,
                        const Execution& execution);

// Keeps the nearest sample, whichever of equally near ones comes first in the tree.
class KeepNearest {
 public:
  explicit KeepNearest(Index excluded = -1) : excluded_(excluded) {}

  double reach() const { return square_; }
  bool wants(Index) const { return true; }
  void scan(const PairKernels& kernels, const Tree& tree, Index leaf, const double* point,
            double* squares) {
    offer_leaf(kernels, tree, leaf, point, squares, *this);
  }
  void offer(Index slot, double square) {
    if (slot == excluded_) return;
    if (square < square_ || slot_ < 0 || (square == square_ && slot < slot_)) {
      square_ = square;
      slot_ = slot;
    }
  }
  double square() const { return square_; }
  Index slot() const { return slot_; }

 private:
  Index excluded_;
  double square_ = std::numeric_limits<double>::infinity();
  Index slot_ = -1;
};

}  // namespace quickshift
