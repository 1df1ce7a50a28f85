#include "nearest_higher.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "distinct.hpp"
#include "kernel.hpp"
#include "search.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Keeps the nearest sample that is higher than a given height; of equally near ones the highest.
class KeepNearestHigher {
 public:
  KeepNearestHigher(const Heights& heights, double density, const double* point, bool strict,
                    double reach = infinity)
      : heights_(heights), density_(density), point_(point), strict_(strict), square_(reach) {}

  double reach() const { return square_; }
  bool wants(Index node) const { return counts(heights_.highest_below(node)); }
  void offer(Index slot, double square) {
    if (!counts(slot)) return;
    if (slot_ < 0 || square < square_ || heights_.higher(slot, slot_)) {
      square_ = square;
      slot_ = slot;
    }
  }
  double square() const { return square_; }
  Index slot() const { return slot_; }

 private:
  bool counts(Index slot) const {
    const double other = heights_.density(slot);
    if (other != density_ || strict_) return other > density_;
    return heights_.higher(slot, density_, point_);
  }

  const Heights& heights_;
  double density_;
  const double* point_;
  bool strict_;
  double square_;
  Index slot_ = -1;
};

// Any sample counts: the nearest, of equally near ones the highest.
class KeepNearestHighest {
 public:
  explicit KeepNearestHighest(const Heights& heights) : heights_(heights) {}

  double reach() const { return square_; }
  bool wants(Index) const { return true; }
  void offer(Index slot, double square) {
    if (slot_ < 0 || square < square_ || heights_.higher(slot, slot_)) {
      square_ = square;
      slot_ = slot;
    }
  }
  Index slot() const { return slot_; }

 private:
  const Heights& heights_;
  double square_ = infinity;
  Index slot_ = -1;
};

// By slot: the parent's slot (-1: none is higher) and the square of the distance.
struct Climb {
  std::vector<Index> parent;
  std::vector<double> square;
};

Climb climb(const Tree& tree, const Heights& heights, bool strict, const Execution& execution) {
  Climb result;
  result.parent.assign(static_cast<std::size_t>(tree.slots()), -1);
  result.square.resize(static_cast<std::size_t>(tree.slots()));
  search_from_leaves(tree, tree, execution, [&](Search& search, Index leaf) {
    std::vector<double> point(static_cast<std::size_t>(tree.features));
    for (int i = 0; i < tree.count(leaf); ++i) {
      const Index slot = leaf * tree.stride + i;
      copy_point(tree, slot, point.data());
      KeepNearestHigher keeper(heights, heights.density(slot), point.data(), strict);
      search.from_leaf(leaf, point.data(), keeper);
      result.parent[slot] = keeper.slot();
      result.square[slot] = keeper.square();
    }
  });
  return result;
}

}  // namespace

double round_to_bits(double value, int bits) {
  auto pattern = std::bit_cast<std::uint64_t>(value);
  const int drop = 53 - bits;
  if (drop <= 0) return value;
  pattern += (std::uint64_t{1} << (drop - 1)) - 1 + ((pattern >> drop) & 1);
  pattern &= ~((std::uint64_t{1} << drop) - 1);
  return std::bit_cast<double>(pattern) + 0.0;
}

Heights::Heights(const Tree& tree, const double* density, int bits)
    : tree_(tree),
      density_(static_cast<std::size_t>(tree.slots()), -infinity),
      top_row_(static_cast<std::size_t>(tree.slots()), -1),
      highest_below_(static_cast<std::size_t>(tree.nodes()), -1) {
  for (Index row = 0; row < tree.rows; ++row) {
    const Index slot = tree.slot_of_row[row];
    if (slot < 0) continue;
    const double value = round_to_bits(density[row], bits);
    if (top_row_[slot] < 0 || value > density_[slot]) {
      density_[slot] = value;
      top_row_[slot] = row;
    }
  }
  for (Index node = tree.nodes() - 1; node >= 1; --node) {
    if (!tree.is_leaf(node)) {
      const Index left = highest_below_[2 * node];
      const Index right = highest_below_[2 * node + 1];
      highest_below_[node] = higher(left, right) ? left : right;
      continue;
    }
    const Index first = tree.leaf_of(node) * tree.stride;
    Index best = first;
    for (Index slot = first + 1; slot < first + tree.count(tree.leaf_of(node)); ++slot) {
      if (higher(slot, best)) best = slot;
    }
    highest_below_[node] = best;
  }
}

