// The parameters and the result of a local scale.
#pragma once

#include <span>
#include <vector>

#include "support/points.hpp"

namespace quickshift {

// How scales are found: by searches of the tree, or by products of blocks of points, which is
// faster with many features. Both give the same bits.
enum class ScaleMethod { automatic, tree, blocks };

struct ScaleOptions {
  std::vector<double> neighbors;  // one or more K, at least 1, in rising order
  Index spacing = 2;              // g, at least 1
  int dimension = 1;              // d, the number of features that are not constant
  ScaleMethod method = ScaleMethod::automatic;

  double most() const { return neighbors.back(); }
};

struct ScaleOfPoint {
  const double* r;  // one per K; valid until the next point is measured
  double tau;
  double reach_sq = 0.0;  // the squared distance within which all samples that count are
  // The slots of the other locations no farther away than tau, if the method finds them; valid as
  // long as r.
  std::span<const Index> near = {};
};

}  // namespace quickshift
