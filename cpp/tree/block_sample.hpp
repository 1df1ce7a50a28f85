// How much of the data a sample of leaves meets, in the tree and in blocks of points.
//
// The tree looks at the points near a query one by one; blocks (tree/blocks.hpp) multiply whole
// blocks of points, which costs less per pair but meets more pairs. Sums (density/) and parents
// (parents/) each decide between the two by estimating both costs on these few leaves. The leaves
// are chosen in tree order, so the decision depends on the set of points alone.
#pragma once

#include "tree/blocks.hpp"

namespace quickshift {

// Whether the choice is worth a sample: with few features or locations the tree always wins.
bool blocks_may_pay(const Tree& tree, int most_features_for_tree);

// Nanoseconds per pair of points, linear in the number of features. They were measured, and only
// their ratios matter.
struct PairCost {
  double per_feature;
  double rest;
  double of(const Tree& tree) const { return per_feature * tree.features + rest; }
};

// Runs body(leaf) on up to eight leaves, evenly spaced in the order of the tree.
template <class Body>
void for_sampled_leaves(const Tree& tree, const Body& body) {
  constexpr Index sampled_leaves = 8;
  const Index count = std::min(sampled_leaves, tree.leaves());
  for (Index i = 0; i < count; ++i) body((2 * i + 1) * tree.leaves() / (2 * count));
}

// The share of all blocks that come within a squared distance of a leaf's block, or of a point.
double blocks_near_block(const Tree& tree, Index leaf, double reach_sq);
double blocks_near_point(const Tree& tree, const double* point, double reach_sq);

// The share of all leaves that a leaf meets point by point: those within `reach_sq`, except below
// nodes that lie wholly within `whole_sq` and are therefore added at once.
double leaves_near_leaf(const Tree& tree, Index leaf, double reach_sq, double whole_sq);

}  // namespace quickshift
