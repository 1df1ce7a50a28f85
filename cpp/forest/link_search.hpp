// The components of a growing set of active points, and the search from one point for its first
// link to another component.
//
// Each node of the tree knows whether its active points are all in one component. If it is the
// component of the point that is searched from, the node is skipped. Small nodes also have a bound
// on the heights of points of other components around them, which saves most searches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "forest/pieces.hpp"
#include "support/disjoint_set.hpp"
#include "tree/kdtree.hpp"

namespace quickshift {

class LinkSearch {
 public:
  // At first, all points are active, and each piece is a component. A point is linked to all points
  // nearer than tau.
  LinkSearch(const Tree& tree, const PiecesOfLocations& points, Index pieces, double tau,
             const Execution& execution);

  // The leaves that have a box within tau with a point of another piece. No point of another leaf
  // is linked to a point of another piece. To be called before anything is joined.
  std::vector<Index> leaves_near_other_pieces(const Execution& execution);
  // The slots of leaves.
  std::vector<Index> slots_of(std::span<const Index> leaves) const;
  // Those of these slots that `activate` must be called with: points that may be linked to a higher
  // point, and the highest point of each leaf. Any other point would have the same effect as the
  // highest one of its leaf, because the leaf is in one piece.
  std::vector<Index> slots_with_a_turn(std::span<const Index> leaves) const;
  // False only if all points of other components within tau of a point are lower. Then a search at
  // the point's own height finds nothing. To be called after `leaves_near_other_pieces`.
  bool may_link_to_higher(Index slot) const {
    return points_.heights[slot] <= highest_other_[bounded_[tree_.leaves() + slot / tree_.stride]];
  }
  // To be called after `restart`, and after a search from a point, among all nodes, has found
  // nothing. Since the bound behind `may_link_to_higher` was computed, components may have been
  // joined, which lowers it. A bound may cost more than many searches, and pays only if it serves
  // several leaves. Bounds of such nodes are computed again after the first, second, fourth, eighth
  // ... failure.
  void count_failure(Index slot);

  struct Slots {
    Index begin;
    Index end;
  };
  Slots slots_of(Index leaf) const {
    const Index first = leaf * tree_.stride;
    return {first, first + tree_.count(leaf)};
  }
  Index piece_of(Index slot) const { return points_.pieces[slot]; }
  Index component_of(Index slot) { return components_.find(points_.pieces[slot]); }
  Index find(Index piece) { return components_.find(piece); }
  // Whether all active points of a leaf, of which there is at least one, are in a component.
  bool is_in(Index leaf, Index component) {
    return is_in_component(tree_.leaves() + leaf, component);
  }
  // Joins two different components and returns the union.
  Index join(Index component, Index other) { return components_.join(component, other); }

  // Makes all points inactive and each piece a component again. From now on, only pieces of one
  // group are considered, in which points become active by `activate`. group_of_piece is kept; null
  // means that there is one group.
  void restart(const Index* group_of_piece);
  void enter(Index group) { group_ = group; }

  // Sets the height down to which points are active; those of slots_with_a_turn must be given to
  // `activate`.
  void lower_to(double level) { level_ = level; }
  void activate(Index slot);
  void deactivate(Index slot);

  // The longest link.
  double reach_sq() const { return reach_sq_; }
  // Replaces `best` by the first link from an active point to another component, if that is before
  // it. The level of `best` stays. Without a piece, it stands for all links up to its length.
  void improve(Index slot, LinkedPair& best);
  // The same, among the points of some nodes.
  void improve_among(std::span<const Index> nodes, Index slot, LinkedPair& best);

  // Lists nodes that contain all links from the points of a leaf to other components, while all
  // points are active. The list is short if the points of the leaf are in one component, which then
  // saves time in searches from each of them; otherwise it is the node that any search begins at.
  void collect_near(Index leaf, std::vector<Index>& nodes);

  // How many times the distance of a point, or of a node's box, from a box was computed in searches
  // and for bounds, except for the first bounds.
  Index boxes() const { return boxes_; }

 private:
  // Two pieces of a node's active points that were in different components when last checked: a
  // proof that they are not all in one component. If they are, both are the same piece, and if
  // there is no active point, both are negative.
  struct Witness {
    Index piece = -1;
    Index other = -1;

    bool is_whole() const { return piece == other; }
  };

  struct Peak {
    double height = -std::numeric_limits<double>::infinity();
    Index piece = -1;
  };

  // The highest point of a node, and its highest point of another component; without a piece if
  // there is none.
  struct Highest {
    Peak first;
    Peak second;
  };

  // A node of the tree and the least squared distance to its box.
  struct Near {
    Index node;
    double square;
  };

  bool is_active(Index slot) const {
    if (points_.heights[slot] < level_) return false;
    return !group_of_piece_ || group_of_piece_[points_.pieces[slot]] == group_;
  }
  Index surroundings_of(Index node) const;
  bool is_narrow(Index node) const;
  Highest highest_of(const Highest& a, const Highest& b);
  Highest highest_of_leaf(Index leaf);
  const Highest& highest(Index node);
  Peak highest_except(Index node, Index component);
  double highest_of_others_near(Index own, Index& boxes);
  bool is_whole(Index node);
  bool is_in_component(Index node, Index component) {
    return is_whole(node) && components_.find(witness_[node].piece) == component;
  }
  Witness witness_above(Index node) const;
  Witness next_witness(Index leaf);
  Witness next_witness_above(Index node);
  void consider(Index node, Index component, const LinkedPair& best);
  void scan_leaf(Index leaf, Index piece, Index component, LinkedPair& best);

  const Tree& tree_;
  const PiecesOfLocations& points_;
  double reach_sq_;  // the largest squared distance below tau
  DisjointSet components_;
  double level_ = -std::numeric_limits<double>::infinity();  // active points are at least as high
  const Index* group_of_piece_ = nullptr;
  Index group_ = 0;
  Array<Witness> witness_;     // by node
  Array<Index> surroundings_;  // by node
  Array<Highest> highest_;     // by node, of all points, when last checked
  Array<Index> bounded_;       // by node: the node above it, or itself, that has its bound; or -1
  // At least the height of every point of another component in a box within tau, by node, for the
  // nodes in `bounded_`: minus infinity if there is none, and infinity if the node is a leaf with
  // several components.
  Array<double> highest_other_;
  Array<std::uint32_t> failures_;  // by node: searches that found nothing
  const PairKernels& kernels_ = pair_kernels();
  std::vector<double> squares_;
  std::vector<double> point_;
  std::vector<Near> nodes_;  // the stack of a search
  Index boxes_ = 0;
};

}  // namespace quickshift
