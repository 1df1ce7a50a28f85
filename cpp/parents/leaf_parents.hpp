// The parents of all locations of a leaf.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>

#include "parents/keep_nearest_higher.hpp"
#include "tree/search.hpp"

namespace quickshift {

// The smallest float above a value; infinity is its own.
inline double next_above(double value) {
  if (value == std::numeric_limits<double>::infinity()) return value;
  if (value == 0.0) return std::numeric_limits<double>::denorm_min();
  const auto bits = std::bit_cast<std::int64_t>(value);
  return std::bit_cast<double>(value > 0.0 ? bits + 1 : bits - 1);
}

// Looks for the parents of all locations of a leaf: in lanes, as far as the nearest higher sample
// of their own leaf; the few that this does not settle one by one. These are the highest of the
// leaf, and those that need a look at equal heights or equal distances.
class LeafParents {
 public:
  LeafParents(const Tree& tree, const Heights& heights, bool strict, TreeSearch& search)
      : tree_(tree), heights_(heights), strict_(strict), search_(search) {}

  // Runs write(slot, parent's slot or -1, square) for each location of the leaf. point: room for
  // the coordinates of one.
  template <class Write>
  void find(Index leaf, double* point, const Write& write) {
    const bool together = !tree_.periodic && (strict_ || !has_equal_heights(leaf));
    if (together) search_in_lanes(leaf);
    for (int i = 0; i < tree_.count(leaf); ++i) {
      const Index slot = leaf * tree_.stride + i;
      if (together && is_settled(slot, i)) {
        write(slot, Index{found_.slot[i]}, found_.square[i]);
        continue;
      }
      copy_point(tree_, leaf, i, point);
      KeepNearestHigher keeper(heights_, heights_.height(slot), point, strict_, leaf);
      search_.from_leaf(leaf, point, keeper);
      write(slot, keeper.slot(), keeper.square());
    }
  }

 private:
  bool has_equal_heights(Index leaf) const {
    const double* heights = heights_.by_slot() + leaf * tree_.stride;
    for (int i = 1; i < tree_.count(leaf); ++i) {
      for (int j = 0; j < i; ++j) {
        if (heights[i] == heights[j]) return true;
      }
    }
    return false;
  }

  bool is_settled(Index slot, int i) const {
    return found_.slot[i] >= 0 && found_.tied[i] == 0 &&
           heights_.height(found_.slot[i]) > heights_.height(slot);
  }

  HigherSamples samples_of(Index leaf) const {
    const Index first = leaf * tree_.stride;
    return {tree_.leaf_block(leaf), tree_.count(leaf), heights_.by_slot() + first, first};
  }

  void search_in_lanes(Index leaf) {
    const PairKernels& kernels = pair_kernels();
    const LeafBlock block = tree_.leaf_block(leaf);
    reset_lanes(leaf);
    kernels.offer_higher(block, samples_of(leaf), ~0u, found_);
    const double widest = prepare_for_other_leaves(leaf);
    const auto near = [&](Index node) {
      if (heights_.greatest_height(node) < lowest_) return 0u;
      return kernels.near_box(block, found_.square, tree_.low(node));
    };
    search_.for_nearby_leaves(leaf, widest, near, [&](Index other, unsigned fours) {
      kernels.offer_higher(block, samples_of(other), fours, found_);
    });
  }

  // In its own leaf, where no heights are equal, each looks for what is above itself.
  void reset_lanes(Index leaf) {
    const double* heights = heights_.by_slot() + leaf * tree_.stride;
    for (int i = 0; i < tree_.stride; ++i) {
      const bool used = i < tree_.count(leaf);
      found_.floor[i] = next_above(heights[i]);
      found_.square[i] = used ? std::numeric_limits<double>::infinity() : -1.0;
      found_.slot[i] = -1;
      found_.tied[i] = 0;
    }
  }

  // Those that found nothing look no further here. In other leaves, equal heights count too, unless
  // ties are strict. Returns the largest square.
  double prepare_for_other_leaves(Index leaf) {
    const double* heights = heights_.by_slot() + leaf * tree_.stride;
    double widest = -1.0;
    lowest_ = std::numeric_limits<double>::infinity();
    for (int i = 0; i < tree_.count(leaf); ++i) {
      if (!strict_) found_.floor[i] = heights[i];
      if (found_.slot[i] < 0) found_.square[i] = -1.0;
      widest = std::max(widest, found_.square[i]);
      lowest_ = std::min(lowest_, heights[i]);
    }
    return widest;
  }

  const Tree& tree_;
  const Heights& heights_;
  bool strict_;
  TreeSearch& search_;
  HigherFound found_;
  double lowest_ = 0.0;
};

}  // namespace quickshift
