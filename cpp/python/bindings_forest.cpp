// Cuts and cluster trees for Python.
#include "forest/forest.hpp"
#include "forest/merges.hpp"
#include "forest/saddles.hpp"
#include "python/bindings.hpp"

#include <nanobind/stl/variant.h>

#include <variant>

namespace quickshift {

namespace {

auto roots(const Indices& parent, const Reals& distance, double tau, int threads) {
  require(parent.size() == distance.size(), "parent and distance must have the same length");
  const auto rows = static_cast<Index>(parent.size());
  Buffer<Index> root(rows);
  const bool valid = without_gil(threads, [&](const Execution& execution) {
    return find_roots({parent.data(), distance.data(), rows}, tau, execution, root.data());
  });
  require(valid, "parent must name rows and contain no cycle");
  const std::vector<Index> present = list_roots(root.data(), distance.data(), rows);
  return std::make_tuple(root.array(), array_of(present));
}

auto labels(const Indices& root, const Indices& roots, int threads) {
  const auto rows = static_cast<Index>(root.size());
  Buffer<Index> numbers(rows);
  const bool valid = without_gil(threads, [&](const Execution& execution) {
    return number_trees(root.data(), rows, {roots.data(), roots.size()}, execution, numbers.data());
  });
  require(valid, "roots must name rows that are their own roots");
  return numbers.array();
}

auto arrays_of(const std::vector<Saddle>& saddles) {
  Buffer<Index> joined(2 * static_cast<Index>(saddles.size()));
  Buffer<double> levels(static_cast<Index>(saddles.size()));
  for (std::size_t i = 0; i < saddles.size(); ++i) {
    joined.data()[2 * i] = saddles[i].piece;
    joined.data()[2 * i + 1] = saddles[i].other;
    levels.data()[i] = saddles[i].level;
  }
  return std::make_tuple(joined.shaped<2>({saddles.size(), 2}), levels.array());
}

std::vector<Saddle> saddles_of(const PairsOfIndices& joined, const Reals& levels, Index pieces) {
  require(joined.shape(0) == levels.size() && joined.shape(1) == 2,
          "joined must have shape (n, 2), with one row per level");
  std::vector<Saddle> saddles;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Index a = joined.data()[2 * i];
    const Index b = joined.data()[2 * i + 1];
    require(std::min(a, b) >= 0 && std::max(a, b) < pieces, "joined must hold indices of pieces");
    saddles.push_back({a, b, levels.data()[i]});
  }
  return saddles;
}

auto saddles(const Tree& tree, const Reals& heights, const Indices& piece, Index pieces,
             const std::variant<double, Reals>& tau, const Indices& lower, const Indices& upper,
             int threads, const Report& report, const std::optional<Lists>& near) {
  LinkLength length;
  if (const Reals* tau_of_row = std::get_if<Reals>(&tau)) {
    require(static_cast<Index>(tau_of_row->size()) == tree.rows, "tau must have one value per row");
    length.tau_of_row = tau_of_row->data();
  } else {
    length.tau = std::get<double>(tau);
  }
  require(!near || length.tau_of_row, "near requires one tau per row");
  length.near = near_lists(near, tree);
  require(static_cast<Index>(heights.size()) == tree.rows, "heights must have one value per row");
  require(static_cast<Index>(piece.size()) == tree.rows, "piece must have one value per row");
  require(lower.size() == upper.size(), "lower and upper must have the same length");
  for (Index row = 0; row < tree.rows; ++row) {
    const Index number = piece.data()[row];
    require(tree.slot_of_row[row] < 0 || (number >= 0 && number < pieces),
            "piece must hold indices from 0 to pieces - 1");
  }
  std::vector<Saddle> edges;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    const Index a = lower.data()[i];
    const Index b = upper.data()[i];
    require(std::min(a, b) >= 0 && std::max(a, b) < tree.rows,
            "lower and upper must hold indices of rows");
    const double level = std::min(heights.data()[a], heights.data()[b]);
    edges.push_back({piece.data()[a], piece.data()[b], level});
  }
  const auto found =
      without_gil(threads, report, rows_times(tree, 200.0), [&](const Execution& execution) {
        return find_saddles(tree, {piece.data(), heights.data(), pieces}, edges, length, execution);
      });
  Buffer<double> squares(static_cast<Index>(found.size()));
  for (std::size_t i = 0; i < found.size(); ++i) squares.data()[i] = found[i].square;
  return std::tuple_cat(arrays_of(found), std::make_tuple(squares.array()));
}

