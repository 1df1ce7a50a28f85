// Sums of the kernels that gain from vectors of eight doubles, and the table of all pair loops. The
// rest is that of QUICKSHIFT_NARROW, an instruction set's namespace.
#include "vector/pair_loop.hpp"
#include "vector/pair_terms.hpp"

namespace quickshift::QUICKSHIFT_NARROW {

void add_silverman(const LeafPair&, const KernelScale&, double*, double*);
void add_uniform(const LeafPair&, const KernelScale&, double*, double*);
void add_triangular(const LeafPair&, const KernelScale&, double*, double*);
void add_tricube(const LeafPair&, const KernelScale&, double*, double*);
void add_cosine(const LeafPair&, const KernelScale&, double*, double*);
void to_silverman(const KernelScale&, int, double*);
void to_uniform(const KernelScale&, int, double*);
void to_triangular(const KernelScale&, int, double*);
void to_tricube(const KernelScale&, int, double*);
void to_cosine(const KernelScale&, int, double*);
void squares(const double*, const LeafBlock&, double*);
LeafView squares_above(const double*, const LeafBlock&, const double*, double, double*);
unsigned near_box(const LeafBlock&, const double*, const double*);
void ranks(const double*, int, long long*);
void offer_higher(const LeafBlock&, const HigherSamples&, unsigned, HigherFound&);

}  // namespace quickshift::QUICKSHIFT_NARROW

namespace quickshift::QUICKSHIFT_ISA {

using namespace QUICKSHIFT_NARROW;

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

constexpr AddTerms rough[] = {add_terms<RoughGaussian>, add_terms<RoughExponential>};
constexpr ToTerms to_rough[] = {to_terms<RoughGaussian>, to_terms<RoughExponential>};

extern const PairKernels pair_table;
const PairKernels pair_table = {by_kernel,     to_by_kernel, rough, to_rough,    squares,
                                squares_above, near_box,     ranks, offer_higher};

}  // namespace quickshift::QUICKSHIFT_ISA
