#include "pairs.hpp"
#include "tiles.hpp"

namespace quickshift {

namespace baseline {
extern const PairKernels table;
extern const TileKernels tiles;
}  // namespace baseline

#ifdef QUICKSHIFT_HAS_V3
namespace v3 {
extern const PairKernels table;
extern const TileKernels tiles;
}  // namespace v3

namespace {

bool modern() {
  static const bool answer = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return answer;
}

}  // namespace

const PairKernels& pair_kernels() { return modern() ? v3::table : baseline::table; }
const TileKernels& tile_kernels() { return modern() ? v3::tiles : baseline::tiles; }
#else
const PairKernels& pair_kernels() { return baseline::table; }
const TileKernels& tile_kernels() { return baseline::tiles; }
#endif

}  // namespace quickshift
