// Chooses the cheapest grid, and compares its cost with that of summing pair by pair.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "density/grid/density_grid.hpp"
#include "density/grid/grid_costs.hpp"
#include "density/methods.hpp"
#include "support/scratch.hpp"
#include "tree/box.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// At queries that are not samples, the error bound holds for sums down to this share of the mean
// weight of a sample. The few queries with smaller sums, six bandwidths and more from every sample,
// are summed pair by pair.
constexpr double smallest_share = 1e-8;

struct Limits {
  double seconds;
  double bytes;
  double planning;  // seconds for layouts, after which no further one is tried
};

// The share of the time for summing pair by pair that may be spent on layouts of the grid.
constexpr double planning_share = 0.05;

// The least sum for which the error bound must hold. A sum at a sample is at least its own weight.
double least_sum(const Tree& queries, const Tree& samples) {
  if (&queries != &samples) {
    return smallest_share * samples.total_weight / static_cast<double>(samples.locations);
  }
  return samples.least_weight;
}

// Samples within this distance of one edge of a periodic feature are repeated beyond the other
// edge.
double images_of(const Tree& samples, const GridDemand& demand) {
  return samples.periodic ? image_distance(demand) * demand.h : 0.0;
}

// Whether the periods are suitable: at most one image of a sample may matter to a query, and the
// rounding of an image's coordinates must stay within the tolerance.
bool periods_are_suitable(const Tree& samples, const GridDemand& demand) {
  const double images = images_of(samples, demand);
  for (double period : samples.period) {
    if (std::isinf(period)) continue;
    if (period < 2.0 * images) return false;
    if (period * images * 0x1p-50 > demand.rtol * demand.h * demand.h) return false;
  }
  return true;
}

// Whether a grid supports these sums at all, apart from weights and periods.
bool is_supported(const Tree& samples, const DensityOptions& options) {
  return options.kernel == Kernel::gaussian && samples.features <= axes && !options.leave_out &&
         options.rtol >= least_grid_rtol;
}

double locations_in(const std::vector<Piece>& pieces) {
  double slots = 0.0;
  for (const Piece& piece : pieces)
    slots += static_cast<double>(piece.last_slot - piece.first_slot);
  return slots;
}

double seconds_of(const GridLayout& layout, int features) {
  const double sources = locations_in(layout.sources);
  const double targets = layout.same_pieces ? sources : locations_in(layout.targets);
  return cost::plan + seconds_at_points(layout.plan, features, sources, targets) +
         layout.seconds_of_grid();
}

double seconds_of_planning(const GridLayout& layout) {
  Index tiles = 0;
  for (const auto& [place, layer] : layout.layers) {
    tiles += layer.spread.size() + layer.partway.size() + layer.planar.size();
  }
  const auto pieces = static_cast<double>(layout.sources.size() + layout.targets.size());
  return pieces * cost::planned_piece + static_cast<double>(tiles) * cost::planned_tile;
}

// The number of sample slots in the leaves within reach of a query leaf.
double count_within(const Tree& queries, Index leaf, const Tree& samples, double reach_sq) {
  const double* box = queries.low(queries.leaves() + leaf);
  double count = 0.0;
  std::vector<Index> stack{1};
  while (!stack.empty()) {
    const Index node = stack.back();
    stack.pop_back();
    const Bounds squares =
        between_boxes(box, samples.low(node), samples.features, samples.periods());
    if (squares.least > reach_sq) continue;
    if (squares.most <= reach_sq || samples.is_leaf(node)) {
      count += static_cast<double>(samples.slots()) / static_cast<double>(samples.leaves()) *
               static_cast<double>(samples.leaves() >> (std::bit_width(std::size_t(node)) - 1));
    } else {
      stack.push_back(2 * node + 1);
      stack.push_back(2 * node);
    }
  }
  return count;
}

double seconds_per_pair(const Tree& queries, const Tree& samples) {
  return &queries == &samples ? cost::pair_of_samples : cost::pair;
}

// The squared distance within which samples matter to a leaf of queries. A sum at a sample is at
// least the contribution of the sample's own leaf; elsewhere a mean weight is assumed.
double reach_of_leaf(const Tree& queries, Index leaf, const Tree& samples,
                     const DensityOptions& options) {
  double least = samples.total_weight / static_cast<double>(samples.locations);
  if (&queries == &samples) {
    std::vector<double> sums(static_cast<std::size_t>(samples.stride), 0.0);
    const AddTerms add_terms = pair_kernels().add_terms[static_cast<int>(options.kernel)];
    add_terms(leaf_pair(samples, leaf, samples, leaf), scale_for(samples, options), sums.data(),
              nullptr);
    least = *std::min_element(sums.begin(), sums.begin() + samples.count(leaf));
  }
  return reach_sq(samples, options, least);
}