bool Heights::higher(Index slot, Index other) const {
  if (density_[slot] != density_[other]) return density_[slot] > density_[other];
  for (int k = 0; k < tree_.features; ++k) {
    const double a = tree_.coordinate(slot, k);
    const double b = tree_.coordinate(other, k);
    if (a != b) return a > b;
  }
  return false;
}

bool Heights::higher(Index slot, double density, const double* point) const {
  if (density_[slot] != density) return density_[slot] > density;
  for (int k = 0; k < tree_.features; ++k) {
    const double a = tree_.coordinate(slot, k);
    if (a != point[k]) return a > point[k];
  }
  return false;
}

void sort_by_height(const Tree& tree, const double* density, int bits, std::vector<Index>& rows) {
  std::sort(rows.begin(), rows.end(), [&](Index a, Index b) {
    const double height = round_to_bits(density[a], bits);
    const double other = round_to_bits(density[b], bits);
    if (height != other) return height > other;
    for (int k = 0; k < tree.features; ++k) {
      const double x = tree.coordinate(tree.slot_of_row[a], k);
      const double y = tree.coordinate(tree.slot_of_row[b], k);
      if (x != y) return x > y;
    }
    return a < b;
  });
}

void nearest_higher(const Tree& tree, const double* density, int bits, bool strict,
                    const Execution& execution, Index* parent, double* distance) {
  const Heights heights(tree, density, bits);
  const Climb climbed = climb(tree, heights, strict, execution);
  run_ranges(execution, tree.rows, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const Index slot = tree.slot_of_row[row];
      if (slot < 0) {
        parent[row] = row;
        distance[row] = std::numeric_limits<double>::quiet_NaN();
        continue;
      }
      const Index top = heights.top_row(slot);
      const bool below_top =
          row != top && (!strict || round_to_bits(density[row], bits) < heights.density(slot));
      if (below_top) {
        parent[row] = top;
        distance[row] = 0.0;
      } else if (climbed.parent[slot] < 0) {
        parent[row] = row;
        distance[row] = infinity;
      } else {
        parent[row] = heights.top_row(climbed.parent[slot]);
        distance[row] = std::ldexp(std::sqrt(climbed.square[slot]), tree.exponent);
      }
    }
  });
}

void assign_queries(const Tree& tree, const double* density, int bits, bool strict, double tau,
                    const Points& queries, const double* query_density, const Execution& execution,
                    Index* row) {
  const Heights heights(tree, density, bits);
  const double reach = largest_square_within(scaled(tau, tree.exponent));
  const bool bounded = std::isfinite(tau);
  constexpr Index queries_a_task = 256;
  const Index tasks = (queries.rows + queries_a_task - 1) / queries_a_task;
  run_tasks(execution, tasks, 1000.0 * static_cast<double>(queries.rows), [&] {
    return [&, search = Search(tree),
            point = std::vector<double>(static_cast<std::size_t>(tree.features))](
               Index task) mutable {
      const Index end = std::min(queries.rows, (task + 1) * queries_a_task);
      for (Index query = task * queries_a_task; query < end; ++query) {
        for (int k = 0; k < tree.features; ++k) {
          const double period = std::ldexp(tree.period[k], tree.exponent);
          point[k] = scaled(wrapped(queries.at(query, k), period), tree.exponent);
        }
        KeepNearestHighest nearest(heights);
        search.from_root(point.data(), nearest);
        Index chosen = nearest.slot();
        bool equal = true;
        for (int k = 0; k < tree.features; ++k) {
          equal = equal && tree.coordinate(chosen, k) == point[k];
        }
        if (!equal) {
          KeepNearestHigher above(heights, round_to_bits(query_density[query], bits), point.data(),
                                  strict, bounded ? reach : infinity);
          search.from_root(point.data(), above);
          if (above.slot() >= 0) chosen = above.slot();
        }
        row[query] = heights.top_row(chosen);
      }
    };
  });
}

}  // namespace quickshift
