#include "vector/response_loops.hpp"

#include "vector/pair_terms.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

// The sum of `response_step` numbers, added in the same order for any number of lanes.
inline double sum_of(const Vec (&parts)[response_step / lanes]) {
  double all[response_step];
  for (int part = 0; part < response_step / lanes; ++part) store(all + part * lanes, parts[part]);
  return ((all[0] + all[4]) + (all[2] + all[6])) + ((all[1] + all[5]) + (all[3] + all[7]));
}

// The terms of the samples from the i-th on, weights included, at points whose distances from the
// samples along the line are `gap`.
template <class Terms>
struct WeightedTerms {
  WeightedTerms(const ResponseBlock& block, const KernelScale& scale) : line(block), terms{scale} {}
  Vec at(long long i, Vec gap) const {
    const Vec term = terms.of_square(load(line.squares + i) + gap * gap);
    return load(line.weights + i) * term;
  }
  const ResponseBlock& line;
  Terms terms;
};

// With the logarithms of ResponseBlock.
template <>
struct WeightedTerms<RoughGaussian> {
  WeightedTerms(const ResponseBlock& block, const KernelScale& scale)
      : line(block), factor(broadcast(scale.log2_gaussian)) {}
  Vec at(long long i, Vec gap) const {
    return rough_power_of_two(fused(gap * gap, factor, load(line.squares + i)));
  }
  const ResponseBlock& line;
  Vec factor;
};

// The kernel sum over the samples near a line. gap_to(places) returns the distances along the line
// from the samples at these places to the point where the sum is evaluated. Eight partial sums are
// kept for any number of lanes, so that every instruction set adds in the same order.
template <class Terms, class Gap>
double sum_with(const ResponseBlock& line, const KernelScale& scale, const Gap& gap_to) {
  const WeightedTerms<Terms> terms(line, scale);
  constexpr int parts = response_step / lanes;
  Vec sums[parts] = {};
  for (long long first = 0; first < line.count; first += response_step) {
    for (int part = 0; part < parts; ++part) {
      const long long i = first + part * lanes;
      sums[part] += terms.at(i, gap_to(load(line.places + i)));
    }
  }
  return sum_of(sums);
}

template <class Terms>
double response_sum(const ResponseBlock& line, const KernelScale& scale, double low, double high) {
  if (low == high) return sum_with<Terms>(line, scale, [&](Vec place) { return place - low; });
  return sum_with<Terms>(line, scale,
                         [&](Vec place) { return positive(larger(low - place, place - high)); });
}

// The sum and its first moment, with eight partial sums each as in `sum_with`.
template <class Terms>
SumAndSlope response_slope(const ResponseBlock& line, const KernelScale& scale, double at) {
  const WeightedTerms<Terms> terms(line, scale);
  constexpr int parts = response_step / lanes;
  Vec sums[parts] = {};
  Vec moments[parts] = {};
  for (long long first = 0; first < line.count; first += response_step) {
    for (int part = 0; part < parts; ++part) {
      const long long i = first + part * lanes;
      const Vec delta = load(line.places + i) - at;
      const Vec weighted = terms.at(i, delta);
      sums[part] += weighted;
      moments[part] = fused(weighted, delta, moments[part]);
    }
  }
  const double sum = sum_of(sums);
  return {sum, sum_of(moments) / (sum * scale.width)};
}

// By Hermite polynomials: exp(-(z + t)²/2) = Σ exp(-z²/2) He_k(z) (-t)^k / k!, where z is the
// distance from the sample to the center and t that from the center to the place, both in
// bandwidths and with their signs.
void response_series(const ResponseBlock& line, const KernelScale& scale, double center,
                     double* coefficients) {
  const WeightedTerms<RoughGaussian> terms(line, scale);
  Vec sums[series_terms];
  clear(sums);
  for (long long first = 0; first < line.count; first += lanes) {
    const Vec delta = center - load(line.places + first);
    const Vec z = delta / scale.width;
    Vec before = terms.at(first, delta);
    Vec term = z * before;
    sums[0] += before;
    sums[1] += term;
    for (int k = 2; k < series_terms; ++k) {
      const Vec next = fused(z, term, before * (1.0 - k));
      before = term;
      term = next;
      sums[k] += term;
    }
  }
  double factor = 1.0;
  for (int k = 0; k < series_terms; ++k) {
    double sum = 0.0;
    for (int i = 0; i < lanes; ++i) sum += sums[k][i];
    coefficients[k] = factor * sum;
    factor /= -(k + 1.0);
  }
}

}  // namespace

#define QUICKSHIFT_RESPONSE_SUM(name) response_sum<TermsOf<Kernel::name>>,
constexpr ResponseSum response_sums[] = {QUICKSHIFT_EACH_KERNEL(QUICKSHIFT_RESPONSE_SUM)};
constexpr ResponseSum rough_response_sums[] = {response_sum<RoughGaussian>,
                                               response_sum<RoughExponential>};

extern const ResponseLoops response_table;
const ResponseLoops response_table = {response_sums, rough_response_sums, response_slope<Gaussian>,
                                      response_slope<RoughGaussian>, response_series};

}  // namespace quickshift::QUICKSHIFT_ISA