// The estimated time of the pairs of samples of which at least one is in the given leaves.
double seconds_apart(const Tree& samples, const DensityOptions& given,
                     const std::vector<Index>& apart) {
  constexpr std::size_t most_leaves = 32;
  const std::size_t leaves = std::min(most_leaves, apart.size());
  if (leaves == 0) return 0.0;
  DensityOptions options = given;
  options.rtol *= apart_share;
  double pairs = 0.0;
  for (std::size_t i = 0; i < leaves; ++i) {
    const Index leaf = apart[(2 * i + 1) * apart.size() / (2 * leaves)];
    pairs += count_within(samples, leaf, samples, reach_of_leaf(samples, leaf, samples, options));
  }
  return 2.0 * cost::pair_of_samples * pairs / static_cast<double>(leaves) *
         static_cast<double>(apart.size()) * samples.stride;
}

// Finds the cheapest width of the windows. Wider windows cost more per point and allow a coarser
// grid. The search starts at a medium width and continues in both directions while the cost falls.
// If sums may be mixed, it then looks for the sparse parts that are cheaper pair by pair: the fewer
// points a piece must have, the more of the space the grid covers.
class GridSearch {
 public:
  GridSearch(const Tree& queries, const Tree& samples, const DensityOptions& options,
             const GridDemand& demand, double least, Limits limits, bool mixed)
      : queries_(queries),
        samples_(samples),
        options_(options),
        demand_(demand),
        least_(least),
        limits_(limits),
        mixed_(mixed),
        forced_(options.method == DensityMethod::mixed) {}

  GridChoice run() {
    int start = 4;
    while (start < widest_window && plan_for_width(demand_, start).variance < 0.1) start += 2;
    if (mixed_) {
      fewest_ = best_fewest(start);
    } else {
      improves(start);
    }
    bool wider = false;
    for (int width = start + 2; width <= widest_window && !is_planned(); width += 2) {
      if (improves(width))
        wider = true;
      else if (found_.job || too_slow_)
        break;
    }
    for (int width = start - 2; !wider && width >= 4 && !is_planned(); width -= 2) {
      if (!improves(width)) break;
    }
    return std::move(found_);
  }

 private:
  bool is_planned() const { return planned_ > limits_.planning; }

  // The number of locations below which a piece is better left to sums pair by pair, if windows
  // have this width. It is sought from the middle, where layouts are small, downwards and then
  // upwards.
  Index best_fewest(int width) {
    const Index middle = 4 * samples_.stride;
    const Index least = forced_ ? 1 : 0;
    Index best = least;
    const auto improves_from = [&](Index fewest) {
      fewest_ = fewest;
      const bool better = improves(width);
      if (better) best = fewest;
      return better;
    };
    improves_from(middle);
    for (Index fewest = 1; fewest >= least && !is_planned(); --fewest) {
      if (!improves_from(fewest) && found_.job) break;
    }
    for (Index fewest = 2 * middle; fewest <= most_locations && !is_planned(); fewest *= 2) {
      if (best != fewest / 2 && found_.job) break;
      improves_from(fewest);
    }
    return best;
  }

  bool improves(int width) {
    GridDemand demand = demand_;
    if (fewest_ > 0) demand.rtol *= 1.0 - apart_share;
    GridPlan plan = plan_for_width(demand, width);
    if (plan.width == 0) return false;
    plan.fewest = fewest_;
    too_slow_ = fewest_ == 0 &&
                seconds_at_points(plan, samples_.features, static_cast<double>(samples_.locations),
                                  static_cast<double>(queries_.locations)) > limits_.seconds;
    if (too_slow_) return false;
    GridJob job{{}, 2.0 * least_, 0.0};
    const bool laid_out = lay_out(queries_, samples_, plan, images_of(samples_, demand_),
                                  limits_.seconds, job.layout);
    planned_ += seconds_of_planning(job.layout);
    if (!laid_out || (forced_ && job.layout.apart.empty())) return false;
    job.seconds = seconds_of(job.layout, samples_.features) +
                  seconds_apart(samples_, options_, job.layout.apart);
    if (job.seconds > limits_.seconds) return false;
    if (const double bytes = job.layout.bytes(); bytes > limits_.bytes) {
      const double before = found_.refused_bytes;
      found_.refused_bytes = before > 0.0 ? std::min(before, bytes) : bytes;
      return false;
    }
    limits_.seconds = job.seconds;
    found_.job = std::move(job);
    return true;
  }

