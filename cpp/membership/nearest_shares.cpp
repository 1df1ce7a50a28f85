#include "membership/nearest_shares.hpp"

#include <cmath>
#include <limits>

#include "tree/search.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// A query first searches within a reach that is expected to hold this multiple of K. It is large
// enough for most queries, and those for which it is not search again without a limit.
constexpr double spare = 1.5;

// A keeper (tree/search.hpp) of the samples within reach. Once it has found more than enough, the
// reach shrinks.
class KeepLabels {
 public:
  KeepLabels(const Labels& labels, double neighbors) : labels_(labels), neighbors_(neighbors) {}

  void reset(double reach) {
    found_.clear();
    reach_ = reach;
    weight_ = 0.0;
    label_ = -1;
    mixed_ = false;
    most_ = 64 + 4 * static_cast<std::size_t>(std::min(neighbors_, 1e6));
  }
  double reach() const { return reach_; }
  bool wants(Index) const { return true; }
  void scan(const PairKernels& kernels, const Tree& tree, Index leaf, const double* point,
            double* squares) {
    kernels.squares(point, tree.leaf_block(leaf), squares);
    const Index first = leaf * tree.stride;
    for (int i = 0; i < tree.count(leaf); ++i) {
      if (!(squares[i] <= reach_)) continue;
      const double weight = tree.weights[first + i];
      found_.push_back({squares[i], weight, first + i});
      weight_ += weight;
      note(labels_.of_slot[first + i]);
    }
    if (found_.size() > most_) cut_back();
  }

  // The weight of the samples found.
  double weight() const { return weight_; }
  // Their label; -1 if they have several.
  Index only_label() const { return mixed_ ? -1 : label_; }

  // Runs add(label, weight) on the K nearest of the samples found, and returns the squared distance
  // of the last one.
  template <class Add>
  double add_nearest(const Add& add) {
    std::sort(found_.begin(), found_.end());
    double left = neighbors_;
    std::size_t i = 0;
    while (i < found_.size() && left > 0.0) {
      const double square = found_[i].square;
      const std::size_t begin = i;
      double tied = 0.0;
      for (; i < found_.size() && found_[i].square == square; ++i) tied += found_[i].weight;
      const double part = std::min(1.0, left / tied);
      for (std::size_t j = begin; j < i; ++j) {
        add(labels_.of_slot[found_[j].slot], part * found_[j].weight);
      }
      left -= tied;
    }
    return found_[i - 1].square;
  }

 private:
  struct Neighbor {
    double square;
    double weight;
    Index slot;
    bool operator<(const Neighbor& other) const {
      return square != other.square ? square < other.square : slot < other.slot;
    }
  };

  void note(Index label) {
    if (label_ < 0) label_ = label;
    mixed_ |= label != label_;
  }

  // Drops the samples that are farther away than the last that counts.
  void cut_back() {
    std::sort(found_.begin(), found_.end());
    double weight = 0.0;
    std::size_t kept = 0;
    while (kept < found_.size() && weight < neighbors_) weight += found_[kept++].weight;
    while (kept < found_.size() && found_[kept].square == found_[kept - 1].square) ++kept;
    if (kept == found_.size()) {  // they may weigh less than K
      most_ = 2 * kept + 64;
      return;
    }
    found_.resize(kept);
    reach_ = found_.back().square;
    most_ = 2 * kept + 64;
    weight_ = 0.0;
    label_ = -1;
    mixed_ = false;
    for (const Neighbor& neighbor : found_) {
      weight_ += neighbor.weight;
      note(labels_.of_slot[neighbor.slot]);
    }
  }

  const Labels& labels_;
  double neighbors_;  // K, in the units of the weights of the tree
  std::vector<Neighbor> found_;
  double reach_ = infinity;
  double weight_ = 0.0;
  Index label_ = -1;  // of the first sample found
  bool mixed_ = false;
  std::size_t most_ = 64;  // the list is cut back when it grows beyond this
};

// Finds the labels of one query after another; one object per thread.
class SharesOfLabels {
 public:
  SharesOfLabels(const Tree& queries, const Tree& samples, const Labels& labels, double neighbors,
                 int dimension)
      : queries_(queries),
        search_(samples),
        neighbors_(std::ldexp(neighbors, -samples.weight_exponent)),
        power_(2.0 / dimension),
        keeper_(labels, neighbors_),
        point_(static_cast<std::size_t>(queries.features)),
        weight_of_label_(static_cast<std::size_t>(labels.count()), 0.0) {}

  void start() { guess_ = infinity; }
  // The labels of a query and their shares, each label once.
  std::span<const LabelValue> find(Index leaf, int i) {
    copy_point(queries_, leaf, i, point_.data());
    search_within(guess_);
    if (keeper_.weight() < neighbors_ && guess_ < infinity) search_within(guess_ = infinity);
    const Index only = keeper_.only_label();
    if (only >= 0 && guess_ < infinity) {
      list_.assign(1, {only, 1.0});
      const double factor = std::pow(spare * neighbors_ / keeper_.weight(), power_);
      guess_ *= std::clamp(factor, 0.5, 2.0);
      return list_;
    }
    guess_ = std::pow(spare, power_) * list_shares();
    return list_;
  }

 private:
  void search_within(double reach) {
    keeper_.reset(reach);
    search_.from_root(point_.data(), keeper_);
  }

  // Lists the shares of the labels, and returns the squared distance of the last sample.
  double list_shares() {
    list_.clear();
    const double last = keeper_.add_nearest([&](Index label, double weight) {
      if (weight == 0.0) return;  // it underflowed
      if (weight_of_label_[label] == 0.0) list_.push_back({label, 0.0});
      weight_of_label_[label] += weight;
    });
    double total = 0.0;
    for (const LabelValue& entry : list_) total += weight_of_label_[entry.label];
    for (LabelValue& entry : list_) {
      entry.value = weight_of_label_[entry.label] / total;
      weight_of_label_[entry.label] = 0.0;
    }
    return last;
  }

  const Tree& queries_;
  TreeSearch search_;
  double neighbors_;  // K, in the units of the weights of the tree
  double power_;      // of the number of samples by which the square of their distance grows
  KeepLabels keeper_;
  double guess_ = infinity;  // the squared distance within which the next query searches first
  std::vector<double> point_;
  std::vector<double> weight_of_label_;
  std::vector<LabelValue> list_;
};

}  // namespace

void nearest_shares(const Tree& queries, const Tree& samples, const Labels& labels,
                    double neighbors, int dimension, const Execution& execution,
                    const ShareTable& table) {
  table.clear(queries.rows, execution);
  const Index tasks = (queries.leaves() + leaves_per_task - 1) / leaves_per_task;
  const double work =
      static_cast<double>(queries.locations) * (300.0 + 20.0 * std::min(neighbors, 1e6));
  run_tasks(execution, tasks, work, [&] {
    return [&, shares = SharesOfLabels(queries, samples, labels, neighbors, dimension),
            writer = ShareWriter(labels, table)](Index task) mutable {
      shares.start();
      const Index end = std::min(queries.leaves(), (task + 1) * leaves_per_task);
      for (Index leaf = task * leaves_per_task; leaf < end && !execution.stops(); ++leaf) {
        for (int i = 0; i < queries.count(leaf); ++i) {
          const Index row = queries.row_of_slot[leaf * queries.stride + i];
          writer.write(row, shares.find(leaf, i));
        }
      }
    };
  });
  table.spread(queries, execution);
}

}  // namespace quickshift
