// Finds the parents of all locations of a leaf at once.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>

#include "parents/keep_nearest_higher.hpp"
#include "tree/search.hpp"

namespace quickshift {

// The smallest double above a value; infinity for infinity.
inline double next_above(double value) {
  if (value == std::numeric_limits<double>::infinity()) return value;
  if (value == 0.0) return std::numeric_limits<double>::denorm_min();
  const auto bits = std::bit_cast<std::int64_t>(value);
  return std::bit_cast<double>(value > 0.0 ? bits + 1 : bits - 1);
}

// Searches for the parent of one location of a leaf. point: scratch memory for its coordinates.
inline KeepNearestHigher search_alone(const Tree& tree, const Heights& heights, bool strict,
                                      TreeSearch& search, Index leaf, int i, double* point) {
  copy_point(tree, leaf, i, point);
  const double height = heights.height(leaf * tree.stride + i);
  KeepNearestHigher keeper(heights, height, point, strict, leaf);
  search.from_leaf(leaf, point, keeper);
  return keeper;
}

// Most parents are near, so the locations of a leaf share one search, with one location per vector
// lane. It first visits their own leaf, and then the other leaves up to the distance of the nearest
// higher sample found in their own leaf. For the few remaining locations, a search of their own
// finds the parent: for the highest location of the leaf, which has no higher sample there, and for
// locations with ties of height or distance.
class LeafParents {
 public:
  LeafParents(const Tree& tree, const Heights& heights, bool strict, TreeSearch& search)
      : tree_(tree), heights_(heights), strict_(strict), search_(search) {}

  // Calls write(slot, slot of the parent or -1, squared distance) for each location of the leaf.
  // point: scratch memory for the coordinates of one location.
  template <class Write>
  void find(Index leaf, double* point, const Write& write) {
    const bool together = searches_together(leaf);
    if (together) search_in_lanes(leaf);
    for (int i = 0; i < tree_.count(leaf); ++i) {
      const Index slot = leaf * tree_.stride + i;
      if (together && is_settled(slot, i)) {
        write(slot, Index{found_.slot[i]}, found_.square[i]);
        continue;
      }
      const auto found = search_alone(tree_, heights_, strict_, search_, leaf, i, point);
      write(slot, found.slot(), found.square());
    }
  }

  // Whether the locations of a leaf share a search.
  bool searches_together(Index leaf) const {
    return !tree_.periodic && (strict_ || !has_equal_heights(leaf));
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

  // Whether the search in lanes found the parent of a location, without a tie.
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

  // Prepares the search within the leaf itself, where no two heights are equal unless ties are
  // strict: each location searches for samples above its own height.
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

  // Prepares the search in other leaves. Locations without a higher sample in their own leaf are
  // excluded; each of them gets a search of its own. Samples of equal height are candidates in
  // other leaves, unless ties are strict. Returns the largest squared distance that still has to be
  // searched.
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
  double lowest_ = 0.0;  // the smallest height in the leaf
};

}  // namespace quickshift
