// The locations of a tree in blocks, for high dimension, where a tree prunes little: all pairs of
// two blocks are computed at once, as a product of matrices.
//
// A block holds the locations below one node of the tree; the nodes of all blocks are on the same
// level. Blocks therefore do not depend on the order of the rows, and their bounding boxes show
// which pairs of blocks are too far apart to matter. The position of a location is the number of
// locations before it in slot order; unused slots are not counted.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tree/box.hpp"
#include "tree/kdtree.hpp"
#include "vector/products.hpp"

namespace quickshift {

// The level of the tree whose nodes are the blocks.
int block_level(const Tree& tree);

// Whether this many copies of the points in blocks stay within scratch_limit.
bool blocks_fit(const Tree& tree, int copies);

// Writes the median of each coordinate over some of the locations of a block.
void find_medians(const Tree& tree, Index block, double* medians);

// The center of a block, which is subtracted from its points before products are computed. The
// error of a product grows with the distances from the center. The center of the box limits the
// largest of them; the medians keep most of them small if a few points are far from the others.
enum class BlockCenter { box, medians };

struct Blocks {
  Blocks(const Tree& source, const Execution& execution, BlockCenter kind = BlockCenter::box);

  Index count() const { return Index{1} << level; }
  Index vertices() const { return Index{1} << vertex_level; }
  Index blocks_per_vertex() const { return Index{1} << (level - vertex_level); }
  Index first_leaf(Index block) const { return block << (tree.levels - level); }
  Index begin(Index block) const { return tree.begin_of_leaf(first_leaf(block)); }
  int size(Index block) const { return static_cast<int>(begin(block + 1) - begin(block)); }
  const double* panels_of(Index block) const {
    return panels.data() + block * room * tree.features;
  }
  const double* center(Index block) const { return centers.data() + block * tree.features; }
  const double* box(Index block) const { return tree.low(count() + block); }
  // The first coordinate of a point of a block; consecutive coordinates are `panel_width` apart.
  const double* point(Index block, int i) const {
    return panels_of(block) + i / panel_width * panel_width * tree.features + i % panel_width;
  }

  const Tree& tree;
  int level;
  int vertex_level;             // of the vertices: ranges of blocks that one task may write
  int room;                     // points that a block has memory for
  std::vector<double> panels;   // [block][panel][feature][panel_width]
  std::vector<double> centers;  // [block][feature]
  std::vector<Index> slots;     // [position]: the slot of the location

 private:
  void fill(Index block, BlockCenter kind);
};

// A bound on the error of the squared distance |x|² + |y|² - 2xy, for x and y relative to a common
// center, as a share of the computed |x|² + |y|², in arithmetic with the given unit roundoff.
//
// Sums over the features are accumulated in runs (vector/products.hpp): a chain of additions rounds
// once per term of a run and once per further run, and once more for a product that is not fused.
// Each norm has a relative error of that many units. The error of 2xy is that many units of the sum
// of the norms, because 2 |x||y| is at most that sum. Rounding the centered coordinates adds 4
// units, the final sum and difference add 3, and 1 is left for terms of second order.
inline double product_error(int features, double unit) {
  const auto chain = [&](int run) { return std::min(features, run) + (features - 1) / run + 1.0; };
  return (chain(product_run) + chain(norm_run) + 8.0) * unit;
}

// A bound on the relative error of a squared distance that is computed by its definition, as a sum
// of squared differences.
inline double definition_error(int features) { return (features + 2.0) * 0x1p-53; }

// The same in single precision for centered points: the error of a squared distance from a product
// is at most `single_error` times the sum of the squared norms, plus `single_underflow`. It
// includes the error of the definition, so that the bound holds for the difference of the two.
inline double single_error(int features) {
  return 1.01 * product_error(features, 0x1p-24) + 4.0 * definition_error(features);
}
// The same for squares from norms that were lowered by their share of the error, and rounded once
// more (tree/block_squares.hpp).
inline double lowered_error(int features) { return single_error(features) + 0x1.1p-24; }
inline double single_underflow(int features) { return (features + 4) * 0x1p-120; }

// The smallest float that is at least a value, or the largest float.
inline float rounded_up(double value) {
  constexpr float largest = std::numeric_limits<float>::max();
  if (!(value < static_cast<double>(largest))) return largest;
  const auto rounded = static_cast<float>(value);
  return rounded < value ? std::nextafter(rounded, std::numeric_limits<float>::infinity())
                         : rounded;
}

// The squared distance between two locations, by the definition.
inline double square_between(const Tree& tree, Index slot, Index other) {
  const double* x = tree.leaf_coordinates(slot / tree.stride) + slot % tree.stride;
  const double* y = tree.leaf_coordinates(other / tree.stride) + other % tree.stride;
  double sum = 0.0;
  for (int k = 0; k < tree.features; ++k) {
    const double delta = x[k * tree.stride] - y[k * tree.stride];
    sum += delta * delta;
  }
  return sum;
}

// Estimated elementary operations for all pairs of blocks.
inline double work_of(const Blocks& blocks) {
  const auto locations = static_cast<double>(blocks.tree.locations);
  return 0.1 * locations * locations * blocks.tree.features;
}

}  // namespace quickshift
