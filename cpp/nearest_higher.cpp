#include "nearest_higher.hpp"

#include <cmath>

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Rows that do not stand for their location: below its top row they hang on it at distance 0; with
// strict ties an equally high row does as the top row does.
void write_other_rows(const Tree& tree, const Heights& heights, const double* density, int bits,
                      bool strict, Index* parent, double* distance) {
  for (Index row = 0; row < tree.rows; ++row) {
    const Index slot = tree.slot_of_row[row];
    if (slot < 0) {
      parent[row] = row;
      distance[row] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    const Index top = heights.top_row(slot);
    if (row == top) continue;
    if (!strict || round_to_bits(density[row], bits) < heights.density(slot)) {
      parent[row] = distance[top] == 0.0 ? parent[top] : top;  // a square may underflow to 0
      distance[row] = 0.0;
    } else {
      parent[row] = parent[top] == top ? row : parent[top];
      distance[row] = distance[top];
    }
  }
}

// With more features the boxes of leaves are so wide that each location better finds its own way.
constexpr int most_features_together = 3;

// Looks for the parents of all locations of a leaf: in lanes, as far as the nearest higher sample
// of their own leaf; the few that this does not settle one by one. These are the highest of the
// leaf, and those that need a look at equal heights or equal distances.
class LeafParents {
 public:
  LeafParents(const Tree& tree, const Heights& heights, bool strict, Search& search)
      : tree_(tree), heights_(heights), strict_(strict), search_(search) {}

  // Runs write(i, slot or -1, square) for each location of the leaf.
  template <class Write>
  void find(Index leaf, const double* points, const Write& write) {
    const bool together = !tree_.periodic && tree_.features <= most_features_together &&
                          (strict_ || !has_equal_heights(leaf));
    if (together) look_together(leaf);
    for (int i = 0; i < tree_.count(leaf); ++i) {
      if (together && is_settled(leaf, i)) {
        write(i, found_.slot[i], found_.square[i]);
        continue;
      }
      const double* point = points + i * tree_.features;
      KeepNearestHigher keeper(heights_, heights_.density(leaf * tree_.stride + i), point, strict_,
                               leaf);
      search_.from_leaf(leaf, point, keeper);
      write(i, keeper.slot(), keeper.square());
    }
  }

 private:
  bool has_equal_heights(Index leaf) const {
    const double* heights = heights_.densities() + leaf * tree_.stride;
    for (int i = 1; i < tree_.count(leaf); ++i) {
      for (int j = 0; j < i; ++j) {
        if (heights[i] == heights[j]) return true;
      }
    }
    return false;
  }

  bool is_settled(Index leaf, int i) const {
    return found_.slot[i] >= 0 && found_.tied[i] == 0 &&
           heights_.density(found_.slot[i]) > heights_.density(leaf * tree_.stride + i);
  }

  HigherSamples samples_of(Index leaf) const {
    const Index first = leaf * tree_.stride;
    return {tree_.leaf_block(leaf), tree_.count(leaf), heights_.densities() + first, first};
  }

  void look_together(Index leaf) {
    const PairKernels& kernels = pair_kernels();
    const LeafBlock block = tree_.leaf_block(leaf);
    start(leaf);
    kernels.offer_higher(block, samples_of(leaf), found_);
    const double widest = keep_found(leaf);
    search_.look_around(leaf, widest, [&](Index other) {
      const Index node = tree_.leaves() + other;
      if (heights_.highest_density(node) < lowest_) return;
      if (!kernels.near_box(block, found_.square, tree_.low(node))) return;
      kernels.offer_higher(block, samples_of(other), found_);
    });
  }

  // In its own leaf, where no heights are equal, each looks for what is above itself.
  void start(Index leaf) {
    const double* heights = heights_.densities() + leaf * tree_.stride;
    for (int i = 0; i < tree_.stride; ++i) {
      const bool used = i < tree_.count(leaf);
      found_.floor[i] = std::nextafter(heights[i], infinity);
      found_.square[i] = used ? infinity : -1.0;
      found_.slot[i] = -1;
      found_.tied[i] = 0;
    }
  }

  // Those that found nothing look no further here. In other leaves, equal heights count too, unless
  // ties are strict. Returns the largest square.
  double keep_found(Index leaf) {
    const double* heights = heights_.densities() + leaf * tree_.stride;
    double widest = -1.0;
    lowest_ = infinity;
    for (int i = 0; i < tree_.count(leaf); ++i) {
      if (!strict_) found_.floor[i] = heights[i];
      if (found_.slot[i] < 0) found_.square[i] = -1.0;
      widest = std::max(widest, found_.square[i]);
      lowest_ = std::min(lowest_, heights[i]);
    }
    return widest;
  }

  const Tree& tree_;
  const Heights& heights_;
  bool strict_;
  Search& search_;
  HigherFound found_;
  double lowest_ = 0.0;
};

}  // namespace

void nearest_higher(const Tree& tree, const double* density, int bits, bool strict,
                    const Execution& execution, Index* parent, double* distance) {
  const Heights heights(tree, density, bits, execution);
  search_from_leaves(tree, tree, execution, [&](Search& search, Index leaf, const double* points) {
    LeafParents parents(tree, heights, strict, search);
    parents.find(leaf, points, [&](int i, Index slot, double square) {
      const Index row = heights.top_row(leaf * tree.stride + i);
      parent[row] = slot >= 0 ? heights.top_row(slot) : row;
      distance[row] = slot >= 0 ? std::ldexp(std::sqrt(square), tree.exponent) : infinity;
    });
  });
  if (tree.locations < tree.rows) {
    write_other_rows(tree, heights, density, bits, strict, parent, distance);
  }
}

}  // namespace quickshift
