// Which of two locations is higher: the total order of docs/decisions/05-order.md.
#pragma once

#include <vector>

#include "tree/kdtree.hpp"

namespace quickshift {

// Rounds to the given number of significant bits, half to even. The last bits of a sum of kernels
// depend on the order of summation, so they must not decide which point is higher.
double round_to_bits(double value, int bits);

// The heights of a tree's locations and their total order: the location with the larger rounded
// height is higher; ties are broken by lexicographically larger coordinates.
class Heights {
 public:
  // row_heights: one per row. Duplicate rows may differ in height; a location has the height of its
  // highest row.
  Heights(const Tree& tree, const double* row_heights, int bits, const Execution& execution);
  Heights(const Heights&) = delete;

  double height(Index slot) const { return heights_[slot]; }
  const double* by_slot() const { return heights_.data(); }
  // The highest row of a location; -1 in unused slots.
  Index top_row(Index slot) const { return top_rows_[slot]; }
  // The slot of the highest location below a node, and its height.
  Index highest_below(Index node) const { return highest_below_[node]; }
  double greatest_height(Index node) const { return greatest_heights_[node]; }

  // Whether the location has exactly these coordinates.
  bool is_at(Index slot, const double* point) const;
  // Whether the location at `slot` is higher than the one at `other`.
  bool higher(Index slot, Index other) const;
  // Whether the location is higher than a point of the given rounded height, which need not be in
  // the tree.
  bool higher(Index slot, double height, const double* point) const;

 private:
  void raise_tops(const double* row_heights, int bits);
  Index highest_of(Index node) const;  // its children must be done

  const Tree& tree_;
  Array<double> heights_;           // by slot, rounded
  const Index* top_rows_;           // by slot: the tree's row_of_slot, or raised_tops_
  Array<Index> raised_tops_;        // by slot; empty if there are no duplicate rows
  Array<Index> highest_below_;      // by node: a slot
  Array<double> greatest_heights_;  // by node
};

// Sorts rows of positive weight from the highest to the lowest. Duplicate rows of equal height are
// sorted by index, the smaller one first.
void sort_by_height(const Tree& tree, const double* row_heights, int bits,
                    std::vector<Index>& rows);

}  // namespace quickshift
