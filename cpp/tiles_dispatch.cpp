#include "instruction_set.hpp"
#include "tiles.hpp"

namespace quickshift {

QUICKSHIFT_DECLARE_TABLE(TileKernels, tile_table)

const TileKernels& tile_kernels() {
  static constexpr const TileKernels* tables[] = QUICKSHIFT_TABLES(tile_table);
  return *tables[instruction_set_index()];
}

}  // namespace quickshift
