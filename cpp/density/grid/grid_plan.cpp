#include "density/grid/grid_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quickshift {

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double infinity = std::numeric_limits<double>::infinity();

// The shares of rtol that each source of error may take. The rest is left for rounding.
constexpr double alias_share = 0.4;
constexpr double window_share = 0.4;
constexpr double taps_share = 0.1;
constexpr double image_share = 0.02;

// The bounds below contain sums over the grid in place of integrals. On the coarsest grid that any
// tolerance allows, such a sum exceeds its integral by at most a tenth.
constexpr double inner_sums = 1.1;
constexpr double coarsest_rtol = 1e-2;  // larger tolerances do not make the grid coarser

constexpr double least_variance = 0.004;
constexpr double most_variance = 0.25;

double tolerance(const GridDemand& demand) { return std::min(demand.rtol, coarsest_rtol); }

// A bound on the spacing times the sum, over the grid points beyond t > 0, of the normal density
// with mean 0 and this variance.
double tail(double t, double variance, double spacing) {
  if (t <= 0.0) return infinity;
  return spacing / std::sqrt(2.0 * pi * variance) * std::exp(-t * t / (2.0 * variance)) /
         -std::expm1(-t * spacing / variance);
}

// A bound on the relative loss from truncating both windows, along one axis. For two points r
// apart, the contributions of the grid points to the kernel of the pair are distributed like a
// normal variable with mean v r, measured from one of the points, and variance v (1 - v). A pair up
// to `split` apart loses a tail of that distribution, which is a share of its own kernel. The loss
// of all other pairs together is bounded in absolute terms and compared with the least sum.
double window_loss(const GridDemand& demand, const GridPlan& plan) {
  const double v = plan.variance;
  const double u = v * (1.0 - v);
  const double radius = 0.5 * plan.width * plan.spacing;
  const double split = std::max(radius, std::sqrt(2.0 * std::log(4.0 * demand.weight_ratio)));
  const double near =
      tail(radius - v * split, u, plan.spacing) + tail(radius + v * split, u, plan.spacing);
  const double gap = split - radius;
  const double exponent = radius * radius / (2.0 * v) + gap * gap / (2.0 * (1.0 - v));
  const double far = 2.0 * std::exp(-exponent) * (plan.spacing / std::sqrt(2.0 * pi * u) + 0.5);
  return inner_sums * 2.0 * (near + far * demand.weight_ratio);
}

// The same for truncating the taps: for two points r apart, the step that the taps take is
// distributed with mean (1 - 2v) r and variance 2v (1 - 2v).
double taps_loss(const GridDemand& demand, const GridPlan& plan) {
  const double v = plan.variance;
  const double rest = 1.0 - 2.0 * v;
  const double radius = (plan.reach + 1) * plan.spacing;
  const double split = std::sqrt(2.0 * std::log(demand.weight_ratio));
  const double near = tail(radius - rest * split, 2.0 * v * rest, plan.spacing) +
                      tail(radius + rest * split, 2.0 * v * rest, plan.spacing);
  const double far = plan.spacing / std::sqrt(pi * v * rest) *
                     std::exp(-radius * radius / (2.0 * rest)) /
                     -std::expm1(-radius * plan.spacing / rest);
  return inner_sums * (near + far * demand.weight_ratio);
}

// Rounds down to 12 significant bits.
double rounded_down(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::floor(std::ldexp(mantissa, 12)), exponent - 12);
}

// The plan with the coarsest grid whose aliasing error is allowed, for windows of variance v (in
// units of h²). The kernel of a pair is a Gaussian that is split into three: the window of the
// sample, the taps and the window of the query. Two integrals over these factors are replaced by
// sums over the grid points, that is by trapezoidal rules. By Poisson's summation formula, both
// together change the kernel along one axis by at most a relative
// 4.2 exp(-2π² v (1 - v) / spacing²).
GridPlan plan_at(const GridDemand& demand, int width, double v) {
  const double allowed = alias_share * tolerance(demand) / (4.2 * demand.features);
  GridPlan plan;
  plan.variance = v;
  plan.step = rounded_down(demand.h * pi * std::sqrt(2.0 * v * (1.0 - v) / -std::log(allowed)));
  plan.spacing = plan.step / demand.h;
  plan.width = width;
  return plan;
}

bool is_wide_enough(const GridDemand& demand, const GridPlan& plan) {
  return demand.features * window_loss(demand, plan) <= window_share * tolerance(demand);
}

// The smallest reach at which truncating the taps loses little enough.
int reach_of_taps(const GridDemand& demand, GridPlan plan) {
  const double rest = 1.0 - 2.0 * plan.variance;
  const double far = std::log(demand.weight_ratio / tolerance(demand));
  plan.reach = static_cast<int>(std::sqrt(2.0 * rest * far) / plan.spacing);
  while (demand.features * taps_loss(demand, plan) > taps_share * tolerance(demand)) ++plan.reach;
  return plan.reach;
}

}  // namespace

GridPlan plan_for_width(const GridDemand& demand, int width) {
  double low = least_variance;
  double high = most_variance;
  if (!is_wide_enough(demand, plan_at(demand, width, low))) return {};
  for (int halving = 0; halving < 12; ++halving) {
    const double middle = std::sqrt(low * high);
    (is_wide_enough(demand, plan_at(demand, width, middle)) ? low : high) = middle;
  }
  GridPlan plan = plan_at(demand, width, low);
  plan.reach = reach_of_taps(demand, plan);
  return plan;
}

double image_distance(const GridDemand& demand) {
  const double amount = 27.0 * demand.weight_ratio / (image_share * tolerance(demand));
  return std::sqrt(2.0 * std::log(amount));
}

std::vector<double> GridPlan::decay() const {
  std::vector<double> values(static_cast<std::size_t>(wide()));
  for (int i = 0; i < wide(); ++i) {
    const double j = i - wide() / 2;
    values[i] = std::exp(-steepness() * j * j);
  }
  return values;
}

std::vector<double> GridPlan::taps() const {
  const double rest = 1.0 - 2.0 * variance;
  const double constant = spacing * spacing / (2.0 * pi * variance * std::sqrt(rest));
  std::vector<double> values(static_cast<std::size_t>(reach + 1));
  for (int m = 0; m <= reach; ++m) {
    const double z = m * spacing;
    values[m] = constant * std::exp(-z * z / (2.0 * rest));
  }
  return values;
}

}  // namespace quickshift
