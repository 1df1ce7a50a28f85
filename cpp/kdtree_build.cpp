#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "distinct.hpp"
#include "kdtree.hpp"

namespace quickshift {

namespace {

constexpr Index leaf_capacity = 16;
constexpr int parallel_levels = 7;  // below them every subtree is one task

struct Keyed {
  double key;
  Index at;
};

// Splits locations level by level. A node's locations are contiguous in one of two buffers; a split
// gathers them, partitioned, into the other one.
class Builder {
 public:
  Builder(Tree& tree, Locations&& locations)
      : tree_(tree),
        features_(tree.features),
        points_{std::move(locations.coordinates), {}},
        ids_{{}, {}},
        keys_(static_cast<std::size_t>(tree.locations)) {
    points_[1].resize(points_[0].size());
    ids_[0].resize(static_cast<std::size_t>(tree.locations));
    ids_[1].resize(static_cast<std::size_t>(tree.locations));
    for (Index i = 0; i < tree.locations; ++i) ids_[0][i] = i;
  }

  // Returns the location of each slot, -1 in unused slots.
  std::vector<Index> run(const Execution& execution) {
    location_of_slot_.assign(static_cast<std::size_t>(tree_.slots()), -1);
    const int top = std::min(parallel_levels, tree_.levels);
    for (int level = 0; level < top; ++level) {
      const Index first = Index{1} << level;
      const double work = 40.0 * static_cast<double>(tree_.locations);
      run_tasks(execution, first, work,
                [&] { return [&](Index task) { split(first + task, level); }; });
    }
    const double work = 40.0 * static_cast<double>(tree_.locations * (1 + tree_.levels - top));
    run_tasks(execution, Index{1} << top, work, [&] {
      return [&](Index task) { build_subtree((Index{1} << top) + task, top); };
    });
    return std::move(location_of_slot_);
  }

 private:
  std::pair<Index, Index> range(Index node, int level) const {
    const int below = tree_.levels - level;
    const Index leaf = (node << below) - tree_.leaves();
    return {tree_.begin_of_leaf(leaf), tree_.begin_of_leaf(leaf + (Index{1} << below))};
  }

  void build_subtree(Index root, int level) {
    Index first = root;
    Index last = root;
    for (; level < tree_.levels; ++level) {
      for (Index node = first; node <= last; ++node) split(node, level);
      first *= 2;
      last = last * 2 + 1;
    }
    for (Index node = first; node <= last; ++node) finish_leaf(node);
  }

  void bound(Index node, const std::vector<double>& points, Index begin, Index end) {
    double* low = tree_.boxes.data() + node * 2 * features_;
    double* high = low + features_;
    std::copy_n(&points[begin * features_], features_, low);
    std::copy_n(low, features_, high);
    for (Index i = begin; i < end; ++i) {
      const double* x = &points[i * features_];
      for (int k = 0; k < features_; ++k) {
        low[k] = std::min(low[k], x[k]);
        high[k] = std::max(high[k], x[k]);
      }
    }
  }

  int widest(Index node) const {
    const double* low = tree_.low(node);
    const double* high = tree_.high(node);
    int best = 0;
    for (int k = 1; k < features_; ++k) {
      if (high[k] - low[k] > high[best] - low[best]) best = k;
    }
    return best;
  }

  // Fills keys with the coordinate `axis` and returns the strict order of locations along it.
  auto keyed_order(const std::vector<double>& points, Index begin, Index end, int axis) {
    for (Index i = begin; i < end; ++i) keys_[i] = {points[i * features_ + axis], i};
    return [&points, axis, d = features_](const Keyed& a, const Keyed& b) {
      if (a.key != b.key) return a.key < b.key;
      const double* x = &points[a.at * d];
      const double* y = &points[b.at * d];
      for (int k = axis + 1; k < axis + d; ++k) {
        const int feature = k < d ? k : k - d;
        if (x[feature] != y[feature]) return x[feature] < y[feature];
      }
      return false;
    };
  }

