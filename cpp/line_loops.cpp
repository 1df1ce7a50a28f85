#include "line_loops.hpp"

#include "pair_terms.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

// The sum of all of `line_step` numbers, in the same order whatever the lanes.
inline double sum_of(const Vec (&parts)[line_step / lanes]) {
  double all[line_step];
  for (int part = 0; part < line_step / lanes; ++part) store(all + part * lanes, parts[part]);
  return ((all[0] + all[4]) + (all[2] + all[6])) + ((all[1] + all[5]) + (all[3] + all[7]));
}

// Eight sums side by side, whatever the lanes, so that the order is that of every instruction set.
template <class Terms, class Gap>
double sum_with(const LineBlock& line, const KernelScale& scale, const Gap& gap_to) {
  const Terms terms{scale};
  constexpr int parts = line_step / lanes;
  Vec sums[parts] = {};
  for (long long first = 0; first < line.count; first += line_step) {
    for (int part = 0; part < parts; ++part) {
      const long long i = first + part * lanes;
      const Vec gap = gap_to(load(line.places + i));
      const Vec term = terms.of_square(load(line.squares + i) + gap * gap);
      sums[part] += load(line.weights + i) * term;
    }
  }
  return sum_of(sums);
}

template <class Terms>
double line_sum(const LineBlock& line, const KernelScale& scale, double low, double high) {
  if (low == high) return sum_with<Terms>(line, scale, [&](Vec place) { return place - low; });
  return sum_with<Terms>(line, scale,
                         [&](Vec place) { return positive(larger(low - place, place - high)); });
}

// Eight sums side by side, as in `sum_with`.
template <class Terms>
SumAndSlope line_slope(const LineBlock& line, const KernelScale& scale, double at) {
  const Terms terms{scale};
  constexpr int parts = line_step / lanes;
  Vec sums[parts] = {};
  Vec moments[parts] = {};
  for (long long first = 0; first < line.count; first += line_step) {
    for (int part = 0; part < parts; ++part) {
      const long long i = first + part * lanes;
      const Vec delta = load(line.places + i) - at;
      const Vec term = terms.of_square(load(line.squares + i) + delta * delta);
      const Vec weighted = load(line.weights + i) * term;
      sums[part] += weighted;
      moments[part] = fused(weighted, delta, moments[part]);
    }
  }
  const double sum = sum_of(sums);
  return {sum, sum_of(moments) / (sum * scale.width)};
}

// By Hermite's polynomials: exp(-(z + t)²/2) = Σ exp(-z²/2) He_k(z) (-t)^k / k!.
void line_series(const LineBlock& line, const KernelScale& scale, double centre,
                 double* coefficients) {
  const RoughGaussian terms{scale};
  Vec sums[line_terms];
  clear(sums);
  for (long long first = 0; first < line.count; first += lanes) {
    const Vec delta = centre - load(line.places + first);
    const Vec z = delta / scale.width;
    Vec before =
        load(line.weights + first) * terms.of_square(load(line.squares + first) + delta * delta);
    Vec term = z * before;
    sums[0] += before;
    sums[1] += term;
    for (int k = 2; k < line_terms; ++k) {
      const Vec next = fused(z, term, before * (1.0 - k));
      before = term;
      term = next;
      sums[k] += term;
    }
  }
  double factor = 1.0;
  for (int k = 0; k < line_terms; ++k) {
    double sum = 0.0;
    for (int i = 0; i < lanes; ++i) sum += sums[k][i];
    coefficients[k] = factor * sum;
    factor /= -(k + 1.0);
  }
}

}  // namespace

constexpr LineSum by_kernel_on_line[] = {
    line_sum<Gaussian>,
    line_sum<Exponential>,
    line_sum<Compact<Kernel::silverman>>,
    line_sum<Compact<Kernel::uniform>>,
    line_sum<Compact<Kernel::triangular>>,
    line_sum<Compact<Kernel::tricube>>,
    line_sum<Compact<Kernel::cosine>>,
    line_sum<Epanechnikov>,
};
static_assert(sizeof by_kernel_on_line / sizeof *by_kernel_on_line == kernel_count,
              "one entry a kernel, in order");
constexpr LineSum rough_on_line[] = {line_sum<RoughGaussian>, line_sum<RoughExponential>};

extern const LineLoops line_table;
const LineLoops line_table = {by_kernel_on_line, rough_on_line, line_slope<Gaussian>,
                              line_slope<RoughGaussian>, line_series};

}  // namespace quickshift::QUICKSHIFT_ISA
