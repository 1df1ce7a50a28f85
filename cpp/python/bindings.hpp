// What the bindings share: plain arrays in, plain arrays out, the GIL released in between. Only
// they know Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "density/density.hpp"
#include "tree/kdtree.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace quickshift {

using AnyPoints = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
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
    throw nb::type_error("points must be float64 or float32");
  }
  return points;
}

inline const double* optional_data(const std::optional<Reals>& array, std::size_t size,
                                   const char* message) {
  if (!array) return nullptr;
  require(array->size() == size, message);
  return array->data();
}

// Memory that Python will own; written before the array is made of it.
template <class Value>
class Buffer {
 public:
  explicit Buffer(Index size) : values_(unset_array<Value>(size)) {}

  Value* data() { return values_.data(); }
  Result<Value> array() { return shaped<1>({values_.size()}); }
  template <int dimensions>
  Result<Value, dimensions> shaped(std::initializer_list<std::size_t> shape) {
    auto* const kept = new Array<Value>(std::move(values_));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Array<Value>*>(p); });
    return Result<Value, dimensions>(kept->data(), shape, owner);
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

// What Python hands over to be told, from the calling thread, which part of a call is done.
using Report = std::optional<nb::callable>;

struct Interrupted {};

// Python hands signals to its main thread alone.
inline bool may_hear_signals() {
  const nb::object main = nb::module_::import_("threading").attr("main_thread")();
  return main.attr("ident").equal(nb::int_(PyThread_get_thread_ident()));
}

// Runs a computation without the GIL. Signals are looked for by the calling thread; the error that
// a handler or the report raised stays set in its thread state until the workers have stopped.
// Where there is nothing to hear or to tell, it does not wait for the GIL either.
// `expected_work` is the least number of elementary operations that the call will say it takes.
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

inline double rows_times(const Tree& tree, double work) {
  return work * static_cast<double>(tree.locations);
}

// What follows from parents: cuts and cluster trees.
void bind_forest(nb::module_& m);
// Modes of one column given others.
void bind_regression(nb::module_& m);
// What memory.py needs to know.
void bind_memory(nb::module_& m);
// Pictures.
void bind_image(nb::module_& m);
// The choices between methods, for tests.
void bind_methods(nb::module_& m);

DensityOptions density_options(int kernel, double bandwidth, double rtol,
                               DensityMethod method = DensityMethod::automatic);

}  // namespace quickshift
