#include "forest/saddles.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>

#include "forest/nearby_links.hpp"
#include "forest/pieces.hpp"
#include "support/disjoint_set.hpp"
#include "tree/box.hpp"

namespace quickshift {

namespace {

// Kruskal's algorithm for a maximum spanning forest, with branch and bound over pairs of tree
// nodes. A priority queue holds saddles and pairs of nodes. The level of a pair of nodes is an
// upper bound on the levels of its saddles: the smaller of the largest heights of the two nodes. In
// each step the entry with the highest level is taken from the queue. A pair of nodes is replaced
// by the pairs of its children or, if the nodes are leaves, by its highest saddle. A saddle joins
// its pieces, and the next highest saddle of its two leaves takes its place in the queue. Pairs of
// nodes that lie within one component are discarded. The search ends when all pieces are joined, so
// the many pairs below that level are never visited.
class Linker {
 public:
  Linker(const Tree& tree, const PieceOfRow& rows, std::span<const Saddle> edges, double tau,
         const Execution& execution)
      : tree_(tree),
        reach_sq_(square_within(tree, std::nextafter(tau, 0.0))),
        components_(rows.pieces),
        apart_(rows.pieces - 1),
        points_(tree, rows, edges, execution),
        highest_(unset_array<double>(tree.nodes())),
        witness_(unset_array<Witness>(tree.nodes())),
        squares_(static_cast<std::size_t>(tree.stride)),
        point_(static_cast<std::size_t>(tree.features)) {
    for (const LinkedPair& edge : points_.edges) pending_.push({edge.level, -1, -1, edge});
    for_nodes_upwards(tree, execution, [&](Index node) {
      highest_[node] = highest_of(node);
      witness_[node] = tree.is_leaf(node) ? first_witness(tree.leaf_of(node)) : witness_above(node);
    });
  }

  std::vector<Saddle> run(const Execution& execution) {
    consider(1, 1);
    while (!pending_.empty() && apart_ > 0 && !execution.stops()) {
      const Pair pair = pending_.top();
      pending_.pop();
      if (pair.is_saddle()) {
        join(pair.saddle);
        if (pair.node >= 0) offer_leaves(pair.node, pair.other);
      } else if (!settled(pair.node, pair.other)) {
        open(pair.node, pair.other);
      }
    }
    return std::move(saddles_);
  }

 private:
  // A pair of nodes or, if `saddle` has pieces, a saddle between a point of each node. An edge that
  // the caller added is a saddle with negative nodes.
  struct Pair {
    double level;
    Index node;
    Index other;
    LinkedPair saddle = {};

    bool is_saddle() const { return saddle.piece >= 0; }

    // The priority in the queue. Pairs of nodes come before saddles of the same level, because they
    // may contain another saddle of that level.
    bool operator<(const Pair& first) const {
      if (level != first.level) return level < first.level;
      if (is_saddle() != first.is_saddle()) return is_saddle();
      if (is_saddle()) return first.saddle.is_before(saddle);
      return std::tie(node, other) < std::tie(first.node, first.other);
    }
  };

  // Two pieces of a node that were in different components when last checked: a proof that the node
  // is not within one component. If it is, both are the same piece.
  struct Witness {
    Index piece;
    Index other;
  };

  double highest_of(Index node) const {
    if (!tree_.is_leaf(node)) return std::max(highest_[2 * node], highest_[2 * node + 1]);
    const double* first = points_.heights.data() + tree_.leaf_of(node) * tree_.stride;
    return *std::max_element(first, first + tree_.count(tree_.leaf_of(node)));
  }

  Witness first_witness(Index leaf) const {
    const Index* pieces = points_.pieces.data() + leaf * tree_.stride;
    for (int i = 1; i < tree_.count(leaf); ++i) {
      if (pieces[i] != pieces[0]) return {pieces[0], pieces[i]};
    }
    return {pieces[0], pieces[0]};
  }

  Witness witness_above(Index node) const {
    const Witness left = witness_[2 * node];
    const Witness right = witness_[2 * node + 1];
    if (left.piece != left.other) return left;
    return right.piece != right.other ? right : Witness{left.piece, right.piece};
  }

  // Whether the whole node is in one component by now. A witness whose pieces have been joined is
  // replaced by a new one from the children or, in a leaf, from the points. If there is none, the
  // node is whole, and stays so.
  bool is_whole(Index node) {
    Witness& witness = witness_[node];
    if (witness.piece == witness.other) return true;
    if (components_.find(witness.piece) != components_.find(witness.other)) return false;
    witness = tree_.is_leaf(node) ? next_witness(tree_.leaf_of(node)) : next_witness_above(node);
    return witness.piece == witness.other;
  }

