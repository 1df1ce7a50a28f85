#include "grid_layout.hpp"

#include <bit>
#include <cmath>

namespace quickshift {

namespace {

using Shift = std::array<double, axes>;  // by feature

constexpr double most_index = 0x1p40;   // times a step of 12 bits is exact
constexpr Index most_locations = 2048;  // a piece: enough pieces for threads to share evenly

// In grid points: with the windows around it a piece's box should stay in the nearest cache.
double most_extent(int features) { return features == 1 ? 1024.0 : features == 2 ? 40.0 : 12.0; }

// Cuts the locations of a tree into pieces.
class Cutter {
 public:
  // images: the distance from an edge up to which points are repeated beyond the other, or 0.
  Cutter(const Tree& tree, const GridPlan& plan, double images, double most_patched)
      : tree_(tree), plan_(plan), images_(images), left_(most_patched) {}

  // False where the pieces' boxes are too much in all.
  bool run() {
    std::vector<Index> stack{1};
    while (!stack.empty() && left_ >= 0.0) {
      const Index node = stack.back();
      stack.pop_back();
      const int level = std::bit_width(static_cast<std::size_t>(node)) - 1;
      const Index leaves = Index{1} << (tree_.levels - level);
      const Index leaf = node * leaves - tree_.leaves();
      if (is_small(node, leaves)) {
        add_images({leaf * tree_.stride, (leaf + leaves) * tree_.stride, tree_.low(node),
                    tree_.high(node)});
      } else if (tree_.is_leaf(node)) {
        add_singly(leaf);
      } else {
        stack.push_back(2 * node + 1);
        stack.push_back(2 * node);
      }
    }
    return left_ >= 0.0;
  }

  std::vector<Piece> pieces;
  bool left_some_out = false;  // because their coordinates are too large

 private:
  struct Range {
    Index first;
    Index last;
    const double* low;
    const double* high;
  };

  bool is_small(Index node, Index leaves) const {
    if (leaves > 1 && leaves * tree_.stride > most_locations) return false;
    for (int k = 0; k < tree_.features; ++k) {
      const double extent = tree_.high(node)[k] - tree_.low(node)[k];
      if (!(extent <= most_extent(tree_.features) * plan_.step)) return false;
    }
    return true;
  }

  void add_singly(Index leaf) {
    std::array<double, axes> point;
    for (int i = 0; i < tree_.count(leaf); ++i) {
      copy_point(tree_, leaf, i, point.data());
      const Index slot = leaf * tree_.stride + i;
      add_images({slot, slot + 1, point.data(), point.data()});
    }
  }

  void add_images(const Range& range) {
    std::vector<Shift> shifts(1, Shift{});
    for (int k = 0; images_ > 0.0 && k < tree_.features; ++k) {
      const double period = tree_.period[k];
      const std::size_t before = shifts.size();
      for (std::size_t s = 0; s < before; ++s) {
        Shift moved = shifts[s];
        moved[k] = period;
        if (std::isfinite(period) && range.low[k] <= images_) shifts.push_back(moved);
        moved[k] = -period;
        if (std::isfinite(period) && range.high[k] >= period - images_) shifts.push_back(moved);
      }
    }
    for (const Shift& shift : shifts) add(range, shift);
  }

  void add(const Range& range, const Shift& shift) {
    Piece piece{range.first, range.last, {{0, 0, 0}, {1, 1, 1}}, {}};
    for (int k = 0; k < tree_.features; ++k) {
      const int axis = axes - tree_.features + k;
      const int half = (axis == axes - 1 ? plan_.wide() : plan_.width) / 2;
      const double begin = std::floor((range.low[k] + shift[k]) / plan_.step);
      const double end = std::ceil((range.high[k] + shift[k]) / plan_.step) + 1.0;
      if (!(std::fabs(begin) < most_index && std::fabs(end) < most_index)) {
        left_some_out = true;
        return;
      }
      piece.box.low[axis] = static_cast<Index>(begin) - half;
      piece.box.extent[axis] = static_cast<int>(end - begin) + 2 * half;
      piece.origin[k] = static_cast<double>(piece.box.low[axis]) * plan_.step - shift[k];
    }
    left_ -= static_cast<double>(piece.box.volume());
    pieces.push_back(piece);
  }

  const Tree& tree_;
  const GridPlan& plan_;
  double images_;
  double left_;
};

CellSet cells_under(const std::vector<Piece>& pieces, const Sides& sides) {
  CellSet cells;
  for (const Piece& piece : pieces) {
    for_cells_of(piece.box, sides, [&](const Cell& cell) { cells.insert(cell); });
  }
  return cells;
}

// From the targets backwards what each pass is asked for, then from the sources on what it has.
std::vector<CellSet> stages_of(const GridLayout& layout, int features) {
  const auto reach = [&](int axis) {
    return (layout.plan.reach + layout.sides[axis] - 1) / layout.sides[axis];
  };
  std::vector<CellSet> needed{cells_under(layout.queried(), layout.sides)};
  for (int axis = axes - features; axis < axes - 1; ++axis) {
    needed.push_back(dilated(needed.back(), axis, reach(axis)));
  }
  std::vector<CellSet> stages{cells_under(layout.sources, layout.sides)};
  for (int axis = axes - 1; axis >= axes - features; --axis) {
    stages.push_back(common(dilated(stages.back(), axis, reach(axis)), needed.back()));
    needed.pop_back();
  }
  return stages;
}

}  // namespace

bool lay_out(const Tree& queries, const Tree& samples, const GridPlan& plan, double images,
             double most_patched, GridLayout& layout) {
  Cutter sources(samples, plan, images, most_patched);
  if (!sources.run() || sources.left_some_out) return false;
  layout.plan = plan;
  layout.sides = tile_sides(samples.features);
  layout.sources = std::move(sources.pieces);
  layout.same_pieces = &queries == &samples && images == 0.0;
  if (!layout.same_pieces) {
    Cutter targets(queries, plan, 0.0, most_patched);
    if (!targets.run()) return false;
    layout.targets = std::move(targets.pieces);
  }
  layout.stages = stages_of(layout, samples.features);
  return true;
}

double GridLayout::passed() const {
  double cells = 0.0;
  for (std::size_t i = 1; i < stages.size(); ++i) cells += static_cast<double>(stages[i].size());
  return cells * volume_of(sides);
}

double GridLayout::patched() const {
  double points = 0.0;
  for (const Piece& piece : sources) points += static_cast<double>(piece.box.volume());
  for (const Piece& piece : queried()) points += static_cast<double>(piece.box.volume());
  return points;
}

double GridLayout::bytes() const {
  Index most = 0;
  for (std::size_t i = 1; i < stages.size(); ++i) {
    most = std::max(most, stages[i - 1].size() + stages[i].size());
  }
  return 8.0 * static_cast<double>(most) * volume_of(sides);
}

}  // namespace quickshift
