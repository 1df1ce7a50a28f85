// Visits, for every leaf of a query tree, the part of a sample tree within reach.
//
// A task is a query subtree. It goes down the query tree with the list of sample nodes that are
// still undecided for the current query node, from coarse to fine: what is out of reach of a node
// is out of reach of its children, and what a node can take whole its children need not see.
#pragma once

#include <vector>

#include "box.hpp"
#include "kdtree.hpp"
#include "parallel.hpp"

namespace quickshift {

inline constexpr int task_levels = 8;  // up to 256 tasks whatever the number of threads

// Worker provides, besides its scratch memory:
//   bool out_of_reach(Index query_node, Bounds squares)
//   bool take_whole(int depth, Index query_node, Index sample_node, Bounds squares)
//   void enter(int depth, Index query_node)        before a query node's samples are classified;
//                                                  depth counts from the task's root, at depth 0
//   void finish_leaf(int depth, Index query_node, const std::vector<Index>& sample_leaves)
template <class Worker>
class DualTraversal {
 public:
  DualTraversal(const Tree& queries, const Tree& samples, const Execution& execution, Worker worker)
      : queries_(queries),
        samples_(samples),
        execution_(execution),
        period_(samples.periods()),
        worker_(std::move(worker)),
        undecided_(static_cast<std::size_t>(queries.levels + 2)) {}

  void operator()(Index task) {
    const int level = std::min(task_levels, queries_.levels);
    undecided_[0].assign(1, Index{1});
    descend(0, (Index{1} << level) + task);
  }

 private:
  void descend(int depth, Index query) {
    if (execution_.stop) return;
    std::vector<Index>& list = undecided_[depth + 1];
    list.clear();
    worker_.enter(depth, query);
    for (Index sample : undecided_[depth]) refine(depth, query, sample, list);
    if (queries_.is_leaf(query)) {
      worker_.finish_leaf(depth, query, list);
      return;
    }
    descend(depth + 1, 2 * query);
    descend(depth + 1, 2 * query + 1);
  }

  // Splits a sample node until it is decided or about as small as the query node.
  void refine(int depth, Index query, Index sample, std::vector<Index>& list) {
    const double* query_box = queries_.low(query);
    stack_.assign(1, sample);
    while (!stack_.empty()) {
      const Index node = stack_.back();
      stack_.pop_back();
      const Bounds squares =
          between_boxes(query_box, samples_.low(node), samples_.features, period_);
      if (worker_.out_of_reach(query, squares)) continue;
      if (worker_.take_whole(depth, query, node, squares)) continue;
      if (samples_.is_leaf(node) || (!queries_.is_leaf(query) && node >= query)) {
        list.push_back(node);
      } else {
        stack_.push_back(2 * node + 1);
        stack_.push_back(2 * node);
      }
    }
  }

  const Tree& queries_;
  const Tree& samples_;
  const Execution& execution_;
  const double* period_;
  Worker worker_;
  std::vector<std::vector<Index>> undecided_;  // by depth: samples that node still has to look at
  std::vector<Index> stack_;
};

template <class MakeWorker>
void traverse(const Tree& queries, const Tree& samples, double work, const Execution& execution,
              const MakeWorker& make_worker) {
  using Worker = decltype(make_worker());
  const Index tasks = Index{1} << std::min(task_levels, queries.levels);
  run_tasks(execution, tasks, work,
            [&] { return DualTraversal<Worker>(queries, samples, execution, make_worker()); });
}

}  // namespace quickshift