  const Tree& queries_;
  const Tree& samples_;
  const DensityOptions& options_;
  GridDemand demand_;
  double least_;
  Limits limits_;
  bool mixed_;
  bool forced_;            // whether some pairs must be left to sums pair by pair
  Index fewest_ = 0;       // see GridPlan
  bool too_slow_ = false;  // the points alone exceed the limit
  double planned_ = 0.0;   // seconds for the layouts so far, estimated
  GridChoice found_;
};

GridDemand demand_of(const Tree& queries, const Tree& samples, const DensityOptions& options) {
  return {samples.features, options.rtol, samples.total_weight / least_sum(queries, samples),
          bandwidth_in(samples, options)};
}

bool may_be_mixed(const Tree& queries, const Tree& samples) {
  return &queries == &samples && !samples.periodic;
}

GridChoice cheapest(const Tree& queries, const Tree& samples, const DensityOptions& options,
                    Limits limits, bool mixed) {
  if (!is_supported(samples, options)) return {};
  const double least = least_sum(queries, samples);
  const GridDemand demand = demand_of(queries, samples, options);
  if (demand.weight_ratio > most_weight_ratio || !periods_are_suitable(samples, demand)) return {};
  return GridSearch(queries, samples, options, demand, least, limits, mixed).run();
}

// The estimated time of summing pair by pair, from a few query leaves that are evenly spaced in the
// tree. reach(leaf): the squared distance within which samples matter to a leaf.
template <class Reach>
double seconds_of_pairs(const Tree& queries, const Tree& samples, const Reach& reach) {
  constexpr Index most_leaves = 32;
  const Index leaves = std::min(most_leaves, queries.leaves());
  double pairs = 0.0;
  for (Index i = 0; i < leaves; ++i) {
    const Index leaf = (2 * i + 1) * queries.leaves() / (2 * leaves);
    pairs += count_within(queries, leaf, samples, reach(leaf));
  }
  return pairs / static_cast<double>(leaves) * static_cast<double>(queries.slots()) *
         seconds_per_pair(queries, samples);
}

}  // namespace

double direct_seconds(const Tree& queries, const Tree& samples, const DensityOptions& options) {
  return seconds_of_pairs(
      queries, samples, [&](Index leaf) { return reach_of_leaf(queries, leaf, samples, options); });
}

double seconds_within(const Tree& samples, double reach_sq) {
  return seconds_of_pairs(samples, samples, [&](Index) { return reach_sq; });
}

std::optional<GridJob> prepare_grid(const Tree& queries, const Tree& samples,
                                    const DensityOptions& options) {
  constexpr Limits none{infinity, 0x1p31, infinity};
  if (options.method != DensityMethod::mixed) {
    return cheapest(queries, samples, options, none, false).job;
  }
  if (!may_be_mixed(queries, samples)) return {};
  if (auto job = cheapest(queries, samples, options, none, true).job) return job;
  DensityOptions whole = options;
  whole.method = DensityMethod::grid;
  return prepare_grid(queries, samples, whole);
}

GridJob grid_of_plan(const Tree& queries, const Tree& samples, const DensityOptions& options,
                     const GridPlan& plan) {
  GridJob job{{}, 2.0 * least_sum(queries, samples), 0.0};
  const double images = images_of(samples, demand_of(queries, samples, options));
  lay_out(queries, samples, plan, images, infinity, job.layout);
  return job;
}

GridChoice choose_grid_or_pairs(const Tree& queries, const Tree& samples,
                                const DensityOptions& options) {
  if (!is_supported(samples, options)) return {};
  const auto points = static_cast<double>(std::max(queries.locations, samples.locations));
  const double all_pairs =
      static_cast<double>(queries.slots()) * static_cast<double>(samples.slots());
  if (all_pairs * seconds_per_pair(queries, samples) < 2.0 * cost::plan) return {};
  const double patches = static_cast<double>(patch_batch_points) * sizeof(double);
  const double bytes = scratch_limit(points, samples.features) - patches;
  const double seconds = direct_seconds(queries, samples, options);
  GridChoice choice =
      cheapest(queries, samples, options, {seconds, bytes, planning_share * seconds},
               may_be_mixed(queries, samples));
  choice.direct_seconds = seconds;
  return choice;
}

}  // namespace quickshift
