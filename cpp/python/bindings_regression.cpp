// Modal regression for Python.
#include "python/bindings.hpp"
#include "regression/conditional_modes.hpp"
#include "regression/ladder.hpp"

namespace quickshift {

namespace {

bool within(const Indices& positions, Index count) {
  return std::all_of(positions.data(), positions.data() + positions.size(),
                     [=](Index i) { return i >= 0 && i < count; });
}

auto rungs(const Reals& places, double width) {
  require(places.size() > 0 && width >= 0.0,
          "places must not be empty, and width must not be negative");
  return array_of(rungs_of(places.data(), static_cast<Index>(places.size()), width));
}

auto modes_at(const Tree& tree, const Reals& values, const Reals& places, const Indices& rungs,
              const Indices& begin, const Reals& place_of_sample, const Indices& rung_of_sample,
              const Reals& weights, const AnyPoints& queries, int kernel, double bandwidth,
              double rtol, double tau, double least_ratio, int bits, bool keep_flat, int threads,
              const Report& report) {
  const Points points = points_of(queries);
  const auto vertices = static_cast<Index>(values.size());
  const auto rung_count = static_cast<Index>(rungs.size());
  const auto samples = static_cast<Index>(weights.size());
  require(points.features == tree.features,
          "queries and samples must have the same number of columns");
  require(values.size() == places.size() && vertices > 0,
          "values and places must have the same length, at least 1");
  require(rung_count > 0 && within(rungs, vertices) && rungs.data()[0] == 0 &&
              rungs.data()[rung_count - 1] == vertices - 1,
          "rungs must be ranks of vertices and include the first and the last");
  require(place_of_sample.size() == weights.size() && rung_of_sample.size() == weights.size() &&
              within(rung_of_sample, rung_count),
          "every sample must have a place, a rung and a weight");
  require(static_cast<Index>(begin.size()) == tree.slots() + 1 && begin.data()[0] == 0 &&
              begin.data()[tree.slots()] == samples &&
              std::is_sorted(begin.data(), begin.data() + begin.size()),
          "begin must hold CSR offsets per slot, from 0 to the number of samples");
  require(tau >= 0.0 && least_ratio >= 0.0 && least_ratio <= 1.0,
          "tau must not be negative, and least_ratio must be from 0 to 1");
  const Responses responses{values.data(),
                            places.data(),
                            vertices,
                            rungs.data(),
                            rung_count,
                            begin.data(),
                            place_of_sample.data(),
                            rung_of_sample.data(),
                            weights.data()};
  const ModeOptions options{density_options(kernel, bandwidth, rtol), tau, least_ratio, bits,
                            keep_flat};
  const auto found = without_gil(
      threads, report, 1e5 * static_cast<double>(points.rows), [&](const Execution& execution) {
        return conditional_modes(tree, responses, points, options, execution);
      });
  const auto count = static_cast<Index>(found.modes.size());
  Buffer<Index> rank(count);
  Buffer<double> sums(count);
  Buffer<double> valleys(count);
  for (Index i = 0; i < count; ++i) {
    rank.data()[i] = found.modes[i].rank;
    sums.data()[i] = found.modes[i].sum;
    valleys.data()[i] = found.modes[i].valley;
  }
  return std::make_tuple(array_of(found.offsets), rank.array(), sums.array(), valleys.array(),
                         array_of(found.marginals), array_of(found.log_scales));
}

}  // namespace

void bind_regression(nb::module_& m) {
  m.def("rungs", &rungs, "places"_a, "width"_a,
        "Positions of the rungs among sorted places, including the first and the last: successive "
        "rungs are at most `width` apart, or no place lies between them.");
  m.def(
      "conditional_modes", &modes_at, "tree"_a, "values"_a, "places"_a, "rungs"_a, "begin"_a,
      "place_of_sample"_a, "rung_of_sample"_a, "weights"_a, "queries"_a, "kernel"_a, "bandwidth"_a,
      "rtol"_a, "tau"_a, "least_ratio"_a, "bits"_a, "keep_flat"_a = true, "threads"_a = 1,
      "report"_a = nb::none(),
      "The modes of f(y | x) at the queries x: CSR offsets of the modes by query; for each mode "
      "the rank of its response, its kernel sum and the sum in its valley; for each query the sum "
      "of the kernels in x alone, and the logarithm of a factor by which its sums have to be "
      "multiplied.");
}

}  // namespace quickshift
