// Sums of the infinite kernels, and the table of all pair loops. The rest gains nothing from wider
// vectors than four doubles: it is that of QUICKSHIFT_NARROW, an instruction set's namespace.
#include "pair_loop.hpp"

namespace quickshift::QUICKSHIFT_NARROW {

void add_silverman(const LeafPair&, const KernelScale&, double*, double*);
void add_uniform(const LeafPair&, const KernelScale&, double*, double*);
void add_triangular(const LeafPair&, const KernelScale&, double*, double*);
void add_tricube(const LeafPair&, const KernelScale&, double*, double*);
void add_cosine(const LeafPair&, const KernelScale&, double*, double*);
void add_epanechnikov(const LeafPair&, const KernelScale&, double*, double*);
void to_silverman(const KernelScale&, int, double*);
void to_uniform(const KernelScale&, int, double*);
void to_triangular(const KernelScale&, int, double*);
void to_tricube(const KernelScale&, int, double*);
void to_cosine(const KernelScale&, int, double*);
void to_epanechnikov(const KernelScale&, int, double*);
double line_silverman(const LineBlock&, const KernelScale&, double, double);
double line_uniform(const LineBlock&, const KernelScale&, double, double);
double line_triangular(const LineBlock&, const KernelScale&, double, double);
double line_tricube(const LineBlock&, const KernelScale&, double, double);
double line_cosine(const LineBlock&, const KernelScale&, double, double);
double line_epanechnikov(const LineBlock&, const KernelScale&, double, double);
void squares(const double*, const LeafBlock&, double*);
LeafView squares_above(const double*, const LeafBlock&, const double*, double, double*);
unsigned near_box(const LeafBlock&, const double*, const double*);
void ranks(const double*, int, long long*);
void offer_higher(const LeafBlock&, const HigherSamples&, unsigned, HigherFound&);

}  // namespace quickshift::QUICKSHIFT_NARROW

namespace quickshift::QUICKSHIFT_ISA {

using namespace QUICKSHIFT_NARROW;

namespace {

struct Gaussian {
  static constexpr bool may_fuse = false;
  static constexpr bool long_chain = true;
  const KernelScale& scale;
  Vec of_square(Vec square) const { return exp_of(square * (-0.5 / scale.width_sq)); }
};

struct Exponential {
  static constexpr bool may_fuse = false;
  static constexpr bool long_chain = true;
  const KernelScale& scale;
  Vec of_square(Vec square) const { return exp_of(-root(square) / scale.width); }
};

struct RoughGaussian {
  static constexpr bool may_fuse = true;
  static constexpr bool long_chain = true;
  const KernelScale& scale;
  Vec of_square(Vec square) const { return rough_power_of_two(square * scale.log2_gaussian); }
};

struct RoughExponential {
  static constexpr bool may_fuse = false;
  static constexpr bool long_chain = true;
  const KernelScale& scale;
  Vec of_square(Vec square) const {
    return rough_power_of_two(root(square) * scale.log2_exponential);
  }
};

// Eight sums side by side, as in `line_sum`.
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
  Vec sums[line_terms] = {};
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

constexpr AddTerms by_kernel[] = {
    add_terms<Gaussian>, add_terms<Exponential>, add_silverman,
    add_uniform,         add_triangular,         add_tricube,
    add_cosine,          add_epanechnikov,
};
static_assert(sizeof by_kernel / sizeof *by_kernel == kernel_count, "one entry a kernel, in order");

constexpr ToTerms to_by_kernel[] = {
    to_terms<Gaussian>, to_terms<Exponential>, to_silverman, to_uniform, to_triangular, to_tricube,
    to_cosine,          to_epanechnikov,
};
static_assert(sizeof to_by_kernel / sizeof *to_by_kernel == kernel_count, "the same order");

constexpr LineSum lines[] = {
    line_sum<Gaussian>, line_sum<Exponential>, line_silverman, line_uniform,
    line_triangular,    line_tricube,          line_cosine,    line_epanechnikov,
};
static_assert(sizeof lines / sizeof *lines == kernel_count, "the same order");

constexpr AddTerms rough[] = {add_terms<RoughGaussian>, add_terms<RoughExponential>};
constexpr ToTerms to_rough[] = {to_terms<RoughGaussian>, to_terms<RoughExponential>};
constexpr LineSum rough_lines[] = {line_sum<RoughGaussian>, line_sum<RoughExponential>};

extern const PairKernels pair_table;
const PairKernels pair_table = {by_kernel,
                                to_by_kernel,
                                rough,
                                to_rough,
                                lines,
                                rough_lines,
                                line_slope<Gaussian>,
                                line_slope<RoughGaussian>,
                                line_series,
                                squares,
                                squares_above,
                                near_box,
                                ranks,
                                offer_higher};

}  // namespace quickshift::QUICKSHIFT_ISA
