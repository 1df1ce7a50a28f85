// Kernel sums at the samples, block by block, for many features. Squared distances ("squares") come
// from matrix products, |x|² + |y|² - 2xy. Each unordered pair of blocks is computed once, and its
// terms are added to the sums of both blocks.
//
// The error of such a square has a known bound. If that error could change a term by more than
// `tolerance`, both relative to the term and relative to the sum to which it is added, the square
// is unsure and is computed again by its definition. This is skipped if the definition's own error
// may be half as large as that bound. If the error could decide on which side of the edge of a
// support the square lies, the square is always computed again.
#include <cmath>
#include <limits>

#include "density/methods.hpp"
#include "tree/blocks.hpp"
#include "tree/pair_schedule.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The number of rows (points of the first block) that are processed at a time: whole panels, few
// enough that they and their squares stay in the nearest caches.
constexpr int strip_rows = 3 * panel_width;

ToTerms terms_for(const Tree& samples, const DensityOptions& options) {
  const bool rough = rough_terms_suffice(samples, options);
  const auto kernel = static_cast<int>(options.kernel);
  return (rough ? pair_kernels().to_rough_terms : pair_kernels().to_terms)[kernel];
}

struct BlockSumProblem {
  BlockSumProblem(const Blocks& all, const DensityOptions& given)
      : blocks(all),
        options(given),
        h(bandwidth_in(all.tree, given)),
        scale(given.kernel, h, all.tree.features),
        to_terms(terms_for(all.tree, given)),
        tolerance(std::max(2e-13, 1e-3 * given.rtol * is_infinite(given.kernel))),
        error(product_error(all.tree.features, 0x1p-53)),
        worth_ratio(error / (2.0 * definition_error(all.tree.features))),
        weights(static_cast<std::size_t>(all.count() * all.room), 0.0),
        lightest(static_cast<std::size_t>(all.count()), infinity) {
    for (Index block = 0; block < all.count(); ++block) {
      for (int i = 0; i < all.size(block); ++i) {
        const double weight = all.tree.weights[all.slots[all.begin(block) + i]];
        weights[block * all.room + i] = weight;
        lightest[block] = std::min(lightest[block], weight);
      }
    }
  }

  // The squared distance beyond which samples do not change a sum that is at least `least`.
  double reach(double least) const {
    if (!is_infinite(options.kernel)) return scale.support_sq;
    return std::min(reach_sq(blocks.tree, options, least),
                    square_at_decay(options.kernel, vanished_decay, h));
  }

  Unsure unsure_in_infinite(double off, double weight) const;
  Unsure unsure_in_compact(double off) const;

  const Blocks& blocks;
  const DensityOptions& options;
  double h;  // in the scale of the tree
  KernelScale scale;
  ToTerms to_terms;
  double tolerance;  // relative error of a term or a sum that needs no correction
  double error;      // bound on the error of a square, relative to the sum of the norms
  // From this ratio of a square to the sum of the norms on, the error of the definition may be half
  // as large as that of the product, so that computing it again is not worth its time.
  double worth_ratio;
  std::vector<double> weights;   // [block][room]; zero beyond the block's size
  std::vector<double> lightest;  // [block]: the least weight
};

// Squares with an error of up to `off`, infinite kernels. The error changes a term exp(-decay) by a
// relative off / 2h² for the Gaussian and by off / h² t for the exponential kernel, t = distance /
// h. A change above the tolerance is acceptable if terms are so small that the changes of all
// samples together stay within the tolerance, relative to a sum of at least `weight`.
Unsure BlockSumProblem::unsure_in_infinite(double off, double weight) const {
  const bool gaussian = options.kernel == Kernel::gaussian;
  const double share = off / (h * h) * (gaussian ? 0.5 : 1.0);
  if (gaussian && share <= tolerance) return {0.0, infinity, worth_ratio, infinity, infinity};
  const double everywhere = gaussian ? infinity : h * h * (share / tolerance) * (share / tolerance);
  const double amount =
      std::log(blocks.tree.total_weight / (tolerance * weight)) + std::log(share) + share;
  const double negligible = square_at_decay(options.kernel, std::max(amount, 1.0), h);
  return {std::min(everywhere, negligible) + off, infinity, worth_ratio, infinity, infinity};
}

