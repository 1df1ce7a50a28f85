#include "forest/saddles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>

#include "support/disjoint_set.hpp"
#include "tree/box.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

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
  Linker(const Tree& tree, const PieceOfRow& rows, const LinkLength& length,
         const Execution& execution)
      : tree_(tree),
        reach_sq_(square_within(tree, std::nextafter(length.tau, 0.0))),
        components_(rows.pieces),
        apart_(rows.pieces - 1),
        heights_(filled_array(tree.slots(), -infinity, execution)),
        piece_(filled_array(tree.slots(), Index{-1}, execution)),
        highest_(unset_array<double>(tree.nodes())),
        witness_(unset_array<Witness>(tree.nodes())),
        squares_(static_cast<std::size_t>(tree.stride)),
        point_(static_cast<std::size_t>(tree.features)) {
    enter_rows(rows);
    if (length.tau_of_row) enter_reaches(length.tau_of_row, execution);
    for_nodes_upwards(tree, execution, [&](Index node) {
      if (!widest_.empty()) widest_[node] = greatest_below(node, reaches_, widest_);
      highest_[node] = greatest_below(node, heights_, highest_);
      witness_[node] = tree.is_leaf(node) ? first_witness(tree.leaf_of(node)) : witness_above(node);
    });
  }

  void add(const Saddle& edge) { pending_.push({edge.level, -1, -1, edge.piece, edge.other, 0.0}); }

  std::vector<Saddle> run(const Execution& execution) {
    consider(1, 1);
    while (!pending_.empty() && apart_ > 0 && !execution.stops()) {
      const Pair pair = pending_.top();
      pending_.pop();
      if (pair.is_saddle()) {
        join(pair);
        if (pair.node >= 0) offer_leaves(pair.node, pair.other);
      } else if (!settled(pair.node, pair.other)) {
        open(pair.node, pair.other);
      }
    }
    return std::move(saddles_);
  }

 private:
  // A pair of nodes or, if `piece` is not negative, a saddle between a point of each node. An edge
  // that the caller added is a saddle with negative nodes.
  struct Pair {
    double level;
    Index node;
    Index other;
    Index piece = -1;
    Index other_piece = -1;
    double square = 0.0;  // the squared distance of a saddle's two points

    bool is_saddle() const { return piece >= 0; }

    // Whether this saddle comes before another one. Saddles of the same level are common, because a
    // low point may be near several higher pieces. The shortest counts first, and then the one of
    // the higher pieces, so that the order depends on the points alone.
    bool is_before(const Pair& saddle) const {
      if (level != saddle.level) return level > saddle.level;
      if (square != saddle.square) return square < saddle.square;
      return std::minmax(piece, other_piece) < std::minmax(saddle.piece, saddle.other_piece);
    }
    // The priority in the queue. Pairs of nodes come before saddles of the same level, because they
    // may contain another saddle of that level.
    bool operator<(const Pair& first) const {
      if (level != first.level) return level < first.level;
      if (is_saddle() != first.is_saddle()) return is_saddle();
      if (is_saddle()) return first.is_before(*this);
      return std::tie(node, other) < std::tie(first.node, first.other);
    }
  };

  // Two pieces of a node that were in different components when last checked: a proof that the node
  // is not within one component. If it is, both are the same piece.
  struct Witness {
    Index piece;
    Index other;
  };

  // Gives each location the height and the piece of its highest row. The other rows of the location
  // are at distance zero from that row, so an edge at their own height joins their piece to it.
  void enter_rows(const PieceOfRow& rows) {
    for (Index row = 0; row < tree_.rows; ++row) {
      const Index slot = tree_.slot_of_row[row];
      if (slot < 0 || !(rows.height[row] > heights_[slot] || piece_[slot] < 0)) continue;
      heights_[slot] = rows.height[row];
      piece_[slot] = rows.piece[row];
    }
    for (Index row = 0; row < tree_.rows && tree_.locations < tree_.rows; ++row) {
      const Index slot = tree_.slot_of_row[row];
      if (slot < 0 || rows.piece[row] == piece_[slot]) continue;
      add({rows.piece[row], piece_[slot], rows.height[row]});
    }
  }

  // Gives each location the longest reach of its rows.
  void enter_reaches(const double* tau_of_row, const Execution& execution) {
    reaches_ = filled_array(tree_.slots(), -1.0, execution);
    widest_ = unset_array<double>(tree_.nodes());
    for (Index row = 0; row < tree_.rows; ++row) {
      const Index slot = tree_.slot_of_row[row];
      if (slot < 0) continue;
      reaches_[slot] = std::max(reaches_[slot], square_within(tree_, tau_of_row[row]));
    }
  }

  // The largest value below a node, from the values of its points or of its children.
  double greatest_below(Index node, const Array<double>& by_slot,
                        const Array<double>& by_node) const {
    if (!tree_.is_leaf(node)) return std::max(by_node[2 * node], by_node[2 * node + 1]);
    const double* first = by_slot.data() + tree_.leaf_of(node) * tree_.stride;
    return *std::max_element(first, first + tree_.count(tree_.leaf_of(node)));
  }

  // The largest squared distance at which two points, or any points of two nodes, are linked.
  double reach_of_points(Index slot, Index other) const {
    return reaches_.empty() ? reach_sq_ : std::max(reaches_[slot], reaches_[other]);
  }
  double reach_of_nodes(Index node, Index other) const {
    return widest_.empty() ? reach_sq_ : std::max(widest_[node], widest_[other]);
  }

  Witness first_witness(Index leaf) const {
    const Index* pieces = piece_.data() + leaf * tree_.stride;
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
    const Index* pieces = piece_.data() + leaf * tree_.stride;
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
    if (squares.least > reach_of_nodes(node, other) || settled(node, other)) return;
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
    for (int j = 0; j < other_count; ++j) components[j] = components_.find(piece_[other_first + j]);
    Pair best{-infinity, node, other};
    for (int i = 0; i < tree_.count(leaf); ++i) {
      const double height = heights_[first + i];
      const Index component = components_.find(piece_[first + i]);
      const auto counts = [&](int j) {
        return components[j] != component &&
               std::min(height, heights_[other_first + j]) >= best.level;
      };
      int j = 0;
      while (j < other_count && !counts(j)) ++j;
      if (j == other_count) continue;
      copy_point(tree_, leaf, i, point_.data());
      kernels_.squares(point_.data(), tree_.leaf_block(tree_.leaf_of(other)), squares_.data());
      for (; j < other_count; ++j) {
        if (!counts(j) || !(squares_[j] <= reach_of_points(first + i, other_first + j))) continue;
        const Pair saddle{std::min(height, heights_[other_first + j]),
                          node,
                          other,
                          piece_[first + i],
                          piece_[other_first + j],
                          squares_[j]};
        if (!best.is_saddle() || saddle.is_before(best)) best = saddle;
      }
    }
    if (best.is_saddle()) pending_.push(best);
  }

  void join(const Pair& saddle) {
    const Index a = components_.find(saddle.piece);
    const Index b = components_.find(saddle.other_piece);
    if (a == b) return;
    components_.join(a, b);
    saddles_.push_back({saddle.piece, saddle.other_piece, saddle.level});
    --apart_;
  }

  const Tree& tree_;
  double reach_sq_;  // the largest squared distance below tau, unless each point has its own
  DisjointSet components_;
  Index apart_;             // the number of components, minus one
  Array<double> heights_;   // by slot
  Array<Index> piece_;      // by slot
  Array<double> reaches_;   // by slot: the largest squared distance within its tau; may be empty
  Array<double> widest_;    // by node: its largest reach; may be empty
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
  Linker linker(tree, rows, length, execution);
  for (const Saddle& edge : edges) linker.add(edge);
  std::vector<Saddle> saddles;
  const double work = std::max(2.0 * serial_work, 100.0 * static_cast<double>(tree.locations));
  run_tasks(execution, 1, work, [&] { return [&](Index) { saddles = linker.run(execution); }; });
  return saddles;
}

}  // namespace quickshift
