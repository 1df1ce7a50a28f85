// The keeper (tree/search.hpp) of a search for the K nearest samples, counted by weight.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "scale/copies.hpp"
#include "scale/nearest_squares.hpp"
#include "scale/options.hpp"
#include "tree/search.hpp"

namespace quickshift {

// Keeps the nearest samples of a point until they weigh K, the largest one, and are at g locations.
// Samples at the point itself are kept apart: they are its copies.
class KeepByWeight {
 public:
  explicit KeepByWeight(const ScaleOptions& options)
      : options_(options), r_(options.neighbors.size()) {}

  // Samples at a squared distance above `reach` are ignored from now on.
  void reset(double reach = std::numeric_limits<double>::infinity()) {
    found_.clear();
    reach_ = reach;
    own_weight_ = 0.0;
    farthest_ = 0.0;
    most_ = 64 + 2 * static_cast<std::size_t>(std::min(options_.most(), 1e6));
  }
  // Whether the samples found suffice, even if there may be more within the reach given to `reset`.
  bool is_complete() const {
    double weight = 0.0;
    for (const Neighbor& neighbor : found_) weight += neighbor.weight;
    return weight >= options_.most() && found_.size() >= static_cast<std::size_t>(options_.spacing);
  }
  double reach() const { return reach_; }
  bool wants(Index) const { return true; }
  void scan(const PairKernels& kernels, const Tree& tree, Index leaf, const double* point,
            double* squares) {
    kernels.squares(point, tree.leaf_block(leaf), squares);
    for (int i = 0; i < tree.count(leaf); ++i) {
      if (!(squares[i] <= reach_)) continue;
      const double weight = std::ldexp(tree.weights[leaf * tree.stride + i], tree.weight_exponent);
      if (squares[i] == 0.0 && is_at(tree, leaf, i, point)) {
        own_weight_ = weight;
      } else {
        found_.push_back({squares[i], weight});
      }
    }
    if (found_.size() > most_) cut_back();
  }

  // Whether there is no sample but at the point itself.
  bool is_alone() const { return found_.empty(); }

  // The scale of the point, in the units of the tree; it must not be alone.
  ScaleOfPoint scale(const CopyDistances& copies) {
    std::sort(found_.begin(), found_.end());
    for (std::size_t k = 0; k < r_.size(); ++k) {
      r_[k] = mean_distance(options_.neighbors[k], copies);
    }
    const auto last = std::min(static_cast<std::size_t>(options_.spacing), found_.size()) - 1;
    return {r_.data(), std::sqrt(found_[last].square), std::max(farthest_, found_[last].square)};
  }

 private:
  struct Neighbor {
    double square;
    double weight;
    bool operator<(const Neighbor& other) const {
      return square != other.square ? square < other.square : weight < other.weight;
    }
  };

  // weight · distance as a rounded product and its error, so that a weight of 2 equals two samples.
  struct Term {
    double product;
    double error;
  };

  static bool is_at(const Tree& tree, Index leaf, int i, const double* point) {
    const double* block = tree.leaf_coordinates(leaf);
    for (int k = 0; k < tree.features; ++k) {
      if (block[k * tree.stride + i] != point[k]) return false;
    }
    return true;
  }

  // Drops the samples that cannot be among the nearest.
  void cut_back() {
    std::sort(found_.begin(), found_.end());
    double weight = 0.0;
    std::size_t kept = 0;
    while (kept < found_.size() &&
           (weight < options_.most() || kept < static_cast<std::size_t>(options_.spacing))) {
      weight += found_[kept++].weight;
    }
    if (kept < found_.size()) {
      found_.resize(kept);
      reach_ = found_.back().square;
    }
    most_ = 2 * found_.size() + 64;
  }

  // The mean distance to the nearest other samples that weigh `wanted`, a K.
  double mean_distance(double wanted, const CopyDistances& copies) {
    const double nearest = std::sqrt(found_.front().square);
    const double copied = std::min(wanted, std::max(own_weight_ - 1.0, 0.0));
    double taken = copied;
    double sum = copied > 0.0 ? copies.sum(copied, own_weight_, 0.5 * nearest) : 0.0;
    if (taken < wanted) sum += sum_over_others(wanted, taken);
    return sum / taken;
  }

  // Σ weight · distance over the nearest other samples, up to the weight `wanted`; `taken` is the
  // weight that is counted already, and afterwards the whole. Samples at the same distance count as
  // one, so that the sum does not depend on their order.
  double sum_over_others(double wanted, double& taken) {
    terms_.clear();
    double bound = 0.0;
    for (std::size_t i = 0; i < found_.size() && taken < wanted;) {
      const double square = found_[i].square;
      farthest_ = square;
      double weight = 0.0;
      for (; i < found_.size() && found_[i].square == square; ++i) weight += found_[i].weight;
      weight = std::min(weight, wanted - taken);
      taken += weight;
      const double distance = std::sqrt(square);
      const double product = weight * distance;
      terms_.push_back({product, std::fma(weight, distance, -product)});
      bound += product;
    }
    if (!(bound > 0.0)) return 0.0;
    double sum = 0.0;
    double rest = 0.0;
    const ExactSum exact = exact_sum(1.01 * bound, static_cast<double>(terms_.size()));
    for (const Term& term : terms_) {
      const double rounded = (term.product + exact.coarse) - exact.coarse;
      sum += rounded;
      rest += (((term.product - rounded) + term.error) + exact.fine) - exact.fine;
    }
    return sum + rest;
  }

  const ScaleOptions& options_;
  std::vector<Neighbor> found_;
  std::vector<Term> terms_;
  std::vector<double> r_;  // one per K
  double reach_ = std::numeric_limits<double>::infinity();
  double own_weight_ = 0.0;
  double farthest_ = 0.0;  // the squared distance of the last sample that counts
  std::size_t most_ = 64;  // the list is cut back when it grows beyond this
};

}  // namespace quickshift
