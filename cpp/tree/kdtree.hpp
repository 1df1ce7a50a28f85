// A balanced k-d tree as plain data.
//
// Rows that are equal in every coordinate are merged into one weighted location; rows of weight
// zero are not in the tree. The locations are halved recursively, by rank along the widest side of
// their tight bounding box, until no part has more than `leaf_capacity` of them. The rank compares
// the split coordinate first and breaks ties by the other coordinates, so the tree depends on the
// set of locations only, not on the order of the rows or on the number of threads.
//
// The tree is implicit: node 1 is the root, node i has the children 2i and 2i + 1, and all leaves
// are on level `levels`.
//
// Leaf l owns the slots [l * stride, (l + 1) * stride), of which the first count(l) hold locations;
// at most four are unused. Counts are multiples of four, so that vectors of queries are full. Only
// the last leaf, which is one of the largest, may hold up to three locations fewer. Per-location
// arrays are indexed by slot. Coordinates are stored as [leaf][feature][slot], so a leaf is one
// block of memory in which each coordinate is contiguous. The unused slots of a leaf repeat its
// first location: loops may run over them, and the results there are discarded.
#pragma once

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "support/array.hpp"
#include "support/parallel.hpp"
#include "support/points.hpp"
#include "vector/pairs.hpp"

namespace quickshift {

inline constexpr Index leaf_capacity = max_stride;  // locations that a leaf may hold

// The number of levels below the root: the least with which no leaf exceeds its capacity.
inline int levels_for(Index locations) {
  int levels = 0;
  while ((locations - 1) >> levels >= leaf_capacity) ++levels;
  return levels;
}

// Up to this many features, the build moves coordinates together with the locations; with more, it
// moves indices only.
inline constexpr int most_features_in_item = 8;

// The number of slots per leaf: the size of the largest leaf, rounded up to a multiple of four.
inline int stride_for(Index locations, int levels) {
  const Index most = ((locations - 1) >> levels) + 1;
  return static_cast<int>(std::min<Index>((most + 3) / 4 * 4, INT_MAX));
}

struct Tree {
  Index rows = 0;       // rows of the input
  Index locations = 0;  // distinct rows of positive weight
  int features = 0;
  int exponent = 0;  // coordinates and periods are stored multiplied by 2^-exponent
  int levels = 0;    // depth of the leaves
  int stride = 0;    // slots per leaf
  bool periodic = false;
  int weight_exponent = 0;  // weights are stored times 2^-weight_exponent: the largest in [1, 2)
  double total_weight = 0.0;
  double least_weight = 0.0;
  double greatest_weight = 0.0;

  Array<double> coordinates;   // [leaf][feature][stride]
  Array<double> weights;       // [slot]; zero in unused slots
  Array<double> leaf_weights;  // [leaf]: the common weight of its locations; NaN if weights differ
  Array<double> boxes;         // [node][low, high][feature]
  std::vector<double> period;  // [feature]; infinite for features that are not periodic
  Array<Index> row_of_slot;    // the first row at the location; -1 in unused slots
  Array<Index> slot_of_row;    // -1 for rows of weight zero

  Index leaves() const { return Index{1} << levels; }
  Index nodes() const { return leaves() * 2; }
  Index slots() const { return leaves() * stride; }

