#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "distinct.hpp"
#include "kdtree.hpp"
#include "select.hpp"

namespace quickshift {

namespace {

constexpr Index leaf_capacity = 16;
constexpr int top_levels = 6;  // split one after another; each subtree below them is one task

// The strict order of locations along an axis: by its coordinate, then by those after it.
struct AlongAxis {
  const double* points;
  int features;
  int axis;

  bool operator()(const Keyed& a, const Keyed& b) const {
    if (a.key != b.key) return a.key < b.key;
    const double* x = points + a.at * features;
    const double* y = points + b.at * features;
    for (int i = 1; i < features; ++i) {
      const int k = (axis + i) % features;
      if (x[k] != y[k]) return x[k] < y[k];
    }
    return false;
  }
};

// Orders the locations by splitting ranges of (key, location) pairs. The points themselves move
// once, below the top levels, so that the many small splits find their points close together.
class Builder {
 public:
  Builder(Tree& tree, std::vector<double>&& points)
      : tree_(tree),
        features_(tree.features),
        points_(std::move(points)),
        keys_(static_cast<std::size_t>(tree.locations)) {}

  // Returns the location of each slot, -1 in unused slots.
  std::vector<Index> run(const Execution& execution) {
    const auto count = static_cast<double>(tree_.locations);
    const int top = std::min(top_levels, tree_.levels);
    for (Index i = 0; i < tree_.locations; ++i) keys_[i].at = i;
    for (int level = 0; level < top; ++level) {
      const Index first = Index{1} << level;
      run_tasks(execution, first, 20.0 * count,
                [&] { return [&](Index task) { split(first + task, level, points_.data()); }; });
    }
    location_of_slot_.assign(static_cast<std::size_t>(tree_.slots()), -1);
    run_tasks(execution, Index{1} << top, 20.0 * count * (tree_.levels - top + 1),
              [&] { return [&](Index task) { build_subtree((Index{1} << top) + task, top); }; });
    return std::move(location_of_slot_);
  }

 private:
  std::pair<Index, Index> range(Index node, int level) const {
    const int below = tree_.levels - level;
    const Index leaf = (node << below) - tree_.leaves();
    return {tree_.begin_of_leaf(leaf), tree_.begin_of_leaf(leaf + (Index{1} << below))};
  }

  void build_subtree(Index root, int level) {
    const auto [begin, end] = range(root, level);
    std::vector<double> points(static_cast<std::size_t>((end - begin) * features_));
    std::vector<Index> location(static_cast<std::size_t>(end - begin));
    for (Index i = begin; i < end; ++i) {
      location[i - begin] = keys_[i].at;
      const double* from = &points_[keys_[i].at * features_];
      for (int k = 0; k < features_; ++k) points[(i - begin) * features_ + k] = from[k];
      keys_[i].at = i - begin;
    }
    Index first = root;
    Index last = root;
    for (; level < tree_.levels; ++level) {
      for (Index node = first; node <= last; ++node) split(node, level, points.data());
      first *= 2;
      last = last * 2 + 1;
    }
    for (Index node = first; node <= last; ++node) finish_leaf(node, points.data(), location);
  }

  // Few features are kept in registers during one pass over the points, more take a pass each.
  template <int count>
  void bound_features(Index node, const double* points, Index begin, Index end, int first) {
    double* low = tree_.boxes.data() + node * 2 * features_ + first;
    double least[count];
    double most[count];
    std::copy_n(points + keys_[begin].at * features_ + first, count, least);
    std::copy_n(least, count, most);
    for (Index i = begin; i < end; ++i) {
      const double* x = points + keys_[i].at * features_ + first;
      for (int k = 0; k < count; ++k) {
        least[k] = std::min(least[k], x[k]);
        most[k] = std::max(most[k], x[k]);
      }
    }
    std::copy_n(least, count, low);
    std::copy_n(most, count, low + features_);
  }

  void bound(Index node, const double* points, Index begin, Index end) {
    int k = 0;
    for (; k + 4 <= features_; k += 4) bound_features<4>(node, points, begin, end, k);
    if (features_ - k == 3) bound_features<3>(node, points, begin, end, k);
    if (features_ - k == 2) bound_features<2>(node, points, begin, end, k);
    if (features_ - k == 1) bound_features<1>(node, points, begin, end, k);
  }

  // Bounds the node and keys its locations by the coordinate of its widest side.
  AlongAxis prepare(Index node, const double* points, Index begin, Index end) {
    bound(node, points, begin, end);
    const double* low = tree_.low(node);
    const double* high = tree_.high(node);
    int axis = 0;
    for (int k = 1; k < features_; ++k) {
      if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
    }
    for (Index i = begin; i < end; ++i) keys_[i].key = points[keys_[i].at * features_ + axis];
    return {points, features_, axis};
  }

