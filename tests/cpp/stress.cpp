// Calls every query of the core by every method, from several threads at once and with several
// threads each, and compares the results bit by bit with those of one thread. `make stress` builds
// it with ThreadSanitizer, which reports data races. Exits with 1 if a result differs.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "density/density.hpp"
#include "forest/forest.hpp"
#include "forest/merges.hpp"
#include "forest/saddles.hpp"
#include "image/joins.hpp"
#include "image/pixel_parents.hpp"
#include "image/pixel_sums.hpp"
#include "membership/kernel_shares.hpp"
#include "membership/nearest_shares.hpp"
#include "parents/assign.hpp"
#include "parents/nearest_higher.hpp"
#include "regression/conditional_modes.hpp"
#include "regression/ladder.hpp"
#include "scale/local_scale.hpp"
#include "tree/heights.hpp"
#include "tree/nearest.hpp"
#include "vector/instruction_set.hpp"

using namespace quickshift;

namespace {

using Reals = std::vector<double>;
using Indices = std::vector<Index>;
using Bits = std::vector<char>;

struct Case {
  std::string name;
  std::function<Bits(const Execution&)> run;
};

constexpr int bits_of_heights = 36;
constexpr Kernel all_kernels[] = {
#define STRESS_KERNEL(name) Kernel::name,
    QUICKSHIFT_EACH_KERNEL(STRESS_KERNEL)
#undef STRESS_KERNEL
};

template <class... Values>
Bits bits_of(const Values&... values) {
  Bits bits;
  const auto append = [&](const auto& some) {
    const char* const begin = reinterpret_cast<const char*>(some.data());
    bits.insert(bits.end(), begin, begin + some.size() * sizeof(*some.data()));
  };
  (append(values), ...);
  return bits;
}

Reals random_normal(Index size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Reals values(static_cast<std::size_t>(size));
  for (double& value : values) value = std::round(normal(random) * 256.0) / 256.0;  // with ties
  return values;
}

Points points_of(const Reals& coordinates, int features) {
  return {coordinates.data(), nullptr, static_cast<Index>(coordinates.size()) / features, features};
}

Bits bits_of_tree(const Tree& tree) {
  Reals coordinates(static_cast<std::size_t>(tree.locations * tree.features));
  Reals weights(static_cast<std::size_t>(tree.locations));
  copy_locations(tree, coordinates.data(), weights.data());
  return bits_of(coordinates, weights, tree.row_of_slot, tree.slot_of_row, tree.leaf_weights);
}

template <class Values>
Reals by_row(const Tree& tree, const Values& by_slot, const Execution& execution) {
  Reals values(static_cast<std::size_t>(tree.rows));
  spread_to_rows(tree, by_slot.data(), 0.0, execution, values.data());
  return values;
}

// Samples and queries, with a bandwidth and a tau that suit them.
struct Data {
  std::string name;
  int features;
  double length;  // the bandwidth and tau
  Reals coordinates, at, weights, period;
  Tree tree, queries;
  Reals heights;  // by row

  Data(std::string title, Index rows, int columns, double scale, bool weighted, double wrap = 0.0)
      : name(std::move(title)),
        features(columns),
        length(scale),
        coordinates(random_normal(rows * columns, 1)),
        at(random_normal(rows / 4 * columns, 2)) {
    if (weighted) {
      for (Index row = 0; row < rows; ++row) weights.push_back(static_cast<double>(row % 4));
    }
    if (wrap > 0.0) period.assign(static_cast<std::size_t>(columns), wrap);
    const Execution execution;
    tree = build(execution);
    queries = build_query_tree(points_of(at, features), tree, execution);
    heights = by_row(tree, kernel_sums(tree, tree, options(), execution).values, execution);
  }

