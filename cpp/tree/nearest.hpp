// Nearest samples, of any height.
#pragma once

#include <limits>
#include <vector>

#include "tree/kdtree.hpp"
#include "tree/search.hpp"

namespace quickshift {

// The nearest sample of each query, by slot of the queries.
struct Nearest {
  std::vector<double> square;  // squared distance; infinite if there is no sample
  std::vector<Index> slot;     // slot of the sample; -1 if there is none
};

// Finds the nearest sample of every query. If the queries are the samples themselves (the same Tree
// object) and leave_out is set, finds the nearest other sample.
Nearest nearest_samples(const Tree& queries, const Tree& samples, bool leave_out,
                        const Execution& execution);

// A keeper (tree/search.hpp) that keeps the nearest sample; of equally near samples, the first in
// slot order.
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
