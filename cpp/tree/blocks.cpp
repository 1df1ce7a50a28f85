#include "tree/blocks.hpp"

#include "support/scratch.hpp"

namespace quickshift {

namespace {

// 64 vertices: enough pairs per round to keep many threads busy, and few enough rounds.
constexpr int vertex_levels = 6;

// The wanted number of points per block: large enough that preparing two blocks costs little
// compared with their products, small enough that both stay in the caches.
int points_wanted(int features) { return std::clamp((1 << 18) / features, 64, 256); }

}  // namespace

bool blocks_fit(const Tree& tree, int copies) {
  const auto points = static_cast<double>(tree.locations);
  const double words_per_point = tree.features + 4.0;
  return 8.0 * copies * words_per_point * points <= scratch_limit(points, tree.features);
}

int block_level(const Tree& tree) {
  int level = 0;
  while (level < tree.levels && (tree.locations - 1) >> level >= points_wanted(tree.features)) {
    ++level;
  }
  return level;
}

void find_medians(const Tree& tree, Index block, double* medians) {
  constexpr int every = 4;  // a sample of the locations is as good as all
  const Index leaves = Index{1} << (tree.levels - block_level(tree));
  std::vector<double> values;
  for (int k = 0; k < tree.features; ++k) {
    values.clear();
    for (Index leaf = block * leaves; leaf < (block + 1) * leaves; ++leaf) {
      const double* const from = tree.leaf_coordinates(leaf) + k * tree.stride;
      for (int i = 0; i < tree.count(leaf); i += every) values.push_back(from[i]);
    }
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    medians[k] = *middle;
  }
}

Blocks::Blocks(const Tree& source, const Execution& execution, BlockCenter kind)
    : tree(source),
      level(block_level(source)),
      vertex_level(std::min(level, vertex_levels)),
      room(panels_for(static_cast<int>(((source.locations - 1) >> level) + 1)) * panel_width),
      panels(static_cast<std::size_t>(count() * room * source.features)),
      centers(static_cast<std::size_t>(count() * source.features)),
      slots(static_cast<std::size_t>(source.locations)) {
  for (Index leaf = 0; leaf < tree.leaves(); ++leaf) {
    for (int i = 0; i < tree.count(leaf); ++i) {
      slots[tree.begin_of_leaf(leaf) + i] = leaf * tree.stride + i;
    }
  }
  run_tasks(execution, count(), static_cast<double>(panels.size()),
            [&] { return [&](Index block) { fill(block, kind); }; });
}

void Blocks::fill(Index block, BlockCenter kind) {
  const int features = tree.features;
  double* const middle = centers.data() + block * features;
  if (kind == BlockCenter::medians) {
    find_medians(tree, block, middle);
  } else {
    const double* const low = box(block);
    for (int k = 0; k < features; ++k) middle[k] = 0.5 * low[k] + 0.5 * low[features + k];
  }
  for (int i = 0; i < room; ++i) {  // beyond its size a block repeats its first point
    const Index slot = slots[begin(block) + (i < size(block) ? i : 0)];
    const double* const from = tree.leaf_coordinates(slot / tree.stride) + slot % tree.stride;
    double* const to = panels.data() + (point(block, i) - panels.data());
    for (int k = 0; k < features; ++k) to[k * panel_width] = from[k * tree.stride];
  }
}

}  // namespace quickshift
