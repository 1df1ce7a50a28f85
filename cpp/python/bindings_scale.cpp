// Local scales of samples and of other points.
#include "python/bindings.hpp"
#include "scale/local_scale.hpp"

namespace quickshift {

namespace {

ScaleOptions scale_options(double neighbors, Index spacing, int dimension,
                           ScaleMethod method = ScaleMethod::automatic) {
  require(neighbors >= 1.0 && spacing >= 1 && dimension >= 1,
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
  return 300.0 + 20.0 * std::min(options.neighbors, 1e6);
}

auto scales_of_samples(const Tree& tree, double neighbors, Index spacing, int dimension,
                       int threads, const Report& report, ScaleMethod method) {
  const ScaleOptions options = scale_options(neighbors, spacing, dimension, method);
  Buffer<double> r(tree.rows);
  Buffer<double> tau(tree.rows);
  const double work = rows_times(tree, work_per_point(options));
  without_gil(threads, report, work, [&](const Execution& execution) {
    local_scales(tree, options, execution, r.data(), tau.data());
  });
  return std::make_tuple(r.array(), tau.array());
}

auto scales_of_queries(const Tree& tree, const AnyPoints& queries, double neighbors, Index spacing,
                       int dimension, int threads) {
  const Points points = points_of(queries);
  require(points.features == tree.features,
          "queries and samples must have the same number of columns");
  const ScaleOptions options = scale_options(neighbors, spacing, dimension);
  Buffer<double> r(points.rows);
  Buffer<double> tau(points.rows);
  without_gil(threads, [&](const Execution& execution) {
    const Tree searched = build_query_tree(points, tree, execution);
    local_scales_at(tree, searched, options, execution, r.data(), tau.data());
  });
  return std::make_tuple(r.array(), tau.array());
}

}  // namespace

void bind_scale(nb::module_& m) {
  nb::enum_<ScaleMethod>(m, "ScaleMethod",
                         "How local scales are found; tests use it to force each method.")
      .value("automatic", ScaleMethod::automatic)
      .value("tree", ScaleMethod::tree)
      .value("blocks", ScaleMethod::blocks);
  m.def("local_scales", &scales_of_samples, "tree"_a, "neighbors"_a, "spacing"_a, "dimension"_a,
        "threads"_a = 1, "report"_a = nb::none(), "method"_a = ScaleMethod::automatic,
        "For each row, the mean distance to the `neighbors` nearest other samples, counted by "
        "weight, and the distance to the `spacing`-th nearest other location. Duplicates count as "
        "if they were spread over a ball of `dimension` dimensions. NaN for rows of weight zero.");
  m.def("local_scales_at", &scales_of_queries, "tree"_a, "queries"_a, "neighbors"_a, "spacing"_a,
        "dimension"_a, "threads"_a = 1,
        "The same for points that need not be samples: a point at a sample's location has that "
        "sample's values; for any other point, no sample is left out.");
}

}  // namespace quickshift
