#include "instruction_set.hpp"
#include "pairs.hpp"

namespace quickshift {

QUICKSHIFT_DECLARE_TABLE(PairKernels, pair_table)

const PairKernels& pair_kernels() {
  static constexpr const PairKernels* tables[] = QUICKSHIFT_TABLES(pair_table);
  return *tables[instruction_set_index()];
}

}  // namespace quickshift
