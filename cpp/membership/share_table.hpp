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

  // Copies the shares of the first row at each location to the other rows.
  void spread(const Tree& queries, const Execution& execution) const {
    run_ranges(execution, queries.rows, [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const Index first = queries.row_of_slot[queries.slot_of_row[row]];
        if (first == row) continue;
        std::copy_n(shares + first * columns, columns, shares + row * columns);
        if (labels) std::copy_n(labels + first * columns, columns, labels + row * columns);
      }
    });
  }
};

// Writes rows of the table; one object per thread.
class ShareWriter {
 public:
  ShareWriter(const Labels& labels, const ShareTable& table) : labels_(labels), table_(table) {}

  // list: labels with their shares, each label at most once, in any order.
  void write(Index row, std::span<const LabelValue> list) {
    list_.clear();
    for (const LabelValue& entry : list) add(entry);
    std::sort(list_.begin(), list_.end(),
              [](const LabelValue& a, const LabelValue& b) { return a.label < b.label; });
    if (labels_.divided > 0) merge();
    if (table_.labels) {
      write_largest(table_.labels + row * table_.columns, table_.shares + row * table_.columns);
    } else {
      double* shares = table_.shares + row * table_.columns;
      std::fill_n(shares, table_.columns, 0.0);
      for (const LabelValue& entry : list_) shares[entry.label] = entry.value;
    }
  }

 private:
  void add(const LabelValue& entry) {
    if (entry.label < labels_.clusters) {
      if (entry.value > 0.0) list_.push_back(entry);
      return;
    }
    const Index place = entry.label - labels_.clusters;
    for (Index i = labels_.part_offsets[place]; i < labels_.part_offsets[place + 1]; ++i) {
      add({labels_.part_clusters[i], entry.value * labels_.part_shares[i]});
    }
  }
  // Adds up the shares of the same cluster.
  void merge() {
    std::size_t kept = 0;
    for (const LabelValue& entry : list_) {
      if (kept > 0 && list_[kept - 1].label == entry.label) {
        list_[kept - 1].value += entry.value;
      } else {
        list_[kept++] = entry;
      }
    }
    list_.resize(kept);
  }

  // The largest shares in falling order; of equal ones, the lower label first. If there are too
  // few, the lowest other labels follow, whose shares are 0.
  void write_largest(Index* labels, double* shares) {
    const Index listed = std::min(table_.columns, static_cast<Index>(list_.size()));
    auto next = list_.begin();
    Index label = 0;
    for (Index column = listed; column < table_.columns; ++label) {
      if (next != list_.end() && next->label == label) {
        ++next;
        continue;
      }
      labels[column] = label;
      shares[column++] = 0.0;
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
