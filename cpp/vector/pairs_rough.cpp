// Sums of the infinite kernels whose terms have a relative error of up to `roughness`, for
// tolerances that allow it. They are in a file of their own because they take as long to compile as
// all of pairs_wide.cpp.
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
void add_near_terms(const LeafPair& pair, const KernelScale& scale, double* sums,
                    double* other_sums) {
  add_terms<NearExponential>(pair, scale, sums, other_sums);
}
void to_rough_gaussian(const KernelScale& scale, int count, double* values) {
  to_terms<RoughGaussian>(scale, count, values);
}
void to_rough_exponential(const KernelScale& scale, int count, double* values) {
  to_terms<RoughExponential>(scale, count, values);
}

}  // namespace quickshift::QUICKSHIFT_ISA
