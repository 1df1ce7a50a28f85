#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "tree/distinct.hpp"
#include "tree/kdtree.hpp"
#include "tree/select.hpp"

namespace quickshift {

namespace {

constexpr int top_levels = 6;  // levels split one by one; each subtree below them is one task

// The builder reorders items, one per location. With few features an item holds the coordinates
// themselves, so that every pass over the items reads memory in order.
template <int features>
struct ItemWithCoordinates {
  static constexpr int fixed_features = features;
  double x[features];
  Index location;

  void take(const double* points, int, Index at) {
    location = at;
    std::copy_n(points + at * features, features, x);
  }
  double coordinate(const double*, int, int k) const { return x[k]; }
};

// With more features an item holds only the index of its location, and the coordinates stay in
// place.
struct ItemByIndex {
  static constexpr int fixed_features = 0;
  Index location;

  void take(const double*, int, Index at) { location = at; }
  double coordinate(const double* points, int features, int k) const {
    return points[location * features + k];
  }
};

template <class Item>
class Builder {
 public:
  Builder(Tree& tree, const Array<double>& points)
      : tree_(tree),
        features_(tree.features),
        points_(points.data()),
        items_(unset_array<Item>(tree.locations)),
        location_of_slot_(unset_array<Index>(tree.slots())) {}

  // Returns the location of each slot, -1 in unused slots.
  Array<Index> run(const Execution& execution) {
    run_ranges(execution, tree_.locations, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) items_[i].take(points_, features_, i);
    });
    const double work_per_level = (8.0 + features_) * static_cast<double>(tree_.locations);
    const int top = std::min(top_levels, tree_.levels);
    for (int level = 0; level < top; ++level) {
      const Index first = Index{1} << level;
      run_tasks(execution, first, work_per_level,
                [&] { return [&](Index task) { split(first + task, level); }; });
    }
    run_tasks(execution, Index{1} << top, work_per_level * (tree_.levels - top + 1),
              [&] { return [&](Index task) { build_subtree((Index{1} << top) + task, top); }; });
    return std::move(location_of_slot_);
  }

 private:
  double coordinate(const Item& item, int k) const {
    return item.coordinate(points_, features_, k);
  }

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

  // Writes the bounding box of a node. If the number of features is fixed at compile time, the box
  // is kept in registers during the pass; otherwise there is one pass per feature.
  void bound(Index node, Index begin, Index end) {
    constexpr int at_once = Item::fixed_features ? Item::fixed_features : 1;
    double* low = tree_.boxes.data() + node * 2 * features_;
    for (int first = 0; first < features_; first += at_once) {
      double least[at_once];
      double most[at_once];
      for (int k = 0; k < at_once; ++k) least[k] = most[k] = coordinate(items_[begin], first + k);
      for (Index i = begin; i < end; ++i) {
        for (int k = 0; k < at_once; ++k) {
          const double x = coordinate(items_[i], first + k);
          least[k] = std::min(least[k], x);
          most[k] = std::max(most[k], x);
        }
      }
      std::copy_n(least, at_once, low + first);
      std::copy_n(most, at_once, low + features_ + first);
    }
  }

  int widest_side(Index node) const {
    const double* low = tree_.low(node);
    const double* high = tree_.high(node);
    int axis = 0;
    for (int k = 1; k < features_; ++k) {
      if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
    }
    return axis;
  }

  // The strict order of locations along an axis: by that coordinate, ties by the coordinates after
  // it, cyclically.
  auto order_along(int axis) const {
    return [this, axis](const Item& a, const Item& b) {
      for (int i = 0; i < features_; ++i) {
        const int k = axis + i < features_ ? axis + i : axis + i - features_;
        const double x = coordinate(a, k);
        const double y = coordinate(b, k);
        if (x != y) return x < y;
      }
      return false;
    };
  }

