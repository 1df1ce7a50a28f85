#include "grid_loops.hpp"
#include "pairs.hpp"

namespace quickshift {

namespace baseline {
extern const PairKernels table;
extern const GridLoops grid_table;
}  // namespace baseline

#ifdef QUICKSHIFT_HAS_V3
namespace v3 {
extern const PairKernels table;
extern const GridLoops grid_table;
}  // namespace v3

namespace {
bool is_modern() {
  static const bool modern = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return modern;
}
}  // namespace

const PairKernels& pair_kernels() { return is_modern() ? v3::table : baseline::table; }
const GridLoops& grid_loops() { return is_modern() ? v3::grid_table : baseline::grid_table; }
#else
const PairKernels& pair_kernels() { return baseline::table; }
const GridLoops& grid_loops() { return baseline::grid_table; }
#endif

}  // namespace quickshift