// The same for compact kernels. The error changes a term by a relative c · off / (support² - s) at
// most, with a constant c (`steepness`) that follows from the derivative of the profile; a
// triangular term also by off / h² t.
Unsure BlockSumProblem::unsure_in_compact(double off) const {
  const auto steepness = [&] {
    switch (options.kernel) {
      case Kernel::uniform:
        return 0.0;
      case Kernel::epanechnikov:
      case Kernel::cosine:
        return 2.0;
      case Kernel::triangular:
        return 4.0;
      case Kernel::tricube:
        return 6.0;
      default:
        return 14.0;
    }
  };
  const double edge = off + 2.0 * definition_error(blocks.tree.features) * scale.support_sq;
  Unsure unsure{0.0, scale.support_sq - steepness() * off / tolerance, worth_ratio,
                scale.support_sq - edge, scale.support_sq + edge};
  if (options.kernel == Kernel::triangular) {
    const double ratio = 2.0 * off / (h * h * tolerance);
    unsure.low = h * h * ratio * ratio + off;
  }
  return unsure;
}

bool is_unsure(const Unsure& unsure, double square, double norms) {
  const bool inexact =
      (square < unsure.low || square > unsure.high) && square < unsure.worth * norms;
  return square < unsure.beyond && (square > unsure.edge || inexact);
}

class BlockSumWorker {
 public:
  BlockSumWorker(const BlockSumProblem& problem, const Execution& execution,
                 std::vector<double>& sums, std::vector<double>& reaches)
      : execution_(&execution),
        problem_(&problem),
        blocks_(&problem.blocks),
        features_(problem.blocks.tree.features),
        sums_(sums.data()),
        reaches_(reaches.data()),
        rows_(static_cast<std::size_t>(strip_rows * features_)),
        columns_(static_cast<std::size_t>(blocks_->room * features_)),
        row_norms_(static_cast<std::size_t>(strip_rows)),
        norms_(static_cast<std::size_t>(blocks_->room)),
        matrix_(static_cast<std::size_t>(strip_rows * blocks_->room)),
        point_(static_cast<std::size_t>(features_)),
        squares_(static_cast<std::size_t>(blocks_->tree.stride)) {}

  // Adds all pairs of blocks of two vertices. A vertex is paired with itself before it is paired
  // with others, and then each of its blocks is paired with itself first, because the sums over a
  // block's own points give its reach.
  void add_vertices(Index a, Index b) {
    const Index blocks = blocks_->blocks_per_vertex();
    if (a == b) {
      for (Index block = a * blocks; block < (a + 1) * blocks; ++block) add_itself(block);
    }
    for (Index column = b * blocks; column < (b + 1) * blocks && !execution_->stops(); ++column) {
      bool ready = false;
      for (Index row = a * blocks; row < std::min((a + 1) * blocks, column); ++row) {
        const double reach = std::max(reaches_[row], reaches_[column]);
        const Bounds gap =
            between_boxes(blocks_->box(row), blocks_->box(column), features_, nullptr);
        if (gap.least > reach) continue;
        if (!ready) take_columns(column);
        ready = true;
        add_pair(row, column, reach);
      }
    }
  }

 private:
  void take_columns(Index block) {
    loops_.center(blocks_->panels_of(block), blocks_->size(block), features_,
                  blocks_->center(block), columns_.data(), norms_.data());
    largest_norm_ = *std::max_element(norms_.begin(), norms_.begin() + blocks_->size(block));
  }

  void add_itself(Index block) {
    const double whole_reach =
        is_infinite(problem_->options.kernel)
            ? square_at_decay(problem_->options.kernel, vanished_decay, problem_->h)
            : problem_->scale.support_sq;
    take_columns(block);
    add_pair(block, block, whole_reach);
    const double* const sums = sums_ + block * blocks_->room;
    reaches_[block] = problem_->reach(*std::min_element(sums, sums + blocks_->size(block)));
  }

  Unsure unsure_in(Index row, Index column, double off) const {
    if (!is_infinite(problem_->options.kernel)) return problem_->unsure_in_compact(off);
    const double weight = std::min(problem_->lightest[row], problem_->lightest[column]);
    return problem_->unsure_in_infinite(off, weight);
  }

  void add_pair(Index row, Index column, double reach) {
    for (int first = 0; first < blocks_->size(row); first += strip_rows) {
      const int count = std::min(strip_rows, blocks_->size(row) - first);
      add_strip(row, first, count, column, reach);
    }
  }