  void split(Index node, int level) {
    const auto [begin, end] = range(node, level);
    const Index middle = range(2 * node, level + 1).second;
    bound(node, begin, end);
    const int axis = widest_side(node);
    const auto order = order_along(axis);
    Item* first = items_.data() + begin;
    Item* last = items_.data() + end;
    for (int i = 0; i < features_ && first != last; ++i) {  // ties go to the next axis
      const int k = (axis + i) % features_;
      const auto key = [this, k](const Item& item) { return coordinate(item, k); };
      std::tie(first, last) = select(first, items_.data() + middle, last, key, order);
    }
  }

  // Sorts the leaf's locations, so that the order of summation does not depend on the order of the
  // rows, and writes them into its slots.
  void finish_leaf(Index node) {
    const auto [begin, end] = range(node, tree_.levels);
    bound(node, begin, end);
    const int axis = widest_side(node);
    sort_small(
        items_.data() + begin, items_.data() + end,
        [this, axis](const Item& item) { return coordinate(item, axis); }, order_along(axis));
    const Index leaf = tree_.leaf_of(node);
    double* block = tree_.coordinates.data() + leaf * features_ * tree_.stride;
    for (int slot = 0; slot < tree_.stride; ++slot) {
      const bool used = slot < end - begin;
      const Item& item = items_[begin + (used ? slot : 0)];
      for (int k = 0; k < features_; ++k) block[k * tree_.stride + slot] = coordinate(item, k);
      location_of_slot_[leaf * tree_.stride + slot] = used ? item.location : -1;
    }
  }

  Tree& tree_;
  int features_;
  const double* points_;
  Array<Item> items_;
  Array<Index> location_of_slot_;
};

template <int features = 1>
Array<Index> order_locations(Tree& tree, const Array<double>& points, const Execution& execution) {
  if constexpr (features > most_features_in_item) {
    return Builder<ItemByIndex>(tree, points).run(execution);
  } else if (tree.features == features) {
    return Builder<ItemWithCoordinates<features>>(tree, points).run(execution);
  } else {
    return order_locations<features + 1>(tree, points, execution);
  }
}

void choose_shape(Tree& tree) {
  tree.levels = levels_for(tree.locations);
  tree.stride = stride_for(tree.locations, tree.levels);
  tree.coordinates = unset_array<double>(tree.slots() * tree.features);
  tree.boxes = unset_array<double>(tree.nodes() * 2 * tree.features);
  std::fill_n(tree.boxes.begin(), 2 * tree.features, 0.0);  // node 0 does not exist
}

}  // namespace

void add_up_weights(Tree& tree, const Execution& execution) {
  struct PartialSums {
    double total = 0.0;
    double least = std::numeric_limits<double>::infinity();
    double greatest = 0.0;
  };
  const Index tasks = Index{1} << std::min(parallel_top, tree.levels);
  const Index leaves = tree.leaves() / tasks;
  tree.leaf_weights = unset_array<double>(tree.leaves());
  std::vector<PartialSums> parts(static_cast<std::size_t>(tasks));
  constexpr double different = std::numeric_limits<double>::quiet_NaN();
  const auto add_part = [&](Index task) {
    PartialSums part;
    for (Index leaf = task * leaves; leaf < (task + 1) * leaves; ++leaf) {
      const double* weights = tree.weights.data() + leaf * tree.stride;
      double least = std::numeric_limits<double>::infinity();
      double greatest = 0.0;
      for (int i = 0; i < tree.count(leaf); ++i) {
        part.total += weights[i];
        least = std::min(least, weights[i]);
        greatest = std::max(greatest, weights[i]);
      }
      tree.leaf_weights[leaf] = least == greatest ? least : different;
      part.least = std::min(part.least, least);
      part.greatest = std::max(part.greatest, greatest);
    }
    parts[static_cast<std::size_t>(task)] = part;
  };
  run_tasks(execution, tasks, static_cast<double>(tree.slots()), [&] { return add_part; });
  tree.total_weight = 0.0;
  tree.least_weight = parts[0].least;
  tree.greatest_weight = parts[0].greatest;
  for (const PartialSums& part : parts) {
    tree.total_weight += part.total;
    tree.least_weight = std::min(tree.least_weight, part.least);
    tree.greatest_weight = std::max(tree.greatest_weight, part.greatest);
  }
}

