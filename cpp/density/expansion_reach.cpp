#include "density/expansion_reach.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace quickshift {

namespace {

// The largest error of an expansion, per unit of weight and relative to k(0). A sum is usually a
// tenth or more of the weight inside the support, and most errors are far below the largest.
constexpr double most_error = 3e-14;
// In two features, pairs near distance 0 limit the speed of all kernels except the cosine, so the
// error may be larger; at small distances even more, because few samples are that near. The limit
// of the silverman kernel is lower, because its bounds add up to a larger share of its sums.
constexpr double most_error_in_plane = 6e-13;
constexpr double most_silverman_error_in_plane = 3e-13;
constexpr double most_relief = 20.0;

constexpr int most_power = 2 * RadialSeries::most;
constexpr int most_degree = 48;  // the last term of a series in θ that is computed one by one

using Powers = std::array<double, most_power>;

// The coefficients of k in powers of t, t = 1 at the edge of the support.
Powers powers_of(Kernel kernel) {
  Powers result{};
  if (kernel == Kernel::triangular) {
    result[0] = 1.0;
    result[1] = -1.0;
  } else if (kernel == Kernel::tricube) {
    result[0] = 1.0;
    result[3] = -3.0;
    result[6] = 3.0;
    result[9] = -1.0;
  } else {
    // cos(πt/2) is the real part of exp(i π t / 2); exp(-a) sin(a + π/4), a = 3πt/4, is the
    // imaginary part of exp(iπ/4 + (i - 1) a).
    const bool cosine = kernel == Kernel::cosine;
    const double rate = cosine ? 1.5707963267948966 : silverman_support;
    double factor = cosine ? 1.0 : std::sqrt(0.5);
    // By n modulo 4 and modulo 8: the signs of the n-th derivatives at 0, up to a common factor.
    constexpr int of_cosine[] = {1, 0, -1, 0};
    constexpr int of_silverman[] = {1, 0, -1, 1, -1, 0, 1, -1};
    for (int n = 0; n < most_power; ++n) {
      const int sign = cosine ? of_cosine[n % 4] : of_silverman[n % 8];
      const double size = !cosine && n % 2 ? std::sqrt(2.0) : 1.0;
      result[n] = sign * size * factor;
      factor *= rate / (n + 1);
    }
  }
  return result;
}

// The product of p, p - 1, …, with j factors.
double falling(double p, int j) {
  double product = 1.0;
  for (int i = 0; i < j; ++i) product *= p - i;
  return product;
}

RadialSeries series_of(const Powers& powers) {
  RadialSeries series;
  for (int i = 0; i < RadialSeries::most; ++i) {
    if (powers[2 * i] != 0.0) series.evens = i + 1;
    if (powers[2 * i + 1] != 0.0) series.odds = i + 1;
  }
  for (int j = 0; j <= most_expansion_order; ++j) {
    for (int i = 0; i + j < series.evens; ++i) {
      series.even[i][j] = powers[2 * (i + j)] * falling(i + j, j);
    }
    for (int i = 0; i < series.odds; ++i) {
      series.odd[i][j] = powers[2 * i + 1] * falling(i + 0.5, j);
    }
  }
  return series;
}

// Bounds |C_n|, where (1 - 2 x θ + θ²)^(m/2) = Σ C_n(x) θ^n and |x| <= 1: the function is
// (1 - z θ)^(m/2) (1 - z' θ)^(m/2) with |z| = |z'| = 1, so the coefficients are at most those of
// the square of the series with the absolute binomial coefficients of m/2.
std::vector<double> expansion_bounds(int m) {
  std::vector<double> binomials(most_degree + 1);
  double binomial = 1.0;
  for (int k = 0; k <= most_degree; ++k) {
    binomials[k] = std::fabs(binomial);
    binomial *= (0.5 * m - k) / (k + 1);
  }
  std::vector<double> bounds(most_degree + 1, 0.0);
  for (int n = 0; n <= most_degree; ++n) {
    for (int k = 0; k <= n; ++k) bounds[n] += binomials[k] * binomials[n - k];
  }
  return bounds;
}

double power(double x, int n) {
  double result = 1.0;
  for (; n > 0; n /= 2, x *= x) {
    if (n % 2) result *= x;
  }
  return result;
}

// The error of expansions of one order for distances between centers from `least` to `most`, as a
// function of the spread.
class Error {
 public:
  Error(const Powers& powers, const std::vector<std::vector<double>>& bounds, int order,
        double least, double most)
      : order_(order), terms_(most_degree + 1, 0.0) {
    for (int m = 0; m < most_power; ++m) {
      if (powers[m] == 0.0) continue;
      odd_ = odd_ || m % 2;
      const int last = m % 2 ? most_degree : std::min(m, most_degree);
      for (int n = order + 1; n <= last; ++n) {
        const double distance = n <= m ? power(most, m - n) : power(1.0 / least, n - m);
        terms_[n] += std::fabs(powers[m]) * bounds[m][n] * distance;
      }
    }
    least_ = least;
  }

