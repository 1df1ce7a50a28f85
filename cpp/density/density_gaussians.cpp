// Exponential sums at the samples as sums of Gaussians. The kernel is an integral over Gaussians of
// all widths, and a trapezoidal rule makes it a sum of about thirty of them, with positive weights.
// Each is summed by the grid or pair by pair. Pairs so near that the Gaussians left out matter get
// the rest of the kernel, term by term (docs/decisions/32-exponential.md).
#include "density/density_gaussians.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "density/methods.hpp"

namespace quickshift {

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double least_rtol = 1e-11;
constexpr double most_weight_ratio_of_gaussians = 1e30;

// The shares of rtol that each source of error may take. The rest is left for rounding.
constexpr double gaussians_share = 0.5;
constexpr double rule_share = 0.1;  // counts twice
constexpr double wide_share = 0.05;
constexpr double narrow_share = 0.1;
constexpr double near_share = 0.05;

// Measured times of a pair, as multiples of that of a Gaussian term: an exponential term, and a
// term of near_sums.
constexpr double exponential_pair = 1.4;
constexpr double near_pair = 4.0;
// If summing pair by pair is estimated to take less time than this, nothing else is considered.
constexpr double least_seconds = 0.02;
// Of bandwidths in the scale of the tree, whose squares have to stay in the range of doubles.
constexpr double least_bandwidth = 1e-140;

// The integrand over y = ln u, and its trapezoidal rule with the points y_k = k * step.
struct Rule {
  double step;

  double u(int k) const { return std::exp(k * step); }
  double weight(int k) const { return step / std::sqrt(pi) * std::exp(-u(k) + 0.5 * k * step); }
};

// A bound on the error of the rule, relative to exp(-t), for distances of up to t bandwidths.
double rule_error(double step, double t) {
  constexpr int angles = 64;
  double least = 1.0;
  for (int i = 1; i < angles; ++i) {
    const double angle = 0.5 * pi * i / angles;
    const double decay = std::exp(-2.0 * pi * angle / step);
    const double growth = std::exp(t * (1.0 - std::cos(angle))) / std::sqrt(std::cos(angle));
    least = std::min(least, 2.0 * decay / (1.0 - decay) * growth);
  }
  return least;
}

Rule rule_for(double rtol, double t) {
  double step = 1.0;
  while (rule_error(step, t) > rule_share * rtol) step *= 0.98;
  return {step};
}

// The last point of the rule: those beyond it add at most erfc(sqrt(u)) to any term.
int last_point(const Rule& rule, double rtol, double t) {
  int k = 0;
  while (std::erfc(std::sqrt(rule.u(k))) > wide_share * rtol * std::exp(-t)) ++k;
  return k;
}

// The distance, in bandwidths, from which on the points before the k-th are negligible. They add at
// most 2 sqrt(u / π) exp(-t² / 4u), and this divided by exp(-t) falls from t = 2u on.
double near_radius(const Rule& rule, int k, double rtol) {
  const double u = rule.u(k);
  const double amount = std::log(2.0 * std::sqrt(u / pi) / (narrow_share * rtol));
  return 2.0 * (u + std::sqrt(u * (u + std::max(amount, 0.0))));
}

// The modified Bessel function I_n(x), x > 0, by its series, whose terms are all positive.
double bessel(int n, double x) {
  double term = 1.0;
  for (int i = 1; i <= n; ++i) term *= 0.5 * x / i;
  double sum = 0.0;
  for (int m = 1; term > 1e-18 * sum; ++m) {
    sum += term;
    term *= 0.25 * x * x / (m * (m + n));
  }
  return sum;
}

// The sum of the rule's Gaussians from `first` to `last` as a polynomial in z = 2 t² / r² - 1. A
// Gaussian is exp(-a (1 + z)), a = r² / 8u, whose Chebyshev series has the coefficients
// 2 exp(-a) (-1)^n I_n(a). Returns none if the polynomial is not accurate enough.
std::optional<NearTerms> near_terms(const Rule& rule, int first, int last, double r, double rtol,
                                    double h) {
  constexpr int count = NearTerms::count;
  std::array<double, count> series{};
  double left_out = 0.0;
  for (int k = first; k <= last; ++k) {
    const double a = r * r / (8.0 * rule.u(k));
    const double factor = 2.0 * rule.weight(k) * std::exp(-a);
    for (int n = 0; n < count; ++n) {
      series[n] += (n == 0 ? 0.5 : 1.0) * (n % 2 ? -factor : factor) * bessel(n, a);
    }
    for (int n = count; n < 2 * count; ++n) left_out += factor * bessel(n, a);
  }
  if (left_out > near_share * rtol * std::exp(-r)) return {};
  NearTerms near{{}, r * r * h * h};
  std::array<double, count> before{1.0};        // T_(n-1) in powers of z
  std::array<double, count> current{0.0, 1.0};  // T_n
  near.coefficients[0] = series[0];
  for (int n = 1; n < count; ++n) {
    std::array<double, count> next{};
    for (int i = 0; i < count; ++i) {
      near.coefficients[i] += series[n] * current[i];
      next[i] = (i > 0 ? 2.0 * current[i - 1] : 0.0) - before[i];
    }
    before = current;
    current = next;
  }
  return near;
}

DensityOptions options_of(const DensityOptions& options, double width) {
  DensityOptions result = options;
  result.kernel = Kernel::gaussian;
  result.bandwidth = options.bandwidth * width;
  result.rtol = gaussians_share * options.rtol;
  result.method = DensityMethod::automatic;
  return result;
}

bool is_supported(const Tree& samples, const DensityOptions& options) {
  return options.kernel == Kernel::exponential && samples.features <= axes && !samples.periodic &&
         !options.leave_out && options.rtol >= least_rtol &&
         samples.total_weight <= most_weight_ratio_of_gaussians * samples.least_weight &&
         bandwidth_in(samples, options) >= least_bandwidth;
}

}  // namespace

