#include "distinct.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

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

// An open-addressing table of locations; a slot holds part of the hash beside the location, so
// that coordinates are fetched only for likely hits.
class Table {
 public:
  Table(const double* coordinates, int features, Index capacity)
      : coordinates_(coordinates),
        features_(features),
        shift_(64 - std::bit_width(static_cast<std::uint64_t>(2 * capacity))),
        entries_(std::size_t{1} << (64 - shift_)) {}

  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&entries_[hash >> shift_], 1); }

  // The location equal to `candidate`, which is entered if it is the first.
  Index find_or_insert(Index candidate, std::uint64_t hash) {
    const std::size_t mask = entries_.size() - 1;
    const auto tag = static_cast<std::uint32_t>(hash);
    for (std::size_t at = hash >> shift_;; at = (at + 1) & mask) {
      Entry& entry = entries_[at];
      if (entry.location < 0) {
        entry = {candidate, tag};
        return candidate;
      }
      if (entry.tag == tag && equal(entry.location, candidate)) return entry.location;
    }
  }

 private:
  struct Entry {
    Index location = -1;
    std::uint32_t tag = 0;
  };

  bool equal(Index a, Index b) const {
    return std::memcmp(coordinates_ + a * features_, coordinates_ + b * features_,
                       sizeof(double) * static_cast<std::size_t>(features_)) == 0;
  }

  const double* coordinates_;
  int features_;
  int shift_;
  std::vector<Entry> entries_;
};

// For every row the first row with the same coordinates.
std::vector<Index> first_equal_rows(const std::vector<double>& coordinates, Index rows, int features,
                                    const double* weights) {
  constexpr Index block = 32;
  Table table(coordinates.data(), features, rows);
  std::vector<Index> first(static_cast<std::size_t>(rows));
  std::uint64_t hashes[block];
  for (Index begin = 0; begin < rows; begin += block) {
    const Index end = std::min(rows, begin + block);
    for (Index row = begin; row < end; ++row) {
      hashes[row - begin] = hash_of(coordinates.data() + row * features, features);
      table.prefetch(hashes[row - begin]);
    }
    for (Index row = begin; row < end; ++row) {
      const bool absent = weights && weights[row] == 0.0;
      first[row] = absent ? -1 : table.find_or_insert(row, hashes[row - begin]);
    }
  }
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
  std::vector<Index> order;
  for (Index row = 0; row < rows; ++row) {
    if (location_of_row[row] >= 0) order.push_back(row);
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

int scale_exponent(const Points& points, const double* period, const Execution& execution) {
  std::vector<double> largest(static_cast<std::size_t>(points.rows / (1 << 14) + 1), 0.0);
  run_ranges(execution, points.rows, [&](Index begin, Index end) {
    double most = 0.0;
    for (Index row = begin; row < end; ++row) {
      for (int k = 0; k < points.features; ++k) {
        const double x = points.at(row, k);
        most = std::max(most, std::fabs(period ? wrapped(x, period[k]) : x));
      }
    }
    largest[begin / (1 << 14)] = most;
  });
  const double most = *std::max_element(largest.begin(), largest.end());
  return most > 0.0 ? std::ilogb(most) : 0;
}

Locations distinct_locations(const Points& points, const double* weights, const double* period,
                             int exponent, const Execution& execution) {
  Locations result;
  result.coordinates = load(points, period, exponent, execution);
  const int features = points.features;
  std::vector<Index> first = first_equal_rows(result.coordinates, points.rows, features, weights);

  // Number the locations by first row and close the gaps.
  Index count = 0;
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
