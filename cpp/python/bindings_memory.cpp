// Figures of the core that memory.py needs to estimate how much memory a stage takes.
#include "density/expansion_reach.hpp"
#include "density/grid/density_grid.hpp"
#include "density/methods.hpp"
#include "parents/nearest_higher.hpp"
#include "python/bindings.hpp"
#include "support/scratch.hpp"

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

bool may_use_expansions(int kernel, int features) {
  return has_expansions(static_cast<Kernel>(kernel)) && features <= most_features_with_expansions;
}

double grid_bytes(double points) {
  const double patches = static_cast<double>(patch_batch_points) * sizeof(double);
  return std::min(usual_tile_bytes(points) + patches, scratch_limit(points, axes));
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
  m.def("may_use_expansions", &may_use_expansions, "kernel"_a, "features"_a,
        "Whether sums of this kernel, with this many features, may be computed by expansions.");
  m.def("grid_bytes", &grid_bytes, "points"_a,
        "Most bytes that a grid for this many points takes, unless they are spread widely.");
  m.def("set_memory_limit", &set_memory_limit, "bytes"_a,
        "Set the memory that the process may use in total, of which scratch memory is a part.");
  m.def("memory_limit", &memory_limit, "The memory that the process may use in total.");
  m.def("scratch_limit", &scratch_limit, "points"_a, "features"_a,
        "Most bytes of scratch memory of a method that is not forced.");
  m.def(
      "may_sum_in_blocks", [](int features) { return features > most_features_without_blocks; },
      "features"_a, "Whether kernel sums with this many features may be computed in blocks.");
  m.def(
      "may_search_in_blocks", [](int features) { return features > most_features_for_search; },
      "features"_a, "Whether parents with this many features may be found in blocks.");
}

}  // namespace quickshift
