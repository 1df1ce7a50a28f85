// The branch-and-bound search behind every nearest-neighbor query. A keeper (nanoflann calls it a
// result set) decides which samples are eligible and keeps the best one.
//
// A keeper provides
// - double reach() const: the squared distance beyond which no sample can be the answer; a sample
//   at exactly this squared distance still can;
// - bool wants(Index node) const: whether any sample below the node can be eligible;
// - void scan(const PairKernels&, const Tree&, Index leaf, const double* point, double* squares):
//   processes all samples of a leaf; squares is scratch memory for their squared distances.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "tree/box.hpp"
#include "tree/distinct.hpp"
#include "tree/kdtree.hpp"
#include "vector/pairs.hpp"

namespace quickshift {

// What searches have done, for estimates of their time.
struct SearchWork {
  Index boxes = 0;   // nodes to whose boxes the distance from one point was computed
  Index leaves = 0;  // leaves that were scanned for one point
  Index groups = 0;  // the same for groups of four points
};

class TreeSearch {
 public:
  explicit TreeSearch(const Tree& tree)
      : tree_(tree),
        period_(tree.periods()),
        kernels_(pair_kernels()),
        squares_(static_cast<std::size_t>(tree.stride)) {}

  // Searches the whole tree, for a point that may lie anywhere.
  template <class Keeper>
  void from_root(const double* point, Keeper& keeper) {
    if (keeper.wants(1)) visit(1, 0.0, point, keeper);
  }

  // Searches for a point of the tree itself: first its own leaf, then the sibling of each ancestor,
  // until the ball of squared radius reach() around the point lies inside an ancestor's box.
  template <class Keeper>
  void from_leaf(Index leaf, const double* point, Keeper& keeper) {
    scan(leaf, point, keeper);
    for (Index node = leaf + tree_.leaves(); node > 1; node /= 2) {
      if (holds_ball(node, point, keeper.reach())) return;
      consider(node ^ 1, point, keeper);
    }
  }

  // Runs visit(other, groups) on the other leaves that some locations of this leaf have to search,
  // closer relatives in the tree first. Locations are handled in groups of four: near(node) returns
  // a bit mask of the groups that may find something below the node. No location can find anything
  // at a squared distance above `widest`, so the search ends at the first ancestor outside of which
  // everything is farther away. Open features only.
  template <class Near, class Visit>
  void for_nearby_leaves(Index leaf, double widest, const Near& near, const Visit& visit) {
    const Index start = tree_.leaves() + leaf;
    const double* box = tree_.low(start);
    for (Index ancestor = start; ancestor > 1; ancestor /= 2) {
      if (holds_box(ancestor, box, widest)) return;
      pending_.assign(1, ancestor ^ 1);
      while (!pending_.empty()) {
        const Index node = pending_.back();
        pending_.pop_back();
        const unsigned groups = near(node);
        if (!groups) continue;
        if (tree_.is_leaf(node)) {
          work_.groups += std::popcount(groups);
          visit(tree_.leaf_of(node), groups);
        } else {
          pending_.push_back(2 * node + 1);
          pending_.push_back(2 * node);
        }
      }
    }
  }

  const SearchWork& work() const { return work_; }

 private:
  template <class Keeper>
  void consider(Index node, const double* point, Keeper& keeper) {
    if (!keeper.wants(node)) return;
    const double least = least_to_box(point, tree_.low(node), tree_.features, period_);
    if (least <= keeper.reach()) visit(node, least, point, keeper);
  }

  template <class Keeper>
  void visit(Index node, double least, const double* point, Keeper& keeper) {
    stack_.clear();
    stack_.emplace_back(node, least);
    while (!stack_.empty()) {
      std::tie(node, least) = stack_.back();
      stack_.pop_back();
      if (least > keeper.reach()) continue;
      if (tree_.is_leaf(node)) {
        scan(tree_.leaf_of(node), point, keeper);
        continue;
      }
      push_children(node, point, keeper);
    }
  }