  void split(Index node, int level, const double* points) {
    const auto [begin, end] = range(node, level);
    const Index middle = range(2 * node, level + 1).second;
    const AlongAxis less = prepare(node, points, begin, end);
    select(keys_.data() + begin, keys_.data() + middle, keys_.data() + end, less);
  }

  // Leaves are sorted: the order of summation must not depend on the order of rows.
  void finish_leaf(Index node, const double* points, const std::vector<Index>& location) {
    const auto [begin, end] = range(node, tree_.levels);
    const AlongAxis less = prepare(node, points, begin, end);
    std::sort(keys_.begin() + begin, keys_.begin() + end, less);
    const Index leaf = tree_.leaf_of(node);
    double* block = tree_.coordinates.data() + leaf * features_ * tree_.stride;
    for (int slot = 0; slot < tree_.stride; ++slot) {
      const bool used = slot < end - begin;
      const Index at = keys_[begin + (used ? slot : 0)].at;
      for (int k = 0; k < features_; ++k) {
        block[k * tree_.stride + slot] = points[at * features_ + k];
      }
      if (used) location_of_slot_[leaf * tree_.stride + slot] = location[at];
    }
  }

  Tree& tree_;
  int features_;
  std::vector<double> points_;
  std::vector<Keyed> keys_;
  std::vector<Index> location_of_slot_;
};

void shape(Tree& tree) {
  while ((tree.locations - 1) >> tree.levels >= leaf_capacity) ++tree.levels;
  const Index most = ((tree.locations - 1) >> tree.levels) + 1;
  tree.stride = static_cast<int>((most + 3) / 4 * 4);
  const auto slots = static_cast<std::size_t>(tree.slots());
  tree.coordinates.resize(slots * static_cast<std::size_t>(tree.features));
  tree.boxes.resize(static_cast<std::size_t>(tree.nodes() * 2 * tree.features));
}

// Weights, rows and their slots; the sums run in slot order, which is free of the order of rows.
void enter_rows(Tree& tree, const Locations& locations, std::vector<Index>&& location_of_slot,
                const Execution& execution) {
  std::vector<Index> slot_of_location(static_cast<std::size_t>(tree.locations));
  tree.row_of_slot = std::move(location_of_slot);
  tree.weights.assign(static_cast<std::size_t>(tree.slots()), 0.0);
  run_ranges(execution, tree.slots(), [&](Index begin, Index end) {
    for (Index slot = begin; slot < end; ++slot) {
      const Index location = tree.row_of_slot[slot];
      if (location < 0) continue;
      slot_of_location[location] = slot;
      tree.row_of_slot[slot] = locations.first_row[location];
      tree.weights[slot] = locations.weights.empty() ? 1.0 : locations.weights[location];
    }
  });
  tree.total_weight = 0.0;
  for (double weight : tree.weights) tree.total_weight += weight;
  if (locations.location_of_row.empty()) {
    tree.slot_of_row = std::move(slot_of_location);
    return;
  }
  tree.slot_of_row.assign(static_cast<std::size_t>(tree.rows), -1);
  for (Index row = 0; row < tree.rows; ++row) {
    const Index location = locations.location_of_row[row];
    if (location >= 0) tree.slot_of_row[row] = slot_of_location[location];
  }
}

Tree build(const Points& points, const double* weights, const double* period, int exponent,
           const Execution& execution) {
  Tree tree;
  tree.rows = points.rows;
  tree.features = points.features;
  tree.exponent = exponent;
  tree.period.assign(static_cast<std::size_t>(points.features),
                     std::numeric_limits<double>::infinity());
  for (int k = 0; period && k < points.features; ++k) {
    tree.period[k] = std::ldexp(period[k], -exponent);
    tree.periodic = tree.periodic || std::isfinite(tree.period[k]);
  }
  Locations locations = distinct_locations(points, weights, period, exponent, execution);
  tree.locations = static_cast<Index>(locations.first_row.size());
  shape(tree);
  Builder builder(tree, std::move(locations.coordinates));
  enter_rows(tree, locations, builder.run(execution), execution);
  return tree;
}

}  // namespace

Tree build_tree(const Points& points, const double* weights, const double* period,
                const Execution& execution) {
  return build(points, weights, period, scale_exponent(points, weights, period, execution),
               execution);
}

Tree build_query_tree(const Points& queries, const Tree& samples, const Execution& execution) {
  std::vector<double> period(samples.period);
  for (double& p : period) p = std::ldexp(p, samples.exponent);
  return build(queries, nullptr, samples.periodic ? period.data() : nullptr, samples.exponent,
               execution);
}

void copy_locations(const Tree& tree, double* coordinates, double* weights) {
  Index out = 0;
  for (Index slot = 0; slot < tree.slots(); ++slot) {
    if (tree.row_of_slot[slot] < 0) continue;
    for (int k = 0; k < tree.features; ++k) {
      coordinates[out * tree.features + k] = std::ldexp(tree.coordinate(slot, k), tree.exponent);
    }
    weights[out++] = tree.weights[slot];
  }
}

}  // namespace quickshift
