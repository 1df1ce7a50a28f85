// Gaussian sums in time proportional to the points: spread the samples onto a grid, convolve the
// grid axis by axis, interpolate at the queries. Every term is positive, so nothing cancels, and
// the error is bounded relative to each sum (docs/decisions/21-grid.md).
#include "density_grid.hpp"

#include <algorithm>
#include <cmath>

namespace quickshift {

namespace {

constexpr Index batch_points = Index{1} << 20;  // grid points in patches at a time: 8 MB

class GridRun {
 public:
  GridRun(const Tree& queries, const Tree& samples, const GridLayout& layout,
          const Execution& execution)
      : queries_(queries),
        samples_(samples),
        layout_(layout),
        execution_(execution),
        decay_(layout.plan.decay()),
        taps_(layout.plan.taps()),
        window_{samples.features,       layout.plan.width,       layout.plan.wide(),
                1.0 / layout.plan.step, layout.plan.steepness(), decay_.data()} {}

  void operator()(std::vector<double>& sums) {
    Tiles tiles = spread();
    for (int pass = 0; pass < samples_.features; ++pass) {
      tiles = convolve(tiles, axes - 1 - pass, layout_.stages[pass + 1]);
    }
    interpolate(tiles, sums);
  }

 private:
  Patch patch(const Piece& piece, double* values) const {
    const auto& extent = piece.box.extent;
    const auto& origin = piece.origin;
    return {values, {extent[0], extent[1], extent[2]}, {origin[0], origin[1], origin[2]}};
  }

  template <class Visit>
  static void for_leaf_parts(const Tree& tree, const Piece& piece, const Visit& visit) {
    const Index last_leaf = (piece.last_slot - 1) / tree.stride;
    for (Index leaf = piece.first_slot / tree.stride; leaf <= last_leaf; ++leaf) {
      const Index slot = leaf * tree.stride;
      const int begin = static_cast<int>(std::max<Index>(piece.first_slot - slot, 0));
      const int end = static_cast<int>(std::min<Index>(piece.last_slot - slot, tree.count(leaf)));
      visit(slot, LeafPart{tree.leaf_coordinates(leaf), tree.stride, begin, end});
    }
  }

  double work_of(const Tree& tree, double share) const {
    const int width = layout_.plan.width;
    return share * static_cast<double>(tree.locations) * std::pow(width, tree.features);
  }

  Tiles spread() {
    Tiles tiles(layout_.sides, layout_.stages[0]);
    run_tasks(execution_, tiles.cells().size(), tiles.size(),
              [&] { return [&](Index i) { std::fill_n(tiles.tile(i), tiles.volume(), 0.0); }; });
    const auto count = static_cast<Index>(layout_.sources.size());
    std::vector<double> patches;
    for (Index begin = 0; begin < count && !execution_.stop;) {
      begin = spread_batch(begin, patches, tiles);
    }
    return tiles;
  }

  // Patches are filled side by side, then every tile adds those that touch it, in their order: the
  // same bits for any number of threads. Returns the first piece of the next batch.
  Index spread_batch(Index begin, std::vector<double>& patches, Tiles& tiles) {
    std::vector<Index> offsets{0};
    Index end = begin;
    for (; end < static_cast<Index>(layout_.sources.size()); ++end) {
      const Index next = offsets.back() + layout_.sources[end].box.volume();
      if (end > begin && next > batch_points) break;
      offsets.push_back(next);
    }
    patches.resize(static_cast<std::size_t>(std::max<Index>(offsets.back(), 0)));
    const double share = static_cast<double>(end - begin) / layout_.sources.size();
    run_tasks(execution_, end - begin, work_of(samples_, share), [&] {
      return [&](Index i) { fill_patch(layout_.sources[begin + i], patches.data() + offsets[i]); };
    });
    add_patches(begin, end, offsets, patches, tiles);
    return end;
  }

  void fill_patch(const Piece& piece, double* values) const {
    std::fill_n(values, piece.box.volume(), 0.0);
    const Patch target = patch(piece, values);
    for_leaf_parts(samples_, piece, [&](Index slot, const LeafPart& part) {
      grid_loops().spread(window_, part, samples_.weights.data() + slot, target);
    });
  }

