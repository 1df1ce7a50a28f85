#include "membership/labels_within.hpp"

#include "tree/box.hpp"
#include "tree/search.hpp"

namespace quickshift {

namespace {

// Queries share one search if their box is smaller than this share of their reach, because their
// surroundings are nearly the same.
constexpr double size_of_group = 0.1;

// Finds the labels near one group of query leaves after another, within the widest reach of its
// queries; one object per thread.
class LabelsNearLeaves {
 public:
  LabelsNearLeaves(const Tree& queries, const Tree& samples, const Labels& labels,
                   const NodeLabels& nodes, const Array<double>& reaches_sq)
      : queries_(queries),
        samples_(samples),
        labels_(labels),
        nodes_(nodes),
        reaches_sq_(reaches_sq),
        seen_(static_cast<std::size_t>(labels.count()), 0),
        point_(static_cast<std::size_t>(samples.features)) {}

  // Nothing is remembered from earlier leaves, so that lists do not depend on the order of tasks.
  void start() { end_ = 0; }
  // Appends the list of every query of the leaf.
  void add_list(Index leaf, std::vector<LabelValue>& list) {
    if (leaf >= end_) search(group_of(leaf));
    for (const Index label : near_) list.push_back({label, label == nearest_ ? -1.0 : 0.0});
  }

 private:
  // The highest node that starts with this leaf and is small; its last leaf is before end_.
  Index group_of(Index leaf) {
    Index node = queries_.leaves() + leaf;
    Index size = 1;
    const double limit = size_of_group * size_of_group * widest_reach(leaf, leaf + 1);
    while (node % 2 == 0 && size < leaves_per_task && size_sq(node / 2) <= limit) {
      node /= 2;
      size *= 2;
    }
    begin_ = leaf;
    end_ = leaf + size;
    return node;
  }
  double size_sq(Index node) const {
    double sum = 0.0;
    for (int k = 0; k < queries_.features; ++k) {
      const double side = queries_.high(node)[k] - queries_.low(node)[k];
      sum += side * side;
    }
    return sum;
  }
  double widest_reach(Index begin, Index end) const {
    double widest = -1.0;
    for (Index leaf = begin; leaf < end; ++leaf) {
      const double* first = reaches_sq_.data() + leaf * queries_.stride;
      widest = std::max(widest, *std::max_element(first, first + queries_.count(leaf)));
    }
    return widest;
  }

  void search(Index group) {
    near_.clear();
    const double reach_sq = widest_reach(begin_, end_);
    const double* box = queries_.low(group);
    pending_.assign(1, {1, to_node(box, 1)});
    while (!pending_.empty()) {
      const auto [node, least] = pending_.back();
      pending_.pop_back();
      if (least > reach_sq || nodes_.all(node, [&](Index label) { return seen_[label]; })) {
        continue;
      }
      if (samples_.is_leaf(node)) {
        add_leaf(samples_.leaf_of(node), box, reach_sq);
      } else {
        push_children(node, box);
      }
    }
    nearest_ = near_.empty() ? -1 : near_.front();
    for (const Index label : near_) seen_[label] = 0;
    std::sort(near_.begin(), near_.end());
  }
  void push_children(Index node, const double* box) {
    const Pending left{2 * node, to_node(box, 2 * node)};
    const Pending right{2 * node + 1, to_node(box, 2 * node + 1)};
    const bool left_first = left.least <= right.least;
    pending_.push_back(left_first ? right : left);
    pending_.push_back(left_first ? left : right);
  }
  void add_leaf(Index leaf, const double* box, double reach_sq) {
    for (int i = 0; i < samples_.count(leaf); ++i) {
      const Index label = labels_.of_slot[leaf * samples_.stride + i];
      if (seen_[label]) continue;
      copy_point(samples_, leaf, i, point_.data());
      if (least_to_box(point_.data(), box, samples_.features, samples_.periods()) > reach_sq) {
        continue;
      }
      seen_[label] = 1;
      near_.push_back(label);
    }
  }
  double to_node(const double* box, Index node) const {
    return between_boxes(box, samples_.low(node), samples_.features, samples_.periods()).least;
  }

  struct Pending {
    Index node;
    double least;
  };

  const Tree& queries_;
  const Tree& samples_;
  const Labels& labels_;
  const NodeLabels& nodes_;
  const Array<double>& reaches_sq_;  // by slot of the queries
  Index begin_ = 0;                  // the leaves of the group
  Index end_ = 0;
  std::vector<Index> near_;
  Index nearest_ = -1;
  std::vector<char> seen_;  // by label
  std::vector<Pending> pending_;
  std::vector<double> point_;
};

}  // namespace

LabelLists::LabelLists(const Tree& queries, Index first_leaf, Index end_leaf, const Tree& samples,
                       const Labels& labels, const NodeLabels& nodes,
                       const Array<double>& reaches_sq, const Execution& execution)
    : first_slot_(first_leaf * queries.stride),
      slots_per_task_(leaves_per_task * queries.stride),
      begin_(unset_array<Index>((end_leaf - first_leaf) * queries.stride)),
      size_(filled_array((end_leaf - first_leaf) * queries.stride, Index{0}, execution)) {
  const Index tasks = (end_leaf - first_leaf + leaves_per_task - 1) / leaves_per_task;
  lists_.resize(static_cast<std::size_t>(tasks));
  const double work = 100.0 * static_cast<double>((end_leaf - first_leaf) * queries.stride);
  run_tasks(execution, tasks, work, [&] {
    return [&, find = LabelsNearLeaves(queries, samples, labels, nodes, reaches_sq)](
               Index task) mutable {
      find.start();
      std::vector<LabelValue>& list = lists_[task];
      const Index first = first_leaf + task * leaves_per_task;
      const Index last = std::min(end_leaf, first + leaves_per_task);
      for (Index leaf = first; leaf < last && !execution.stops(); ++leaf) {
        for (int i = 0; i < queries.count(leaf); ++i) {
          const Index place = leaf * queries.stride + i - first_slot_;
          begin_[place] = static_cast<Index>(list.size());
          find.add_list(leaf, list);
          size_[place] = static_cast<Index>(list.size()) - begin_[place];
        }
      }
    };
  });
}

}  // namespace quickshift
