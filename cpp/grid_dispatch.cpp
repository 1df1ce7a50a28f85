#include "grid_loops.hpp"
#include "instruction_set.hpp"

namespace quickshift {

QUICKSHIFT_DECLARE_TABLE(GridLoops, grid_table)

const GridLoops& grid_loops() {
  static constexpr const GridLoops* tables[] = QUICKSHIFT_TABLES(grid_table);
  return *tables[instruction_set_index()];
}

}  // namespace quickshift