  template <class Keeper>
  void push_children(Index node, const double* point, Keeper& keeper) {
    work_.boxes += 2;
    const Index left = 2 * node;
    const double to_left = least_to_box(point, tree_.low(left), tree_.features, period_);
    const double to_right = least_to_box(point, tree_.low(left + 1), tree_.features, period_);
    const Index nearer = to_left <= to_right ? left : left + 1;
    const double near = std::min(to_left, to_right);
    const double far = std::max(to_left, to_right);
    if (far <= keeper.reach() && keeper.wants(nearer ^ 1)) stack_.emplace_back(nearer ^ 1, far);
    if (near <= keeper.reach() && keeper.wants(nearer)) stack_.emplace_back(nearer, near);
  }

  template <class Keeper>
  void scan(Index leaf, const double* point, Keeper& keeper) {
    ++work_.leaves;
    keeper.scan(kernels_, tree_, leaf, point, squares_.data());
  }

  // Whether all samples outside the node are at a squared distance above `square` from a box inside
  // it: in some feature, such a sample lies beyond a face of the node, so its distance from the box
  // is at least the gap between the box and that face.
  bool holds(Index node, const double* low, const double* high, double square) const {
    const double* node_low = tree_.low(node);
    const double* node_high = tree_.high(node);
    for (int k = 0; k < tree_.features; ++k) {
      const double gap = std::min(low[k] - node_low[k], node_high[k] - high[k]);
      if (!(gap > 0.0 && gap * gap > square)) return false;
    }
    return true;
  }
  bool holds_ball(Index node, const double* point, double square) const {
    return holds(node, point, point, square);
  }
  bool holds_box(Index node, const double* box, double square) const {
    return holds(node, box, box + tree_.features, square);
  }

  const Tree& tree_;
  const double* period_;
  const PairKernels& kernels_;
  std::vector<double> squares_;
  std::vector<std::pair<Index, double>> stack_;
  std::vector<Index> pending_;
  SearchWork work_;
};

// Copies the coordinates of a query in the form of the tree: wrapped into the periods, and scaled.
inline void copy_query(const Tree& tree, const Points& queries, Index query, double* point) {
  for (int k = 0; k < tree.features; ++k) {
    const double period = std::ldexp(tree.period[k], tree.exponent);
    point[k] = scaled(wrapped(queries.at(query, k), period), tree.exponent);
  }
}

inline constexpr Index leaves_per_task = 16;

// Runs worker(leaf) on every leaf. make_worker is called once per thread.
template <class MakeWorker>
void for_each_leaf(const Tree& tree, double work, const Execution& execution,
                   const MakeWorker& make_worker) {
  const Index tasks = (tree.leaves() + leaves_per_task - 1) / leaves_per_task;
  run_tasks(execution, tasks, work, [&] {
    return [&, worker = make_worker()](Index task) mutable {
      const Index end = std::min(tree.leaves(), (task + 1) * leaves_per_task);
      for (Index leaf = task * leaves_per_task; leaf < end && !execution.stops(); ++leaf) {
        worker(leaf);
      }
    };
  });
}

// Runs body(search, leaf, point) on every leaf of the tree `leaves`. Each thread has its own
// TreeSearch over the tree `searched`, and scratch memory for the coordinates of one point.
template <class Body>
void search_from_leaves(const Tree& leaves, const Tree& searched, const Execution& execution,
                        const Body& body) {
  const auto room = static_cast<std::size_t>(leaves.features);
  for_each_leaf(leaves, 300.0 * static_cast<double>(leaves.locations), execution, [&] {
    return [&, search = TreeSearch(searched), point = std::vector<double>(room)](
               Index leaf) mutable { body(search, leaf, point.data()); };
  });
}

// Offers the keeper every sample of a leaf that is within its reach.
template <class Keeper>
void offer_leaf(const PairKernels& kernels, const Tree& tree, Index leaf, const double* point,
                double* squares, Keeper& keeper) {
  kernels.squares(point, tree.leaf_block(leaf), squares);
  const int count = tree.count(leaf);
  for (int i = 0; i < count; ++i) {
    if (squares[i] <= keeper.reach()) keeper.offer(leaf * tree.stride + i, squares[i]);
  }
}

}  // namespace quickshift
