#include "scale/local_scale.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "scale/block_scales.hpp"
#include "scale/keep_by_weight.hpp"
#include "scale/leaf_scales.hpp"
#include "tree/blocks.hpp"
#include "tree/nearest.hpp"
#include "tree/search.hpp"

namespace quickshift {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// With more neighbors than this, the lists of all locations of a leaf would not fit into the cache,
// and those of a block would take too much memory.
constexpr double most_neighbors_in_leaf = 4096.0;

// A location first searches within this multiple of the squared distance that the location before
// it needed, which is often near.
constexpr double reach_factor = 1.5;

// A length in the caller's units; near the largest double, that instead of infinity.
double unscaled(double length, int exponent) {
  return std::min(std::ldexp(length, exponent), std::numeric_limits<double>::max());
}

double reach_of(const ScaleOfPoint& scale, int exponent) {
  return unscaled(std::sqrt(scale.reach_sq), exponent);
}

double estimated_work(Index points, const ScaleOptions& options) {
  return static_cast<double>(points) * (300.0 + 20.0 * std::min(options.most(), 1e6));
}

double weight_at(const Tree& tree, Index slot) {
  return std::ldexp(tree.weights[slot], tree.weight_exponent);
}

// Finds the scale of one location after another, with weights; one object per thread.
class WeightedScales {
 public:
  WeightedScales(const Tree& tree, const ScaleOptions& options, const CopyDistances& copies)
      : tree_(tree),
        copies_(copies),
        search_(tree),
        keeper_(options),
        point_(static_cast<std::size_t>(tree.features)) {}

  // The scale of a location of the tree itself.
  ScaleOfPoint find(Index leaf, int i) {
    copy_point(tree_, leaf, i, point_.data());
    search([&] { search_.from_leaf(leaf, point_.data(), keeper_); });
    return scale();
  }
  // The scale of a location of another tree; none if there is no sample but at the location itself.
  std::optional<ScaleOfPoint> find_at(const Tree& queries, Index leaf, int i) {
    copy_point(queries, leaf, i, point_.data());
    search([&] { search_.from_root(point_.data(), keeper_); });
    if (keeper_.is_alone()) return {};
    return scale();
  }

 private:
  // Runs a search within the reach that is expected to suffice and, if it does not, without a
  // limit.
  template <class Run>
  void search(const Run& run) {
    keeper_.reset(guess_);
    run();
    if (keeper_.is_complete()) return;
    keeper_.reset();
    run();
  }
  ScaleOfPoint scale() {
    const ScaleOfPoint found = keeper_.scale(copies_);
    guess_ = reach_factor * found.reach_sq;
    return found;
  }

  const Tree& tree_;
  const CopyDistances& copies_;
  TreeSearch search_;
  KeepByWeight keeper_;
  double guess_ = std::numeric_limits<double>::infinity();
  std::vector<double> point_;
};

template <class Write>
void scales_by_weight(const Tree& tree, const ScaleOptions& options, const Execution& execution,
                      const Write& write) {
  const CopyDistances copies(options.dimension);
  for_each_leaf(tree, estimated_work(tree.locations, options), execution, [&] {
    return [&, scales = WeightedScales(tree, options, copies)](Index leaf) mutable {
      for (int i = 0; i < tree.count(leaf); ++i) {
        write(leaf * tree.stride + i, scales.find(leaf, i));
      }
    };
  });
}

// As if all weights were 1.
template <class Write>
void scales_by_count(const Tree& tree, const ScaleOptions& options, bool blocks,
                     const Execution& execution, const Write& write) {
  if (blocks) return scales_in_blocks(tree, options, execution, write);
  for_each_leaf(tree, estimated_work(tree.locations, options), execution, [&] {
    return
        [&, scales = LeafScales(tree, options)](Index leaf) mutable { scales.find(leaf, write); };
  });
}

// A keeper (tree/search.hpp) that finds out whether a location of another weight than 1 is within
// reach.
class MeetsWeight {
 public:
  MeetsWeight(const Array<char>& nodes, double reach_sq) : nodes_(nodes), reach_sq_(reach_sq) {}

  double reach() const { return reach_sq_; }
  bool wants(Index node) const { return nodes_[node]; }
  void scan(const PairKernels& kernels, const Tree& tree, Index leaf, const double* point,
            double* squares) {
    if (!wants(tree.leaves() + leaf)) return;
    kernels.squares(point, tree.leaf_block(leaf), squares);
    for (int i = 0; i < tree.count(leaf); ++i) {
      if (squares[i] > reach_sq_ || weight_at(tree, leaf * tree.stride + i) == 1.0) continue;
      found_ = true;
      reach_sq_ = -1.0;  // ends the search
      return;
    }
  }
  bool found() const { return found_; }