  void add_patches(Index begin, Index end, const std::vector<Index>& offsets,
                   const std::vector<double>& patches, Tiles& tiles) {
    std::vector<std::pair<Index, Index>> touched;  // tile, piece
    for (Index i = begin; i < end; ++i) {
      for_cells_of(layout_.sources[i].box, layout_.sides,
                   [&](const Cell& cell) { touched.emplace_back(tiles.cells().find(cell), i); });
    }
    std::sort(touched.begin(), touched.end());
    std::vector<std::size_t> groups;
    for (std::size_t i = 0; i < touched.size(); ++i) {
      if (i == 0 || touched[i].first != touched[i - 1].first) groups.push_back(i);
    }
    groups.push_back(touched.size());
    run_tasks(execution_, static_cast<Index>(groups.size()) - 1,
              static_cast<double>(offsets.back()), [&] {
                return [&](Index group) {
                  for (std::size_t i = groups[group]; i < groups[group + 1]; ++i) {
                    const auto [tile, piece] = touched[i];
                    tiles.add_to_tile(tile, layout_.sources[piece].box,
                                      patches.data() + offsets[piece - begin]);
                  }
                };
              });
  }

  Tiles convolve(const Tiles& from, int axis, const CellSet& cells) {
    Tiles to(layout_.sides, cells);
    run_tasks(execution_, cells.size(), to.size() * layout_.plan.reach, [&] {
      return [&, line = std::vector<double>()](Index i) mutable {
        convolve_tile(from, axis, to, i, line);
      };
    });
    return to;
  }

  // The tile lengthened along the axis by what the taps reach, then convolved.
  void convolve_tile(const Tiles& from, int axis, Tiles& to, Index number,
                     std::vector<double>& line) const {
    const Sides& sides = layout_.sides;
    GridBox box;
    for (int a = 0; a < axes; ++a) {
      box.low[a] = to.cells()[number][a] * sides[a];
      box.extent[a] = sides[a];
    }
    box.low[axis] -= layout_.plan.reach;
    box.extent[axis] += 2 * layout_.plan.reach;
    line.resize(static_cast<std::size_t>(box.volume()));
    from.copy_to_box(box, line.data());
    int step = 1;
    for (int a = axis + 1; a < axes; ++a) step *= sides[a];
    const int count = sides[axis] * step;
    const int lines = to.volume() / count;
    for (int i = 0; i < lines; ++i) {
      grid_loops().convolve(line.data() + Index{i} * box.extent[axis] * step, taps_.data(),
                            layout_.plan.reach, step, count, to.tile(number) + Index{i} * count);
    }
  }

  void interpolate(const Tiles& tiles, std::vector<double>& sums) const {
    const auto& pieces = layout_.queried();
    run_tasks(execution_, static_cast<Index>(pieces.size()), work_of(queries_, 1.0), [&] {
      return [&, values = std::vector<double>()](Index i) mutable {
        const Piece& piece = pieces[i];
        values.resize(static_cast<std::size_t>(piece.box.volume()));
        tiles.copy_to_box(piece.box, values.data());
        const Patch source = patch(piece, values.data());
        for_leaf_parts(queries_, piece, [&](Index slot, const LeafPart& part) {
          grid_loops().interpolate(window_, part, source, sums.data() + slot);
        });
      };
    });
  }

  const Tree& queries_;
  const Tree& samples_;
  const GridLayout& layout_;
  const Execution& execution_;
  std::vector<double> decay_;
  std::vector<double> taps_;
  Window window_;
};

// Queries whose sums are too small for the promise, each relative to its nearest sample.
void sum_small_ones_directly(const Tree& queries, const Tree& samples,
                             const DensityOptions& options, double least_sum,
                             const Execution& execution, Sums& sums) {
  std::vector<Index> small;
  std::vector<double> coordinates;
  for (Index slot = 0; slot < queries.slots(); ++slot) {
    if (queries.row_of_slot[slot] < 0 || sums.values[slot] >= least_sum) continue;
    small.push_back(slot);
    for (int k = 0; k < queries.features; ++k) {
      coordinates.push_back(std::ldexp(queries.coordinate(slot, k), queries.exponent));
    }
  }
  if (small.empty()) return;
  Points points;
  points.wide = coordinates.data();
  points.rows = static_cast<Index>(small.size());
  points.features = queries.features;
  const Tree rest = build_query_tree(points, samples, execution);
  Sums direct;
  direct.values.assign(static_cast<std::size_t>(rest.slots()), 0.0);
  direct.log_scales.assign(static_cast<std::size_t>(rest.slots()), 0.0);
  direct_sums(rest, samples, options, execution, direct);
  for (std::size_t i = 0; i < small.size(); ++i) {
    const Index slot = rest.slot_of_row[i];
    sums.values[small[i]] = direct.values[slot];
    sums.log_scales[small[i]] = direct.log_scales[slot];
  }
}

}  // namespace

void grid_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
               const GridJob& job, const Execution& execution, Sums& sums) {
  GridRun(queries, samples, job.layout, execution)(sums.values);
  if (&queries != &samples && !execution.stop) {
    sum_small_ones_directly(queries, samples, options, job.least_sum, execution, sums);
  }
}

}  // namespace quickshift
