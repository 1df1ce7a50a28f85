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
  // own_leaf: the leaf that holds the point, if it is a sample.
  KeepNearestHigher(const Heights& heights, double density, const double* point, bool strict,
                    Index own_leaf = -1, double reach = infinity)
      : heights_(heights),
        density_(density),
        point_(point),
        strict_(strict),
        own_leaf_(own_leaf),
        square_(reach) {}

  double reach() const { return square_; }
  bool wants(Index node) const {
    const double highest = heights_.highest_density(node);
    return highest > density_ || (highest == density_ && counts(heights_.highest_below(node)));
  }
  // Only the nearest of the leaf's higher samples can count, unless equal heights are to be told
  // apart; the sample that asks is itself one of them.
  void scan(const PairKernels& kernels, const Tree& tree, Index leaf, const double* point,
            double* squares) {
    const Index first = leaf * tree.stride;
    const LeafView view = kernels.squares_above(point, tree.leaf_block(leaf),
                                                heights_.densities() + first, density_, squares);
    if (!strict_ && view.equal > (leaf == own_leaf_)) {
      offer_leaf(kernels, tree, leaf, point, squares, *this);
    } else if (view.least <= square_ && view.least < infinity) {
      for (int i = 0; i < tree.stride; ++i) {
        if (squares[i] == view.least) offer(first + i, squares[i]);
      }
    }
  }
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
  Index own_leaf_;
  double square_;
  Index slot_ = -1;
};

// Any sample counts: one equal to the point; else the nearest, of equally near ones the highest.
class KeepNearestHighest {
 public:
  KeepNearestHighest(const Heights& heights, const double* point)
      : heights_(heights), point_(point) {}

  double reach() const { return square_; }
  bool wants(Index) const { return true; }
  void scan(const PairKernels& kernels, const Tree& tree, Index leaf, const double* point,
            double* squares) {
    offer_leaf(kernels, tree, leaf, point, squares, *this);
  }
  void offer(Index slot, double square) {
    if (square == 0.0 && heights_.at(slot, point_)) {
      equal_ = true;
      square_ = -1.0;  // nothing else can be nearer, even where other squares underflow to 0
      slot_ = slot;
    } else if (slot_ < 0 || square < square_ || heights_.higher(slot, slot_)) {
      square_ = square;
      slot_ = slot;
    }
  }
  Index slot() const { return slot_; }
  bool equal() const { return equal_; }

 private:
  const Heights& heights_;
  const double* point_;
  bool equal_ = false;
  double square_ = infinity;
  Index slot_ = -1;
};

// Rows that do not stand for their location: below its top row they hang on it at distance 0; with
// strict ties an equally high row does as the top row does.
void write_other_rows(const Tree& tree, const Heights& heights, const double* density, int bits,
                      bool strict, Index* parent, double* distance) {
  for (Index row = 0; row < tree.rows; ++row) {
    const Index slot = tree.slot_of_row[row];
    if (slot < 0) {
      parent[row] = row;
      distance[row] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    const Index top = heights.top_row(slot);
    if (row == top) continue;
    if (!strict || round_to_bits(density[row], bits) < heights.density(slot)) {
      parent[row] = distance[top] == 0.0 ? parent[top] : top;  // a square may underflow to 0
      distance[row] = 0.0;
    } else {
      parent[row] = parent[top] == top ? row : parent[top];
      distance[row] = distance[top];
    }
  }
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

Heights::Heights(const Tree& tree, const double* density, int bits, const Execution& execution)
    : tree_(tree),
      density_(static_cast<std::size_t>(tree.slots()), -infinity),
      top_row_(tree.row_of_slot),
      highest_below_(static_cast<std::size_t>(tree.nodes()), -1),
      highest_density_(static_cast<std::size_t>(tree.nodes()), -infinity) {
  run_ranges(execution, tree.slots(), [&](Index begin, Index end) {
    for (Index slot = begin; slot < end; ++slot) {
      if (top_row_[slot] >= 0) density_[slot] = round_to_bits(density[top_row_[slot]], bits);
    }
  });
  if (tree.locations < tree.rows) raise_tops(density, bits);
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
  for (Index node = 1; node < tree.nodes(); ++node) {
    highest_density_[node] = density_[highest_below_[node]];
  }
}

// Among rows at one location the highest stands for it, the first of equally high ones.
void Heights::raise_tops(const double* density, int bits) {
  for (Index row = 0; row < tree_.rows; ++row) {
    const Index slot = tree_.slot_of_row[row];
    if (slot < 0) continue;
    const double value = round_to_bits(density[row], bits);
    if (value > density_[slot]) {
      density_[slot] = value;
      top_row_[slot] = row;
    }
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

bool Heights::at(Index slot, const double* point) const {
  for (int k = 0; k < tree_.features; ++k) {
    if (tree_.coordinate(slot, k) != point[k]) return false;
  }
  return true;
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
  const Heights heights(tree, density, bits, execution);
  const auto write = [&](Index row, Index slot, const KeepNearestHigher& keeper) {
    const bool found = keeper.slot() >= 0;
    parent[row] = found ? heights.top_row(keeper.slot()) : heights.top_row(slot);
    distance[row] = found ? std::ldexp(std::sqrt(keeper.square()), tree.exponent) : infinity;
  };
  search_from_leaves(tree, tree, execution, [&](Search& search, Index leaf, double* point) {
    for (int i = 0; i < tree.count(leaf); ++i) {
      const Index slot = leaf * tree.stride + i;
      copy_point(tree, leaf, i, point);
      KeepNearestHigher keeper(heights, heights.density(slot), point, strict, leaf);
      search.from_leaf(leaf, point, keeper);
      write(heights.top_row(slot), slot, keeper);
    }
  });
  if (tree.locations < tree.rows) {
    write_other_rows(tree, heights, density, bits, strict, parent, distance);
  }
}

void assign_queries(const Tree& tree, const double* density, int bits, bool strict, double tau,
                    const Points& queries, const double* query_density, const Execution& execution,
                    Index* row) {
  const Heights heights(tree, density, bits, execution);
  const double reach = largest_square_within(scaled(tau, tree.exponent));
  const bool bounded = std::isfinite(tau);
  constexpr Index queries_a_task = 256;
  const Index tasks = (queries.rows + queries_a_task - 1) / queries_a_task;
  run_tasks(execution, tasks, 1000.0 * static_cast<double>(queries.rows), [&] {
    return
        [&, search = Search(tree),
         point = std::vector<double>(static_cast<std::size_t>(tree.features))](Index task) mutable {
          const Index end = std::min(queries.rows, (task + 1) * queries_a_task);
          for (Index query = task * queries_a_task; query < end; ++query) {
            for (int k = 0; k < tree.features; ++k) {
              const double period = std::ldexp(tree.period[k], tree.exponent);
              point[k] = scaled(wrapped(queries.at(query, k), period), tree.exponent);
            }
            KeepNearestHighest nearest(heights, point.data());
            search.from_root(point.data(), nearest);
            Index chosen = nearest.slot();
            if (!nearest.equal()) {
              KeepNearestHigher above(heights, round_to_bits(query_density[query], bits),
                                      point.data(), strict, -1, bounded ? reach : infinity);
              search.from_root(point.data(), above);
              if (above.slot() >= 0) chosen = above.slot();
            }
            row[query] = heights.top_row(chosen);
          }
        };
  });
}

}  // namespace quickshift