 private:
  const Array<char>& nodes_;  // whether any weight below the node is not 1
  double reach_sq_;
  bool found_ = false;
};

// For few duplicates: first as if all weights were 1, then with weights where that was wrong.
template <class Write>
void scales_with_few_weights(const Tree& tree, const ScaleOptions& options, bool blocks,
                             const Execution& execution, const Write& write) {
  Array<double> reaches = unset_array<double>(tree.slots());
  scales_by_count(tree, options, blocks, execution, [&](Index slot, const ScaleOfPoint& scale) {
    reaches[slot] = scale.reach_sq;
    write(slot, scale);
  });
  Array<char> weighted = unset_array<char>(tree.nodes());
  for_nodes_upwards(tree, execution, [&](Index node) {
    const Index leaf = tree.leaf_of(node);
    weighted[node] = tree.is_leaf(node)
                         ? std::ldexp(tree.leaf_weights[leaf], tree.weight_exponent) != 1.0
                         : weighted[2 * node] || weighted[2 * node + 1];
  });
  const CopyDistances copies(options.dimension);
  for_each_leaf(tree, 300.0 * static_cast<double>(tree.locations), execution, [&] {
    return
        [&, scales = WeightedScales(tree, options, copies), search = TreeSearch(tree),
         point = std::vector<double>(static_cast<std::size_t>(tree.features))](Index leaf) mutable {
          for (int i = 0; i < tree.count(leaf); ++i) {
            const Index slot = leaf * tree.stride + i;
            copy_point(tree, leaf, i, point.data());
            MeetsWeight keeper(weighted, reaches[slot]);
            search.from_leaf(leaf, point.data(), keeper);
            if (keeper.found()) write(slot, scales.find(leaf, i));
          }
        };
  });
}

constexpr double few_duplicates = 1.1;  // rows per location, up to which counting first is faster

bool can_use_blocks(const Tree& tree) {
  return !tree.periodic && tree.locations <= std::numeric_limits<int>::max();
}

// How the scales of all locations are found.
struct Way {
  bool counts;    // as if all weights were 1, corrected where that is wrong
  bool corrects;  // whether a weight is not 1
  bool blocks;    // by products of blocks of points
};

Way way_for(const Tree& tree, const ScaleOptions& options) {
  const double least = std::ldexp(tree.least_weight, tree.weight_exponent);
  const double greatest = std::ldexp(tree.greatest_weight, tree.weight_exponent);
  const double total = std::ldexp(tree.total_weight, tree.weight_exponent);
  const auto locations = static_cast<double>(tree.locations);
  const bool can_count = can_use_blocks(tree) && least >= 1.0 && options.most() < locations &&
                         total <= few_duplicates * locations;
  if (options.method == ScaleMethod::blocks && !can_count) {
    throw std::invalid_argument(
        "method blocks does not support periodic features, many duplicates, or more than 2^31 - 1 "
        "distinct points; use method tree");
  }
  const bool few = options.most() <= most_neighbors_in_leaf;
  const bool blocks = options.method == ScaleMethod::blocks ||
                      (options.method == ScaleMethod::automatic && can_count && few &&
                       blocks_fit(tree, 2) && blocks_pay_for_scales(tree, options));
  return {can_count && (blocks || few), greatest > 1.0, blocks};
}

// Calls write(slot, scale) for every location, in the units of the tree.
template <class Write>
void for_each_location(const Tree& tree, const ScaleOptions& options, const Way& way,
                       const Execution& execution, const Write& write) {
  if (!way.counts) {
    scales_by_weight(tree, options, execution, write);
  } else if (way.corrects) {
    scales_with_few_weights(tree, options, way.blocks, execution, write);
  } else {
    scales_by_count(tree, options, way.blocks, execution, write);
  }
}

// The locations within tau of each location, as `local_scales` returns them.
class NearLocations {
 public:
  NearLocations(const Tree& tree, const ScaleOptions& options, bool found,
                const Execution& execution)
      : tree_(tree),
        most_(static_cast<std::size_t>(options.spacing)),
        slots_(
            filled_array<std::int32_t>(found ? tree.slots() * options.spacing : 0, -1, execution)),
        complete_(found) {}

  void write(Index slot, const ScaleOfPoint& scale) {
    if (slots_.empty() || scale.near.empty()) return;  // the weighted search finds no slots
    // The length that the caller gets must stand for the same locations.
    const bool exact = scaled(unscaled(scale.tau, tree_.exponent), tree_.exponent) == scale.tau;
    if (!exact || scale.near.size() > most_) {
      complete_.store(false, std::memory_order_relaxed);
      return;
    }
    std::copy(scale.near.begin(), scale.near.end(),
              slots_.data() + static_cast<std::size_t>(slot) * most_);
  }
  Array<std::int32_t> take() { return complete_ ? std::move(slots_) : Array<std::int32_t>(); }