auto named_merges(const PairsOfIndices& joined, const Reals& levels, const Indices& leaf,
                  Index leaves) {
  for (std::size_t i = 0; i < leaf.size(); ++i) {
    require(leaf.data()[i] >= 0 && leaf.data()[i] < leaves,
            "leaf must hold indices from 0 to leaves - 1");
  }
  const auto saddles = saddles_of(joined, levels, static_cast<Index>(leaf.size()));
  const Merges named = merges_from_saddles(saddles, {leaf.data(), leaf.size()}, leaves);
  return std::tuple_cat(arrays_of(named.merges), std::make_tuple(array_of(named.towards)));
}

auto forest_of_merges(const PairsOfIndices& joined, const Reals& levels, Index leaves) {
  const MergeForest forest = merge_forest(saddles_of(joined, levels, leaves), leaves);
  return std::make_tuple(array_of(forest.up), array_of(forest.at));
}

auto linkage(const Indices& parent, const Reals& distance, const Indices& children) {
  require(parent.size() == distance.size(), "parent and distance must have the same length");
  const auto rows_count = static_cast<Index>(parent.size());
  for (std::size_t i = 0; i < parent.size(); ++i) {
    require(parent.data()[i] >= 0 && parent.data()[i] < rows_count, "parent must name rows");
  }
  for (std::size_t i = 0; i < children.size(); ++i) {
    require(children.data()[i] >= 0 && children.data()[i] < rows_count,
            "children must hold indices of rows");
  }
  const auto edges = static_cast<Index>(children.size());
  Buffer<double> rows(edges * 4);
  write_linkage(parent.data(), distance.data(), static_cast<Index>(parent.size()), children.data(),
                edges, rows.data());
  return rows.shaped<2>({children.size(), 4});
}

}  // namespace

void bind_forest(nb::module_& m) {
  m.def("find_roots", &roots, "parent"_a, "distance"_a, "tau"_a, "threads"_a = 1,
        "Root that each row reaches along edges no longer than tau, and the list of all roots "
        "except rows whose distance is NaN.");
  m.def("number_trees", &labels, "root"_a, "roots"_a, "threads"_a = 1,
        "Index of each row's root in `roots`; -1 for rows whose root is not in `roots`.");
  m.def("saddles", &saddles, "tree"_a, "heights"_a, "piece"_a, "pieces"_a, "tau"_a, "lower"_a,
        "upper"_a, "threads"_a = 1, "report"_a = nb::none(), "near"_a = nb::none(),
        "Pairs of pieces that join, the levels at which they do, in descending order of level, and "
        "the squared distances of the points at which they do, times 4^-exponent of the tree: "
        "the maximum spanning forest of the pieces. Two pieces are joined by points of both that "
        "are nearer than tau to each other or, if tau has one value per row, no farther apart "
        "than the larger of their two values; and by edges from the rows `lower` to the rows "
        "`upper`, whose squared distance counts as 0. `near`, from `local_scales`, saves the "
        "search for points within their tau.");
  m.def("merges", &named_merges, "joined"_a, "levels"_a, "leaf"_a, "leaves"_a,
        "Pairs of a surviving and an absorbed leaf, the levels at which they merge, and for each "
        "leaf a higher leaf that is its neighbor across the saddle at which it is absorbed, or the "
        "leaf itself if it is never absorbed. The saddles must be in descending order of level.");
  m.def("merge_forest", &forest_of_merges, "joined"_a, "levels"_a, "leaves"_a,
        "A forest of the leaves: for each leaf its parent, and the level below which both are in "
        "the same component; a root is its own parent at level minus infinity.");
  m.def("linkage", &linkage, "parent"_a, "distance"_a, "children"_a,
        "SciPy linkage matrix of the edges from the given children to their parents; children must "
        "be in ascending order of distance.");
}

}  // namespace quickshift
