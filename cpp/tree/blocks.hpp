// Points in blocks for high dimension, where a tree prunes little: pairs of blocks are worked on
// whole, by products.
//
// A block is the set of locations below a node of one level of the tree, so blocks do not depend on
// the order of rows, and their boxes tell which pairs are too far apart to matter. Locations are
// counted without gaps: by position.
#pragma once

#include <algorithm>
#include <vector>

#include "tree/box.hpp"
#include "tree/kdtree.hpp"
#include "vector/products.hpp"

namespace quickshift {

// The level of the nodes that are blocks.
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
  // Where the coordinates of a point of a block begin; they are `panel_width` apart.
  const double* point(Index block, int i) const {
    return panels_of(block) + i / panel_width * panel_width * tree.features + i % panel_width;
  }

  const Tree& tree;
  int level;
  int vertex_level;             // vertices are what one task writes: some neighbouring blocks
  int room;                     // points that a block has room for
  std::vector<double> panels;   // [block][panel][feature][panel_width]
  std::vector<double> centers;  // [block][feature]: of the blocks' boxes
  std::vector<Index> slots;     // [position]

 private:
  void fill(Index block);
};

// How far |x|² + |y|² - 2xy, about a common centre, may be from the square of the distance,
// relative to |x|² + |y|² as computed, in arithmetic of the given unit. A chain of additions rounds
// once for each term of a run and each further run, and once for a product where that is not fused:
// the norms are off by that many units, and so is twice the product, because 2 |x||y| is at most
// the sum of the norms. Rounding the centred coordinates adds 4, the sum and the difference 3,
// terms of second order the rest.
inline double product_error(int features, double unit) {
  const auto chain = [&](int run) { return std::min(features, run) + (features - 1) / run + 1.0; };
  return (chain(product_run) + chain(norm_run) + 8.0) * unit;
}

// How far the square that the definition computes may be from the true one, relative to it.
inline double definition_error(int features) { return (features + 2.0) * 0x1p-53; }

// Elementary operations of all pairs of blocks.
inline double work_of(const Blocks& blocks) {
  const auto locations = static_cast<double>(blocks.tree.locations);
  return 0.1 * locations * locations * blocks.tree.features;
}

}  // namespace quickshift
