// Returns each table of vector loops as compiled for the instruction set in use.
#include "vector/expansion_loops.hpp"
#include "vector/grid_loops.hpp"
#include "vector/instruction_set.hpp"
#include "vector/neighbor_loops.hpp"
#include "vector/pairs.hpp"
#include "vector/pixel_loops.hpp"
#include "vector/products.hpp"
#include "vector/response_loops.hpp"

namespace quickshift {

QUICKSHIFT_DECLARE_WIDE_TABLE(PairKernels, pair_table)
QUICKSHIFT_DECLARE_WIDE_TABLE(ResponseLoops, response_table)
QUICKSHIFT_DECLARE_WIDE_TABLE(PixelLoops, pixel_table)
QUICKSHIFT_DECLARE_WIDE_TABLE(NeighborLoops, neighbor_table)
QUICKSHIFT_DECLARE_WIDE_TABLE(ExpansionLoops, expansion_table)
QUICKSHIFT_DECLARE_TABLE(GridLoops, grid_table)
QUICKSHIFT_DECLARE_TABLE(ProductLoops, product_table)

const PairKernels& pair_kernels() {
  static constexpr const PairKernels* tables[] = QUICKSHIFT_WIDE_TABLES(pair_table);
  return *tables[instruction_set_index()];
}

const ResponseLoops& response_loops() {
  static constexpr const ResponseLoops* tables[] = QUICKSHIFT_WIDE_TABLES(response_table);
  return *tables[instruction_set_index()];
}

const PixelLoops& pixel_loops() {
  static constexpr const PixelLoops* tables[] = QUICKSHIFT_WIDE_TABLES(pixel_table);
  return *tables[instruction_set_index()];
}

const NeighborLoops& neighbor_loops() {
  static constexpr const NeighborLoops* tables[] = QUICKSHIFT_WIDE_TABLES(neighbor_table);
  return *tables[instruction_set_index()];
}

const ExpansionLoops& expansion_loops() {
  static constexpr const ExpansionLoops* tables[] = QUICKSHIFT_WIDE_TABLES(expansion_table);
  return *tables[instruction_set_index()];
}

const GridLoops& grid_loops() {
  static constexpr const GridLoops* tables[] = QUICKSHIFT_TABLES(grid_table);
  return *tables[instruction_set_index()];
}

const ProductLoops& product_loops() {
  static constexpr const ProductLoops* tables[] = QUICKSHIFT_TABLES(product_table);
  return *tables[instruction_set_index()];
}

}  // namespace quickshift
