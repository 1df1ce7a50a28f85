#include "scale/local_scale.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "scale/block_scales.hpp"
#include "scale/keep_by_weight.hpp"
#include "scale/leaf_scales.hpp"
#include "tree/search.hpp"

namespace quickshift {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr Index queries_per_task = 64;
// With more neighbors than this, the lists of all locations of a leaf would not fit into the cache.
constexpr double most_neighbors_in_leaf = 4096.0;

// A location first searches within this multiple of the squared distance that the location before
// it needed, which is often near.
constexpr double reach_factor = 1.5;

// A length in the caller's units; near the largest double, that instead of infinity.
double unscaled(double length, int exponent) {
  return std::min(std::ldexp(length, exponent), std::numeric_limits<double>::max());
}

double estimated_work(Index points, const ScaleOptions& options) {
  return static_cast<double>(points) * (300.0 + 20.0 * std::min(options.neighbors, 1e6));
}

// Calls write(slot, scale) for every location, in the units of the tree.
template <class Write>
void for_each_location(const Tree& tree, const ScaleOptions& options, const Execution& execution,
                       const Write& write) {
  const double work = estimated_work(tree.locations, options);
  const Index tasks = (tree.leaves() + leaves_per_task - 1) / leaves_per_task;
  const auto end_of = [&](Index task) {
    return std::min(tree.leaves(), (task + 1) * leaves_per_task);
  };
  const bool each_counts_once = std::ldexp(tree.least_weight, tree.weight_exponent) == 1.0 &&
                                std::ldexp(tree.greatest_weight, tree.weight_exponent) == 1.0;
  const bool plain = each_counts_once && !tree.periodic;
  const bool may_use_blocks = plain && tree.locations <= std::numeric_limits<int>::max();
  if (options.method == ScaleMethod::blocks && !may_use_blocks) {
    throw std::invalid_argument(
        "method blocks does not support weights, periodic features or more than 2^31 - 1 distinct "
        "points; use method tree");
  }
  if (options.method == ScaleMethod::blocks ||
      (options.method == ScaleMethod::automatic && may_use_blocks &&
       blocks_pay_for_scales(tree, options))) {
    scales_in_blocks(tree, options, execution, write);
    return;
  }
  if (plain && options.neighbors <= most_neighbors_in_leaf) {
    run_tasks(execution, tasks, work, [&] {
      return [&, leaf_scales = LeafScales(tree, options)](Index task) mutable {
        for (Index leaf = task * leaves_per_task; leaf < end_of(task) && !execution.stops();
             ++leaf) {
          leaf_scales.find(leaf, write);
        }
      };
    });
    return;
  }
  const CopyDistances copies(options.dimension);
  run_tasks(execution, tasks, work, [&] {
    return [&, search = TreeSearch(tree), keeper = KeepByWeight(options),
            guess = std::numeric_limits<double>::infinity(),
            point =
                std::vector<double>(static_cast<std::size_t>(tree.features))](Index task) mutable {
      for (Index leaf = task * leaves_per_task; leaf < end_of(task) && !execution.stops(); ++leaf) {
        for (int i = 0; i < tree.count(leaf); ++i) {
          copy_point(tree, leaf, i, point.data());
          keeper.reset(guess);
          search.from_leaf(leaf, point.data(), keeper);
          if (!keeper.is_complete()) {
            keeper.reset();
            search.from_leaf(leaf, point.data(), keeper);
          }
          const ScaleOfPoint scale = keeper.scale(copies);
          guess = reach_factor * scale.reach_sq;
          write(leaf * tree.stride + i, scale);
        }
      }
    };
  });
}

}  // namespace

void local_scales(const Tree& tree, const ScaleOptions& options, const Execution& execution,
                  double* r, double* tau) {
  if (tree.locations == 1) {
    for (Index row = 0; row < tree.rows; ++row) {
      r[row] = tau[row] = tree.slot_of_row[row] < 0 ? nan : 1.0;
    }
    return;
  }
  Array<double> r_of_slot = unset_array<double>(tree.slots());
  Array<double> tau_of_slot = unset_array<double>(tree.slots());
  for_each_location(tree, options, execution, [&](Index slot, const ScaleOfPoint& scale) {
    r_of_slot[slot] = unscaled(scale.r, tree.exponent);
    tau_of_slot[slot] = unscaled(scale.tau, tree.exponent);
  });
  spread_to_rows(tree, r_of_slot.data(), nan, execution, r);
  spread_to_rows(tree, tau_of_slot.data(), nan, execution, tau);
}

void local_scales_at(const Tree& tree, const Points& queries, const ScaleOptions& options,
                     const Execution& execution, double* r, double* tau) {
  const CopyDistances copies(options.dimension);
  const Index tasks = (queries.rows + queries_per_task - 1) / queries_per_task;
  run_tasks(execution, tasks, estimated_work(queries.rows, options), [&] {
    return
        [&, search = TreeSearch(tree), keeper = KeepByWeight(options),
         point = std::vector<double>(static_cast<std::size_t>(tree.features))](Index task) mutable {
          const Index end = std::min(queries.rows, (task + 1) * queries_per_task);
          for (Index query = task * queries_per_task; query < end && !execution.stops(); ++query) {
            copy_query(tree, queries, query, point.data());
            keeper.reset();
            search.from_root(point.data(), keeper);
            if (keeper.is_alone()) {
              r[query] = tau[query] = 1.0;
              continue;
            }
            const ScaleOfPoint scale = keeper.scale(copies);
            r[query] = unscaled(scale.r, tree.exponent);
            tau[query] = unscaled(scale.tau, tree.exponent);
          }
        };
  });
}

}  // namespace quickshift
