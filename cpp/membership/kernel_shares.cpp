// The sums of each cluster are kernel sums over a tree of its own samples, at the queries that have
// such samples within reach. Most queries have few clusters within reach, so all these sums
// together take little longer than one sum over all samples at every query, which comes first: it
// tells how far samples matter.
#include "membership/kernel_shares.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "membership/labels_within.hpp"
#include "tree/search.hpp"

namespace quickshift {

namespace {

// Below this mean kernel, the sums of the clusters are computed relative to their own nearest
// samples, because their terms come close to underflow.
constexpr double far_mean = 1e-200;

// Queries are worked on in blocks, so that the lists of labels of a block have at most this many
// entries, or this many per query of the whole, even if all clusters are within reach.
constexpr Index entries_per_block = Index{1} << 22;
constexpr Index entries_per_query = 24;

constexpr std::size_t most_labels_to_infer = 4;

class KernelShares {
 public:
  KernelShares(const Tree& queries, const Tree& samples, const Labels& labels,
               const DensityOptions& options, const Execution& execution)
      : queries_(queries),
        samples_(samples),
        labels_(labels),
        options_(options),
        execution_(execution),
        nodes_(samples, labels, execution),
        least_total_(std::numeric_limits<double>::min() * total_weight(samples)),
        far_total_(far_mean * total_weight(samples)),
        totals_(sums_of_all()),
        reaches_sq_(reaches()) {
    sort_samples();
  }

  void write_to(const ShareTable& table) {
    table.clear(queries_.rows, execution_);
    const Index entries = std::max(entries_per_block, entries_per_query * queries_.locations);
    const Index tasks = entries / (labels_.count() * queries_.stride * leaves_per_task);
    const Index leaves = std::max<Index>(tasks, 1) * leaves_per_task;
    for (Index leaf = 0; leaf < queries_.leaves(); leaf += leaves) {
      write_block(leaf, std::min(leaf + leaves, queries_.leaves()), table);
    }
    table.spread(queries_, execution_);
  }

 private:
  // An entry of a list that needs a sum.
  struct Place {
    Index slot;
    LabelValue* entry;
  };

  void write_block(Index first_leaf, Index end_leaf, const ShareTable& table) {
    LabelLists lists(queries_, first_leaf, end_leaf, samples_, labels_, nodes_, reaches_sq_,
                     execution_);
    const Index first_slot = first_leaf * queries_.stride;
    const Index end_slot = end_leaf * queries_.stride;
    list_places(lists, first_slot, end_slot);
    for (Index label = 0; label < labels_.count(); ++label) add_sums(label);
    const Index tasks = (end_leaf - first_leaf + leaves_per_task - 1) / leaves_per_task;
    run_tasks(execution_, tasks, 50.0 * static_cast<double>(end_slot - first_slot), [&] {
      return [&, writer = ShareWriter(labels_, table)](Index task) mutable {
        const Index first = first_slot + task * leaves_per_task * queries_.stride;
        const Index last = std::min(end_slot, first + leaves_per_task * queries_.stride);
        for (Index slot = first; slot < last; ++slot) {
          if (queries_.row_of_slot[slot] < 0) continue;
          const std::span<LabelValue> list = lists.of(slot);
          finish(slot, list);
          writer.write(queries_.row_of_slot[slot], list);
        }
      };
    });
  }

  Array<double> sums_of_all() const {
    Sums sums = kernel_sums(queries_, samples_, options_, execution_);
    for (Index slot = 0; slot < queries_.slots(); ++slot) {
      const double log_scale = sums.log_scales[slot];
      if (log_scale != 0.0) sums.values[slot] *= std::exp(log_scale);
    }
    return std::move(sums.values);
  }

  // The squared distance from each query beyond which samples do not matter.
  Array<double> reaches() const {
    Array<double> reaches = unset_array<double>(queries_.slots());
    const double support_sq = scale_for(samples_, options_).support_sq;
    for (Index slot = 0; slot < queries_.slots(); ++slot) {
      if (queries_.row_of_slot[slot] < 0 || vanishes(slot)) {
        reaches[slot] = -1.0;
      } else if (is_infinite(options_.kernel)) {
        const double total = std::ldexp(totals_[slot], -samples_.weight_exponent);
        reaches[slot] = reach_sq(samples_, options_, total);
      } else {
        reaches[slot] = support_sq;
      }
    }
    return reaches;
  }

  static double total_weight(const Tree& samples) {
    return std::ldexp(samples.total_weight, samples.weight_exponent);
  }
  bool vanishes(Index slot) const { return !(totals_[slot] > least_total_); }
  bool is_far(Index slot) const { return totals_[slot] < far_total_; }
  // Whether the sum of one label is what the sums of the others leave. That saves almost half of
  // the sums. It also adds up their errors, so it is done for few labels only. Exact sums are all
  // computed, because a difference may be tiny where it should be zero.
  bool infers(Index slot, std::size_t labels) const {
    return is_infinite(options_.kernel) && options_.rtol > 0.0 && !is_far(slot) &&
           labels <= most_labels_to_infer;
  }