  double operator()(double spread) const {
    const double ratio = spread / least_;
    if (odd_ && !(ratio < 0.9)) return std::numeric_limits<double>::infinity();
    double sum = 0.0;
    double factor = power(spread, order_ + 1);
    for (int n = order_ + 1; n <= most_degree; ++n, factor *= spread) sum += terms_[n] * factor;
    // The bounds fall with n, so the rest of an odd power is at most a geometric series.
    return odd_ ? sum + terms_[most_degree] * (factor / spread) * ratio / (1.0 - ratio) : sum;
  }

 private:
  int order_;
  bool odd_ = false;
  double least_ = 0.0;
  std::vector<double> terms_;
};

// The largest spread with at most this error.
double largest_spread(const Error& error, double most_error) {
  double low = 0.0;
  double high = 1.0;
  for (int i = 0; i < 24; ++i) {
    const double middle = 0.5 * (low + high);
    (error(middle) <= most_error ? low : high) = middle;
  }
  return low;
}

}  // namespace

int ExpansionReach::bin_of(double square) {
  // The exponent and two bits of the fraction, counted from those of 2^-octaves.
  constexpr auto first = std::bit_cast<std::int64_t>(1.0) / (std::int64_t{1} << 50) - 4 * octaves;
  const auto bin = static_cast<int>((std::bit_cast<std::int64_t>(square) >> 50) - first + 1);
  return std::clamp(bin, 0, bins - 1);
}

ExpansionReach::ExpansionReach(Kernel kernel, int features)
    : orders_(kernel == Kernel::cosine ? 3 : orders),
      least_points_(kernel == Kernel::cosine ? 24 : 40) {
  const bool plane = features == 2 && kernel != Kernel::cosine;
  const double most_in_plane =
      kernel == Kernel::silverman ? most_silverman_error_in_plane : most_error_in_plane;
  const Powers powers = powers_of(kernel);
  series_ = series_of(powers);
  std::vector<std::vector<double>> bounds;
  for (int m = 0; m < most_power; ++m) bounds.push_back(expansion_bounds(m));
  for (int bin = 0; bin < bins; ++bin) {
    const int quarter = bin - 1;
    const auto edge = [](int i) { return std::ldexp(1.0 + 0.25 * (i % 4), i / 4 - octaves); };
    const double least = bin == 0 ? 0.0 : std::sqrt(edge(quarter));
    const double most = std::sqrt(edge(quarter + 1));
    errors_[bin] =
        plane ? most_in_plane * std::clamp(0.1 / (most * most), 1.0, most_relief) : most_error;
    for (int i = 0; i < orders; ++i) {
      const Error error(powers, bounds, expansion_orders[i], least, most);
      const double spread = largest_spread(error, errors_[bin]);
      reaches_[bin][i] = spread * spread;
    }
  }
}

namespace {

template <Kernel kernel>
const ExpansionReach& reach_of(int features) {
  static const ExpansionReach line(kernel, 1);
  static const ExpansionReach plane(kernel, 2);
  return features == 1 ? line : plane;
}

}  // namespace

const ExpansionReach& expansion_reach(Kernel kernel, int features) {
  if (kernel == Kernel::silverman) return reach_of<Kernel::silverman>(features);
  if (kernel == Kernel::triangular) return reach_of<Kernel::triangular>(features);
  if (kernel == Kernel::tricube) return reach_of<Kernel::tricube>(features);
  return reach_of<Kernel::cosine>(features);
}

}  // namespace quickshift
