// Local scales of samples and of other points.
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "python/bindings.hpp"
#include "scale/local_scale.hpp"

namespace quickshift {

namespace {

ScaleOptions scale_options(const std::vector<double>& neighbors, Index spacing, int dimension,
                           ScaleMethod method = ScaleMethod::automatic) {
  require(!neighbors.empty() && std::is_sorted(neighbors.begin(), neighbors.end()),
          "neighbors must be one or more numbers in rising order");
  require(neighbors.front() >= 1.0 && spacing >= 1 && dimension >= 1,
          "neighbors, spacing and dimension must be at least 1");
  ScaleOptions options;
  options.neighbors = neighbors;
  options.spacing = spacing;
  options.dimension = dimension;
  options.method = method;
  return options;
}

// A lower bound on the elementary operations per point.
double work_per_point(const ScaleOptions& options) {
  return 300.0 + 20.0 * std::min(options.most(), 1e6);
}

// A std::vector as an argument would be filled by nanobind where bad_alloc ends the process.
std::vector<double> numbers_in(const nb::sequence& list) {
  std::vector<double> numbers;
  for (const nb::handle number : list) numbers.push_back(nb::cast<double>(number));
  return numbers;
}

auto scales_of_samples(const Tree& tree, const nb::sequence& list, Index spacing, int dimension,
                       int threads, const Report& report, ScaleMethod method) {
  const std::vector<double> neighbors = numbers_in(list);
  const ScaleOptions options = scale_options(neighbors, spacing, dimension, method);
  std::vector<Buffer<double>> r;
  std::vector<double*> to;
  for (std::size_t k = 0; k < neighbors.size(); ++k) {
    to.push_back(r.emplace_back(tree.rows).data());
  }
  Buffer<double> tau(tree.rows);
  const double work = rows_times(tree, work_per_point(options));
  Array<std::int32_t> near = without_gil(threads, report, work, [&](const Execution& execution) {
    return local_scales(tree, options, execution, to, tau.data());
  });
  std::vector<decltype(tau.array())> arrays;
  for (Buffer<double>& values : r) arrays.push_back(values.array());
  std::optional<Result<std::int32_t, 2>> lists;
  if (!near.empty()) {
    const auto width = static_cast<std::size_t>(spacing);
    lists = Buffer<std::int32_t>(std::move(near))
                .shaped<2>({static_cast<std::size_t>(tree.slots()), width});
  }
  return std::make_tuple(arrays, tau.array(), lists);
}

auto scales_of_queries(const Tree& tree, const AnyPoints& queries, double neighbors, Index spacing,
                       int dimension, int threads) {
  const Points points = points_of(queries);
  require(points.features == tree.features,
          "queries and samples must have the same number of columns");
  const ScaleOptions options = scale_options({neighbors}, spacing, dimension);
  Buffer<double> r(points.rows);
  Buffer<double> tau(points.rows);
  without_gil(threads, [&](const Execution& execution) {
    const Tree searched = build_query_tree(points, tree, execution);
    local_scales_at(tree, searched, options, execution, r.data(), tau.data());
  });
  return std::make_tuple(r.array(), tau.array());
}

auto bounded_scales_of_samples(const Tree& tree, double neighbors, Index spacing, int dimension,
                               int threads) {
  const ScaleOptions options = scale_options({neighbors}, spacing, dimension);
  Buffer<double> r(tree.rows);
  Buffer<double> tau(tree.rows);
  Buffer<double> reach(tree.rows);
  without_gil(threads, [&](const Execution& execution) {
    local_scales(tree, options, execution, {r.data()}, tau.data(), reach.data());
  });
  return std::make_tuple(r.array(), tau.array(), reach.array());
}

auto bounded_scales_of_queries(const Tree& tree, const AnyPoints& queries, double neighbors,
                               Index spacing, int dimension, int threads) {
  const Points points = points_of(queries);
  require(points.features == tree.features,
          "queries and samples must have the same number of columns");
  const ScaleOptions options = scale_options({neighbors}, spacing, dimension);
  Buffer<double> r(points.rows);
  Buffer<double> tau(points.rows);
  Buffer<double> reach(points.rows);
  without_gil(threads, [&](const Execution& execution) {
    const Tree searched = build_query_tree(points, tree, execution);
    local_scales_at(tree, searched, options, execution, r.data(), tau.data(), reach.data());
  });
  return std::make_tuple(r.array(), tau.array(), reach.array());
}

}  // namespace

void bind_scale(nb::module_& m) {
  nb::enum_<ScaleMethod>(m, "ScaleMethod",
                         "How local scales are found; tests use it to force each method.")
      .value("automatic", ScaleMethod::automatic)
      .value("tree", ScaleMethod::tree)
      .value("blocks", ScaleMethod::blocks);
  m.def(
      "local_scales", &scales_of_samples, "tree"_a, "neighbors"_a, "spacing"_a, "dimension"_a,
      "threads"_a = 1, "report"_a = nb::none(), "method"_a = ScaleMethod::automatic,
      "For each row, the mean distance to the K nearest other samples, counted by weight, in one "
      "array per K in `neighbors`, and the distance to the `spacing`-th nearest other location. "
      "The numbers of neighbors are in rising order. Duplicates count as "
      "if they were spread over a ball of `dimension` dimensions. NaN for rows of weight zero. "
      "The last result lists, by slot, the slots of the `spacing` locations within that distance, "
      "or is None if the search does not find them; -1 stands for none.");
  m.def("local_scales_at", &scales_of_queries, "tree"_a, "queries"_a, "neighbors"_a, "spacing"_a,
        "dimension"_a, "threads"_a = 1,
        "The same for points that need not be samples: a point at a sample's location has that "
        "sample's values; for any other point, no sample is left out.");
  m.def("bounded_scales", &bounded_scales_of_samples, "tree"_a, "neighbors"_a, "spacing"_a,
        "dimension"_a, "threads"_a = 1,
        "The first two results of `local_scales` for one K, and for each row a distance: no sample "
        "farther away has any influence on them, if there are K other samples and more than "
        "`spacing` locations.");
  m.def("bounded_scales_at", &bounded_scales_of_queries, "tree"_a, "queries"_a, "neighbors"_a,
        "spacing"_a, "dimension"_a, "threads"_a = 1,
        "The same for points that need not be samples, as in `local_scales_at`.");
}

}  // namespace quickshift