  // Adds the terms between some points of one block (rows) and all points of another (columns).
  void add_strip(Index row, int first, int count, Index column, double reach) {
    const int panels = panels_for(blocks_->size(column));
    const int width = panels * panel_width;
    loops_.center(blocks_->panels_of(row) + first * features_, count, features_,
                  blocks_->center(column), rows_.data(), row_norms_.data());
    loops_.products(rows_.data(), 0, count, columns_.data(), panels, features_, matrix_.data());
    const double largest = *std::max_element(row_norms_.begin(), row_norms_.begin() + count);
    const double off = problem_->error * (largest + largest_norm_);
    const Unsure unsure = unsure_in(row, column, off);
    double least = infinity;
    for (int i = 0; i < count; ++i) {
      least = std::min(least, take_row(row, first, i, column, width, unsure));
    }
    if (least > reach + off) return;
    problem_->to_terms(problem_->scale, count * width, matrix_.data());
    const double* const weights = problem_->weights.data();
    loops_.add_both(matrix_.data(), count, width, weights + row * blocks_->room + first,
                    weights + column * blocks_->room, sums_ + row * blocks_->room + first,
                    row == column ? nullptr : sums_ + column * blocks_->room);
  }

  // Turns the products of the i-th row of a strip into squares; returns the least.
  double take_row(Index row, int first, int i, Index column, int width, const Unsure& unsure) {
    double* const squares = matrix_.data() + i * width;
    const double norm = row_norms_[i];
    double least = loops_.squares(norm, norms_.data(), width, squares);
    if ((least < unsure.low || unsure.high < infinity) &&
        loops_.any_unsure(norm, norms_.data(), width, unsure, squares)) {
      least = define_row(blocks_->point(row, first + i), norm, column, unsure, squares);
    }
    if (row == column) least = squares[first + i] = 0.0;
    return least;
  }

  // Computes the unsure squares of a row by their definition; returns the least of all its squares.
  double define_row(const double* from, double norm, Index column, const Unsure& unsure,
                    double* squares) {
    const Tree& tree = blocks_->tree;
    for (int k = 0; k < features_; ++k) point_[k] = from[k * panel_width];
    double least = infinity;
    for (Index leaf = blocks_->first_leaf(column); leaf < blocks_->first_leaf(column + 1); ++leaf) {
      const Index first = tree.begin_of_leaf(leaf) - blocks_->begin(column);
      bool defined = false;
      for (Index c = first; c < first + tree.count(leaf); ++c) {
        if (is_unsure(unsure, squares[c], norm + norms_[c])) {
          if (!defined) pairs_.squares(point_.data(), tree.leaf_block(leaf), squares_.data());
          defined = true;
          squares[c] = squares_[c - first];
        }
        least = std::min(least, squares[c]);
      }
    }
    return least;
  }

  const Execution* execution_;
  const BlockSumProblem* problem_;
  const Blocks* blocks_;
  int features_;
  double* sums_;     // [block][room]
  double* reaches_;  // [block]
  const ProductLoops& loops_ = product_loops();
  const PairKernels& pairs_ = pair_kernels();
  std::vector<double> rows_;
  std::vector<double> columns_;
  std::vector<double> row_norms_;
  std::vector<double> norms_;  // of the columns
  double largest_norm_ = 0.0;
  std::vector<double> matrix_;
  std::vector<double> point_;
  std::vector<double> squares_;
};

}  // namespace

void block_sums(const Tree& tree, const DensityOptions& options, const Execution& execution,
                Sums& sums) {
  const Blocks blocks(tree, execution);
  const BlockSumProblem problem(blocks, options);
  std::vector<double> values(problem.weights.size(), 0.0);
  std::vector<double> reaches(static_cast<std::size_t>(blocks.count()), 0.0);
  run_pairs(
      execution, blocks.vertices(), work_of(blocks), [](Index, Index) { return true; },
      [&] {
        return [worker = BlockSumWorker(problem, execution, values, reaches)](
                   Index a, Index b) mutable { worker.add_vertices(a, b); };
      });
  const double unit = options.kernel == Kernel::epanechnikov ? problem.h * problem.h : 1.0;
  for (Index block = 0; block < blocks.count(); ++block) {
    for (int i = 0; i < blocks.size(block); ++i) {
      sums.values[blocks.slots[blocks.begin(block) + i]] = values[block * blocks.room + i] / unit;
    }
  }
}

}  // namespace quickshift