  Witness next_witness(Index leaf) {
    const Index* pieces = points_.pieces.data() + leaf * tree_.stride;
    const Index component = components_.find(pieces[0]);
    for (int i = 1; i < tree_.count(leaf); ++i) {
      if (components_.find(pieces[i]) != component) return {pieces[0], pieces[i]};
    }
    return {pieces[0], pieces[0]};
  }

  Witness next_witness_above(Index node) {
    if (!is_whole(2 * node)) return witness_[2 * node];
    if (!is_whole(2 * node + 1)) return witness_[2 * node + 1];
    const Index left = witness_[2 * node].piece;
    const Index right = witness_[2 * node + 1].piece;
    return {left, components_.find(left) == components_.find(right) ? left : right};
  }

  // Whether all points of two nodes are in one component by now.
  bool settled(Index node, Index other) {
    return is_whole(node) && is_whole(other) &&
           components_.find(witness_[node].piece) == components_.find(witness_[other].piece);
  }

  // Puts a pair of nodes into the queue, unless it cannot contain a saddle.
  void consider(Index node, Index other) {
    const Bounds squares =
        between_boxes(tree_.low(node), tree_.low(other), tree_.features, tree_.periods());
    if (squares.least > reach_sq_ || settled(node, other)) return;
    pending_.push({std::min(highest_[node], highest_[other]), node, other});
  }

  void open(Index node, Index other) {
    if (tree_.is_leaf(node)) return offer_leaves(node, other);
    for (Index a = 2 * node; a <= 2 * node + 1; ++a) {
      for (Index b = 2 * other; b <= 2 * other + 1; ++b) {
        if (a <= b || node != other) consider(a, b);
      }
    }
  }

  // Puts the highest saddle between two leaves into the queue, among the pairs of points that are
  // linked and in different components.
  void offer_leaves(Index node, Index other) {
    const Index leaf = tree_.leaf_of(node);
    const Index first = leaf * tree_.stride;
    const Index other_first = tree_.leaf_of(other) * tree_.stride;
    const int other_count = tree_.count(tree_.leaf_of(other));
    Index components[max_stride];
    for (int j = 0; j < other_count; ++j)
      components[j] = components_.find(points_.pieces[other_first + j]);
    LinkedPair best;
    for (int i = 0; i < tree_.count(leaf); ++i) {
      const double height = points_.heights[first + i];
      const Index component = components_.find(points_.pieces[first + i]);
      const auto counts = [&](int j) {
        return components[j] != component &&
               std::min(height, points_.heights[other_first + j]) >= best.level;
      };
      int j = 0;
      while (j < other_count && !counts(j)) ++j;
      if (j == other_count) continue;
      copy_point(tree_, leaf, i, point_.data());
      kernels_.squares(point_.data(), tree_.leaf_block(tree_.leaf_of(other)), squares_.data());
      for (; j < other_count; ++j) {
        if (!(squares_[j] <= reach_sq_) || !counts(j)) continue;
        const LinkedPair saddle{std::min(height, points_.heights[other_first + j]), squares_[j],
                                points_.pieces[first + i], points_.pieces[other_first + j]};
        if (saddle.is_before(best)) best = saddle;
      }
    }
    if (best.piece >= 0) pending_.push({best.level, node, other, best});
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
  Array<double> highest_;   // by node: its largest height
  Array<Witness> witness_;  // by node
  const PairKernels& kernels_ = pair_kernels();
  std::vector<double> squares_;
  std::vector<double> point_;
  std::priority_queue<Pair> pending_;
  std::vector<Saddle> saddles_;
};

}  // namespace

std::vector<Saddle> find_saddles(const Tree& tree, const PieceOfRow& rows,
                                 std::span<const Saddle> edges, const LinkLength& length,
                                 const Execution& execution) {
  if (length.tau_of_row) {
    return find_saddles_nearby(tree, rows, edges, length, execution);
  }
  Linker linker(tree, rows, edges, length.tau, execution);
  std::vector<Saddle> saddles;
  const double work = std::max(2.0 * serial_work, 100.0 * static_cast<double>(tree.locations));
  run_tasks(execution, 1, work, [&] { return [&](Index) { saddles = linker.run(execution); }; });
  return saddles;
}

}  // namespace quickshift
