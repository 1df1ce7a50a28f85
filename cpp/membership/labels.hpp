// The clusters of the samples, by location.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "tree/kdtree.hpp"

namespace quickshift {

struct LabelValue {
  Index label;
  double value;
};

// Equal rows, which are one location, may belong to different clusters. Such a location has a label
// of its own, from `clusters` on, and stands for the parts of several clusters in its weight.
struct Labels {
  const Index* of_slot;        // by slot of the samples; not read in unused slots
  Index clusters;              // the number of clusters, whose labels are 0, ..., clusters - 1
  Index divided = 0;           // the number of locations that have labels of their own
  const Index* part_offsets;   // by such a location, where its parts begin; divided + 1 numbers
  const Index* part_clusters;  // of each part
  const double* part_shares;   // in the weight of its location

  Index count() const { return clusters + divided; }
};

// The labels of the samples below each node of a tree, if they are few. Clusters are contiguous, so
// most nodes hold the samples of one or two of them.
class NodeLabels {
 public:
  NodeLabels(const Tree& tree, const Labels& labels, const Execution& execution)
      : of_node_(unset_array<Few>(tree.nodes())) {
    for_nodes_upwards(tree, execution, [&](Index node) {
      Few& few = of_node_[node];
      few = Few{};
      if (!tree.is_leaf(node)) {
        few.add_all(of_node_[2 * node]);
        few.add_all(of_node_[2 * node + 1]);
        return;
      }
      const Index first = tree.leaf_of(node) * tree.stride;
      for (int i = 0; i < tree.count(tree.leaf_of(node)); ++i) few.add(labels.of_slot[first + i]);
    });
  }

  // Whether the predicate holds for every label below the node; false if there are too many labels.
  template <class Predicate>
  bool all(Index node, const Predicate& predicate) const {
    const Few& few = of_node_[node];
    return few.count <= most &&
           std::all_of(few.labels.begin(), few.labels.begin() + few.count, predicate);
  }

 private:
  static constexpr int most = 3;

  struct Few {
    std::array<Index, most> labels{};
    Index count = 0;  // most + 1: there are more than are listed

    void add(Index label) {
      const auto end = labels.begin() + std::min<Index>(count, most);
      if (count > most || std::find(labels.begin(), end, label) != end) return;
      if (count < most) labels[count] = label;
      ++count;
    }
    void add_all(const Few& other) {
      if (other.count > most) count = most + 1;
      for (int i = 0; i < std::min<Index>(other.count, most); ++i) add(other.labels[i]);
    }
  };

  Array<Few> of_node_;
};

}  // namespace quickshift
