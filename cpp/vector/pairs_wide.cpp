// Sums of the kernels that gain from vectors of eight doubles, and the table of all pair loops. The
// other entries of the table are defined in pairs_narrow.cpp and taken from the namespace
// QUICKSHIFT_NARROW: this instruction set's own, or v3 when this file is compiled for v4.
#include "vector/pair_loop.hpp"
#include "vector/pair_terms.hpp"

namespace quickshift::QUICKSHIFT_NARROW {

template <Kernel kernel>
void add_narrow(const LeafPair&, const KernelScale&, double*, double*);
template <Kernel kernel>
void to_narrow(const KernelScale&, int, double*);
void squares(const double*, const LeafBlock&, double*);
LeafView squares_above(const double*, const LeafBlock&, const double*, double, double*);
unsigned near_box(const LeafBlock&, const double*, const double*);
void ranks(const double*, int, long long*);
void offer_higher(const LeafBlock&, const HigherSamples&, unsigned, HigherFound&);

}  // namespace quickshift::QUICKSHIFT_NARROW

namespace quickshift::QUICKSHIFT_ISA {

using namespace QUICKSHIFT_NARROW;

// In pairs_rough.cpp.
void add_rough_gaussian(const LeafPair&, const KernelScale&, double*, double*);
void add_rough_exponential(const LeafPair&, const KernelScale&, double*, double*);
void add_near_terms(const LeafPair&, const KernelScale&, double*, double*);
void to_rough_gaussian(const KernelScale&, int, double*);
void to_rough_exponential(const KernelScale&, int, double*);

#define QUICKSHIFT_ADD_WIDE(name) add_terms<TermsOf<Kernel::name>>,
#define QUICKSHIFT_ADD_NARROW(name) add_narrow<Kernel::name>,
constexpr AddTerms by_kernel[] = {QUICKSHIFT_KERNELS(QUICKSHIFT_ADD_WIDE, QUICKSHIFT_ADD_NARROW)};

#define QUICKSHIFT_TO_WIDE(name) to_terms<TermsOf<Kernel::name>>,
#define QUICKSHIFT_TO_NARROW(name) to_narrow<Kernel::name>,
constexpr ToTerms to_by_kernel[] = {QUICKSHIFT_KERNELS(QUICKSHIFT_TO_WIDE, QUICKSHIFT_TO_NARROW)};

constexpr AddTerms rough[] = {add_rough_gaussian, add_rough_exponential};
constexpr ToTerms to_rough[] = {to_rough_gaussian, to_rough_exponential};

extern const PairKernels pair_table;
const PairKernels pair_table = {by_kernel, to_by_kernel,  rough,    to_rough, add_near_terms,
                                squares,   squares_above, near_box, ranks,    offer_higher};

}  // namespace quickshift::QUICKSHIFT_ISA