 private:
  const Tree& tree_;
  std::size_t most_;  // g
  Array<std::int32_t> slots_;
  std::atomic<bool> complete_;
};

}  // namespace

Array<std::int32_t> local_scales(const Tree& tree, const ScaleOptions& options,
                                 const Execution& execution, const std::vector<double*>& r,
                                 double* tau, double* reach) {
  if (tree.locations == 1) {
    for (Index row = 0; row < tree.rows; ++row) {
      tau[row] = tree.slot_of_row[row] < 0 ? nan : 1.0;
      if (reach) reach[row] = tau[row];
      for (double* const r_of_row : r) r_of_row[row] = tau[row];
    }
    return {};
  }
  std::vector<Array<double>> r_of_slot;
  for (std::size_t k = 0; k < r.size(); ++k) {
    r_of_slot.push_back(unset_array<double>(tree.slots()));
  }
  Array<double> tau_of_slot = unset_array<double>(tree.slots());
  Array<double> reach_of_slot = unset_array<double>(reach ? tree.slots() : 0);
  const Way way = way_for(tree, options);
  NearLocations near(tree, options, way.counts && way.blocks, execution);
  for_each_location(tree, options, way, execution, [&](Index slot, const ScaleOfPoint& scale) {
    near.write(slot, scale);
    for (std::size_t k = 0; k < r.size(); ++k) {
      r_of_slot[k][slot] = unscaled(scale.r[k], tree.exponent);
    }
    tau_of_slot[slot] = unscaled(scale.tau, tree.exponent);
    if (reach) reach_of_slot[slot] = reach_of(scale, tree.exponent);
  });
  for (std::size_t k = 0; k < r.size(); ++k) {
    spread_to_rows(tree, r_of_slot[k].data(), nan, execution, r[k]);
  }
  spread_to_rows(tree, tau_of_slot.data(), nan, execution, tau);
  if (reach) spread_to_rows(tree, reach_of_slot.data(), nan, execution, reach);
  return near.take();
}

void local_scales_at(const Tree& tree, const Tree& queries, const ScaleOptions& options,
                     const Execution& execution, double* r, double* tau, double* reach) {
  const CopyDistances copies(options.dimension);
  Array<double> r_of_slot = unset_array<double>(queries.slots());
  Array<double> tau_of_slot = unset_array<double>(queries.slots());
  Array<double> reach_of_slot = unset_array<double>(queries.slots());
  for_each_leaf(queries, estimated_work(queries.locations, options), execution, [&] {
    return [&, scales = WeightedScales(tree, options, copies)](Index leaf) mutable {
      for (int i = 0; i < queries.count(leaf); ++i) {
        const Index slot = leaf * queries.stride + i;
        const std::optional<ScaleOfPoint> scale = scales.find_at(queries, leaf, i);
        r_of_slot[slot] = scale ? unscaled(*scale->r, tree.exponent) : 1.0;
        tau_of_slot[slot] = scale ? unscaled(scale->tau, tree.exponent) : 1.0;
        reach_of_slot[slot] = scale ? reach_of(*scale, tree.exponent) : 1.0;
      }
    };
  });
  spread_to_rows(queries, r_of_slot.data(), nan, execution, r);
  spread_to_rows(queries, tau_of_slot.data(), nan, execution, tau);
  if (reach) spread_to_rows(queries, reach_of_slot.data(), nan, execution, reach);
}

Array<double> nearest_distances(const Tree& tree, const Execution& execution) {
  // One search per point takes about half the time of the search that finds local scales.
  constexpr double part = 0.5;
  const ScaleOptions nearest{.neighbors = {1.0}, .spacing = 1};
  Array<double> distances = unset_array<double>(tree.slots());
  if (tree.locations > 1 && can_use_blocks(tree) && blocks_fit(tree, 2) &&
      blocks_pay_for_scales(tree, nearest, part)) {
    scales_in_blocks(tree, nearest, execution, [&](Index slot, const ScaleOfPoint& scale) {
      distances[slot] = std::ldexp(scale.tau, tree.exponent);
    });
    return distances;
  }
  const Nearest found = nearest_samples(tree, tree, true, execution);
  for (Index slot = 0; slot < tree.slots(); ++slot) {
    distances[slot] = std::ldexp(std::sqrt(found.square[slot]), tree.exponent);
  }
  return distances;
}

}  // namespace quickshift
