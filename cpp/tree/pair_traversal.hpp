// Dual-tree traversal: visits pairs of nodes of two trees, from coarse to fine, until each pair is
// pruned (out of reach), taken whole, or a pair of leaves.
//
// If both trees are the same object, each unordered pair is visited once, and the worker handles
// both directions. The outcome for a pair can hardly be predicted, so no branch depends on it:
// there is a list of pairs still to be split, one of pairs to be taken whole, and one of pairs of
// leaves. A pair is written to the end of all three, and only the list to which it belongs grows.
#pragma once

#include <vector>

#include "tree/box.hpp"
#include "tree/kdtree.hpp"
#include "tree/pair_schedule.hpp"

namespace quickshift {

inline constexpr int vertex_levels = 7;  // tasks are pairs of up to 128 subtrees

// A Worker, which also owns the scratch memory of one thread, provides
// - bool out_of_reach(Index query, Index sample, Bounds squares): whether the pair is pruned;
// - bool inside(Index query, Index sample, Bounds squares): whether a pair that is not pruned is
//   taken whole;
// - void take_whole(Index query, Index sample): processes all points of two nodes at once;
// - void take_leaves(Index query, Index sample): processes two leaves point by point.
// - void finish(), if it has work left at the end of a task.
// It may write only to data that belong to the two subtrees of its task.
template <class Worker>
class PairTraversal {
 public:
  PairTraversal(const Tree& queries, const Tree& samples, const Execution& execution, Worker worker)
      : queries_(queries),
        samples_(samples),
        same_(&queries == &samples),
        execution_(execution),
        worker_(std::move(worker)) {}

  void operator()(Index query, Index sample) {
    visit(query, sample);
    while (pending_.count > 0 && !execution_.stops_after(steps_)) {
      const auto [a, b] = pending_.pairs[--pending_.count];
      split(a, b);
      if (wholes_.count + most_children > at_once) take_wholes();
      if (leaves_.count + most_children > at_once) take_leaves();
    }
    take_wholes();
    take_leaves();
    if constexpr (requires { worker_.finish(); }) worker_.finish();
    pending_.count = 0;
  }

 private:
  static constexpr std::size_t most_children = 4;
  static constexpr std::size_t at_once = 16;

  struct List {
    std::vector<std::pair<Index, Index>> pairs = std::vector<std::pair<Index, Index>>(at_once);
    std::size_t count = 0;

    // Always writes the pair, but keeps it only if it belongs to this list.
    void add_if(bool belongs, Index query, Index sample) {
      pairs[count] = {query, sample};
      count += belongs;
    }
  };

  void visit(Index query, Index sample) {
    const Bounds squares = between_boxes(queries_.low(query), samples_.low(sample),
                                         samples_.features, samples_.periods());
    const bool reached = !worker_.out_of_reach(query, sample, squares);
    const bool whole = worker_.inside(query, sample, squares);
    const bool query_ends = queries_.is_leaf(query);
    const bool sample_ends = samples_.is_leaf(sample);
    const bool ends = query_ends & sample_ends;
    wholes_.add_if(reached & whole, query, sample);
    leaves_.add_if(reached & !whole & ends, query, sample);
    pending_.add_if(reached & !whole & !ends, query, sample);
  }

  void take_wholes() {
    for (std::size_t i = 0; i < wholes_.count; ++i) {
      worker_.take_whole(wholes_.pairs[i].first, wholes_.pairs[i].second);
    }
    wholes_.count = 0;
  }

  void take_leaves() {
    for (std::size_t i = 0; i < leaves_.count; ++i) {
      worker_.take_leaves(leaves_.pairs[i].first, leaves_.pairs[i].second);
    }
    leaves_.count = 0;
  }

  void split(Index query, Index sample) {
    if (pending_.count + most_children > pending_.pairs.size()) {
      pending_.pairs.resize(2 * pending_.pairs.size());
    }
    const bool query_ends = queries_.is_leaf(query);
    const bool sample_ends = samples_.is_leaf(sample);
    const Index first = query_ends ? query : 2 * query;
    const Index second = sample_ends ? sample : 2 * sample;
    for (Index a = first + !query_ends; a >= first; --a) {
      for (Index b = second + !sample_ends; b >= second; --b) {
        if (!same_ || a <= b || query != sample) visit(a, b);
      }
    }
  }

  const Tree& queries_;
  const Tree& samples_;
  bool same_;
  const Execution& execution_;
  Worker worker_;
  unsigned steps_ = 0;
  List pending_;
  List wholes_;
  List leaves_;
};

// Runs the traversal on many threads. If the trees are the same object, a task is a pair of
// subtrees; otherwise a task is a subtree of the queries against all samples.
template <class MakeWorker>
void traverse_pairs(const Tree& queries, const Tree& samples, double work,
                    const Execution& execution, const MakeWorker& make_worker) {
  const auto make = [&] {
    return PairTraversal<decltype(make_worker())>(queries, samples, execution, make_worker());
  };
  const Index vertices = Index{1} << std::min(vertex_levels, queries.levels);
  if (&queries != &samples) {
    run_tasks(execution, vertices, work, [&] {
      return [&, traversal = make()](Index task) mutable { traversal(vertices + task, 1); };
    });
    return;
  }
  const auto probe = make_worker();
  const auto meets = [&](Index a, Index b) {
    const Bounds squares = between_boxes(samples.low(vertices + a), samples.low(vertices + b),
                                         samples.features, samples.periods());
    return !probe.out_of_reach(vertices + a, vertices + b, squares);
  };
  run_pairs(execution, vertices, work, meets, [&] {
    return [&, traversal = make()](Index a, Index b) mutable {
      traversal(vertices + a, vertices + b);
    };
  });
}

}  // namespace quickshift
