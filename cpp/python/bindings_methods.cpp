// The choices between methods that compute the same values, and the numbers of elementary steps
// that data made up against a method take, for tests.
#include <nanobind/stl/vector.h>

#include <functional>
#include <limits>

#include "density/grid/density_grid.hpp"
#include "density/methods.hpp"
#include "forest/saddles.hpp"
#include "parents/nearest_higher.hpp"
#include "python/bindings.hpp"
#include "scale/block_scales.hpp"
#include "tree/distinct.hpp"
#include "tree/select.hpp"

namespace quickshift {

namespace {

bool pay_for_sums(const Tree& tree, int kernel, double bandwidth, double rtol) {
  require(!tree.periodic, "blocks are never considered for periodic features");
  return blocks_pay_for_sums(tree, density_options(kernel, bandwidth, rtol));
}

// Estimated seconds by pairs and by the grid (NaN: no grid is possible or faster), the bytes of
// that grid, and the bytes of a faster one that was refused (0: none was).
auto choice_of_sums(const Tree& tree, int kernel, double bandwidth, double rtol) {
  const GridChoice choice =
      choose_grid_or_pairs(tree, tree, density_options(kernel, bandwidth, rtol));
  const double none = std::numeric_limits<double>::quiet_NaN();
  return std::make_tuple(choice.direct_seconds, choice.job ? choice.job->seconds : none,
                         choice.job ? choice.job->layout.bytes() : none, choice.refused_bytes);
}

auto shares_for_scales(const Tree& tree, double neighbors, Index spacing) {
  require(!tree.periodic, "blocks are never considered for periodic features");
  const SearchedShares shares =
      shares_searched(tree, {.neighbors = {neighbors}, .spacing = spacing});
  return std::make_tuple(shares.of_tree, shares.of_blocks, shares.undecided);
}

bool pay_for_parents(const Tree& tree, const Reals& heights, int bits, bool strict) {
  require(!tree.periodic, "blocks are never considered for periodic features");
  require(static_cast<Index>(heights.size()) == tree.rows, "heights must have one value per row");
  const Heights ordered(tree, heights.data(), bits, Execution{});
  return blocks_pay_for_parents(tree, ordered, strict);
}

auto as_tuple(const WorkEstimates& work) {
  return std::make_tuple(work.tree.amounts, work.tree.costs, work.blocks.amounts,
                         work.blocks.costs);
}

auto estimated_sums(const Tree& tree, int kernel, double bandwidth, double rtol) {
  return as_tuple(work_of_sums(tree, density_options(kernel, bandwidth, rtol)));
}

auto estimated_parents(const Tree& tree, const Reals& heights, int bits, bool strict) {
  require(static_cast<Index>(heights.size()) == tree.rows, "heights must have one value per row");
  return as_tuple(work_of_parents(tree, {tree, heights.data(), bits, Execution{}}, strict));
}

auto estimated_scales(const Tree& tree, double neighbors, Index spacing) {
  return as_tuple(work_of_scales(tree, {.neighbors = {neighbors}, .spacing = spacing}));
}

Index comparisons_for_duplicates(const AnyPoints& array) {
  return distinct_locations(points_of(array), nullptr, nullptr, 0, Execution{}).comparisons;
}

Index boxes_for_links(const Tree& tree, const Reals& heights, const Indices& piece, Index pieces,
                      double tau) {
  require(static_cast<Index>(heights.size()) == tree.rows, "heights must have one value per row");
  require(static_cast<Index>(piece.size()) == tree.rows, "piece must have one value per row");
  for (Index row = 0; row < tree.rows; ++row) {
    const Index number = piece.data()[row];
    require(number >= 0 && number < pieces, "piece must hold indices from 0 to pieces - 1");
  }
  return boxes_for_saddles(tree, {piece.data(), heights.data(), pieces}, tau);
}

Index reads_for_median(const Reals& keys) {
  require(keys.size() > 0, "keys must not be empty");
  Index reads = 0;
  const auto key = [&](double item) {
    ++reads;
    return item;
  };
  std::vector<double> items(keys.data(), keys.data() + keys.size());
  double* const middle = items.data() + items.size() / 2;
  select(items.data(), middle, items.data() + items.size(), key, std::less<>());
  return reads;
}

}  // namespace

void bind_methods(nb::module_& m) {
  m.def("blocks_pay_for_sums", &pay_for_sums, "tree"_a, "kernel"_a, "bandwidth"_a, "rtol"_a,
        "Whether `kernel_sums` estimates that blocks are faster than the tree; for tests.");
  m.def("grid_choice", &choice_of_sums, "tree"_a, "kernel"_a, "bandwidth"_a, "rtol"_a,
        "How `kernel_sums` compares the grid with summing pair by pair: the estimated seconds of "
        "both, the bytes of the grid, and the bytes of a faster grid that was refused; for tests "
        "and benchmarks.");
  m.def("shares_for_scales", &shares_for_scales, "tree"_a, "neighbors"_a, "spacing"_a,
        "The shares of all points with which `local_scales` is estimated to compare a point, by "
        "the tree and by blocks, and the share that blocks compare twice; for calibration and "
        "tests.");
  m.def("blocks_pay_for_parents", &pay_for_parents, "tree"_a, "heights"_a, "bits"_a, "strict"_a,
        "Whether `nearest_higher` estimates that blocks are faster than the tree; for tests.");
  m.def("work_of_sums", &estimated_sums, "tree"_a, "kernel"_a, "bandwidth"_a, "rtol"_a,
        "Estimated amounts of each kind of work per location of the tree, and the time of each in "
        "nanoseconds; the same for blocks. For calibration.");
  m.def("work_of_parents", &estimated_parents, "tree"_a, "heights"_a, "bits"_a, "strict"_a,
        "The same for parents.");
  m.def("work_of_scales", &estimated_scales, "tree"_a, "neighbors"_a, "spacing"_a,
        "The same for local scales.");
  m.def("comparisons_for_duplicates", &comparisons_for_duplicates, "points"_a,
        "How many times two rows are compared to find duplicates; for tests.");
  m.def("boxes_for_saddles", &boxes_for_links, "tree"_a, "heights"_a, "piece"_a, "pieces"_a,
        "tau"_a,
        "How many times `saddles` computes the distance of a point from a box of the tree if it "
        "takes the points in descending order of height; for tests.");
  m.def("reads_for_median", &reads_for_median, "keys"_a,
        "How many times a key is read to split nodes of the tree at their median; for tests.");
}

}  // namespace quickshift
