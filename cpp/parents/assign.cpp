#include "parents/assign.hpp"

#include <algorithm>
#include <cmath>

#include "parents/keep_nearest_higher.hpp"
#include "parents/nearest_higher.hpp"
#include "vector/kernel.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index queries_per_task = 256;

// A keeper (tree/search.hpp) that keeps the sample with the same coordinates as the point. If there
// is none, it keeps the nearest sample; of equally near samples, the highest.
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
    if (square == 0.0 && heights_.is_at(slot, point_)) {
      equal_ = true;
      square_ = -1.0;  // ends the search, even if other squares underflow to 0
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

// Finds the sample whose label is assigned to a query; one object per thread.
class AssignmentSearch {
 public:
  AssignmentSearch(const Tree& tree, const Heights& heights, bool strict)
      : tree_(tree),
        heights_(heights),
        strict_(strict),
        search_(tree),
        point_(static_cast<std::size_t>(tree.features)) {}

  Index row_for(const Points& queries, Index query, double height, double tau) {
    copy_query(tree_, queries, query, point_.data());
    KeepNearestHighest nearest(heights_, point_.data());
    search_.from_root(point_.data(), nearest);
    if (nearest.equal()) return heights_.top_row(nearest.slot());
    KeepNearestHigher above(heights_, height, point_.data(), strict_, -1,
                            square_within(tree_, tau));
    search_.from_root(point_.data(), above);
    return heights_.top_row(above.slot() >= 0 ? above.slot() : nearest.slot());
  }

 private:
  const Tree& tree_;
  const Heights& heights_;
  bool strict_;
  TreeSearch search_;
  std::vector<double> point_;
};

}  // namespace

void assign_queries(const Tree& tree, const double* row_heights, int bits, bool strict,
                    const double* tau, const Points& queries, const double* query_heights,
                    const Execution& execution, Index* row) {
  const Heights heights(tree, row_heights, bits, execution);
  const Index tasks = (queries.rows + queries_per_task - 1) / queries_per_task;
  run_tasks(execution, tasks, 1000.0 * static_cast<double>(queries.rows), [&] {
    return [&, search = AssignmentSearch(tree, heights, strict)](Index task) mutable {
      const Index end = std::min(queries.rows, (task + 1) * queries_per_task);
      for (Index query = task * queries_per_task; query < end && !execution.stops(); ++query) {
        row[query] =
            search.row_for(queries, query, round_to_bits(query_heights[query], bits), tau[query]);
      }
    };
  });
}

}  // namespace quickshift
