// The scales of all locations of a leaf at once, for samples that all have the weight 1.
#pragma once

#include <limits>
#include <vector>

#include "scale/nearest_squares.hpp"
#include "scale/options.hpp"
#include "tree/search.hpp"

namespace quickshift {

// The locations of a leaf share one search, because their neighbors are nearly the same. Each of
// them ignores the samples beyond its reach. The reach that the locations of the leaf before this
// one needed, and a little more, is tried first. It is too small for a few locations, which then
// search again without a limit.
class LeafScales {
 public:
  LeafScales(const Tree& tree, const ScaleOptions& options)
      : tree_(tree),
        search_(tree),
        neighbors_(with_itself(options)),
        spacing_(std::min(options.spacing + 1, tree.locations)),
        found_(static_cast<std::size_t>(tree.stride),
               NearestSquares(std::max(neighbors_.back(), spacing_), tree.stride)),
        points_(static_cast<std::size_t>(tree.stride * tree.features)) {}

  // Calls write(slot, scale) for each location, in the units of the tree.
  template <class Write>
  void find(Index leaf, const Write& write) {
    for (int i = 0; i < tree_.stride; ++i) {
      reaches_[i] = i < tree_.count(leaf) ? guess_ : -1.0;
      copy_point(tree_, leaf, i, points_.data() + i * tree_.features);
    }
    search(leaf);
    bool failed = false;
    for (int i = 0; i < tree_.count(leaf); ++i) {
      const bool complete = found_[i].is_complete();
      reaches_[i] = complete ? -1.0 : std::numeric_limits<double>::infinity();
      failed |= !complete;
    }
    if (failed) search(leaf);
    double widest = 0.0;
    for (int i = 0; i < tree_.count(leaf); ++i) {
      const ScaleOfPoint scale = found_[i].scale(neighbors_, spacing_);
      widest = std::max(widest, scale.reach_sq);
      write(leaf * tree_.stride + i, scale);
    }
    guess_ = spare * widest;
  }

 private:
  static constexpr double spare = 1.1;

  // Collects the squares of the locations whose reach is not negative.
  void search(Index leaf) {
    double widest = -1.0;
    for (int i = 0; i < tree_.count(leaf); ++i) {
      if (reaches_[i] >= 0.0) found_[i].reset(reaches_[i]);
      widest = std::max(widest, reaches_[i]);
    }
    const LeafBlock own = tree_.leaf_block(leaf);
    const auto near = [&](Index node) { return kernels_.near_box(own, reaches_, tree_.low(node)); };
    const auto visit = [&](Index other, unsigned fours) {
      const LeafBlock block = tree_.leaf_block(other);
      const int count = tree_.count(other);
      for (int i = 0; i < tree_.count(leaf); ++i) {
        if (!(fours >> i / 4 & 1) || reaches_[i] < 0.0) continue;
        found_[i].add_leaf(points_.data() + i * tree_.features, block, count);
        reaches_[i] = found_[i].reach();
      }
    };
    visit(leaf, ~0u);
    search_.for_nearby_leaves(leaf, widest, near, visit);
  }

  const Tree& tree_;
  TreeSearch search_;
  const PairKernels& kernels_ = pair_kernels();
  std::vector<Index> neighbors_;  // every K + 1
  Index spacing_;                 // g + 1, or the number of locations if there are fewer
  std::vector<NearestSquares> found_;
  std::vector<double> points_;  // [location][feature]
  double reaches_[max_stride];  // squared; negative for locations that do not search
  double guess_ = std::numeric_limits<double>::infinity();
};

}  // namespace quickshift
