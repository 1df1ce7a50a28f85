// Sums of the infinite kernels to a relative `roughness`, for tolerances that allow it. They stand
// in a file of their own because these instances take as long to compile as all others of
// pairs_wide.cpp together.
#include "vector/pair_loop.hpp"
#include "vector/pair_terms.hpp"

namespace quickshift::QUICKSHIFT_ISA {

void add_rough_gaussian(const LeafPair& pair, const KernelScale& scale, double* sums,
                        double* other_sums) {
  add_terms<RoughGaussian>(pair, scale, sums, other_sums);
}
void add_rough_exponential(const LeafPair& pair, const KernelScale& scale, double* sums,
                           double* other_sums) {
  add_terms<RoughExponential>(pair, scale, sums, other_sums);
}
void to_rough_gaussian(const KernelScale& scale, int count, double* values) {
  to_terms<RoughGaussian>(scale, count, values);
}
void to_rough_exponential(const KernelScale& scale, int count, double* values) {
  to_terms<RoughExponential>(scale, count, values);
}

}  // namespace quickshift::QUICKSHIFT_ISA
