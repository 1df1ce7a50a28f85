// The samples near a query x, sorted by response, and the sums of their kernels at (x, response).
//
// For a kernel of infinite support, the window leaves out samples so far from x that all of them
// together change no sum above `least()` by more than a relative rtol / 2 (decision record 26). The
// samples are grouped by the last rung that is not above them. The ladder knows which groups can
// contribute to sums between a given rung and the next, so every sum runs over one contiguous block
// of samples.
#pragma once

#include <utility>
#include <vector>

#include "regression/ladder.hpp"
#include "tree/search.hpp"
#include "vector/response_loops.hpp"

namespace quickshift {

// The sum of gaussian kernels between two successive rungs, as a power series in (place - center) /
// h. The rungs are at most h / 2 apart, so the argument is at most 1/4.
struct ResponseSeries {
  Index rung;
  double center;
  double width;  // h
  double half;   // distance from the center to either rung, in h
  double coefficients[series_terms];

  SumAndSlope sum_at(double place) const;
  // A lower bound on minus the second derivative between the rungs: positive if the sum is concave.
  double least_bend() const;
  double top() const;  // the place of the highest sum between the rungs, if the sum is concave
};

class ResponseWindow {
 public:
  ResponseWindow(const Tree& tree, const Responses& responses, const Ladder& ladder,
                 const ModeOptions& options);

  // Collects the samples within reach of a query, whose coordinates are in the scale of the tree.
  void collect_near(const double* point);

  bool empty() const { return found_.empty(); }
  // The density is positive only between these two rungs. The window must not be empty.
  Index first_rung() const { return ladder_.first_reaching[first_]; }
  Index last_rung() const { return std::min(ladder_.last_reaching[last_] + 1, ladder_.size() - 1); }

  // The sum at a place; `rung` is the last rung that is not above it.
  double sum_at(double place, Index rung) const;
  SumAndSlope slope_at(double place, Index rung) const;  // gaussian only
  // An upper bound on the sums between two places: the sum with each kernel taken at the place
  // between them that is nearest to its sample.
  double sum_within(double low, double high, Index low_rung, Index high_rung) const;
  // The series between a rung and the next, for evaluating many gaussian sums there; null for other
  // kernels, or if rtol is too small for the series. The pointer is valid until the next call.
  const ResponseSeries* series_above(Index rung);
  // The weight of the samples that can contribute to sums from low_rung up to the rung after
  // high_rung.
  double weight_within(Index low_rung, Index high_rung) const;
  double marginal() const;
  double log_scale() const { return log_scale_; }
  // For infinite kernels: sums above this are accurate to rtol.
  double least() const { return least_; }

 private:
  struct Found {
    Index sample;
    double square;
  };

  ResponseBlock block(Index begin, Index end) const;  // extended to whole vector steps
  double reach_from_nearest(const double* point);
  void collect_within(const double* point, double reach_sq);
  void collect_leaf(Index leaf, double reach_sq);
  double reach_of_found() const;
  void keep_within(double reach_sq);
  void sort_by_rung();
  double logarithm_of(double square, double weight);  // see ResponseBlock
  // The range of rungs, counted from first_, whose samples contribute to sums from low_rung up to
  // the rung after high_rung.
  std::pair<Index, Index> reaching(Index low_rung, Index high_rung) const;
  double sum_of(Index begin, Index end, double low, double high) const;
  double relative_sum(Index begin, Index end, double low, double high) const;

  const Tree& tree_;
  const Responses& responses_;
  const Ladder& ladder_;
  const ModeOptions& options_;
  KernelScale scale_;
  ResponseSum sum_loop_;
  bool rough_gaussian_;  // if so, sums between rungs come from series
  ResponseSlope slope_loop_;
  double factor_;  // turns the results of the loops into sums of kernels
  TreeSearch search_;
  std::vector<double> leaf_squares_;
  std::vector<Index> stack_;
  std::vector<Found> found_;
  Index first_ = 0, last_ = 0;         // lowest and highest rung that has samples
  std::vector<Index> begin_;           // CSR offsets of the samples by rung, from first_
  std::vector<double> weight_before_;  // by rung, from first_: the weight of all lower rungs
  std::vector<double> places_, squares_, weights_;  // see ResponseBlock
  double log2_of_ = 1.0, log2_ = 0.0;  // the last weight and its logarithm: most weights are equal
  std::vector<ResponseSeries> series_;
  double nearest_ = 0.0;  // squared distance to the nearest sample in x; for infinite kernels
  double log_scale_ = 0.0;
  double least_ = 0.0;
  bool relative_terms_ = false;  // whether `relative_sum` replaces the loops
};

}  // namespace quickshift
