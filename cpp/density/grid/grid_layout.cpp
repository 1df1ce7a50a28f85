#include "density/grid/grid_layout.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "density/grid/grid_costs.hpp"

namespace quickshift {

namespace {

using Shift = std::array<double, axes>;  // by feature

constexpr double most_index = 0x1p40;  // indices below it, times a step of 12 bits, are exact

// The largest extent of a piece in grid points: its box, including the windows around the points,
// should stay in the nearest cache.
double most_extent(int features) { return features == 1 ? 1024.0 : features == 2 ? 40.0 : 16.0; }

double cost_of(const Piece& piece) {
  return cost::piece + static_cast<double>(piece.box.volume()) * cost::patch_point;
}
double cost_of_tile(const GridLayout& layout) {
  return volume_of(layout.sides) * (cost::passed_point + layout.plan.reach * cost::tap);
}

// Divides the locations of a tree into pieces, images included.
class PieceBuilder {
 public:
  // images: as for lay_out. seconds_at_point: the cost of a location in a piece.
  PieceBuilder(const Tree& tree, const GridPlan& plan, double images, double seconds_at_point,
               double most_seconds)
      : seconds_left(most_seconds),
        tree_(tree),
        plan_(plan),
        images_(images),
        seconds_at_point_(seconds_at_point) {}

  // Returns false if the pieces would cost more than most_seconds.
  bool run() {
    std::vector<Index> stack{1};
    while (!stack.empty() && seconds_left >= 0.0) {
      const Index node = stack.back();
      stack.pop_back();
      const int level = std::bit_width(static_cast<std::size_t>(node)) - 1;
      const Index leaves = Index{1} << (tree_.levels - level);
      const Index leaf = node * leaves - tree_.leaves();
      const bool small = is_small(node, leaves);
      if (small ? is_sparse(leaf, leaves) : tree_.is_leaf(node) && plan_.fewest > 0) {
        for (Index i = leaf; i < leaf + leaves; ++i) apart.push_back(i);
      } else if (small) {
        add_images({leaf * tree_.stride, (leaf + leaves) * tree_.stride, tree_.low(node),
                    tree_.high(node)});
      } else if (tree_.is_leaf(node)) {
        add_singly(leaf);
      } else {
        stack.push_back(2 * node + 1);
        stack.push_back(2 * node);
      }
    }
    return seconds_left >= 0.0;
  }

  std::vector<Piece> pieces;
  std::vector<Index> apart;
  bool left_some_out = false;  // points whose coordinates are too large
  double seconds_left;

 private:
  struct Range {
    Index first;
    Index last;  // exclusive
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

  bool is_sparse(Index leaf, Index leaves) const {
    return tree_.begin_of_leaf(leaf + leaves) - tree_.begin_of_leaf(leaf) < plan_.fewest;
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
    seconds_left -= cost_of(piece) +
                    static_cast<double>(piece.last_slot - piece.first_slot) * seconds_at_point_;
    pieces.push_back(piece);
  }

