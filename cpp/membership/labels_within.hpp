// Which clusters have samples within reach of a query?
#pragma once

#include <span>
#include <vector>

#include "membership/labels.hpp"

namespace quickshift {

// A list of labels, with a value each, for every location of some leaves of a tree of queries.
class LabelLists {
 public:
  // For each location, the labels of all samples within its reach, and possibly a few of samples
  // that are not much farther away, in rising order. One of the nearest labels has the value -1,
  // the others have 0. first_leaf: a multiple of leaves_per_task. reaches_sq: by slot of the
  // queries.
  LabelLists(const Tree& queries, Index first_leaf, Index end_leaf, const Tree& samples,
             const Labels& labels, const NodeLabels& nodes, const Array<double>& reaches_sq,
             const Execution& execution);

  std::span<LabelValue> of(Index slot) {
    const Index place = slot - first_slot_;
    if (size_[place] == 0) return {};
    return {lists_[place / slots_per_task_].data() + begin_[place],
            static_cast<std::size_t>(size_[place])};
  }

 private:
  Index first_slot_;
  Index slots_per_task_;
  std::vector<std::vector<LabelValue>> lists_;  // by task
  Array<Index> begin_;  // by slot, in the list of its task; unset if size_ is 0
  Array<Index> size_;   // by slot; 0 in unused slots
};

}  // namespace quickshift