  void split(Index node, int level) {
    const auto [begin, end] = range(node, level);
    const Index middle = range(2 * node, level + 1).second;
    const std::vector<double>& from = points_[level % 2];
    std::vector<double>& to = points_[(level + 1) % 2];
    bound(node, from, begin, end);
    const auto less = keyed_order(from, begin, end, widest(node));
    std::nth_element(keys_.begin() + begin, keys_.begin() + middle, keys_.begin() + end, less);
    for (Index i = begin; i < end; ++i) {
      const Index at = keys_[i].at;
      std::copy_n(&from[at * features_], features_, &to[i * features_]);
      ids_[(level + 1) % 2][i] = ids_[level % 2][at];
    }
  }

  // Leaves are sorted: the order of summation must not depend on the order of rows.
  void finish_leaf(Index node) {
    const auto [begin, end] = range(node, tree_.levels);
    const std::vector<double>& points = points_[tree_.levels % 2];
    const std::vector<Index>& ids = ids_[tree_.levels % 2];
    bound(node, points, begin, end);
    const auto less = keyed_order(points, begin, end, widest(node));
    std::sort(keys_.begin() + begin, keys_.begin() + end, less);
    const Index leaf = tree_.leaf_of(node);
    double* block = tree_.coordinates.data() + leaf * features_ * tree_.stride;
    for (int slot = 0; slot < tree_.stride; ++slot) {
      const bool used = slot < end - begin;
      const Index at = keys_[begin + (used ? slot : 0)].at;
      for (int k = 0; k < features_; ++k) {
        block[k * tree_.stride + slot] = points[at * features_ + k];
      }
      if (used) location_of_slot_[leaf * tree_.stride + slot] = ids[at];
    }
  }

  Tree& tree_;
  int features_;
  std::vector<double> points_[2];
  std::vector<Index> ids_[2];
  std::vector<Keyed> keys_;
  std::vector<Index> location_of_slot_;
};

void shape(Tree& tree) {
  while ((tree.locations >> tree.levels) >= leaf_capacity &&
         (tree.locations - 1) >> tree.levels >= leaf_capacity) {
    ++tree.levels;
  }
  const Index most = ((tree.locations - 1) >> tree.levels) + 1;
  tree.stride = static_cast<int>((most + 3) / 4 * 4);
  const auto block = static_cast<std::size_t>(tree.slots());
  tree.coordinates.resize(block * static_cast<std::size_t>(tree.features));
  tree.boxes.resize(static_cast<std::size_t>(tree.nodes() * 2 * tree.features));
}

void enter_rows(Tree& tree, const Locations& locations, const std::vector<Index>& location_of_slot) {
  const Index slots = tree.slots();
  std::vector<Index> slot_of_location(static_cast<std::size_t>(tree.locations));
  tree.row_of_slot.assign(static_cast<std::size_t>(slots), -1);
  tree.weights.assign(static_cast<std::size_t>(slots), 0.0);
  tree.least_weight = std::numeric_limits<double>::infinity();
  tree.total_weight = 0.0;
  for (Index slot = 0; slot < slots; ++slot) {
    const Index location = location_of_slot[slot];
    if (location < 0) continue;
    slot_of_location[location] = slot;
    tree.row_of_slot[slot] = locations.first_row[location];
    const double weight = locations.weights.empty() ? 1.0 : locations.weights[location];
    tree.weights[slot] = weight;
    tree.least_weight = std::min(tree.least_weight, weight);
    tree.total_weight += weight;
  }
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
  Builder builder(tree, std::move(locations));
  enter_rows(tree, locations, builder.run(execution));
  return tree;
}

}  // namespace

Tree build_tree(const Points& points, const double* weights, const double* period,
                const Execution& execution) {
  return build(points, weights, period, scale_exponent(points, period, execution), execution);
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
      coordinates[out * tree.features + k] =
          std::ldexp(tree.coordinate(slot, k), tree.exponent);
    }
    weights[out++] = tree.weights[slot];
  }
}

}  // namespace quickshift
