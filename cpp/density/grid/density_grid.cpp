// Gaussian sums in time proportional to the number of points: spread the samples onto a grid,
// convolve the grid along one axis after the other (a "pass"), interpolate at the queries. All
// terms are positive, so nothing cancels, and the error is bounded relative to each sum
// (docs/decisions/21-grid.md).
#include "density/grid/density_grid.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "density/methods.hpp"

namespace quickshift {

namespace {

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
                1.0 / layout.plan.step, layout.plan.steepness(), decay_.data()},
        memory_(layout.sides),
        spread_(layout.sides, memory_),
        planar_(layout.sides, memory_),
        final_(layout.sides, memory_) {}

  // Layers are processed in order. A layer can be convolved in its plane as soon as all pieces that
  // begin in it or before it have been spread. It can be convolved across the layers, and its
  // targets interpolated, as soon as all layers within reach have been convolved in their planes.
  void operator()(Array<double>& sums) {
    for (const Index place : places()) {
      if (execution_.stops()) return;
      const auto layer = layout_.layers.find(place);
      if (layer != layout_.layers.end()) {
        spread(layer->second);
        pass_in_plane(place, layer->second);
      }
      const Index ready = place - layout_.reach;
      const auto finished = layout_.layers.find(ready);
      if (finished != layout_.layers.end()) {
        pass_across(ready, finished->second);
        interpolate(finished->second, sums);
      }
      planar_.drop_before(ready - layout_.reach + 1);
      final_.drop_before(ready - layout_.span + 1);
    }
  }

 private:
  // The box of a piece as a patch, with its values at `values`.
  Patch patch(const Piece& piece, double* values) const {
    const auto& extent = piece.box.extent;
    const auto& origin = piece.origin;
    return {values, {extent[0], extent[1], extent[2]}, {origin[0], origin[1], origin[2]}};
  }

  // Calls visit(first slot of the leaf, part of the leaf) for every leaf that a piece overlaps.
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

  double work_at(Index points) const {
    return static_cast<double>(points) * std::pow(layout_.plan.width, samples_.features);
  }

  // The indices of the steps of the sweep: at each, a layer is spread, or one can be finished.
  std::set<Index> places() const {
    std::set<Index> result;
    for (const auto& [place, layer] : layout_.layers) {
      result.insert(place);
      result.insert(place + layout_.reach);
    }
    return result;
  }

  void spread(const GridLayer& layer) {
    Array<double> patches;
    const auto count = static_cast<Index>(layer.sources.size());
    for (Index begin = 0; begin < count && !execution_.stops();) {
      begin = spread_batch(layer.sources, begin, patches);
    }
  }

  // Spreads a batch of pieces, each onto a patch of its own, in parallel. Then every tile adds the
  // patches that overlap it, in their order, so that the result is bit-identical for any number of
  // threads. Returns the first piece of the next batch.
  Index spread_batch(const std::vector<Index>& pieces, Index begin, Array<double>& patches) {
    std::vector<FilledPatch> batch;
    Index size = 0;
    Index slots = 0;
    for (; begin < static_cast<Index>(pieces.size()); ++begin) {
      const Piece& piece = layout_.sources[pieces[begin]];
      if (!batch.empty() && size + piece.box.volume() > patch_batch_points) break;
      batch.push_back({&piece, size});
      size += piece.box.volume();
      slots += piece.last_slot - piece.first_slot;
    }
    patches.resize(static_cast<std::size_t>(size));
    run_tasks(execution_, static_cast<Index>(batch.size()), work_at(slots), [&] {
      return [&](Index i) { fill_patch(*batch[i].piece, patches.data() + batch[i].offset); };
    });
    add_patches(batch, patches);
    return begin;
  }

  void fill_patch(const Piece& piece, double* values) const {
    std::fill_n(values, piece.box.volume(), 0.0);
    const Patch target = patch(piece, values);
    for_leaf_parts(samples_, piece, [&](Index slot, const LeafPart& part) {
      grid_loops().spread(window_, part, samples_.weights.data() + slot, target);
    });
  }

  struct FilledPatch {
    const Piece* piece;
    Index offset;  // of its values in the array of all patches
  };
  struct Overlap {
    double* tile;
    Cell cell;
    std::size_t patch;  // its place in the batch
  };

