// Definitions shared by the bindings, the only files that know Python: plain arrays in, plain
// arrays out, and the GIL released in between.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "density/density.hpp"
#include "tree/kdtree.hpp"
#include "tree/near_lists.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace quickshift {

using AnyPoints = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Lists = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using PairsOfIndices = nb::ndarray<const Index, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class Value, int dimensions = 1>
using Result = nb::ndarray<nb::numpy, Value, nb::ndim<dimensions>, nb::c_contig>;

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

inline Points points_of(const AnyPoints& array) {
  Points points;
  points.rows = static_cast<Index>(array.shape(0));
  points.features = static_cast<int>(array.shape(1));
  require(array.shape(1) <= (std::size_t{1} << 24), "points must have at most 2^24 columns");
  require(points.rows > 0 && points.features > 0, "points must have at least one row and column");
  if (array.dtype() == nb::dtype<double>()) {
    points.wide = static_cast<const double*>(array.data());
  } else if (array.dtype() == nb::dtype<float>()) {
    points.narrow = static_cast<const float*>(array.data());
  } else {
    throw nb::type_error("points must be a float64 or float32 array");
  }
  return points;
}

// The data of an optional array, null if it is absent; throws with the message if its size is
// wrong.
inline const double* optional_data(const std::optional<Reals>& array, std::size_t size,
                                   const char* message) {
  if (!array) return nullptr;
  require(array->size() == size, message);
  return array->data();
}

// The lists from `local_scales`, if there are any; throws unless they fit the tree.
inline NearLists near_lists(const std::optional<Lists>& near, const Tree& tree) {
  if (!near) return {};
  require(!tree.periodic, "near requires a tree without periods");
  require(static_cast<Index>(near->shape(0)) == tree.slots(), "near must have one row per slot");
  const auto valid = [&](std::int32_t slot) { return slot >= -1 && slot < tree.slots(); };
  require(std::all_of(near->data(), near->data() + near->size(), valid),
          "near must hold slots, or -1");
  return {near->data(), static_cast<Index>(near->shape(1))};
}

// Memory that is filled first and then handed over to a NumPy array, which owns it.
template <class Value>
class Buffer {
 public:
  explicit Buffer(Index size) : values_(unset_array<Value>(size)) {}
  explicit Buffer(Array<Value> values) : values_(std::move(values)) {}

  Value* data() { return values_.data(); }
  Result<Value> array() { return shaped<1>({values_.size()}); }
  template <int dimensions>
  Result<Value, dimensions> shaped(std::initializer_list<std::size_t> shape) {
    auto kept = std::make_unique<Array<Value>>(std::move(values_));
    nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<Array<Value>*>(p); });
    return Result<Value, dimensions>(kept.release()->data(), shape, owner);
  }

 private:
  Array<Value> values_;
};

template <class Values>
auto array_of(const Values& values) {
  Buffer<typename Values::value_type> buffer(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), buffer.data());
  return buffer.array();
}

// A Python function that the calling thread calls now and then, with the share of the work that is
// completed, from 0 to 1.
using Report = std::optional<nb::callable>;

// Thrown to end a call after a Python error was set: by a signal handler or by the report.
struct Interrupted {};

// Python delivers signals to its main thread only.
inline bool may_hear_signals() {
  const nb::object main = nb::module_::import_("threading").attr("main_thread")();
  return main.attr("ident").equal(nb::int_(PyThread_get_thread_ident()));
}

// Runs a computation without the GIL. The calling thread checks for signals and calls the report,
// for which it takes the GIL. An error that a signal handler or the report raises stays set in the
// thread state until the workers have stopped, and is then raised. If there is no report and the
// calling thread cannot receive signals, the GIL is not taken at all. expected_work: a lower bound
// on the elementary operations of the whole call, as run_tasks counts them.
template <class Compute>
auto without_gil(int threads, const Report& report, double expected_work, const Compute& compute) {
  require(threads >= 1, "threads must be at least 1");
  Execution execution;
  execution.threads = threads;
  execution.expected_work = expected_work;
  const auto tick = [&report](double done) {
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw Interrupted{};
    if (!report) return;
    PyObject* result = PyObject_CallFunction(report->ptr(), "d", done);
    if (!result) throw Interrupted{};
    Py_DECREF(result);
  };
  if (report || may_hear_signals()) execution.tick = tick;
  try {
    const nb::gil_scoped_release release;
    return compute(execution);
  } catch (const Interrupted&) {
    throw nb::python_error();
  }
}

template <class Compute>
auto without_gil(int threads, const Compute& compute) {
  return without_gil(threads, std::nullopt, 0.0, compute);
}

// The work for a whole tree, from the work per location.
inline double rows_times(const Tree& tree, double work) {
  return work * static_cast<double>(tree.locations);
}

// Each of these adds the functions of one file to the module.
void bind_scale(nb::module_& m);       // local scales
void bind_forest(nb::module_& m);      // cuts and cluster trees
void bind_membership(nb::module_& m);  // shares of clusters
void bind_regression(nb::module_& m);  // modal regression
void bind_image(nb::module_& m);       // image segmentation
void bind_memory(nb::module_& m);      // figures for memory estimates
void bind_methods(nb::module_& m);     // the choices between methods, for tests

// Checks the arguments and returns them as options.
DensityOptions density_options(int kernel, double bandwidth, double rtol,
                               DensityMethod method = DensityMethod::automatic);

}  // namespace quickshift