  const Tree& tree_;
  const GridPlan& plan_;
  double images_;
  double seconds_at_point_;
};

int reach_in_tiles(const GridLayout& layout, int axis) {
  return (layout.plan.reach + layout.sides[axis] - 1) / layout.sides[axis];
}

// Assigns the pieces of queries to layers, and lists the tiles from which they interpolate.
void enter_targets(GridLayout& layout) {
  const auto& queried = layout.queried();
  for (std::size_t i = 0; i < queried.size(); ++i) {
    const Piece& piece = queried[i];
    const Index last = layout.last_layer(piece);
    layout.span = std::max(layout.span, last - layout.first_layer(piece));
    layout.layers[last].targets.push_back(static_cast<Index>(i));
    for_cells_of(piece.box, layout.sides,
                 [&](const Cell& cell) { layout.layers[cell[0]].needed.insert(cell); });
  }
}

// Assigns the pieces of samples to layers, and lists the tiles onto which they are spread. Returns
// false if a pass over these tiles would cost more than most_seconds.
bool enter_sources(GridLayout& layout, double most_seconds) {
  const double seconds_per_tile = cost_of_tile(layout);
  for (std::size_t i = 0; i < layout.sources.size(); ++i) {
    const Piece& piece = layout.sources[i];
    layout.layers[layout.first_layer(piece)].sources.push_back(static_cast<Index>(i));
    for_cells_of(piece.box, layout.sides, [&](const Cell& cell) {
      if (layout.layers[cell[0]].spread.insert(cell)) most_seconds -= seconds_per_tile;
    });
    if (most_seconds < 0.0) return false;
  }
  return true;
}

// Lists the tiles that each pass writes: those that the samples can reach and that a target, or a
// later pass on its behalf, needs.
void enter_passes(GridLayout& layout, int features) {
  const int middle = features >= 2 ? reach_in_tiles(layout, 1) : 0;
  layout.reach = features == 3 ? reach_in_tiles(layout, 0) : 0;
  for (auto& [place, layer] : layout.layers) {
    CellSet wanted;
    const auto first = layout.layers.lower_bound(place - layout.reach);
    const auto last = layout.layers.upper_bound(place + layout.reach);
    for (auto near = first; near != last; ++near) insert_all(near->second.needed, place, wanted);
    layer.partway =
        common(dilated(layer.spread, 2, reach_in_tiles(layout, 2)), dilated(wanted, 1, middle));
    layer.planar = common(dilated(layer.partway, 1, middle), wanted);
  }
}

}  // namespace

double seconds_at_points(const GridPlan& plan, int features, double sources, double targets) {
  const double under = plan.wide() * std::pow(plan.width, features - 1);
  const double windows = features * (12.0 + plan.wide());
  return (sources + targets) * windows * cost::window_value +
         (sources * cost::spread_point + targets * cost::interpolated_point) * under;
}

bool lay_out(const Tree& queries, const Tree& samples, const GridPlan& plan, double images,
             double most_seconds, GridLayout& layout) {
  const int features = samples.features;
  layout.same_pieces = &queries == &samples && images == 0.0;
  PieceBuilder sources(samples, plan, images,
                       seconds_at_points(plan, features, 1.0, layout.same_pieces ? 1.0 : 0.0),
                       most_seconds);
  const bool fits = sources.run() && !sources.left_some_out && !sources.pieces.empty();
  layout.sides = tile_sides(features);
  layout.sources = std::move(sources.pieces);
  layout.apart = std::move(sources.apart);
  if (!fits) return false;
  layout.plan = plan;
  if (!layout.same_pieces) {
    PieceBuilder targets(queries, plan, 0.0, seconds_at_points(plan, features, 0.0, 1.0),
                         most_seconds);
    if (!targets.run()) return false;
    layout.targets = std::move(targets.pieces);
  }
  // If the targets are the sources, each of the passes (one per feature) writes all of their tiles.
  const double for_tiles = layout.same_pieces ? sources.seconds_left / features
                                              : std::numeric_limits<double>::infinity();
  if (!enter_sources(layout, for_tiles)) return false;
  enter_targets(layout);
  enter_passes(layout, features);
  return true;
}

double GridLayout::seconds_of_grid() const {
  Index tiles = 0;
  for (const auto& [place, layer] : layers) {
    tiles += layer.partway.size();
    if (sides[1] > 1) tiles += layer.planar.size();
    if (sides[0] > 1) tiles += layer.needed.size();
  }
  double seconds = static_cast<double>(tiles) * cost_of_tile(*this);
  for (const Piece& piece : sources) seconds += cost_of(piece);
  for (const Piece& piece : queried()) seconds += cost_of(piece);
  return seconds;
}

// While layer z is processed, samples are spread up to layer z + span, planar layers are in memory
// from z - 2 reach on, and finished layers from z - reach - span on. The spread tiles of layer z
// are freed before its planar tiles are allocated.
double GridLayout::bytes() const {
  Index most = 0;
  for (const auto& [place, layer] : layers) {
    Index cells = layer.partway.size() + std::max(layer.spread.size(), layer.planar.size());
    for (auto near = layers.lower_bound(place - 2 * reach - span);
         near != layers.end() && near->first <= place + span; ++near) {
      const Index distance = near->first - place;
      if (distance > 0) cells += near->second.spread.size();
      if (distance < 0 && distance >= -2 * reach) cells += near->second.planar.size();
      if (sides[0] > 1 && distance <= -reach && distance >= -reach - span) {
        cells += near->second.needed.size();
      }
    }
    most = std::max(most, cells);
  }
  return 8.0 * static_cast<double>(most) * volume_of(sides);
}

}  // namespace quickshift
