// The locations of a tree in blocks, for high dimension, where a tree prunes little: all pairs of
// two blocks are computed at once, as a product of matrices.
//
// A block holds the locations below one node, all blocks on the same level of the tree. Blocks
// therefore do not depend on the order of the rows, and their bounding boxes show which pairs of
// blocks are too far apart to matter. The position of a location counts all locations before it, in
// slot order and without the unused slots.
#pragma once

#include <algorithm>
#include <vector>

#include "tree/box.hpp"
#include "tree/kdtree.hpp"
#include "vector/products.hpp"

namespace quickshift {

// The level of the tree whose nodes are the blocks.
int block_level(const Tree& tree);

struct Blocks {
  explicit Blocks(const Tree& source, const Execution& execution);

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
  int vertex_level;             // a vertex, the unit that one task writes, is a range of blocks
  int room;                     // points that a block has memory for
  std::vector<double> panels;   // [block][panel][feature][panel_width]
  std::vector<double> centers;  // [block][feature]: of the block's box
  std::vector<Index> slots;     // [position]: the slot of the location

 private:
  void fill(Index block);
};

// A bound on the error of the squared distance |x|² + |y|² - 2xy, for x and y relative to a common
// center, as a share of the computed |x|² + |y|², in arithmetic with the given unit roundoff.
//
// Sums over the features are accumulated in runs (vector/products.hpp): a chain of additions rounds
// once per term of a run and once per further run, and once more for a product that is not fused.
// Each norm has a relative error of that many units. So has 2xy relative to the norms, because
// 2 |x||y| is at most their sum. Rounding the centered coordinates adds 4 units, the final sum and
// difference 3, and terms of second order the rest.
inline double product_error(int features, double unit) {
  const auto chain = [&](int run) { return std::min(features, run) + (features - 1) / run + 1.0; };
  return (chain(product_run) + chain(norm_run) + 8.0) * unit;
}

// A bound on the relative error of a squared distance that is computed by its definition, as a sum
// of squared differences.
inline double definition_error(int features) { return (features + 2.0) * 0x1p-53; }

// Estimated elementary operations for all pairs of blocks.
inline double work_of(const Blocks& blocks) {
  const auto locations = static_cast<double>(blocks.tree.locations);
  return 0.1 * locations * locations * blocks.tree.features;
}

}  // namespace quickshift
