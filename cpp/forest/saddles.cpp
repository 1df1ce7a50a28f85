#include "forest/saddles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "forest/nearby_links.hpp"
#include "forest/pieces.hpp"
#include "support/disjoint_set.hpp"
#include "support/radix_sort.hpp"
#include "tree/box.hpp"

namespace quickshift {

namespace {

// Kruskal's algorithm for a maximum spanning forest, one point after another. Points become active
// in descending order of height. The level of a saddle is the height of its lower point, so all
// saddles at a point's height are those between it and active points within tau. In each step the
// shortest of these that leads to another component is joined, until there is none.
//
// Two facts save most of the work. Points without a point of another piece within tau have no
// saddle and are left out. And each node knows whether its active points are all in one component;
// if it is the component of the point that is searched from, the node is skipped.
class Linker {
 public:
  Linker(const Tree& tree, const PieceOfRow& rows, std::span<const Saddle> edges, double tau,
         const Execution& execution)
      : tree_(tree),
        reach_sq_(square_within(tree, std::nextafter(tau, 0.0))),
        components_(rows.pieces),
        apart_(rows.pieces - 1),
        points_(tree, rows, edges, execution),
        witness_(unset_array<Witness>(tree.nodes())),
        surroundings_(unset_array<Index>(tree.leaves())),
        may_have_saddle_(unset_array<char>(tree.leaves())),
        squares_(static_cast<std::size_t>(tree.stride)),
        point_(static_cast<std::size_t>(tree.features)) {
    std::sort(points_.edges.begin(), points_.edges.end(),
              [](const LinkedPair& a, const LinkedPair& b) { return a.is_before(b); });
    for_nodes_upwards(tree, execution, [&](Index node) {
      witness_[node] = tree.is_leaf(node) ? next_witness(tree.leaf_of(node)) : witness_above(node);
    });
  }

  // Finds the leaves that may have a saddle, in parallel. Before any point is active, the witnesses
  // stand for all points.
  void mark_leaves(const Execution& execution) {
    for_nodes_upwards(tree_, execution, [&](Index node) {
      if (!tree_.is_leaf(node)) return;
      const Index leaf = tree_.leaf_of(node);
      surroundings_[leaf] = surroundings_of(leaf);
      may_have_saddle_[leaf] = may_have_saddle(leaf);
    });
  }

  // Runs on one thread, after `mark_leaves`.
  std::vector<Saddle> run(const Execution& execution) {
    const std::vector<Index> slots = slots_with_saddles();
    std::fill(witness_.begin(), witness_.end(), Witness{});
    auto slot = slots.begin();
    auto edge = points_.edges.cbegin();
    while (apart_ > 0 && (slot != slots.end() || edge != points_.edges.cend()) &&
           !stops(execution)) {
      level_ = std::max(slot != slots.end() ? points_.heights[*slot] : lowest,
                        edge != points_.edges.cend() ? edge->level : lowest);
      for (; edge != points_.edges.cend() && edge->level == level_; ++edge) {
        pending_.push({*edge, -1});
      }
      const auto first = slot;
      for (; slot != slots.end() && points_.heights[*slot] == level_; ++slot) activate(*slot);
      for (auto each = first; each != slot && !stops(execution); ++each) offer(*each);
      while (!pending_.empty() && !stops(execution)) {
        const Candidate next = pending_.top();
        pending_.pop();
        join(next.saddle);
        if (next.slot >= 0) offer(next.slot);
      }
    }
    return std::move(saddles_);
  }

 private:
  static constexpr double lowest = -std::numeric_limits<double>::infinity();

  // The first saddle from a point to another component, or an edge of the caller, with slot -1.
  struct Candidate {
    LinkedPair saddle;
    Index slot;

    bool operator<(const Candidate& first) const { return first.saddle.is_before(saddle); }
  };

  // Two pieces of a node's active points that were in different components when last checked: a
  // proof that they are not all in one component. If they are, both are the same piece, and if
  // there is no active point, both are negative.
  struct Witness {
    Index piece = -1;
    Index other = -1;

    bool is_whole() const { return piece == other; }
  };

  // A node of the tree and the least squared distance to its box.
  struct Near {
    Index node;
    double square;
  };

