// The tables of the instruction set in use.
#include "grid_loops.hpp"
#include "instruction_set.hpp"
#include "line_loops.hpp"
#include "pairs.hpp"
#include "pixel_loops.hpp"
#include "tiles.hpp"

namespace quickshift {

QUICKSHIFT_DECLARE_WIDE_TABLE(PairKernels, pair_table)
QUICKSHIFT_DECLARE_WIDE_TABLE(LineLoops, line_table)
QUICKSHIFT_DECLARE_WIDE_TABLE(PixelLoops, pixel_table)
QUICKSHIFT_DECLARE_TABLE(GridLoops, grid_table)
QUICKSHIFT_DECLARE_TABLE(TileKernels, tile_table)

const PairKernels& pair_kernels() {
  static constexpr const PairKernels* tables[] = QUICKSHIFT_WIDE_TABLES(pair_table);
  return *tables[instruction_set_index()];
}

const LineLoops& line_loops() {
  static constexpr const LineLoops* tables[] = QUICKSHIFT_WIDE_TABLES(line_table);
  return *tables[instruction_set_index()];
}

const PixelLoops& pixel_loops() {
  static constexpr const PixelLoops* tables[] = QUICKSHIFT_WIDE_TABLES(pixel_table);
  return *tables[instruction_set_index()];
}

const GridLoops& grid_loops() {
  static constexpr const GridLoops* tables[] = QUICKSHIFT_TABLES(grid_table);
  return *tables[instruction_set_index()];
}

const TileKernels& tile_kernels() {
  static constexpr const TileKernels* tables[] = QUICKSHIFT_TABLES(tile_table);
  return *tables[instruction_set_index()];
}

}  // namespace quickshift
