// The samples near a query, laid out along the line of responses, and the sum of their kernels
// there.
//
// The line has a ladder: vertices, the rungs, at most half a bandwidth apart wherever another one
// lies between two of them. Samples are sorted by the rung at or below them, and for every rung it
// is known how far samples reach: nothing is searched for along the line.
#pragma once

#include <utility>
#include <vector>

#include "regression/ladder.hpp"
#include "tree/search.hpp"
#include "vector/response_loops.hpp"

namespace quickshift {

// The sum of gaussian kernels from a rung to the next, as a power series in (place - centre) / h.
struct ResponseSeries {
  Index rung;
  double centre;
  double width;  // h
  double half;   // from the centre to both rungs, in h
  double coefficients[series_terms];

  SumAndSlope sum_at(double place) const;
  double least_bend() const;  // what its second derivative is below, times -1
  double top() const;         // the place of the highest sum between the rungs, if it is concave
};

class ResponseWindow {
 public:
  ResponseWindow(const Tree& tree, const Responses& responses, const Ladder& ladder,
                 const ModeOptions& options);

  // Gathers the samples in reach of a query, whose coordinates are in the scale of the tree.
  void gather(const double* point);

  bool empty() const { return found_.empty(); }
  // Only from the first to the last of these rungs there is any density. Not of an empty window.
  Index first_rung() const { return ladder_.first_reaching[first_]; }
  Index last_rung() const { return std::min(ladder_.last_reaching[last_] + 1, ladder_.size() - 1); }

  // The sum at a place; `rung` is the one at or below it.
  double sum_at(double place, Index rung) const;
  SumAndSlope slope_at(double place, Index rung) const;  // of the gaussian
  // At each sample's nearest place between two: what no sum there exceeds.
  double sum_within(double low, double high, Index low_rung, Index high_rung) const;
  // A series for what lies from a rung to the next, where many sums will be asked for; null for
  // other kernels, or where it would not be exact enough.
  const ResponseSeries* series_above(Index rung);
  // Of the samples that reach what lies between two places.
  double weight_within(Index low_rung, Index high_rung) const;
  double marginal() const;
  double log_scale() const { return log_scale_; }
  double least() const { return least_; }  // of the sums that are exact enough; infinite kernels

 private:
  struct Found {
    Index sample;
    double square;
  };

  ResponseBlock block(Index begin, Index end) const;  // widened to whole steps
  double reach_from_nearest(const double* point);
  void collect(const double* point, double reach_sq);
  void collect_leaf(Index leaf, double reach_sq);
  double reach_of_found() const;
  void keep_within(double reach_sq);
  void lay_out();
  // The rungs whose samples reach places above one rung up to above another, counted from the
  // first.
  std::pair<Index, Index> reaching(Index low_rung, Index high_rung) const;
  double sum_of(Index begin, Index end, double low, double high) const;
  double far_sum(Index begin, Index end, double low, double high) const;

  const Tree& tree_;
  const Responses& responses_;
  const Ladder& ladder_;
  const ModeOptions& options_;
  KernelScale scale_;
  ResponseSum add_line_;
  ResponseSlope add_slope_;
  bool expands_;   // whether sums come from series
  double factor_;  // from what the loops sum to sums of profiles
  TreeSearch search_;
  std::vector<double> leaf_squares_;
  std::vector<Index> stack_;
  std::vector<Found> found_;
  Index first_ = 0, last_ = 0;  // rungs of the samples
  std::vector<Index> begin_;    // by rung from the first: where its samples begin
  std::vector<double> weight_before_;
  std::vector<double> places_, squares_, weights_;
  std::vector<ResponseSeries> series_;
  double nearest_ = 0.0;  // square to the nearest sample in x, for an infinite kernel
  double log_scale_ = 0.0;
  double least_ = 0.0;
  bool far_ = false;
};

}  // namespace quickshift