  // Sorts the entries that need a sum by label.
  void list_places(LabelLists& lists, Index first_slot, Index end_slot) {
    const auto for_places = [&](const auto& body) {
      for (Index slot = first_slot; slot < end_slot; ++slot) {
        const std::span<LabelValue> list = lists.of(slot);
        if (list.size() < 2 || vanishes(slot)) continue;
        for (LabelValue& entry : list) {
          if (!(infers(slot, list.size()) && entry.value < 0.0)) body(Place{slot, &entry});
        }
      }
    };
    first_place_.assign(static_cast<std::size_t>(labels_.count()) + 1, 0);
    for_places([&](const Place& place) { ++first_place_[place.entry->label + 1]; });
    std::partial_sum(first_place_.begin(), first_place_.end(), first_place_.begin());
    places_.resize(static_cast<std::size_t>(first_place_.back()));
    std::vector<Index> next(first_place_.begin(), first_place_.end() - 1);
    for_places([&](const Place& place) { places_[next[place.entry->label]++] = place; });
  }

  void sort_samples() {
    first_sample_.assign(static_cast<std::size_t>(labels_.count()) + 1, 0);
    for_samples([&](Index, Index label) { ++first_sample_[label + 1]; });
    std::partial_sum(first_sample_.begin(), first_sample_.end(), first_sample_.begin());
    sorted_samples_ = unset_array<Index>(samples_.locations);
    std::vector<Index> next(first_sample_.begin(), first_sample_.end() - 1);
    for_samples([&](Index slot, Index label) { sorted_samples_[next[label]++] = slot; });
  }
  template <class Body>
  void for_samples(const Body& body) const {
    for (Index slot = 0; slot < samples_.slots(); ++slot) {
      if (samples_.row_of_slot[slot] >= 0) body(slot, labels_.of_slot[slot]);
    }
  }

  // Enters the sums over the samples of one label.
  void add_sums(Index label) {
    const auto begin = places_.begin() + first_place_[label];
    const auto end = places_.begin() + first_place_[label + 1];
    if (begin == end) return;
    const Index* first = sorted_samples_.data() + first_sample_[label];
    const Index* last = sorted_samples_.data() + first_sample_[label + 1];
    const Tree tree = build_subtree(samples_, {first, last}, execution_);
    const auto middle =
        std::stable_partition(begin, end, [&](const Place& place) { return !is_far(place.slot); });
    add_sums(tree, {begin, middle}, is_infinite(options_.kernel));
    add_sums(tree, {middle, end}, false);
  }
  void add_sums(const Tree& samples, std::span<const Place> places, bool relative_to_totals) {
    if (places.empty()) return;
    std::vector<Index> slots;
    for (const Place& place : places) slots.push_back(place.slot);
    const Tree queries = build_subtree(queries_, slots, execution_);
    std::vector<double> totals(static_cast<std::size_t>(queries.slots()));
    for (Index slot = 0; slot < queries.slots(); ++slot) {
      const Index row = queries.row_of_slot[slot];
      if (row >= 0) totals[slot] = totals_[slots[row]];
    }
    DensityOptions options = options_;
    if (relative_to_totals) options.totals = totals.data();
    const Sums sums = kernel_sums(queries, samples, options, execution_);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Index slot = queries.slot_of_row[i];
      const double log_scale = sums.log_scales[slot];
      const double factor = log_scale != 0.0 ? std::exp(log_scale) : 1.0;
      places[i].entry->value = std::max(0.0, sums.values[slot] * factor);
    }
  }

  // Turns the sums of a query into shares.
  void finish(Index slot, std::span<LabelValue> list) const {
    if (list.size() == 1 || vanishes(slot)) {
      for (LabelValue& entry : list) entry.value = vanishes(slot) ? 0.0 : 1.0;
      return;
    }
    double sum = 0.0;
    for (const LabelValue& entry : list) sum += std::max(0.0, entry.value);
    for (LabelValue& entry : list) {
      if (entry.value < 0.0) entry.value = std::max(0.0, totals_[slot] - sum);
    }
    divide_by_sum(list);
  }
  static void divide_by_sum(std::span<LabelValue> list) {
    double sum = 0.0;
    for (const LabelValue& entry : list) sum += entry.value;
    for (LabelValue& entry : list) entry.value = sum > 0.0 ? entry.value / sum : 0.0;
  }

  const Tree& queries_;
  const Tree& samples_;
  const Labels& labels_;
  const DensityOptions& options_;
  const Execution& execution_;
  NodeLabels nodes_;
  double least_total_;  // smaller sums count as zero
  double far_total_;
  Array<double> totals_;      // sums over all samples, by slot of the queries
  Array<double> reaches_sq_;  // beyond which samples do not matter, by slot of the queries
  std::vector<Place> places_;
  std::vector<Index> first_place_;   // by label
  Array<Index> sorted_samples_;      // slots, by label
  std::vector<Index> first_sample_;  // by label
};

}  // namespace

void kernel_shares(const Tree& queries, const Tree& samples, const Labels& labels,
                   const DensityOptions& options, const Execution& execution,
                   const ShareTable& table) {
  KernelShares(queries, samples, labels, options, execution).write_to(table);
}

}  // namespace quickshift
