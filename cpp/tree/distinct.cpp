#include "tree/distinct.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <span>
#include <utility>

namespace quickshift {

namespace {

std::uint64_t hash_of(const double* x, int features) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (int k = 0; k < features; ++k) {
    hash ^= std::bit_cast<std::uint64_t>(x[k]);
    hash *= 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash * 0xc4ceb9fe1a85ec53u;
}

// A row index with some bits of the row's hash, so that coordinates are compared only where these
// bits agree. Row is an integer type that can hold every row index; the shorter it is, the more
// entries fit into the caches.
template <class Row>
struct HashedRow {
  Row row;
  Row hash;
};

struct DuplicateRow {
  Index row;
  Index first;
};

// Finds the duplicates among the rows of a partition with a hash table with linear probing. Rows
// can be made up whose hashes agree, and each of them would be compared with all others. If there
// are many more comparisons than among rows with independent hashes, the rows are sorted instead.
template <class Row>
class DuplicateSearch {
 public:
  using Members = std::span<const HashedRow<Row>>;

  DuplicateSearch(const double* coordinates, int features)
      : coordinates_(coordinates), features_(static_cast<std::size_t>(features)) {}

  // Members are in ascending order of their rows. Returns each that is not the first with its
  // coordinates, with the first one.
  std::vector<DuplicateRow> list(Members members) {
    std::vector<DuplicateRow> duplicates;
    if (!list_by_hash(members, duplicates)) list_by_sorting(members, duplicates);
    return duplicates;
  }

  // How many times two rows were compared, by their hashes or by their coordinates.
  Index comparisons() const { return comparisons_; }

 private:
  using Entry = HashedRow<Row>;
  static constexpr Row none = std::numeric_limits<Row>::max();
  // If hashes are independent, a row is compared with about one other in a table that is at most
  // half full. The factor is far above that, yet below the comparisons per row of sorting.
  static constexpr Index most_per_row = 8;
  static constexpr Index most_in_small_tables = 256;

  // Returns false if it gave up.
  bool list_by_hash(Members members, std::vector<DuplicateRow>& duplicates) {
    const auto rows = static_cast<Index>(members.size());
    const Index most = comparisons_ + most_per_row * rows + most_in_small_tables;
    entries_.assign(std::bit_ceil(2 * members.size() + 1), Entry{none, 0});
    for (const Entry& member : members) {
      const Row first = find_or_insert(member);
      if (first != member.row) duplicates.push_back(pair_of(member.row, first));
      if (comparisons_ > most) return false;
    }
    return true;
  }

  // Returns the first row inserted with the same coordinates; inserts and returns this row if there
  // was none.
  Row find_or_insert(const Entry& entered) {
    const std::size_t mask = entries_.size() - 1;
    for (std::size_t at = entered.hash & mask;; at = (at + 1) & mask) {
      Entry& entry = entries_[at];
      if (entry.row == none) {
        entry = entered;
        return entered.row;
      }
      ++comparisons_;
      if (entry.hash == entered.hash && compare(entry.row, entered.row) == 0) return entry.row;
    }
  }

  void list_by_sorting(Members members, std::vector<DuplicateRow>& duplicates) {
    duplicates.clear();
    std::vector<Row> rows;
    rows.reserve(members.size());
    for (const Entry& member : members) rows.push_back(member.row);
    std::sort(rows.begin(), rows.end(), [this](Row a, Row b) {
      ++comparisons_;
      const int order = compare(a, b);
      return order < 0 || (order == 0 && a < b);
    });
    std::size_t first = 0;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      if (compare(rows[first], rows[i]) == 0) {
        duplicates.push_back(pair_of(rows[i], rows[first]));
      } else {
        first = i;
      }
    }
  }

  static DuplicateRow pair_of(Row row, Row first) {
    return {static_cast<Index>(row), static_cast<Index>(first)};
  }

  // Compares the bytes of the coordinates; 0 if they are equal.
  int compare(Row a, Row b) const {
    return std::memcmp(coordinates_ + a * features_, coordinates_ + b * features_,
                       sizeof(double) * features_);
  }

