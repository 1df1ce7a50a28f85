// Which pairs of nodes may be summed by expansions, for each kernel (docs/decisions/34-expansions.md).
#pragma once

#include <array>

#include "vector/expansion_loops.hpp"
#include "vector/kernel.hpp"

namespace quickshift {

// Whether the kernel is the sum of two power series, in the squared distance and its root.
constexpr bool has_expansions(Kernel kernel) {
  return kernel == Kernel::silverman || kernel == Kernel::triangular || kernel == Kernel::tricube ||
         kernel == Kernel::cosine;
}

// The error bound of one kernel. Lengths are in units of the radius of the support.
class ExpansionReach {
 public:
  explicit ExpansionReach(Kernel kernel);

  const RadialSeries& series() const { return series_; }

  // The least order of expansions with which a pair of nodes keeps the error bound, as an index
  // into expansion_orders; their number if there is none. between_sq: the squared distance between
  // the centers. spread_sq: the square of the largest distance by which the difference between a
  // point of one node and a point of the other can deviate from the difference between the centers.
  int order_for(double between_sq, double spread_sq) const {
    const auto& reaches = reaches_[bin_of(between_sq)];
    int index = 0;
    while (index < orders && spread_sq > reaches[index]) ++index;
    return index;
  }
  bool allows(double between_sq, double spread_sq) const {
    return spread_sq <= reaches_[bin_of(between_sq)][orders - 1];
  }
  // The error bound at this distance between the centers, per unit of weight.
  double error(double between_sq) const { return errors_[bin_of(between_sq)]; }

  static constexpr int orders = sizeof expansion_orders / sizeof *expansion_orders;

 private:
  // Bins of squared distances: four per octave below 1, and one for all that are smaller.
  static constexpr int octaves = 12;
  static constexpr int bins = 4 * octaves + 1;
  static int bin_of(double square);

  RadialSeries series_;
  std::array<std::array<double, orders>, bins> reaches_;  // largest squared spread
  std::array<double, bins> errors_;
};

// The error bound of a kernel that has expansions; computed when it is first needed.
const ExpansionReach& expansion_reach(Kernel kernel);

}  // namespace quickshift