  Tree build(const Execution& execution) const {
    return build_tree(points_of(coordinates, features), weights.empty() ? nullptr : weights.data(),
                      period.empty() ? nullptr : period.data(), execution);
  }
  DensityOptions options(Kernel kernel = Kernel::gaussian,
                         DensityMethod method = DensityMethod::automatic) const {
    DensityOptions result;
    result.kernel = kernel;
    result.bandwidth = length;
    result.method = method;
    return result;
  }
  std::size_t rows() const { return static_cast<std::size_t>(tree.rows); }
};

struct Parents {
  Indices parent;
  Reals distance;
};

Parents parents_of(const Data& data, ParentMethod method, bool strict, const Execution& execution,
                   const NearLists& near = {}) {
  Parents result{Indices(data.rows()), Reals(data.rows())};
  nearest_higher(data.tree, data.heights.data(), bits_of_heights, strict, method, near, execution,
                 result.parent.data(), result.distance.data());
  return result;
}

// Roots, labels and linkage of the cut parent graph, and its cluster tree with links of the given
// length.
Bits forest_of(const Data& data, const LinkLength& length, const Execution& execution) {
  const auto [parent, distance] = parents_of(data, ParentMethod::tree, false, execution);
  Indices root(data.rows()), labels(data.rows()), children;
  find_roots({parent.data(), distance.data(), data.tree.rows}, data.length, execution, root.data());
  Indices roots = list_roots(root.data(), distance.data(), data.tree.rows);
  sort_by_height(data.tree, data.heights.data(), bits_of_heights, roots);
  number_trees(root.data(), data.tree.rows, roots, execution, labels.data());
  const auto pieces = static_cast<Index>(roots.size());
  const auto saddles =
      find_saddles(data.tree, {labels.data(), data.heights.data(), pieces}, {}, length, execution);
  Indices leaf(roots.size());
  std::iota(leaf.begin(), leaf.end(), 0);
  const Merges merges = merges_from_saddles(saddles, leaf, pieces);
  const MergeForest forest = merge_forest(merges.merges, pieces);
  for (Index row = 0; row < data.tree.rows; ++row) {
    if (std::isfinite(distance[row])) children.push_back(row);
  }
  std::stable_sort(children.begin(), children.end(),
                   [&](Index a, Index b) { return distance[a] < distance[b]; });
  Reals linkage(4 * children.size());
  write_linkage(parent.data(), distance.data(), data.tree.rows, children.data(),
                static_cast<Index>(children.size()), linkage.data());
  return bits_of(root, roots, labels, saddles, merges.merges, merges.towards, forest.up, forest.at,
                 linkage);
}

// The scales of all samples, and the forest with the tau of each sample as the length of links.
Bits local_forest_of(const Data& data, ScaleMethod method, const Execution& execution) {
  const ScaleOptions options{{6.0, 12.0}, 3, data.features, method};
  Reals r(data.rows()), wider(data.rows()), tau(data.rows());
  const auto near =
      local_scales(data.tree, options, execution, {r.data(), wider.data()}, tau.data());
  LinkLength length;
  length.tau_of_row = tau.data();
  Bits bits = bits_of(r, wider, tau, near, forest_of(data, length, execution));
  if (!near.empty()) {
    length.near = {near.data(), options.spacing};
    const Parents listed = parents_of(data, ParentMethod::automatic, false, execution, length.near);
    bits = bits_of(bits, forest_of(data, length, execution), listed.parent, listed.distance);
  }
  return bits;
}

Bits sums_of(const Data& data, DensityOptions options, const Execution& execution) {
  const Sums at_samples = kernel_sums(data.tree, data.tree, options, execution);
  Bits bits = bits_of(by_row(data.tree, at_samples.values, execution));
  const auto is = [&](DensityMethod method) { return options.method == method; };
  if (is(DensityMethod::gaussians) || is(DensityMethod::blocks) || is(DensityMethod::mixed)) {
    return bits;
  }
  const auto add = [&](const Tree& tree) {
    const Sums sums = kernel_sums(tree, data.tree, options, execution);
    const Bits more = bits_of(by_row(tree, sums.values, execution));
    bits.insert(bits.end(), more.begin(), more.end());
  };
  add(data.queries);
  options.leave_out = true;
  if (options.method == DensityMethod::direct) add(data.tree);
  return bits;
}

// The scales of queries, the samples from which they take their labels, and their nearest samples.
Bits queries_of(const Data& data, const Execution& execution) {
  const auto count = static_cast<std::size_t>(data.queries.rows);
  Reals r(count), tau(count), reach(count);
  local_scales_at(data.tree, data.queries, {{6.0}, 3, data.features}, execution, r.data(),
                  tau.data(), reach.data());
  const Reals query_heights(count, data.heights[0]);
  Indices row(count);
  assign_queries(data.tree, data.heights.data(), bits_of_heights, false, tau.data(),
                 points_of(data.at, data.features), query_heights.data(), execution, row.data());
  const Nearest nearest = nearest_samples(data.queries, data.tree, false, execution);
  const auto others = nearest_distances(data.tree, execution);
  return bits_of(r, tau, reach, row, by_row(data.queries, nearest.square, execution),
                 by_row(data.tree, others, execution));
}

// The shares of clusters at the queries, if the sign of each of two features decides the cluster
// and one location is divided between two clusters.
Bits shares_of(const Data& data, Kernel kernel, const Execution& execution) {
  constexpr Index clusters = 4;
  const Indices offsets{0, 2}, parts{1, 2};
  const Reals halves{0.5, 0.5};
  Indices label(static_cast<std::size_t>(data.tree.slots()));
  for (Index slot = 0; slot < data.tree.slots(); ++slot) {
    const bool right = data.tree.coordinate(slot, 0) > 0.0;
    label[slot] = right + 2 * (data.tree.coordinate(slot, data.features - 1) > 0.0);
  }
  label[0] = clusters;
  const Labels labels{label.data(), clusters, 1, offsets.data(), parts.data(), halves.data()};
  const auto count = static_cast<std::size_t>(data.queries.rows);
  Reals shares(count * clusters), largest(count * 2);
  Indices found(count * 2);
  Bits vanished(count);
  kernel_shares(data.queries, data.tree, labels, data.options(kernel), execution,
                {clusters, nullptr, shares.data(), vanished.data()});
  Bits bits = bits_of(shares, vanished);
  nearest_shares(data.queries, data.tree, labels, 8.0, data.features, execution,
                 {2, found.data(), largest.data(), vanished.data()});
  return bits_of(bits, found, largest, vanished);
}

// The modes of a response that is a different value in every slot.
Bits modes_of(const Data& data, Kernel kernel, const Execution& execution) {
  Reals values;
  Indices begin{0}, ranks, rung_of_sample;
  Reals place_of_sample, weights;
  for (Index slot = 0; slot < data.tree.slots(); ++slot) {
    if (data.tree.row_of_slot[slot] >= 0) {
      ranks.push_back((slot * 7919) % data.tree.slots());
      weights.push_back(data.tree.weights[slot]);
    }
    begin.push_back(static_cast<Index>(ranks.size()));
  }
  for (Index slot = 0; slot < data.tree.slots(); ++slot) {
    const double y = static_cast<double>(slot) / static_cast<double>(data.tree.slots());
    values.push_back(8.0 * data.length * (y + 0.02 * std::sin(40.0 * y)));
  }
  Reals places;
  for (const double value : values) places.push_back(scaled(value, data.tree.exponent));
  const auto vertices = static_cast<Index>(values.size());
  const Indices rungs =
      rungs_of(places.data(), vertices, scaled(0.5 * data.length, data.tree.exponent));
  for (const Index rank : ranks) {
    place_of_sample.push_back(places[rank]);
    rung_of_sample.push_back(std::upper_bound(rungs.begin(), rungs.end(), rank) - rungs.begin() -
                             1);
  }
  const Responses responses{values.data(),          places.data(),         vertices,
                            rungs.data(),           std::ssize(rungs),     begin.data(),
                            place_of_sample.data(), rung_of_sample.data(), weights.data()};
  const ModeOptions options{data.options(kernel), data.length, 0.01, bits_of_heights};
  // The exponential kernel has no limit of reach along the responses, and takes longer.
  const Index count = kernel == Kernel::exponential ? 20 : 200;
  const Reals some(data.at.begin(), data.at.begin() + count * data.features);
  const ConditionalModes found =
      conditional_modes(data.tree, responses, points_of(some, data.features), options, execution);
  return bits_of(found.offsets, found.modes, found.marginals, found.log_scales);
}

// Everything that is computed in a picture.
Bits picture_of(const Picture& picture, const Execution& execution) {
  const auto pixels = static_cast<std::size_t>(picture.pixels());
  Reals sums(pixels), distance(pixels), strength(pixels);
  Indices parent(pixels);
  const Indices reach(picture.shape.size(), 4);
  pixel_sums(picture, {2.0, reach}, execution, sums.data());
  Bits bits = bits_of(sums);
  for (const Index visits : {Index{0}, Index{300}}) {  // 0: parents are found in a k-d tree
    pixel_parents(picture, {sums.data(), bits_of_heights, 6.0, visits}, execution,
                  {parent.data(), distance.data()});
    bits = bits_of(bits, parent, distance);
  }
  boundary_strength(picture, {parent.data(), distance.data(), picture.pixels()}, execution,
                    strength.data());
  return bits_of(bits, strength);
}

// The same as scikit-image computes it.
Bits raster_of(const Picture& picture, const Execution& execution) {
  const auto pixels = static_cast<std::size_t>(picture.pixels());
  const Reals start(pixels, 0.0);
  Reals sums(pixels), distance(pixels);
  Indices parent(pixels);
  raster_sums(picture, start.data(), -0.125F, 6, execution, sums.data());
  Bits bits = bits_of(sums);
  for (const bool single : {false, true}) {
    raster_parents(picture, sums.data(), 6, single, execution, {parent.data(), distance.data()});
    bits = bits_of(bits, parent, distance);
  }
  return bits;
}

void add_common_cases(const Data& data, std::vector<Case>& cases) {
  const auto add = [&](const std::string& name, auto run) {
    cases.push_back({data.name + ": " + name, run});
  };
  add("trees", [&](const Execution& execution) {
    const Tree tree = data.build(execution);
    Indices slots;
    for (Index slot = 0; slot < tree.slots(); slot += 2) {
      if (tree.row_of_slot[slot] >= 0) slots.push_back(slot);
    }
    return bits_of(
        bits_of_tree(tree), bits_of_tree(build_subtree(tree, slots, execution)),
        bits_of_tree(build_query_tree(points_of(data.at, data.features), tree, execution)));
  });
  for (const Kernel kernel : all_kernels) {
    const std::string name = " of kernel " + std::to_string(static_cast<int>(kernel));
    add("direct sums" + name, [&, kernel](const Execution& execution) {
      return sums_of(data, data.options(kernel, DensityMethod::direct), execution);
    });
    add("shares" + name,
        [&, kernel](const Execution& execution) { return shares_of(data, kernel, execution); });
    add("modes" + name,
        [&, kernel](const Execution& execution) { return modes_of(data, kernel, execution); });
  }
  add("strict parents", [&](const Execution& execution) {
    const auto [parent, distance] = parents_of(data, ParentMethod::tree, true, execution);
    return bits_of(parent, distance);
  });
  add("forest",
      [&](const Execution& execution) { return forest_of(data, {.tau = data.length}, execution); });
  add("local forest", [&](const Execution& execution) {
    return local_forest_of(data, ScaleMethod::tree, execution);
  });
  add("queries", [&](const Execution& execution) { return queries_of(data, execution); });
}

void add_sums(const Data& data, Kernel kernel, DensityMethod method, std::vector<Case>& cases) {
  cases.push_back({data.name + ": sums of kernel " + std::to_string(static_cast<int>(kernel)) +
                       " by method " + std::to_string(static_cast<int>(method)),
                   [&data, kernel, method](const Execution& execution) {
                     return sums_of(data, data.options(kernel, method), execution);
                   }});
}

void add_block_cases(const Data& data, std::vector<Case>& cases) {
  for (const Kernel kernel : all_kernels) add_sums(data, kernel, DensityMethod::blocks, cases);
  cases.push_back({data.name + ": parents by blocks", [&](const Execution& execution) {
                     const auto found = parents_of(data, ParentMethod::blocks, false, execution);
                     return bits_of(found.parent, found.distance);
                   }});
  cases.push_back({data.name + ": local forest by blocks", [&](const Execution& execution) {
                     return local_forest_of(data, ScaleMethod::blocks, execution);
                   }});
}

Bits run_with(const Case& some, int threads) {
  Execution execution;
  execution.threads = threads;
  return some.run(execution);
}

// Runs all cases on one thread, then from four threads at once with four threads each. Every caller
// begins with another case. Returns the number of results that differ.
int count_differences(const std::vector<Case>& cases) {
  std::vector<Bits> expected;
  for (const Case& some : cases) expected.push_back(run_with(some, 1));
  std::atomic<int> differences{0};
  constexpr std::size_t callers = 4;
  std::vector<std::thread> threads;
  for (std::size_t caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&, caller] {
      for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::size_t at = (i + caller * cases.size() / callers) % cases.size();
        if (run_with(cases[at], 4) == expected[at]) continue;
        std::fprintf(stderr, "%s differs between 1 and 4 threads\n", cases[at].name.c_str());
        ++differences;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return differences;
}

}  // namespace

int main() {
  choose_instruction_set();
  const Data plane("plane", 6'000, 2, 0.3, true);
  const Data torus("torus", 3'000, 2, 0.15, false, 4.0);
  const Data wide("12 features", 1'500, 12, 2.0, false);
  const Data line("line", 300'000, 1, 0.02, false);
  const Reals colors = random_normal(160 * 120 * 3, 3);
  std::vector<char> inside(160 * 120, 1);
  std::fill(inside.begin() + 5'000, inside.begin() + 6'000, 0);
  const Picture whole{points_of(colors, 3), {160, 120}, {1.0, 1.0}, {0, 0}};
  Picture volume{points_of(colors, 3), {16, 10, 120}, {1.0, 2.0, 0.5}, {0, 3, 0}};
  volume.mask = reinterpret_cast<const bool*>(inside.data());

  std::vector<Case> cases;
  add_common_cases(plane, cases);
  add_common_cases(torus, cases);
  add_common_cases(wide, cases);
  add_block_cases(wide, cases);
  for (const Kernel kernel : {Kernel::uniform, Kernel::epanechnikov}) {
    add_sums(plane, kernel, DensityMethod::moments, cases);
  }
  add_sums(plane, Kernel::gaussian, DensityMethod::grid, cases);
  add_sums(torus, Kernel::gaussian, DensityMethod::grid, cases);
  add_sums(plane, Kernel::gaussian, DensityMethod::mixed, cases);
  add_sums(plane, Kernel::exponential, DensityMethod::gaussians, cases);
  for (const Kernel kernel :
       {Kernel::silverman, Kernel::triangular, Kernel::tricube, Kernel::cosine}) {
    add_sums(plane, kernel, DensityMethod::expansions, cases);
    add_sums(torus, kernel, DensityMethod::expansions, cases);
  }
  add_sums(line, Kernel::gaussian, DensityMethod::automatic, cases);
  add_sums(line, Kernel::triangular, DensityMethod::automatic, cases);
  cases.push_back({"line: forest", [&](const Execution& execution) {
                     return forest_of(line, {.tau = line.length}, execution);
                   }});
  cases.push_back({"picture", [&](const Execution& e) { return picture_of(whole, e); }});
  cases.push_back({"volume", [&](const Execution& e) { return picture_of(volume, e); }});
  cases.push_back({"raster", [&](const Execution& e) { return raster_of(whole, e); }});

  const int differences = count_differences(cases);
  std::printf("%zu cases, %d results differ\n", cases.size(), differences);
  return differences == 0 ? 0 : 1;
}
