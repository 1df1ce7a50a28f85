#include "pairs.hpp"

namespace quickshift {

namespace baseline {
extern const PairKernels table;
}

#ifdef QUICKSHIFT_HAS_V3
namespace v3 {
extern const PairKernels table;
}

const PairKernels& pair_kernels() {
  static const bool modern = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return modern ? v3::table : baseline::table;
}
#else
const PairKernels& pair_kernels() { return baseline::table; }
#endif

}  // namespace quickshift