  bool stops(const Execution& execution) {
    return ++steps_ % 256 == 0 ? execution.stops() : execution.stop.load();
  }

  // The slots of all leaves that may have a saddle, in descending order of height.
  std::vector<Index> slots_with_saddles() const {
    std::vector<Index> slots;
    for (Index leaf = 0; leaf < tree_.leaves(); ++leaf) {
      if (!may_have_saddle_[leaf]) continue;
      for (int i = 0; i < tree_.count(leaf); ++i) slots.push_back(leaf * tree_.stride + i);
    }
    radix_sort(slots, [&](Index slot) { return falling(points_.heights[slot]); });
    return slots;
  }

  // The smallest node whose box contains everything within tau of a leaf's box, and therefore all
  // points there: points of other nodes are on the other side of a face of this box.
  Index surroundings_of(Index leaf) const {
    if (tree_.periodic) return 1;
    // Squares below 2^-1074 are rounded to that number or to 0.
    const double margin = (1.0 + 0x1p-40) * std::sqrt(reach_sq_) + 0x1p-536;
    const double* inner = tree_.low(tree_.leaves() + leaf);
    const auto contains = [&](Index node) {
      const double* outer = tree_.low(node);
      for (int k = 0; k < tree_.features; ++k) {
        const int high = tree_.features + k;
        if (outer[k] > inner[k] - margin || outer[high] < inner[high] + margin) return false;
      }
      return true;
    };
    Index node = tree_.leaves() + leaf;
    while (node > 1 && !contains(node)) node /= 2;
    return node;
  }

  // Whether a box within tau of a leaf's box has a point of another piece than the leaf's.
  bool may_have_saddle(Index leaf) const {
    const Index own = tree_.leaves() + leaf;
    std::vector<Index> stack{surroundings_[leaf]};
    while (!stack.empty()) {
      const Index node = stack.back();
      stack.pop_back();
      const Witness witness = witness_[node];
      if (witness.is_whole() && witness.piece == witness_[own].piece && witness_[own].is_whole()) {
        continue;
      }
      const Bounds squares =
          between_boxes(tree_.low(own), tree_.low(node), tree_.features, tree_.periods());
      if (squares.least > reach_sq_) continue;
      if (witness.is_whole() || tree_.is_leaf(node)) return true;
      stack.push_back(2 * node);
      stack.push_back(2 * node + 1);
    }
    return false;
  }

  void activate(Index slot) {
    const Index piece = points_.pieces[slot];
    const Index component = components_.find(piece);
    for (Index node = tree_.leaves() + slot / tree_.stride; node > 0; node /= 2) {
      Witness& witness = witness_[node];
      if (witness.piece < 0) {
        witness = {piece, piece};
      } else if (components_.find(witness.piece) == component ||
                 components_.find(witness.other) == component) {
        return;  // the nodes above have points of this component, too
      } else if (witness.is_whole()) {
        witness.other = piece;
      }
    }
  }

  Witness witness_above(Index node) const {
    const Witness left = witness_[2 * node];
    const Witness right = witness_[2 * node + 1];
    if (left.piece < 0 || !right.is_whole()) return right;
    if (right.piece < 0 || !left.is_whole()) return left;
    return {left.piece, right.piece};
  }

  // Whether all active points of a node are in one component by now. A witness whose pieces have
  // been joined is replaced by a new one from the children or, in a leaf, from the points.
  bool is_whole(Index node) {
    Witness& witness = witness_[node];
    if (witness.is_whole()) return true;
    if (components_.find(witness.piece) != components_.find(witness.other)) return false;
    witness = tree_.is_leaf(node) ? next_witness(tree_.leaf_of(node)) : next_witness_above(node);
    return witness.is_whole();
  }

  Witness next_witness(Index leaf) {
    Witness found;
    for (Index slot = leaf * tree_.stride; slot < leaf * tree_.stride + tree_.count(leaf); ++slot) {
      if (points_.heights[slot] < level_) continue;
      const Index piece = points_.pieces[slot];
      if (found.piece < 0) {
        found = {piece, piece};
      } else if (components_.find(piece) != components_.find(found.piece)) {
        return {found.piece, piece};
      }
    }
    return found;
  }