  const double* coordinates_;
  std::size_t features_;
  std::vector<Entry> entries_;  // reused for one partition after another
  Index comparisons_ = 0;
};

// The rows of positive weight, partitioned by the leading bits of their hash. Within a partition
// rows are in ascending order, and a partition is small enough that its hash table stays in the
// cache. This is a parallel counting sort: each task owns a range of rows, counts its rows per
// partition, and then writes them behind those of the ranges before it.
template <class Row>
class HashPartitions {
 public:
  HashPartitions(const Array<double>& coordinates, Index rows, int features, const double* weights,
                 const Execution& execution)
      : rows_(rows),
        bits_(std::clamp(static_cast<int>(std::bit_width(static_cast<std::size_t>(rows >> 12))), 1,
                         12)),
        next_(static_cast<std::size_t>(ranges * count())),
        end_(static_cast<std::size_t>(count())) {
    const auto visit = [&](Index range, const auto& enter) {
      const Index end = std::min(rows_, (range + 1) * rows_per_range());
      for (Index row = range * rows_per_range(); row < end; ++row) {
        if (weights && weights[row] == 0.0) continue;
        const std::uint64_t hash = hash_of(coordinates.data() + row * features, features);
        enter(next_[range * count() + static_cast<Index>(hash >> (64 - bits_))],
              HashedRow<Row>{static_cast<Row>(row), static_cast<Row>(hash >> 16)});
      }
    };
    run_ranges_of_rows(execution, [&](Index range) {
      visit(range, [](Index& next, const HashedRow<Row>&) { ++next; });
    });
    members_ = unset_array<HashedRow<Row>>(begin_partitions());
    run_ranges_of_rows(execution, [&](Index range) {
      visit(range, [&](Index& next, const HashedRow<Row>& member) { members_[next++] = member; });
    });
  }

  Index count() const { return Index{1} << bits_; }
  std::size_t size() const { return members_.size(); }
  std::span<const HashedRow<Row>> members(Index partition) const {
    const Index begin = partition == 0 ? 0 : end_[partition - 1];
    return {members_.data() + begin, static_cast<std::size_t>(end_[partition] - begin)};
  }

 private:
  static constexpr Index ranges = 32;
  Index rows_per_range() const { return (rows_ + ranges - 1) / ranges; }

  template <class Body>
  void run_ranges_of_rows(const Execution& execution, const Body& body) const {
    run_tasks(execution, ranges, 8.0 * static_cast<double>(rows_), [&] { return body; });
  }

  // Turns the counts into the offset at which each range begins in each partition; returns the
  // total count.
  Index begin_partitions() {
    Index total = 0;
    for (Index partition = 0; partition < count(); ++partition) {
      for (Index range = 0; range < ranges; ++range) {
        total += std::exchange(next_[range * count() + partition], total);
      }
      end_[partition] = total;
    }
    return total;
  }

  Index rows_;
  int bits_;
  std::vector<Index> next_;  // [range][partition]: first the count, then where to write next
  std::vector<Index> end_;   // [partition]
  Array<HashedRow<Row>> members_;
};

// Returns for every row the first row with the same coordinates, -1 for rows of weight zero. The
// result is empty if all rows are distinct and of positive weight; in that case no array over all
// rows is written. Equal rows are in the same partition of the hashes, so each task can process one
// partition by itself. Adds the number of comparisons to `comparisons`.
template <class Row>
std::vector<Index> first_equal_rows_by(const Array<double>& coordinates, Index rows, int features,
                                       const double* weights, const Execution& execution,
                                       std::atomic<Index>& comparisons) {
  const HashPartitions<Row> partitions(coordinates, rows, features, weights, execution);
  std::vector<std::vector<DuplicateRow>> duplicates(static_cast<std::size_t>(partitions.count()));
  run_tasks(execution, partitions.count(), 20.0 * static_cast<double>(rows), [&] {
    return [&, search = DuplicateSearch<Row>(coordinates.data(), features)](Index task) mutable {
      const Index before = search.comparisons();
      duplicates[task] = search.list(partitions.members(task));
      comparisons += search.comparisons() - before;
    };
  });
  const bool repeated = std::any_of(duplicates.begin(), duplicates.end(),
                                    [](const auto& of_partition) { return !of_partition.empty(); });
  if (!repeated && partitions.size() == static_cast<std::size_t>(rows)) return {};
  std::vector<Index> result(static_cast<std::size_t>(rows));
  for (Index row = 0; row < rows; ++row) result[row] = weights && weights[row] == 0.0 ? -1 : row;
  for (const auto& of_partition : duplicates) {
    for (const DuplicateRow& duplicate : of_partition) result[duplicate.row] = duplicate.first;
  }
  return result;
}

std::vector<Index> first_equal_rows(const Array<double>& coordinates, Index rows, int features,
                                    const double* weights, const Execution& execution,
                                    std::atomic<Index>& comparisons) {
  const bool few = rows < std::numeric_limits<std::uint32_t>::max();
  const auto find = few ? first_equal_rows_by<std::uint32_t> : first_equal_rows_by<std::uint64_t>;
  return find(coordinates, rows, features, weights, execution, comparisons);
}

// The weight of each location. Weights of duplicate rows are added in ascending order, so that the
// sum does not depend on the order of the rows.
std::vector<double> merged_weights(const double* weights, const std::vector<Index>& location_of_row,
                                   Index locations) {
  std::vector<double> merged(static_cast<std::size_t>(locations), 0.0);
  const auto rows = static_cast<Index>(location_of_row.size());
  if (!weights) {
    for (Index location : location_of_row) merged[location] += 1.0;
    return merged;
  }
  std::vector<bool> seen(static_cast<std::size_t>(locations), false);
  std::vector<bool> shared(static_cast<std::size_t>(locations), false);
  for (Index location : location_of_row) {
    if (location < 0) continue;
    if (seen[location]) shared[location] = true;
    seen[location] = true;
  }
  std::vector<Index> order;
  for (Index row = 0; row < rows; ++row) {
    const Index location = location_of_row[row];
    if (location < 0) continue;
    if (shared[location]) {
      order.push_back(row);
    } else {
      merged[location] = weights[row];
    }
  }
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return weights[a] < weights[b]; });
  for (Index row : order) merged[location_of_row[row]] += weights[row];
  return merged;
}

