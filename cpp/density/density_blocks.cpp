// Kernel sums at the samples, block by block: squares of distances from products, each unordered
// pair of blocks once and added to both of its sides.
//
// A square from products is off by a known bound. Where that could change a term by more than
// `tolerance`, relative to the term or to the sum that it goes into, the square is computed again
// by its definition, unless that may be off by half as much itself. Where it decides about the edge
// of a support it always is.
#include <cmath>
#include <limits>

#include "density/methods.hpp"
#include "tree/blocks.hpp"
#include "tree/pair_schedule.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Rows that are worked on at a time, whole panels of them: they and their squares should stay in
// the nearest caches.
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
        worth(error / (2.0 * definition_error(all.tree.features))),
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
  double tolerance;  // no finer than the promise of the sums
  double error;      // of a square, relative to the norms
  double worth;  // from there on, relative to the norms, the definition may be off by half as much
  std::vector<double> weights;   // [block][room], zero past its size
  std::vector<double> lightest;  // [block]
};

// With squares off by `off`: a term exp(-decay) changes by a share of off / 2h² for the Gaussian,
// off / h² t for the exponential, t = distance / h. That may exceed the tolerance where all such
// terms together are within it for a sum that holds `weight`.
Unsure BlockSumProblem::unsure_in_infinite(double off, double weight) const {
  const bool gaussian = options.kernel == Kernel::gaussian;
  const double share = off / (h * h) * (gaussian ? 0.5 : 1.0);
  if (gaussian && share <= tolerance) return {0.0, infinity, worth, infinity, infinity};
  const double everywhere = gaussian ? infinity : h * h * (share / tolerance) * (share / tolerance);
  const double amount =
      std::log(blocks.tree.total_weight / (tolerance * weight)) + std::log(share) + share;
  const double negligible = square_at_decay(options.kernel, std::max(amount, 1.0), h);
  return {std::min(everywhere, negligible) + off, infinity, worth, infinity, infinity};
}

// A term changes by a share of at most c · off / (support² - s), which follows from the derivatives
// of the profiles; the triangular one also by off / h² t.
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
  Unsure unsure{0.0, scale.support_sq - steepness() * off / tolerance, worth,
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

  // Each vertex meets itself first, and each block of it itself: that gives the reaches.
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
    loops_.centre(blocks_->panels_of(block), blocks_->size(block), features_,
                  blocks_->center(block), columns_.data(), norms_.data());
    largest_norm_ = *std::max_element(norms_.begin(), norms_.begin() + blocks_->size(block));
  }

  void add_itself(Index block) {
    const double every =
        is_infinite(problem_->options.kernel)
            ? square_at_decay(problem_->options.kernel, vanished_decay, problem_->h)
            : problem_->scale.support_sq;
    take_columns(block);
    add_pair(block, block, every);
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

  // Adds the terms of some rows of a block and all columns of another.
  void add_strip(Index row, int first, int count, Index column, double reach) {
    const int panels = panels_for(blocks_->size(column));
    const int width = panels * panel_width;
    loops_.centre(blocks_->panels_of(row) + first * features_, count, features_,
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

  // Squares of the i-th row of a strip; returns the least.
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

  // Computes the unsure squares of a row by their definition; returns the least.
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
