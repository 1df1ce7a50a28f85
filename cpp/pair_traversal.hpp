// Visits the pairs of nodes of two trees, from coarse to fine, until each pair is out of reach,
// taken whole, or a pair of leaves.
//
// Where both trees are the same, each unordered pair is visited once and stands for both
// directions.
#pragma once

#include <vector>

#include "box.hpp"
#include "kdtree.hpp"
#include "pair_schedule.hpp"

namespace quickshift {

inline constexpr int vertex_levels = 7;  // tasks are pairs of up to 128 subtrees

// Worker provides, besides its scratch memory:
//   bool out_of_reach(Index query, Index sample, Bounds squares)
//   bool take_whole(Index query, Index sample, Bounds squares)
//   void take_leaves(Index query, Index sample)
// It may write to what belongs to the two subtrees of its task, and to nothing else.
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
    pending_.clear();
    visit(query, sample);
    while (!pending_.empty() && !execution_.stop) {
      const auto [a, b] = pending_.back();
      pending_.pop_back();
      split(a, b);
    }
  }

 private:
  void visit(Index query, Index sample) {
    const Bounds squares = between_boxes(queries_.low(query), samples_.low(sample),
                                         samples_.features, samples_.periods());
    if (worker_.out_of_reach(query, sample, squares)) return;
    if (worker_.take_whole(query, sample, squares)) return;
    if (queries_.is_leaf(query) && samples_.is_leaf(sample)) {
      worker_.take_leaves(query, sample);
    } else {
      pending_.emplace_back(query, sample);
    }
  }

  void split(Index query, Index sample) {
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
  std::vector<std::pair<Index, Index>> pending_;
};

// Runs the workers over all pairs of nodes. Tasks are pairs of subtrees where the trees are the
// same, else subtrees of the queries against all samples.
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
