#include "parents/nearest_higher.hpp"

#include <cmath>
#include <stdexcept>

#include "parents/leaf_parents.hpp"
#include "tree/block_sample.hpp"
#include "tree/blocks.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Writes the parents of rows of weight zero and of duplicate rows. The parent of a duplicate is the
// top row of its location, at distance 0. With strict ties, a duplicate as high as the top row has
// the parent of the top row instead.
void write_other_rows(const Tree& tree, const Heights& heights, const double* row_heights, int bits,
                      bool strict, const Execution& execution, Index* parent, double* distance) {
  const auto write = [&](Index row) {
    const Index slot = tree.slot_of_row[row];
    if (slot < 0) {
      parent[row] = row;
      distance[row] = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    const Index top = heights.top_row(slot);
    if (row == top) return;
    if (!strict || round_to_bits(row_heights[row], bits) < heights.height(slot)) {
      // The distance from the top row to its own parent may underflow to 0. That parent is then as
      // near as the top row, and higher.
      parent[row] = distance[top] == 0.0 ? parent[top] : top;
      distance[row] = 0.0;
    } else {
      parent[row] = parent[top] == top ? row : parent[top];
      distance[row] = distance[top];
    }
  };
  run_ranges(execution, tree.rows, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) write(row);
  });
}

// Whether the parents of nearly all locations are listed, according to some leaves. In samples of a
// Gaussian with many features, those of 0.3 % are not.
bool lists_suffice(const Tree& tree, const Heights& heights, bool strict, const NearLists& near) {
  constexpr double most_unlisted = 0.05;
  double unlisted = 0.0;
  double all = 0.0;
  for_sampled_leaves(tree, 64, [&](Index leaf) {
    for (int i = 0; i < tree.count(leaf); ++i) {
      const Index slot = leaf * tree.stride + i;
      unlisted += listed_parent(tree, heights, strict, near, slot).slot < 0;
      all += 1.0;
    }
  });
  return unlisted <= most_unlisted * all;
}

// Returns a method other than `automatic`. Throws if the requested method cannot be used.
ParentMethod choose(const Tree& tree, const Heights& heights, bool strict, ParentMethod method,
                    const NearLists& near) {
  const bool blocks = !tree.periodic && tree.locations <= std::numeric_limits<int>::max();
  if (method == ParentMethod::blocks && !blocks) {
    throw std::invalid_argument(
        "method blocks does not support periodic features or more than 2^31 - 1 distinct points; "
        "use method tree");
  }
  if (method != ParentMethod::automatic) return method;
  if (near && lists_suffice(tree, heights, strict, near)) return ParentMethod::tree;
  const bool pays = blocks && blocks_fit(tree, 1) && blocks_pay_for_parents(tree, heights, strict);
  return pays ? ParentMethod::blocks : ParentMethod::tree;
}

// Calls write(slot, slot of the parent or -1, squared distance) for each location of a leaf. A
// search is needed only where no listed location is higher.
template <class Write>
void find_with_lists(const Tree& tree, const Heights& heights, bool strict, const NearLists& near,
                     TreeSearch& search, Index leaf, double* point, const Write& write) {
  for (int i = 0; i < tree.count(leaf); ++i) {
    const Index slot = leaf * tree.stride + i;
    const ListedParent listed = listed_parent(tree, heights, strict, near, slot);
    if (listed.slot >= 0) {
      write(slot, listed.slot, listed.square);
      continue;
    }
    const KeepNearestHigher found = search_alone(tree, heights, strict, search, leaf, i, point);
    write(slot, found.slot(), found.square());
  }
}

}  // namespace

void nearest_higher(const Tree& tree, const double* row_heights, int bits, bool strict,
                    ParentMethod method, const NearLists& near, const Execution& execution,
                    Index* parent, double* distance) {
  const Heights heights(tree, row_heights, bits, execution);
  const double unit = std::ldexp(1.0, tree.exponent);
  const auto length = [&](double square) {
    const double root = std::sqrt(square);
    return std::isnormal(unit) ? root * unit : std::ldexp(root, tree.exponent);
  };
  const auto write = [&](Index slot, Index higher, double square) {
    const Index row = heights.top_row(slot);
    parent[row] = higher >= 0 ? heights.top_row(higher) : row;
    distance[row] = higher >= 0 ? length(square) : infinity;
  };
  if (choose(tree, heights, strict, method, near) == ParentMethod::blocks) {
    const NearestHigher found = nearest_higher_in_blocks(tree, heights, strict, execution);
    run_ranges(execution, tree.slots(), [&](Index begin, Index end) {
      for (Index slot = begin; slot < end; ++slot) {
        if (heights.top_row(slot) >= 0) write(slot, found.slot[slot], found.square[slot]);
      }
    });
  } else {
    search_from_leaves(tree, tree, execution, [&](TreeSearch& search, Index leaf, double* point) {
      // The rows of a leaf are scattered over the output, so their cache lines are prefetched while
      // the parents are searched for.
      for (int i = 0; i < tree.count(leaf); ++i) {
        const Index row = heights.top_row(leaf * tree.stride + i);
        __builtin_prefetch(parent + row, 1);
        __builtin_prefetch(distance + row, 1);
      }
      if (near) {
        find_with_lists(tree, heights, strict, near, search, leaf, point, write);
      } else {
        LeafParents(tree, heights, strict, search).find(leaf, point, write);
      }
    });
  }
  if (tree.locations < tree.rows) {
    write_other_rows(tree, heights, row_heights, bits, strict, execution, parent, distance);
  }
}

}  // namespace quickshift
