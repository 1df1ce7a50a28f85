// Estimates how many pairs of points the tree and the blocks have to compute, from a few leaves.
//
// A search through the tree visits few points, one leaf at a time. Blocks (tree/blocks.hpp) compute
// all pairs of two blocks at once, which costs less per pair but involves more pairs. Kernel sums
// (density/density_blocks_cost.cpp), local scales (scale/block_scales_cost.cpp), parents
// (parents/nearest_higher_blocks_cost.cpp) and links (forest/nearby_links.cpp) choose between the
// two by estimates from a sample of leaves. The sample is evenly spaced in tree order, so the
// choice depends only on the set of points.
#pragma once

#include <vector>

#include "tree/blocks.hpp"

namespace quickshift {

// Kinds of work that a method does per location, each with its amount and its time in nanoseconds.
// Only the ratios of the times matter. benchmarks/costs.py measures the times, on the amounts.
struct WorkEstimate {
  std::vector<double> amounts;
  std::vector<double> costs;

  double time() const;
};

struct WorkEstimates {
  WorkEstimate tree;
  WorkEstimate blocks;

  bool blocks_pay() const { return blocks.time() < tree.time(); }
};

// Whether a sample is worth taking at all: with at most this many features, or with few locations,
// the tree is always faster.
bool blocks_may_pay(const Tree& tree, int most_features_for_tree);

// Runs body(leaf) on up to `most` leaves, evenly spaced in tree order.
template <class Body>
void for_sampled_leaves(const Tree& tree, Index most, const Body& body) {
  const Index count = std::min(most, tree.leaves());
  for (Index i = 0; i < count; ++i) body((2 * i + 1) * tree.leaves() / (2 * count));
}

// The share of all leaves that a search of the tree processes point by point for a given leaf:
// those within the squared distance `reach_sq` of it, except leaves below a node that lies wholly
// within the squared distance `whole_sq`, because such a node is added as a whole.
double leaves_near_leaf(const Tree& tree, Index leaf, double reach_sq, double whole_sq);

// The share of all blocks within a squared distance of the block that holds a leaf.
double blocks_near_block(const Tree& tree, Index leaf, double reach_sq);

// The share of all blocks within a squared distance of a point.
double blocks_near_point(const Tree& tree, const double* point, double reach_sq);

// The share of all points that are farther from a point than `reach_sq`, while their approximate
// squared distances in single precision (tree/blocks.hpp) cannot exclude that they are nearer.
// These distances have to be computed twice. The share is tiny unless points lie in groups far
// smaller than the boxes of their blocks, such as copies with noise among widely spread points.
double undecided_near_point(const Tree& tree, const double* point, double reach_sq);

// The same for blocks that are centered at their medians and have one error per pair of points
// (tree/block_squares.hpp). The share is tiny unless most points of a block are far from a group.
class UndecidedPairs {
 public:
  explicit UndecidedPairs(const Tree& tree);
  double near_point(const double* point, double reach_sq) const;

 private:
  struct SampledLeaf {
    std::vector<double> center;   // the medians of its block
    std::vector<double> offsets;  // [location][feature]: from the center
    std::vector<double> norms;    // of the offsets
  };

  int features_;
  std::vector<SampledLeaf> leaves_;
};

}  // namespace quickshift
