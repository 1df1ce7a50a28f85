#include "distinct.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>

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

// A hash table of rows. An entry holds the rest of the hash beside the row, so that coordinates are
// fetched only for likely hits.
class Table {
 public:
  Table(const double* coordinates, int features, Index rows)
      : coordinates_(coordinates),
        features_(features),
        entries_(std::bit_ceil(static_cast<std::size_t>(2 * rows + 1))) {}

  // The first row entered with the same coordinates; `row` itself if there was none.
  Index find_or_insert(Index row, std::uint64_t hash) {
    const std::size_t mask = entries_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      Entry& entry = entries_[at];
      if (entry.row < 0) {
        entry = {row, hash};
        return row;
      }
      if (entry.hash == hash && equal(entry.row, row)) return entry.row;
    }
  }

 private:
  struct Entry {
    Index row = -1;
    std::uint64_t hash = 0;
  };

  bool equal(Index a, Index b) const {
    return std::memcmp(coordinates_ + a * features_, coordinates_ + b * features_,
                       sizeof(double) * static_cast<std::size_t>(features_)) == 0;
  }

  const double* coordinates_;
  int features_;
  std::vector<Entry> entries_;
};

// Rows of positive weight by the leading bits of their hash, each part in the order of rows.
struct Parts {
  static constexpr int bits = 5;
  static constexpr Index count = Index{1} << bits;
  std::vector<Index> members;
  Index end[count] = {};

  Index begin(Index part) const { return part == 0 ? 0 : end[part - 1]; }

  Parts(const std::vector<std::uint64_t>& hashes, const double* weights) {
    const auto rows = static_cast<Index>(hashes.size());
    const auto present = [&](Index row) { return !weights || weights[row] != 0.0; };
    Index next[count + 1] = {};
    for (Index row = 0; row < rows; ++row) next[(hashes[row] >> (64 - bits)) + 1] += present(row);
    for (Index part = 0; part < count; ++part) next[part + 1] += next[part];
    members.resize(static_cast<std::size_t>(next[count]));
    for (Index row = 0; row < rows; ++row) {
      if (present(row)) members[next[hashes[row] >> (64 - bits)]++] = row;
    }
    std::copy_n(next, count, end);
  }
};

// For every row the first row with the same coordinates, -1 for rows of weight zero. Tasks own
// parts of the range of hashes, so that their tables are small and equal rows meet in one.
std::vector<Index> first_equal_rows(const std::vector<double>& coordinates, Index rows,
                                    int features, const double* weights,
                                    const Execution& execution) {
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(rows));
  run_ranges(execution, rows, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      hashes[row] = hash_of(coordinates.data() + row * features, features);
    }
  });
  const Parts parts(hashes, weights);
  std::vector<Index> first(static_cast<std::size_t>(rows), -1);
  run_tasks(execution, Parts::count, 20.0 * static_cast<double>(rows), [&] {
    return [&](Index part) {
      Table table(coordinates.data(), features, parts.end[part] - parts.begin(part));
      for (Index i = parts.begin(part); i < parts.end[part]; ++i) {
        const Index row = parts.members[i];
        first[row] = table.find_or_insert(row, hashes[row]);
      }
    };
  });
  return first;
}

// Sums each location's weights in ascending order, so that the order of rows does not matter.
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

std::vector<double> load(const Points& points, const double* period, int exponent,
                         const Execution& execution) {
  std::vector<double> out(static_cast<std::size_t>(points.rows * points.features));
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
  std::vector<Index> first =
      first_equal_rows(result.coordinates, points.rows, features, weights, execution);

  // Number the locations by first row and close the gaps.
  Index count = 0;
  result.first_row.reserve(static_cast<std::size_t>(points.rows));
  for (Index row = 0; row < points.rows; ++row) {
    if (first[row] == row) {
      if (count != row) {
        std::copy_n(&result.coordinates[row * features], features,
                    &result.coordinates[count * features]);
      }
      result.first_row.push_back(row);
      first[row] = count++;
    } else if (first[row] >= 0) {
      first[row] = first[first[row]];  // the earlier row carries its location already
    }
  }
  if (count == points.rows) {
    if (weights) result.weights.assign(weights, weights + points.rows);
    return result;
  }
  result.coordinates.resize(static_cast<std::size_t>(count * features));
  result.weights = merged_weights(weights, first, count);
  result.location_of_row = std::move(first);
  return result;
}

}  // namespace quickshift
