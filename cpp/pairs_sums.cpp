// Sums where nothing is decided by comparing distances, so products and sums may be fused.
#include "vec.hpp"

namespace quickshift::QUICKSHIFT_ISA {

void add_silverman(const LeafPair&, const KernelScale&, double*);
void add_uniform(const LeafPair&, const KernelScale&, double*);
void add_triangular(const LeafPair&, const KernelScale&, double*);
void add_tricube(const LeafPair&, const KernelScale&, double*);
void add_cosine(const LeafPair&, const KernelScale&, double*);
void to_silverman(const KernelScale&, int, double*);
void to_uniform(const KernelScale&, int, double*);
void to_triangular(const KernelScale&, int, double*);
void to_tricube(const KernelScale&, int, double*);
void to_cosine(const KernelScale&, int, double*);
void squares(const double*, const LeafBlock&, double*);
LeafView squares_above(const double*, const LeafBlock&, const double*, double, double*);

namespace {

// h² - |q - x|² directly: one fused operation a feature. What is left within rounding of the edge
// counts as outside, so that a sample at exactly h adds nothing.
struct Epanechnikov {
  const KernelScale& scale;
  Vec start() const { return broadcast(scale.width_sq); }
  Vec add(Vec rest, Vec delta) const { return rest - delta * delta; }
  Vec after(Vec square) const { return scale.width_sq - square; }
  Vec finish(Vec rest) const { return where(rest > scale.rounding, rest); }
};

struct Gaussian {
  const KernelScale& scale;
  Vec start() const { return Vec{}; }
  Vec add(Vec square, Vec delta) const { return square + delta * delta; }
  Vec after(Vec square) const { return square; }
  Vec finish(Vec square) const { return exp_of(square * (-0.5 / scale.width_sq)); }
};

struct Exponential {
  const KernelScale& scale;
  Vec start() const { return Vec{}; }
  Vec add(Vec square, Vec delta) const { return square + delta * delta; }
  Vec after(Vec square) const { return square; }
  Vec finish(Vec square) const { return exp_of(-root(square) / scale.width); }
};

}  // namespace

constexpr AddTerms by_kernel[] = {
    add_terms<Gaussian>, add_terms<Exponential>,  add_silverman,
    add_uniform,         add_triangular,          add_tricube,
    add_cosine,          add_terms<Epanechnikov>,
};
static_assert(sizeof by_kernel / sizeof *by_kernel == kernel_count, "one entry a kernel, in order");

constexpr ToTerms to_by_kernel[] = {
    to_terms<Gaussian>, to_terms<Exponential>,  to_silverman, to_uniform, to_triangular, to_tricube,
    to_cosine,          to_terms<Epanechnikov>,
};
static_assert(sizeof to_by_kernel / sizeof *to_by_kernel == kernel_count, "the same order");

extern const PairKernels table;
const PairKernels table = {by_kernel, to_by_kernel, squares, squares_above};

}  // namespace quickshift::QUICKSHIFT_ISA