namespace {

// Sets the weights and the maps between rows and slots. Weights are summed in slot order, which
// does not depend on the order of the rows. location_of_slot becomes row_of_slot in place.
void enter_rows(Tree& tree, const Locations& locations, Array<Index>&& location_of_slot,
                const Execution& execution) {
  Array<Index> slot_of_location = unset_array<Index>(tree.locations);
  const auto heaviest = std::max_element(locations.weights.begin(), locations.weights.end());
  tree.weight_exponent = locations.weights.empty() ? 0 : std::ilogb(*heaviest);
  const double factor = std::ldexp(1.0, -tree.weight_exponent);
  const auto weight_of = [&](Index location) {
    if (locations.weights.empty()) return 1.0;
    const double weight = locations.weights[location];
    return std::isnormal(factor) ? weight * factor : std::ldexp(weight, -tree.weight_exponent);
  };
  tree.row_of_slot = std::move(location_of_slot);
  tree.weights = unset_array<double>(tree.slots());
  run_ranges(execution, tree.slots(), [&](Index begin, Index end) {
    for (Index slot = begin; slot < end; ++slot) {
      fetch_ahead(slot_of_location.data(), tree.row_of_slot.data(), slot, end);
      const Index location = tree.row_of_slot[slot];
      tree.weights[slot] = 0.0;
      if (location < 0) continue;
      slot_of_location[location] = slot;
      if (!locations.first_row.empty()) tree.row_of_slot[slot] = locations.first_row[location];
      tree.weights[slot] = weight_of(location);
    }
  });
  add_up_weights(tree, execution);
  if (locations.location_of_row.empty()) {
    tree.slot_of_row = std::move(slot_of_location);
    return;
  }
  tree.slot_of_row = unset_array<Index>(tree.rows);
  run_ranges(execution, tree.rows, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      fetch_ahead(slot_of_location.data(), locations.location_of_row.data(), row, end);
      const Index location = locations.location_of_row[row];
      tree.slot_of_row[row] = location >= 0 ? slot_of_location[location] : -1;
    }
  });
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
  tree.locations = locations.count;
  choose_shape(tree);
  enter_rows(tree, locations, order_locations(tree, locations.coordinates, execution), execution);
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

Tree build_subtree(const Tree& tree, std::span<const Index> slots, const Execution& execution) {
  Tree subtree;
  subtree.rows = subtree.locations = static_cast<Index>(slots.size());
  subtree.features = tree.features;
  subtree.exponent = tree.exponent;
  subtree.period = tree.period;
  subtree.periodic = tree.periodic;
  Locations locations;
  locations.count = subtree.locations;
  locations.coordinates = unset_array<double>(subtree.locations * tree.features);
  locations.weights.resize(slots.size());
  run_ranges(execution, subtree.locations, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      for (int k = 0; k < tree.features; ++k) {
        locations.coordinates[i * tree.features + k] = tree.coordinate(slots[i], k);
      }
      locations.weights[i] = std::ldexp(tree.weights[slots[i]], tree.weight_exponent);
    }
  });
  choose_shape(subtree);
  Array<Index> order = order_locations(subtree, locations.coordinates, execution);
  enter_rows(subtree, locations, std::move(order), execution);
  return subtree;
}

void copy_locations(const Tree& tree, double* coordinates, double* weights) {
  Index out = 0;
  for (Index slot = 0; slot < tree.slots(); ++slot) {
    if (tree.row_of_slot[slot] < 0) continue;
    for (int k = 0; k < tree.features; ++k) {
      coordinates[out * tree.features + k] = std::ldexp(tree.coordinate(slot, k), tree.exponent);
    }
    weights[out++] = std::ldexp(tree.weights[slot], tree.weight_exponent);
  }
}

}  // namespace quickshift
