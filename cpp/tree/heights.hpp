// Who is higher: the total order of the locations of a tree.
#pragma once

#include <vector>

#include "tree/kdtree.hpp"

namespace quickshift {

// Rounds to the given number of significant bits, half to even: the last bits of a sum of kernels
// depend on the order of summation and must not decide who is higher.
double round_to_bits(double value, int bits);

// The locations of a tree in their total order: larger rounded density, then lexicographically
// larger coordinates.
class Heights {
 public:
  // density: one per row. Rows at one location may differ; its highest row stands for it.
  Heights(const Tree& tree, const double* row_heights, int bits, const Execution& execution);
  Heights(const Heights&) = delete;

  double height(Index slot) const { return heights_[slot]; }
  const double* by_slot() const { return heights_.data(); }
  Index top_row(Index slot) const { return top_rows_[slot]; }  // -1 in unused slots
  Index highest_below(Index node) const { return highest_below_[node]; }
  double greatest_height(Index node) const { return greatest_heights_[node]; }

  bool is_at(Index slot, const double* point) const;  // whether the location has these coordinates
  bool higher(Index slot, Index other) const;
  // Against a point outside the tree, or inside it if `point` holds a location's coordinates.
  bool higher(Index slot, double height, const double* point) const;

 private:
  void raise_tops(const double* row_heights, int bits);
  Index highest_of(Index node) const;  // once its children's are known

  const Tree& tree_;
  Array<double> heights_;       // by slot, rounded
  const Index* top_rows_;       // by slot
  Array<Index> raised_tops_;    // the same where locations have several rows, else empty
  Array<Index> highest_below_;  // by node: a slot
  Array<double> greatest_heights_;
};

// Puts rows of positive weight in falling order of height; between equal ones the smaller index is
// higher.
void sort_by_height(const Tree& tree, const double* row_heights, int bits,
                    std::vector<Index>& rows);

}  // namespace quickshift
