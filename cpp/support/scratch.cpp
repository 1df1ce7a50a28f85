#include "support/scratch.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

namespace quickshift {

namespace {

constexpr double share_of_memory = 0.25;
constexpr double always_allowed = 0x1p28;  // bytes
constexpr double bytes_per_point = 120.0;
constexpr double bytes_per_coordinate = 24.0;

std::atomic<double> limit = std::numeric_limits<double>::infinity();

}  // namespace

double scratch_limit(double points, int features) {
  const double by_points = std::max(bytes_per_point, bytes_per_coordinate * features) * points;
  return std::min(share_of_memory * memory_limit(), std::max(always_allowed, by_points));
}

double memory_limit() { return limit; }
void set_memory_limit(double bytes) { limit = bytes; }

}  // namespace quickshift
