#include "grid_loops.hpp"
#include "instruction_set.hpp"
#include "pairs.hpp"

namespace quickshift {

QUICKSHIFT_DECLARE_TABLE(PairKernels, pair_table)
QUICKSHIFT_DECLARE_TABLE(GridLoops, grid_table)

const PairKernels& pair_kernels() {
  static constexpr const PairKernels* tables[] = QUICKSHIFT_TABLES(pair_table);
  return *tables[instruction_set_index()];
}

const GridLoops& grid_loops() {
  static constexpr const GridLoops* tables[] = QUICKSHIFT_TABLES(grid_table);
  return *tables[instruction_set_index()];
}

}  // namespace quickshift