  Witness next_witness_above(Index node) {
    is_whole(2 * node);
    is_whole(2 * node + 1);
    Witness found = witness_above(node);
    if (found.piece >= 0 && components_.find(found.piece) == components_.find(found.other)) {
      found.other = found.piece;
    }
    return found;
  }

  // Puts the shortest saddle from an active point to another component into the queue, if any.
  void offer(Index slot) {
    const Index leaf = slot / tree_.stride;
    const Index component = components_.find(points_.pieces[slot]);
    copy_point(tree_, leaf, static_cast<int>(slot % tree_.stride), point_.data());
    LinkedPair best{level_, reach_sq_};
    nodes_.clear();
    consider(surroundings_[leaf], component, best);
    while (!nodes_.empty()) {
      const Near near = nodes_.back();
      nodes_.pop_back();
      if (near.square > best.square) continue;
      if (tree_.is_leaf(near.node)) {
        search_leaf(tree_.leaf_of(near.node), points_.pieces[slot], component, best);
        continue;
      }
      consider(2 * near.node, component, best);
      consider(2 * near.node + 1, component, best);
      const std::size_t count = nodes_.size();
      if (count > 1 && nodes_[count - 2].node == 2 * near.node &&
          nodes_[count - 2].square < nodes_[count - 1].square) {
        std::swap(nodes_[count - 2], nodes_[count - 1]);
      }
    }
    if (best.piece >= 0) pending_.push({best, slot});
  }

  // Puts a node onto the stack, unless it has no active point of another component within reach.
  void consider(Index node, Index component, const LinkedPair& best) {
    const double square =
        least_to_box(point_.data(), tree_.low(node), tree_.features, tree_.periods());
    if (square > best.square || witness_[node].piece < 0) return;
    if (is_whole(node) && components_.find(witness_[node].piece) == component) return;
    nodes_.push_back({node, square});
  }

  void search_leaf(Index leaf, Index piece, Index component, LinkedPair& best) {
    const Index first = leaf * tree_.stride;
    kernels_.squares(point_.data(), tree_.leaf_block(leaf), squares_.data());
    for (int i = 0; i < tree_.count(leaf); ++i) {
      if (!(squares_[i] <= best.square) || points_.heights[first + i] < level_) continue;
      const Index other = points_.pieces[first + i];
      if (components_.find(other) == component) continue;
      const LinkedPair saddle{level_, squares_[i], piece, other};
      if (best.piece < 0 || saddle.is_before(best)) best = saddle;
    }
  }

  void join(const LinkedPair& saddle) {
    const Index a = components_.find(saddle.piece);
    const Index b = components_.find(saddle.other);
    if (a == b) return;
    components_.join(a, b);
    saddles_.push_back({saddle.piece, saddle.other, saddle.level, saddle.square});
    --apart_;
  }

  const Tree& tree_;
  double reach_sq_;  // the largest squared distance below tau
  DisjointSet components_;
  Index apart_;  // the number of components, minus one
  PiecesOfLocations points_;
  double level_ = lowest;        // points with at least this height are active
  Array<Witness> witness_;       // by node
  Array<Index> surroundings_;    // by leaf
  Array<char> may_have_saddle_;  // by leaf
  const PairKernels& kernels_ = pair_kernels();
  std::vector<double> squares_;
  std::vector<double> point_;
  std::vector<Near> nodes_;                 // the stack of a search
  std::priority_queue<Candidate> pending_;  // of the current level
  std::vector<Saddle> saddles_;
  unsigned steps_ = 0;
};

}  // namespace

std::vector<Saddle> find_saddles(const Tree& tree, const PieceOfRow& rows,
                                 std::span<const Saddle> edges, const LinkLength& length,
                                 const Execution& execution) {
  if (length.tau_of_row || search_pays_for_links(tree, rows.pieces, length.tau)) {
    return find_saddles_nearby(tree, rows, edges, length, execution);
  }
  Linker linker(tree, rows, edges, length.tau, execution);
  linker.mark_leaves(execution);
  std::vector<Saddle> saddles;
  const double work = std::max(2.0 * serial_work, 100.0 * static_cast<double>(tree.locations));
  run_tasks(execution, 1, work, [&] { return [&](Index) { saddles = linker.run(execution); }; });
  return saddles;
}

}  // namespace quickshift