  void add_patches(const std::vector<FilledPatch>& batch, const Array<double>& patches) {
    std::vector<Overlap> overlaps;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      for_cells_of(batch[i].piece->box, layout_.sides, [&](const Cell& cell) {
        if (!spread_.has(cell[0])) open_spread(cell[0]);
        overlaps.push_back({spread_.find(cell), cell, i});
      });
    }
    std::stable_sort(overlaps.begin(), overlaps.end(), [](const Overlap& a, const Overlap& b) {
      return std::less<>()(a.tile, b.tile);
    });
    std::vector<std::size_t> groups;
    for (std::size_t i = 0; i < overlaps.size(); ++i) {
      if (i == 0 || overlaps[i].tile != overlaps[i - 1].tile) groups.push_back(i);
    }
    groups.push_back(overlaps.size());
    const auto work = static_cast<double>(patches.size());
    run_tasks(execution_, static_cast<Index>(groups.size()) - 1, work, [&] {
      return [&](Index group) {
        for (std::size_t i = groups[group]; i < groups[group + 1]; ++i) {
          add_patch(overlaps[i], batch[overlaps[i].patch], patches);
        }
      };
    });
  }

  void add_patch(const Overlap& overlap, const FilledPatch& filled,
                 const Array<double>& patches) const {
    const double* const from = patches.data() + filled.offset;
    for_shared_rows(filled.piece->box, overlap.cell, layout_.sides,
                    [&](Index in_box, Index in_tile, Index length) {
                      double* const to = overlap.tile + in_tile;
                      for (Index i = 0; i < length; ++i) to[i] += from[in_box + i];
                    });
  }

  // Allocates the tiles onto which samples are spread in one layer, filled with zeros.
  void open_spread(Index place) { spread_.add(place, layout_.layers.at(place).spread).clear(); }

  void pass_in_plane(Index place, const GridLayer& layer) {
    Layers partway(layout_.sides, memory_);
    Layers& first = samples_.features == 1 ? planar_ : partway;
    pass(spread_, 2, first.add(place, layer.partway));
    spread_.drop_before(place + 1);
    if (samples_.features > 1) pass(partway, 1, planar_.add(place, layer.planar));
  }

  void pass_across(Index place, const GridLayer& layer) {
    if (samples_.features == 3) pass(planar_, 0, final_.add(place, layer.needed));
  }

  void pass(const Layers& from, int axis, Tiles& to) const {
    run_tasks(execution_, to.cells().size(), to.size() * layout_.plan.reach, [&] {
      return [&, line = std::vector<double>()](Index i) mutable {
        convolve(from, axis, to.cells()[i], line, to.tile(i));
      };
    });
  }

  // Computes one tile of a pass: copies the tile and its neighbors along the axis, as far as the
  // taps reach, and convolves each line.
  void convolve(const Layers& from, int axis, const Cell& cell, std::vector<double>& line,
                double* to) const {
    const TileSides& sides = layout_.sides;
    const int reach = layout_.plan.reach;
    GridBox box;
    for (int a = 0; a < axes; ++a) {
      box.low[a] = cell[a] * sides[a];
      box.extent[a] = sides[a];
    }
    box.low[axis] -= reach;
    box.extent[axis] += 2 * reach;
    line.resize(static_cast<std::size_t>(box.volume()));
    from.copy_to_box(box, line.data());
    int step = 1;
    for (int a = axis + 1; a < axes; ++a) step *= sides[a];
    const int count = sides[axis] * step;
    const int lines = volume_of(sides) / count;
    for (Index i = 0; i < lines; ++i) {
      grid_loops().convolve(line.data() + i * box.extent[axis] * step, taps_.data(), reach, step,
                            count, to + i * count);
    }
  }

  void interpolate(const GridLayer& layer, Array<double>& sums) const {
    const Layers& tiles = samples_.features == 3 ? final_ : planar_;
    Index slots = 0;
    for (const Index i : layer.targets) {
      slots += layout_.queried()[i].last_slot - layout_.queried()[i].first_slot;
    }
    run_tasks(execution_, static_cast<Index>(layer.targets.size()), work_at(slots), [&] {
      return [&, values = std::vector<double>()](Index i) mutable {
        const Piece& piece = layout_.queried()[layer.targets[i]];
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
  TileMemory memory_;
  Layers spread_;
  Layers planar_;
  Layers final_;
};

// Recomputes the sums that are too small for the error bound to hold, pair by pair and relative to
// the term of the nearest sample. If errors are relative to options.totals, most small sums do not
// need that.
void recompute_small_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
                          double least_sum, const Execution& execution, Sums& sums) {
  const auto matters = [&](Index slot) {
    return !options.totals ||
           std::ldexp(options.totals[slot], -samples.weight_exponent) < least_sum;
  };
  std::vector<Index> small;
  std::vector<double> coordinates;
  for (Index slot = 0; slot < queries.slots(); ++slot) {
    if (queries.row_of_slot[slot] < 0 || sums.values[slot] >= least_sum || !matters(slot)) {
      continue;
    }
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
  direct.values = filled_array(rest.slots(), 0.0, execution);
  direct.log_scales = filled_array(rest.slots(), 0.0, execution);
  DensityOptions exact = options;
  exact.totals = nullptr;
  direct_sums(rest, samples, exact, execution, direct);
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
  if (!job.layout.apart.empty()) {
    apart_sums(samples, options, job.layout.apart, execution, sums);
  }
  if (&queries != &samples) {
    recompute_small_sums(queries, samples, options, job.least_sum, execution, sums);
  }
}

}  // namespace quickshift
