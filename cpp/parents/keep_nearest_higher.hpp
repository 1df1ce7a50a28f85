// The keeper (tree/search.hpp) of a search for the nearest higher sample.
#pragma once

#include <limits>

#include "tree/heights.hpp"
#include "tree/search.hpp"

namespace quickshift {

// Keeps the nearest sample that is higher than a given point; of equally near samples, the highest.
class KeepNearestHigher {
 public:
  // height: the rounded height of the point. strict: if true, samples of equal height are not
  // higher; if false, coordinates break ties. own_leaf: the leaf that contains the point, or -1 if
  // the point is not a sample. reach: samples at a larger squared distance are ignored.
  KeepNearestHigher(const Heights& heights, double height, const double* point, bool strict,
                    Index own_leaf = -1, double reach = std::numeric_limits<double>::infinity())
      : heights_(heights),
        height_(height),
        point_(point),
        strict_(strict),
        own_leaf_(own_leaf),
        square_(reach) {}

  double reach() const { return square_; }
  bool wants(Index node) const {
    const double highest = heights_.greatest_height(node);
    return highest > height_ || (highest == height_ && is_higher(heights_.highest_below(node)));
  }
  // Offers only the nearest of the leaf's samples whose heights exceed that of the point. This
  // suffices unless ties are not strict and another sample of the leaf has the same height:
  // coordinates then decide which of the two is higher, so all samples of the leaf are offered. In
  // the point's own leaf, view.equal counts the point itself, which is not another sample.
  void scan(const PairKernels& kernels, const Tree& tree, Index leaf, const double* point,
            double* squares) {
    const Index first = leaf * tree.stride;
    const LeafView view = kernels.squares_above(point, tree.leaf_block(leaf),
                                                heights_.by_slot() + first, height_, squares);
    if (!strict_ && view.equal > (leaf == own_leaf_)) {
      offer_leaf(kernels, tree, leaf, point, squares, *this);
    } else if (view.least <= square_ && view.least < std::numeric_limits<double>::infinity()) {
      for (int i = 0; i < tree.stride; ++i) {
        if (squares[i] == view.least) offer(first + i, squares[i]);
      }
    }
  }
  void offer(Index slot, double square) {
    if (!is_higher(slot)) return;
    if (slot_ < 0 || square < square_ || heights_.higher(slot, slot_)) {
      square_ = square;
      slot_ = slot;
    }
  }
  double square() const { return square_; }
  Index slot() const { return slot_; }

 private:
  bool is_higher(Index slot) const {
    const double other = heights_.height(slot);
    if (other != height_ || strict_) return other > height_;
    return heights_.higher(slot, height_, point_);
  }

  const Heights& heights_;
  double height_;
  const double* point_;
  bool strict_;
  Index own_leaf_;
  double square_;
  Index slot_ = -1;
};

}  // namespace quickshift
