// The result: the shares of all clusters at each query, or the largest of them.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "membership/labels.hpp"

namespace quickshift {

struct ShareTable {
  Index columns;   // the number of clusters, or of the largest shares that are wanted
  Index* labels;   // (rows, columns), the labels of the shares; null if columns are the clusters
  double* shares;  // (rows, columns)
  char* vanished;  // (rows,), whether all shares are 0

  // Sets all shares to 0, in the order of the memory.
  void clear(Index rows, const Execution& execution) const {
    run_ranges(execution, rows * columns,
               [&](Index begin, Index end) { std::fill(shares + begin, shares + end, 0.0); });
  }
  // Copies the shares of the first row at each location to the other rows.
  void spread(const Tree& queries, const Execution& execution) const {
    run_ranges(execution, queries.rows, [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const Index first = queries.row_of_slot[queries.slot_of_row[row]];
        if (first == row) continue;
        std::copy_n(shares + first * columns, columns, shares + row * columns);
        vanished[row] = vanished[first];
        if (labels) std::copy_n(labels + first * columns, columns, labels + row * columns);
      }
    });
  }
};

// Writes rows of a table that was cleared; one object per thread.
class ShareWriter {
 public:
  ShareWriter(const Labels& labels, const ShareTable& table) : labels_(labels), table_(table) {}

  // list: labels with their shares, each label at most once, in any order.
  void write(Index row, std::span<const LabelValue> list) {
    double* shares = table_.shares + row * table_.columns;
    bool positive = false;
    for (const LabelValue& entry : list) positive |= entry.value > 0.0;
    table_.vanished[row] = !positive;
    if (table_.labels) {
      write_largest(list, table_.labels + row * table_.columns, shares);
    } else {
      for (const LabelValue& entry : list) add(entry, shares);
    }
  }

 private:
  void add(const LabelValue& entry, double* shares) const {
    for_parts(entry, [&](const LabelValue& part) { shares[part.label] += part.value; });
  }
  // Runs body(part) on the parts of a label, if it is that of a divided location, or on itself.
  template <class Body>
  void for_parts(const LabelValue& entry, const Body& body) const {
    if (entry.label < labels_.clusters) return body(entry);
    const Index place = entry.label - labels_.clusters;
    for (Index i = labels_.part_offsets[place]; i < labels_.part_offsets[place + 1]; ++i) {
      body({labels_.part_clusters[i], entry.value * labels_.part_shares[i]});
    }
  }
  // The parts of positive value, sorted by cluster, each cluster once.
  void list_parts(std::span<const LabelValue> list) {
    list_.clear();
    for (const LabelValue& entry : list) {
      for_parts(entry, [&](const LabelValue& part) {
        if (part.value > 0.0) list_.push_back(part);
      });
    }
    std::sort(list_.begin(), list_.end(),
              [](const LabelValue& a, const LabelValue& b) { return a.label < b.label; });
    std::size_t kept = 0;
    for (const LabelValue& part : list_) {
      if (kept > 0 && list_[kept - 1].label == part.label) {
        list_[kept - 1].value += part.value;
      } else {
        list_[kept++] = part;
      }
    }
    list_.resize(kept);
  }

  // The largest shares in falling order; of equal ones, the lower label first. If there are too
  // few, the lowest other labels follow, whose shares are 0.
  void write_largest(std::span<const LabelValue> list, Index* labels, double* shares) {
    list_parts(list);
    const Index listed = std::min(table_.columns, static_cast<Index>(list_.size()));
    auto next = list_.begin();
    Index label = 0;
    for (Index column = listed; column < table_.columns; ++label) {
      if (next != list_.end() && next->label == label) {
        ++next;
        continue;
      }
      labels[column++] = label;
    }
    std::partial_sort(list_.begin(), list_.begin() + listed, list_.end(),
                      [](const LabelValue& a, const LabelValue& b) {
                        return a.value != b.value ? a.value > b.value : a.label < b.label;
                      });
    for (Index column = 0; column < listed; ++column) {
      labels[column] = list_[column].label;
      shares[column] = list_[column].value;
    }
  }

  const Labels& labels_;
  const ShareTable& table_;
  std::vector<LabelValue> list_;
};

}  // namespace quickshift
