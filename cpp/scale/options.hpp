// The parameters and the result of a local scale.
#pragma once

#include "support/points.hpp"

namespace quickshift {

// How scales are found: by searches of the tree, or by products of blocks of points, which is
// faster with many features. Both give the same bits.
enum class ScaleMethod { automatic, tree, blocks };

struct ScaleOptions {
  double neighbors = 1.0;  // K, at least 1
  Index spacing = 2;       // g, at least 1
  int dimension = 1;       // d, the number of features that are not constant
  ScaleMethod method = ScaleMethod::automatic;
};

struct ScaleOfPoint {
  double r;
  double tau;
  double reach_sq = 0.0;  // the squared distance within which all samples that count are
};

}  // namespace quickshift
