// The distances that stand for duplicates of a point in its local scale.
#pragma once

#include <array>
#include <cmath>

namespace quickshift {

// Sums of powers 1^p + 2^p + ... + n^p, with p = 1/d.
class CopyDistances {
 public:
  explicit CopyDistances(int dimension) : power_(1.0 / dimension) {
    sums_[0] = 0.0;
    for (int j = 1; j <= tabulated; ++j) sums_[j] = sums_[j - 1] + std::pow(j, power_);
  }

  // The sum of the first `taken` of the distances rho (j / weight)^(1/d), j = 1, 2, ...; if `taken`
  // is not an integer, the last distance counts in part.
  double sum(double taken, double weight, double rho) const {
    const double whole = std::floor(taken);
    const double last = (taken - whole) * std::pow(whole + 1.0, power_);
    return rho * (sum_of_powers(whole) + last) / std::pow(weight, power_);
  }

 private:
  static constexpr int tabulated = 256;

  // Beyond the table by the Euler-Maclaurin formula, to about 1e-15.
  double sum_of_powers(double n) const {
    if (n <= tabulated) return sums_[static_cast<int>(n)];
    return sums_[tabulated] + (series(n) - series(tabulated));
  }
  double series(double n) const {
    const double p = power_;
    const double slope = p * std::pow(n, p - 1.0);
    const double third = slope * (p - 1.0) * (p - 2.0) / (n * n);
    return std::pow(n, p + 1.0) / (p + 1.0) + std::pow(n, p) / 2.0 + slope / 12.0 - third / 720.0;
  }

  double power_;
  std::array<double, tabulated + 1> sums_;
};

}  // namespace quickshift
