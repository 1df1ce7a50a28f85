// The components of a growing set of active points, and the search from one point for its first
// link to another component.
//
// Each node of the tree knows whether its active points are all in one component. If it is the
// component of the point that is searched from, the node is skipped.
#pragma once

#include <algorithm>
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
  // False only if all points of other pieces within tau of a point are lower, after that call. A
  // search from the point finds nothing before these points are active.
  bool may_link_to_higher(Index slot) const {
    return points_.heights[slot] <= highest_other_[tree_.leaves() + slot / tree_.stride];
  }

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

  // How many times the distance of a point, or of a leaf's box, from a box was computed in
  // searches.
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

  // The highest point of a node, its piece, and the height of the highest point of another piece.
  struct Highest {
    double height = -std::numeric_limits<double>::infinity();
    Index piece = -1;
    double of_others = -std::numeric_limits<double>::infinity();

    double except(Index own) const { return piece == own ? of_others : height; }
    Highest with(const Highest& more) const {
      const Highest& top = height < more.height ? more : *this;
      return {top.height, top.piece, std::max(except(top.piece), more.except(top.piece))};
    }
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
  Array<Highest> highest_by_node(const Execution& execution) const;
  double highest_of_other_pieces_near(Index own, const Array<Highest>& highest) const;
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
  // At least the height of every point of another piece in a box within tau, by node: minus
  // infinity if there is none, and infinity if it is not known or if a leaf has several pieces.
  Array<double> highest_other_;
  const PairKernels& kernels_ = pair_kernels();
  std::vector<double> squares_;
  std::vector<double> point_;
  std::vector<Near> nodes_;  // the stack of a search
  Index boxes_ = 0;
};

}  // namespace quickshift
