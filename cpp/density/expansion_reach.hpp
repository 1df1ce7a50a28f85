// Which pairs of nodes may be summed by expansions, for each kernel
// (docs/decisions/34-expansions.md).
#pragma once

#include <array>

#include "vector/expansion_loops.hpp"
#include "vector/kernel.hpp"

namespace quickshift {

inline constexpr int most_features_with_expansions = 2;

// Whether the kernel is the sum of two power series, in the squared distance and its root.
constexpr bool has_expansions(Kernel kernel) {
  return kernel == Kernel::silverman || kernel == Kernel::triangular || kernel == Kernel::tricube ||
         kernel == Kernel::cosine;
}

// The error bound of one kernel. Lengths are in units of the radius of the support.
class ExpansionReach {
 public:
  ExpansionReach(Kernel kernel, int features);

  const RadialSeries& series() const { return series_; }
  // The order of the expansions that are stored, the highest one of those in use.
  int order() const { return expansion_orders[orders_ - 1]; }
  // Nodes with fewer points than this are summed pair by pair, which takes less time.
  int least_points() const { return least_points_; }

  // The least order of expansions with which a pair of nodes keeps the error bound, as an index
  // into expansion_orders; only for pairs that `allows` allows. between_sq: the squared distance
  // between the centers. spread_sq: the square of the largest distance by which the difference
  // between a point of one node and a point of the other can deviate from the difference between
  // the centers.
  int order_for(double between_sq, double spread_sq) const {
    const auto& reaches = reaches_[bin_of(between_sq)];
    int index = 0;
    while (!(spread_sq < reaches[index])) ++index;
    return index;
  }
  bool allows(double between_sq, double spread_sq) const {
    return spread_sq < reaches_[bin_of(between_sq)][orders_ - 1];
  }
  // A bound on the error of an expansion, per unit of weight. All terms of the error are at least
  // of degree order + 1 in the spread.
  double error(double between_sq, double spread_sq, int index) const {
    const int bin = bin_of(between_sq);
    const double ratio = spread_sq / reaches_[bin][index];
    double power = 1.0;
    for (int i = 0; i < expansion_orders[index] / 2; ++i) power *= ratio;
    return errors_[bin] * power;
  }

  static constexpr int orders = sizeof expansion_orders / sizeof *expansion_orders;

 private:
  // Bins of squared distances: four per octave below 1, and one for all that are smaller.
  static constexpr int octaves = 12;
  static constexpr int bins = 4 * octaves + 1;
  static int bin_of(double square);

  int orders_;
  int least_points_;
  RadialSeries series_;
  std::array<std::array<double, orders>, bins> reaches_;  // largest squared spread
  std::array<double, bins> errors_;
};

// The error bound of a kernel that has expansions, for one or two features; computed when it is
// first needed.
const ExpansionReach& expansion_reach(Kernel kernel, int features);

}  // namespace quickshift
