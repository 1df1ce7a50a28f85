// Figures of the core that memory.py needs to estimate how much memory a stage takes.
#include "density/grid/density_grid.hpp"
#include "density/methods.hpp"
#include "parents/nearest_higher.hpp"
#include "python/bindings.hpp"

namespace quickshift {

namespace {

auto tree_shape(Index locations) {
  require(locations > 0, "locations must be positive");
  Tree tree;
  tree.locations = locations;
  tree.levels = levels_for(locations);
  tree.stride = stride_for(locations, tree.levels);
  return std::make_tuple(tree.slots(), tree.nodes());
}

bool may_use_grid(int kernel, int features) {
  return static_cast<Kernel>(kernel) == Kernel::gaussian && features <= axes;
}

double grid_bytes(double points) {
  return tile_byte_limit(points) + static_cast<double>(patch_batch_points) * sizeof(double);
}

}  // namespace

void bind_memory(nb::module_& m) {
  m.def("tree_shape", &tree_shape, "locations"_a,
        "Numbers of slots and nodes of a tree with this many locations.");
  m.def(
      "carries_coordinates", [](int features) { return features <= most_features_in_item; },
      "features"_a,
      "Whether building a tree with this many features makes a copy of the coordinates.");
  m.def(
      "has_moments", [](int kernel) { return has_moments(static_cast<Kernel>(kernel)); },
      "kernel"_a, "Whether sums of this kernel store a polynomial per node of the tree.");
  m.def("may_use_grid", &may_use_grid, "kernel"_a, "features"_a,
        "Whether sums of this kernel, with this many features, may be computed through a grid.");
  m.def("grid_bytes", &grid_bytes, "points"_a,
        "Most bytes that a grid for this many points takes, unless the grid is forced.");
  m.def(
      "may_sum_in_blocks", [](int features) { return features > most_features_without_blocks; },
      "features"_a, "Whether kernel sums with this many features may be computed in blocks.");
  m.def(
      "may_search_in_blocks", [](int features) { return features > most_features_for_search; },
      "features"_a, "Whether parents with this many features may be found in blocks.");
}

}  // namespace quickshift