  // The number of locations in the leaves before this one.
  Index begin_of_leaf(Index leaf) const {
    const Index fours = (locations + 3) / 4;
    const Index whole = fours >> levels;
    const Index rest = fours & (leaves() - 1);
    return std::min(4 * (leaf * whole + ((leaf * rest) >> levels)), locations);
  }
  int count(Index leaf) const {
    return static_cast<int>(begin_of_leaf(leaf + 1) - begin_of_leaf(leaf));
  }
  const double* leaf_coordinates(Index leaf) const {
    return coordinates.data() + leaf * features * stride;
  }
  const double* periods() const { return periodic ? period.data() : nullptr; }
  LeafBlock leaf_block(Index leaf) const {
    return {leaf_coordinates(leaf), periods(), features, stride};
  }
  double coordinate(Index slot, int feature) const {
    return leaf_coordinates(slot / stride)[feature * stride + slot % stride];
  }
  const double* low(Index node) const { return boxes.data() + node * 2 * features; }
  const double* high(Index node) const { return low(node) + features; }
  bool is_leaf(Index node) const { return node >= leaves(); }
  Index leaf_of(Index node) const { return node - leaves(); }
};

// The largest squared distance, in the scale of the tree, between two points that are no farther
// apart than `length`, which is in the caller's units.
inline double square_within(const Tree& tree, double length) {
  if (std::ldexp(length, -tree.exponent) > largest_coordinate) {
    return std::numeric_limits<double>::infinity();
  }
  return largest_square_within(scaled(length, tree.exponent));
}

// Copies the coordinates of the i-th location of a leaf.
inline void copy_point(const Tree& tree, Index leaf, int i, double* point) {
  const double* block = tree.leaf_coordinates(leaf);
  for (int k = 0; k < tree.features; ++k) point[k] = block[k * tree.stride + i];
}

// weights: one per row, or null if all are 1. period: one per feature, or null if no feature is
// periodic. The exponent of the scale is chosen from the points.
Tree build_tree(const Points& points, const double* weights, const double* period,
                const Execution& execution);

// Builds a tree of queries with the scale and the periods of the tree of samples.
Tree build_query_tree(const Points& queries, const Tree& samples, const Execution& execution);

// Builds a tree of some locations of a tree, with their weights, in the same scale and with the
// same periods. slots: those of the locations, each at most once; row i of the new tree is
// slots[i].
Tree build_subtree(const Tree& tree, std::span<const Index> slots, const Execution& execution);

// Computes the members of a tree that follow from its weights: their total, least and greatest, and
// leaf_weights.
void add_up_weights(Tree& tree, const Execution& execution);

// Copies the locations of a tree in slot order, without the unused slots. This order is canonical:
// it does not depend on the order of the rows. coordinates: (locations, features), in the caller's
// units. weights: (locations,).
void copy_locations(const Tree& tree, double* coordinates, double* weights);

// Sets by_row[row] to by_slot[slot of that row], or to `missing` for rows of weight zero.
template <class Value>
void spread_to_rows(const Tree& tree, const Value* by_slot, Value missing,
                    const Execution& execution, Value* by_row) {
  run_ranges(execution, tree.rows, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      fetch_ahead(by_slot, tree.slot_of_row.data(), row, end);
      const Index slot = tree.slot_of_row[row];
      by_row[row] = slot < 0 ? missing : by_slot[slot];
    }
  });
}

// Subtrees whose roots are on this level are processed in parallel; the nodes above them serially.
inline constexpr int parallel_top = 6;

// Runs body(root) for every subtree whose root is on the level `parallel_top`, in parallel. If the
// tree has fewer levels, the subtrees are its leaves.
template <class Body>
void for_subtrees(const Tree& tree, const Execution& execution, const Body& body) {
  const Index subtrees = Index{1} << std::min(parallel_top, tree.levels);
  run_tasks(execution, subtrees, 50.0 * static_cast<double>(tree.nodes()),
            [&] { return [&](Index task) { body(subtrees + interleaved(task, subtrees)); }; });
}

// Runs body(node) on every node, children before their parents.
template <class Body>
void for_nodes_upwards(const Tree& tree, const Execution& execution, const Body& body) {
  for_subtrees(tree, execution, [&](Index root) {
    for (Index width = tree.leaves() >> std::min(parallel_top, tree.levels); width > 0;
         width /= 2) {
      for (Index node = root * width; node < (root + 1) * width; ++node) body(node);
    }
  });
  for (Index node = (Index{1} << std::min(parallel_top, tree.levels)) - 1; node >= 1; --node) {
    body(node);
  }
}

// Runs body(node) on every node, parents before their children.
template <class Body>
void for_nodes_downwards(const Tree& tree, const Execution& execution, const Body& body) {
  const Index top = Index{1} << std::min(parallel_top, tree.levels);
  for (Index node = 1; node < top; ++node) body(node);
  for_subtrees(tree, execution, [&](Index root) {
    for (Index width = 1; width <= tree.leaves() / top; width *= 2) {
      for (Index node = root * width; node < (root + 1) * width; ++node) body(node);
    }
  });
}

}  // namespace quickshift