std::optional<GaussianMixture> prepare_gaussians(const Tree& samples, const DensityOptions& options,
                                                 bool forced) {
  if (!is_supported(samples, options)) return {};
  const double direct = exponential_pair * direct_seconds(samples, samples, options);
  if (!forced && direct < least_seconds) return {};
  const double rtol = std::min(options.rtol, 1e-3);
  const double t = std::log(samples.total_weight / samples.least_weight);
  const double h = bandwidth_in(samples, options);
  const Rule rule = rule_for(rtol, t);
  const int last = last_point(rule, rtol, t);
  std::optional<GaussianMixture> best;
  std::vector<GaussianPart> parts;
  double least = forced ? std::numeric_limits<double>::infinity() : direct;
  double by_gaussians = 0.0;
  int kept = 0;
  // From the widest Gaussian to narrower ones, until the time for them exceeds what they save.
  for (int k = last; by_gaussians < least && k > last - 200; --k) {
    const double width = std::sqrt(2.0 * rule.u(k));
    const GridChoice choice = choose_grid_or_pairs(samples, samples, options_of(options, width));
    by_gaussians += choice.job ? choice.job->seconds : choice.direct_seconds;
    parts.push_back({rule.weight(k), width, {}});
    if (choice.job) parts.back().grid = choice.job->layout.plan;
    const double r = near_radius(rule, k, rtol);
    const double seconds = by_gaussians + near_pair * seconds_within(samples, r * r * h * h);
    if (seconds >= least) continue;
    const auto near = near_terms(rule, k, last, r, rtol, h);
    if (!near) continue;
    least = seconds;
    kept = static_cast<int>(parts.size());
    best = GaussianMixture{{}, *near};
  }
  if (!best) return {};
  parts.erase(parts.begin() + kept, parts.end());
  best->parts = std::move(parts);
  return best;
}

void gaussian_sums(const Tree& samples, const DensityOptions& options,
                   const GaussianMixture& mixture, const Execution& execution, Sums& sums) {
  near_sums(samples, options, mixture.near, execution, sums);
  for (const GaussianPart& part : mixture.parts) {
    if (execution.stops()) return;
    const DensityOptions gaussian = options_of(options, part.width);
    Sums found;
    found.values = filled_array(samples.slots(), 0.0, execution);
    if (part.grid) {
      const GridJob job = grid_of_plan(samples, samples, gaussian, *part.grid);
      grid_sums(samples, samples, gaussian, job, execution, found);
    } else {
      direct_sums(samples, samples, gaussian, execution, found);
    }
    run_ranges(execution, samples.slots(), [&](Index begin, Index end) {
      for (Index slot = begin; slot < end; ++slot) {
        sums.values[slot] += part.weight * found.values[slot];
      }
    });
  }
}

}  // namespace quickshift
