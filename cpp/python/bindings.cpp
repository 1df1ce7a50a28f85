// The Python module, with the functions for trees, kernel sums and parents.
#include "python/bindings.hpp"

#include "parents/assign.hpp"
#include "parents/nearest_higher.hpp"
#include "scale/local_scale.hpp"
#include "vector/instruction_set.hpp"

namespace quickshift {

DensityOptions density_options(int kernel, double bandwidth, double rtol, DensityMethod method) {
  require(kernel >= 0 && kernel < kernel_count, "kernel must be a code from quickshift.kernels");
  require(bandwidth > 0.0 && rtol >= 0.0,
          "bandwidth must be positive, and rtol must not be negative");
  DensityOptions options;
  options.kernel = static_cast<Kernel>(kernel);
  options.bandwidth = bandwidth;
  options.rtol = rtol;
  options.method = method;
  return options;
}

namespace {

Tree make_tree(const AnyPoints& array, const std::optional<Reals>& weights,
               const std::optional<Reals>& period, int threads, const Report& report) {
  const Points points = points_of(array);
  const double* w = optional_data(weights, array.shape(0), "weights must have one value per row");
  const double* p = optional_data(period, array.shape(1), "period must have one value per column");
  const auto rows = static_cast<double>(points.rows);
  const double work =
      rows * 10.0 * (4.0 + std::log2(rows));  // about ten operations per row and level
  return without_gil(threads, report, work, [&](const Execution& execution) {
    return build_tree(points, w, p, execution);
  });
}

auto locations(const Tree& tree) {
  Buffer<double> coordinates(tree.locations * tree.features);
  Buffer<double> weights(tree.locations);
  copy_locations(tree, coordinates.data(), weights.data());
  return std::make_tuple(coordinates.shaped<2>({static_cast<std::size_t>(tree.locations),
                                                static_cast<std::size_t>(tree.features)}),
                         weights.array());
}

int varying_features(const Tree& tree) {
  int count = 0;
  for (int k = 0; k < tree.features; ++k) count += tree.low(1)[k] < tree.high(1)[k];
  return count;
}

auto first_rows(const Tree& tree) {
  Buffer<Index> rows(tree.locations);
  Buffer<double> weights(tree.locations);
  for (Index slot = 0, location = 0; slot < tree.slots(); ++slot) {
    if (tree.row_of_slot[slot] < 0) continue;
    rows.data()[location] = tree.row_of_slot[slot];
    weights.data()[location++] = std::ldexp(tree.weights[slot], tree.weight_exponent);
  }
  return std::make_tuple(rows.array(), weights.array());
}

#ifdef __clang__
constexpr const char* compiler = __VERSION__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

auto sums_at_samples(const Tree& tree, int kernel, double bandwidth, double rtol,
                     DensityMethod method, int threads, const Report& report) {
  const DensityOptions options = density_options(kernel, bandwidth, rtol, method);
  Buffer<double> values(tree.rows);
  without_gil(threads, report, rows_times(tree, 200.0), [&](const Execution& execution) {
    const Sums sums = kernel_sums(tree, tree, options, execution);
    spread_to_rows(tree, sums.values.data(), nan, execution, values.data());
  });
  return values.array();
}

auto sums_at_queries(const Tree& queries, const Tree& samples, int kernel, double bandwidth,
                     double rtol, bool leave_out, DensityMethod method, int threads,
                     const Report& report) {
  require(queries.features == samples.features,
          "queries and samples must have the same number of columns");
  require(
      leave_out == (&queries == &samples),
      "leave_out must be set if and only if queries and samples are the same tree; for sums that "
      "include each sample itself use kernel_sums");
  DensityOptions options = density_options(kernel, bandwidth, rtol, method);
  options.leave_out = leave_out;
  Buffer<double> values(queries.rows);
  Buffer<double> log_scales(queries.rows);
  without_gil(threads, report, rows_times(queries, 200.0), [&](const Execution& execution) {
    const Sums sums = kernel_sums(queries, samples, options, execution);
    spread_to_rows(queries, sums.values.data(), nan, execution, values.data());
    spread_to_rows(queries, sums.log_scales.data(), nan, execution, log_scales.data());
  });
  return std::make_tuple(values.array(), log_scales.array());
}

auto distances_to_nearest(const Tree& tree, int threads, const Report& report) {
  Buffer<double> distances(tree.locations);
  without_gil(threads, report, rows_times(tree, 300.0), [&](const Execution& execution) {
    const Array<double> by_slot = nearest_distances(tree, execution);
    Index out = 0;
    for (Index slot = 0; slot < tree.slots(); ++slot) {
      if (tree.row_of_slot[slot] >= 0) distances.data()[out++] = by_slot[slot];
    }
  });
  return distances.array();
}

auto parents(const Tree& tree, const Reals& heights, int bits, bool strict, int threads,
             const Report& report, ParentMethod method, const std::optional<Lists>& lists) {
  require(static_cast<Index>(heights.size()) == tree.rows, "heights must have one value per row");
  const NearLists near = near_lists(lists, tree);
  Buffer<Index> parent(tree.rows);
  Buffer<double> distance(tree.rows);
  without_gil(threads, report, rows_times(tree, 300.0), [&](const Execution& execution) {
    nearest_higher(tree, heights.data(), bits, strict, method, near, execution, parent.data(),
                   distance.data());
  });
  return std::make_tuple(parent.array(), distance.array());
}

auto assign(const Tree& tree, const Reals& heights, int bits, bool strict, const Reals& tau,
            const AnyPoints& queries, const Reals& query_heights, int threads) {
  const Points points = points_of(queries);
  require(points.features == tree.features,
          "queries and samples must have the same number of columns");
  require(static_cast<Index>(heights.size()) == tree.rows, "heights must have one value per row");
  require(query_heights.size() == queries.shape(0), "query_heights must have one value per query");
  require(tau.size() == queries.shape(0), "tau must have one value per query");
  Buffer<Index> rows(points.rows);
  without_gil(threads, [&](const Execution& execution) {
    assign_queries(tree, heights.data(), bits, strict, tau.data(), points, query_heights.data(),
                   execution, rows.data());
  });
  return rows.array();
}

auto sorted_by_height(const Tree& tree, const Reals& heights, int bits, const Indices& rows) {
  require(static_cast<Index>(heights.size()) == tree.rows, "heights must have one value per row");
  std::vector<Index> sorted(rows.data(), rows.data() + rows.size());
  for (Index row : sorted) {
    require(row >= 0 && row < tree.rows && tree.slot_of_row[row] >= 0,
            "rows must name samples of positive weight");
  }
  sort_by_height(tree, heights.data(), bits, sorted);
  return array_of(sorted);
}

auto absent_rows(const Tree& tree) {
  std::vector<Index> rows;
  for (Index row = 0; row < tree.rows; ++row) {
    if (tree.slot_of_row[row] < 0) rows.push_back(row);
  }
  return array_of(rows);
}

auto coordinates(const Tree& tree, const Indices& rows) {
  Buffer<double> out(static_cast<Index>(rows.size()) * tree.features);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Index row = rows.data()[i];
    require(row >= 0 && row < tree.rows && tree.slot_of_row[row] >= 0,
            "rows must name samples of positive weight");
    for (int k = 0; k < tree.features; ++k) {
      out.data()[static_cast<Index>(i) * tree.features + k] =
          std::ldexp(tree.coordinate(tree.slot_of_row[row], k), tree.exponent);
    }
  }
  return out.shaped<2>({rows.size(), static_cast<std::size_t>(tree.features)});
}

// A tree is plain data, so its pickled state consists of its numbers and arrays.
nb::tuple tree_state(const Tree& t) {
  return nb::make_tuple(t.rows, t.locations, t.features, t.exponent, t.levels, t.stride, t.periodic,
                        t.weight_exponent, array_of(t.coordinates), array_of(t.weights),
                        array_of(t.boxes), array_of(t.period), array_of(t.row_of_slot),
                        array_of(t.slot_of_row));
}

template <class Values>
void copy_to(nb::handle object, Values& to) {
  using Value = typename Values::value_type;
  const auto array =
      nb::cast<nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(object);
  to.assign(array.data(), array.data() + array.size());
}

// A state may come from a damaged file, so everything that is used as an index later is checked.
void check_state(const Tree& t) {
  require(t.levels >= 0 && t.levels < 60 && t.features > 0 && t.locations > 0 && t.rows > 0 &&
              t.stride == stride_for(t.locations, t.levels) && t.stride <= max_stride,
          "the state of the tree is damaged: its sizes or indices are inconsistent");
  const auto slots = static_cast<std::size_t>(t.slots());
  const auto features = static_cast<std::size_t>(t.features);
  const bool sized = t.coordinates.size() == slots * features && t.weights.size() == slots &&
                     t.boxes.size() == 2 * features * static_cast<std::size_t>(t.nodes()) &&
                     t.period.size() == features && t.row_of_slot.size() == slots &&
                     t.slot_of_row.size() == static_cast<std::size_t>(t.rows);
  require(sized, "the state of the tree is damaged: its sizes or indices are inconsistent");
  const auto outside = [](Index bound) { return [=](Index i) { return i < -1 || i >= bound; }; };
  require(std::none_of(t.row_of_slot.begin(), t.row_of_slot.end(), outside(t.rows)) &&
              std::none_of(t.slot_of_row.begin(), t.slot_of_row.end(), outside(t.slots())),
          "the state of the tree is damaged: its sizes or indices are inconsistent");
}

Tree tree_of_state(const nb::tuple& state) {
  require(state.size() == 14,
          "the state of a tree must have 14 parts; it was damaged or saved by another version");
  Tree t;
  t.rows = nb::cast<Index>(state[0]);
  t.locations = nb::cast<Index>(state[1]);
  t.features = nb::cast<int>(state[2]);
  t.exponent = nb::cast<int>(state[3]);
  t.levels = nb::cast<int>(state[4]);
  t.stride = nb::cast<int>(state[5]);
  t.periodic = nb::cast<bool>(state[6]);
  t.weight_exponent = nb::cast<int>(state[7]);
  copy_to(state[8], t.coordinates);
  copy_to(state[9], t.weights);
  copy_to(state[10], t.boxes);
  copy_to(state[11], t.period);
  copy_to(state[12], t.row_of_slot);
  copy_to(state[13], t.slot_of_row);
  check_state(t);
  add_up_weights(t, Execution{});
  return t;
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() =
      "The compiled core of quickshift. Arguments are checked in Python; see quickshift.stages.";
  nb::set_leak_warnings(false);  // a tree may be alive when the interpreter exits
  choose_instruction_set();

  nb::class_<Tree>(m, "Tree", "Distinct weighted locations in a balanced k-d tree.")
      .def(
          "__init__",
          [](Tree* self, const AnyPoints& points, const std::optional<Reals>& weights,
             const std::optional<Reals>& period, int threads, const Report& report) {
            new (self) Tree(make_tree(points, weights, period, threads, report));
          },
          "points"_a, "weights"_a = nb::none(), "period"_a = nb::none(), "threads"_a = 1,
          "report"_a = nb::none())
      .def("__getstate__", &tree_state)
      .def("__setstate__",
           [](Tree& self, const nb::tuple& state) { new (&self) Tree(tree_of_state(state)); })
      .def_ro("rows", &Tree::rows)
      .def_ro("features", &Tree::features)
      .def_ro("n_locations", &Tree::locations, "Number of distinct rows of positive weight.")
      .def_prop_ro("n_varying", &varying_features, "Number of features that are not constant.")
      .def_ro("exponent", &Tree::exponent)
      .def_ro("weight_exponent", &Tree::weight_exponent)
      .def_prop_ro("total_weight",
                   [](const Tree& t) { return std::ldexp(t.total_weight, t.weight_exponent); })
      .def("absent_rows", &absent_rows, "Rows of weight zero.")
      .def("locations", &locations,
           "Coordinates and weights of the locations, in an order that does not depend on the "
           "order of the rows.")
      .def("first_rows", &first_rows,
           "First row and weight of each location, in the order of `locations`.")
      .def(
          "slots_of_rows", [](const Tree& t) { return array_of(t.slot_of_row); },
          "Slot of each row's location in the tree; -1 for rows of weight zero.")
      .def_prop_ro("slots", &Tree::slots)
      .def(
          "coordinates", &coordinates, "rows"_a,
          "Coordinates of the given rows; those of periodic features are wrapped into [0, period).")
      .def(
          "query_tree",
          [](const Tree& samples, const AnyPoints& queries, int threads) {
            const Points points = points_of(queries);
            require(points.features == samples.features,
                    "queries and samples must have the same number of columns");
            return without_gil(threads, [&](const Execution& execution) {
              return build_query_tree(points, samples, execution);
            });
          },
          "queries"_a, "threads"_a = 1,
          "A tree of queries that has the scale and the periods of this tree of samples.");

  nb::enum_<InstructionSet>(m, "InstructionSet",
                            "Instruction sets for which vector code can be compiled.")
      .value("generic", InstructionSet::generic)
      .value("neon", InstructionSet::neon)
      .value("v2", InstructionSet::v2)
      .value("v3", InstructionSet::v3)
      .value("v4", InstructionSet::v4);
  m.def("instruction_set", &instruction_set, "The instruction set in use.");
  m.def("has_instruction_set", &has_instruction_set, "instruction_set"_a,
        "Whether the machine supports an instruction set and vector code was compiled for it.");
  m.def(
      "set_instruction_set", &set_instruction_set, "instruction_set"_a,
      "Use another instruction set that the machine supports. For tests only; no other thread may "
      "be computing.");
  m.def("compiler", [] { return compiler; }, "Name and version of the compiler.");

  nb::enum_<DensityMethod>(m, "DensityMethod",
                           "How kernel sums are computed; tests use it to force each method.")
      .value("automatic", DensityMethod::automatic)
      .value("direct", DensityMethod::direct)
      .value("moments", DensityMethod::moments)
      .value("grid", DensityMethod::grid)
      .value("gaussians", DensityMethod::gaussians)
      .value("expansions", DensityMethod::expansions)
      .value("blocks", DensityMethod::blocks)
      .value("mixed", DensityMethod::mixed);
  m.def("kernel_sums", &sums_at_samples, "tree"_a, "kernel"_a, "bandwidth"_a, "rtol"_a,
        "method"_a = DensityMethod::automatic, "threads"_a = 1, "report"_a = nb::none(),
        "Unnormalized kernel sum at each sample, including the sample's own term; NaN for rows of "
        "weight zero.");
  m.def("kernel_sums_at", &sums_at_queries, "queries"_a, "samples"_a, "kernel"_a, "bandwidth"_a,
        "rtol"_a, "leave_out"_a = false, "method"_a = DensityMethod::automatic, "threads"_a = 1,
        "report"_a = nb::none(),
        "Unnormalized kernel sums at queries, as two arrays: the sum at a query is value * "
        "exp(log_scale). With leave_out, the sum at a sample leaves out its own location.");
  m.def("nearest_distances", &distances_to_nearest, "tree"_a, "threads"_a = 1,
        "report"_a = nb::none(),
        "Distance from every location to the nearest other location, in the order of `locations`.");
  nb::enum_<ParentMethod>(m, "ParentMethod",
                          "How parents are found; tests use it to force each method.")
      .value("automatic", ParentMethod::automatic)
      .value("tree", ParentMethod::tree)
      .value("blocks", ParentMethod::blocks);
  m.def("nearest_higher", &parents, "tree"_a, "heights"_a, "bits"_a, "strict"_a, "threads"_a = 1,
        "report"_a = nb::none(), "method"_a = ParentMethod::automatic, "near"_a = nb::none(),
        "Parent row of every row, and the distance to it. A row without a higher row is its own "
        "parent at distance infinity; a row of weight zero is its own parent at distance NaN. "
        "`near`, from `local_scales`, saves most searches.");
  m.def("sort_by_height", &sorted_by_height, "tree"_a, "heights"_a, "bits"_a, "rows"_a,
        "The given rows, sorted from the highest to the lowest.");
  m.def("assign", &assign, "tree"_a, "heights"_a, "bits"_a, "strict"_a, "tau"_a, "queries"_a,
        "query_heights"_a, "threads"_a = 1,
        "Row of the sample whose label each query takes: a sample with the same coordinates if "
        "there is one, otherwise the nearest higher sample within the query's tau, otherwise the "
        "nearest sample.");
  bind_scale(m);
  bind_forest(m);
  bind_membership(m);
  bind_regression(m);
  bind_image(m);
  bind_memory(m);
  bind_methods(m);
}

}  // namespace quickshift