// The coordinates of all rows as doubles: wrapped into the periods, multiplied by 2^-exponent, with
// 0.0 in place of -0.0.
Array<double> load(const Points& points, const double* period, int exponent,
                   const Execution& execution) {
  Array<double> out = unset_array<double>(points.rows * points.features);
  const double factor = std::ldexp(1.0, -exponent);
  const bool plain = !period && std::isnormal(factor);
  run_ranges(execution, points.rows, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      for (int k = 0; k < points.features; ++k) {
        const double x = points.at(row, k);
        double& to = out[row * points.features + k];
        if (plain) {
          to = std::clamp(x * factor, -largest_coordinate, largest_coordinate) + 0.0;
        } else {
          to = scaled(period ? wrapped(x, period[k]) : x, exponent);
        }
      }
    }
  });
  return out;
}

}  // namespace

double wrapped(double x, double period) {
  if (std::isinf(period)) return x;
  const double y = x - period * std::floor(x / period);
  return y >= period || y < 0.0 ? 0.0 : y;
}

int scale_exponent(const Points& points, const double* weights, const double* period,
                   const Execution& execution) {
  std::mutex mutex;
  double largest = 0.0;
  run_ranges(execution, points.rows, [&](Index begin, Index end) {
    double most = 0.0;
    for (Index row = begin; row < end; ++row) {
      if (weights && weights[row] == 0.0) continue;
      for (int k = 0; k < points.features; ++k) {
        const double x = points.at(row, k);
        most = std::max(most, std::fabs(period ? wrapped(x, period[k]) : x));
      }
    }
    const std::lock_guard lock(mutex);
    largest = std::max(largest, most);
  });
  return largest > 0.0 ? std::ilogb(largest) : 0;
}

Locations distinct_locations(const Points& points, const double* weights, const double* period,
                             int exponent, const Execution& execution) {
  Locations result;
  result.coordinates = load(points, period, exponent, execution);
  const int features = points.features;
  std::atomic<Index> comparisons{0};
  std::vector<Index> first =
      first_equal_rows(result.coordinates, points.rows, features, weights, execution, comparisons);
  result.comparisons = comparisons;
  if (first.empty()) {
    result.count = points.rows;
    if (weights) result.weights.assign(weights, weights + points.rows);
    return result;
  }
  // Number the locations in the order of their first rows, and move their coordinates together.
  Index& count = result.count;
  for (Index row = 0; row < points.rows; ++row) {
    if (first[row] == row) {
      if (count != row) {
        std::copy_n(&result.coordinates[row * features], features,
                    &result.coordinates[count * features]);
      }
      result.first_row.push_back(row);
      first[row] = count++;
    } else if (first[row] >= 0) {
      first[row] = first[first[row]];  // the earlier row already holds its location
    }
  }
  result.coordinates.resize(static_cast<std::size_t>(count * features));
  result.weights = merged_weights(weights, first, count);
  result.location_of_row = std::move(first);
  return result;
}

}  // namespace quickshift
