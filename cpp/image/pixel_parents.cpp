#include "image/pixel_parents.hpp"

#include <atomic>
#include <cmath>
#include <limits>

#include "image/pixel_blocks.hpp"
#include "image/pixel_surroundings.hpp"
#include "parents/nearest_higher.hpp"
#include "tree/heights.hpp"
#include "vector/kernel.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Searches the surroundings of every pixel for the nearest higher pixel, tile by tile. Calls
// finish(pixel, square, offset), where `square` is the squared distance to the pixel found and
// `offset` its number minus that of `pixel`; the offset is 0 if none was found.
template <class Finish>
void search_surroundings(const Picture& picture, const double* heights, FindHigher find,
                         const SortedSurroundings& around, double beyond,
                         const Execution& execution, const Finish& finish) {
  struct Scratch {
    PixelTile tile;
    std::vector<double> heights, coordinates, line_sq, squares;
    std::vector<Index> steps, numbers;
  };
  const double work = 100.0 * static_cast<double>(picture.pixels());
  run_tasks(execution, PixelTile::count(picture), work, [&] {
    return [&, s = Scratch{PixelTile(picture, around.halo()), {}, {}, {}, {}, {}, {}}](
               Index box) mutable {
      const int last = picture.axes() - 1;
      const Index halo = around.halo()[last];
      s.tile.load(box);
      s.tile.load_plane(heights, -infinity, s.heights);
      const Surroundings surroundings = around.in(s.tile, s.steps);
      s.coordinates.resize(static_cast<std::size_t>(s.tile.length()));
      for (Index i = 0; i < s.tile.length(); ++i) {
        s.coordinates[i] = picture.coordinate(last, s.tile.first_column() - halo + i);
      }
      s.squares.resize(static_cast<std::size_t>(s.tile.length()));
      s.numbers.resize(static_cast<std::size_t>(s.tile.length()));
      for (const PixelTile::Line& line : s.tile.lines()) {
        if (execution.stops()) return;
        around.write_line_squares(picture, line.at, s.line_sq);
        const Index start = s.tile.start(line.number);
        find({s.tile.colors() + start, s.tile.plane_size(), picture.colors.features,
              s.tile.columns(), s.heights.data() + start, s.coordinates.data() + halo,
              s.line_sq.data(), beyond, s.squares.data(), s.numbers.data()},
             surroundings);
        for (Index i = 0; i < s.tile.columns(); ++i) {
          finish(line.first_pixel + i, s.squares[i], s.numbers[i]);
        }
      }
    };
  });
}

// The pixels inside the mask whose nearest higher pixel may lie outside their surroundings, which
// are complete up to a squared distance of `complete_sq`.
std::vector<Index> unfinished(const Picture& picture, const double* squares, double complete_sq) {
  std::vector<Index> rest;
  for (Index pixel = 0; pixel < picture.pixels(); ++pixel) {
    if (picture.inside(pixel) && squares[pixel] > complete_sq) rest.push_back(pixel);
  }
  return rest;
}

// Continues the search for the parents of the pixels in `rest`, through blocks. Gives up and
// returns false once more than `visits` pixels have been visited. That happens if differences in
// color are larger than distances in the grid: few blocks can then be skipped, and a search through
// a k-d tree is faster.
bool search_blocks(const Picture& picture, const double* heights, const std::vector<Index>& rest,
                   Index visits, double limit_sq, const Execution& execution,
                   const PixelEdges& edges) {
  double* const squares = edges.distance;
  const PixelBlocks blocks(picture, heights, execution);
  const auto count = static_cast<Index>(rest.size());
  std::atomic<Index> left{visits};
  run_tasks(execution, count, 1e4 * static_cast<double>(count), [&] {
    return [&, scratch = std::vector<PixelBlocks::Candidate>()](Index task) mutable {
      if (left < 0) return;
      const Index pixel = rest[task];
      const bool found = edges.parent[pixel] != pixel;
      NearestPixel nearest{found ? squares[pixel] : limit_sq, found ? edges.parent[pixel] : -1};
      left -= blocks.find(pixel, nearest, scratch);
      if (nearest.pixel < 0) return;
      squares[pixel] = nearest.square;
      edges.parent[pixel] = nearest.pixel;
    };
  });
  return left >= 0;
}

// Finds all parents in a k-d tree of the points (coordinates, colors). Ties are broken as in the
// other searches: the tree orders equal heights by coordinates, and the lexicographic order of the
// points is the raster order of the pixels.
void search_tree(const Picture& picture, const PixelOrder& order, const Execution& execution,
                 const PixelEdges& edges) {
  const int axes = picture.axes();
  const int features = axes + picture.colors.features;
  Array<double> rows = unset_array<double>(picture.pixels() * features);
  std::vector<double> weights(picture.mask ? static_cast<std::size_t>(picture.pixels()) : 0);
  run_ranges(execution, picture.pixels(), [&](Index begin, Index end) {
    for (Index pixel = begin; pixel < end; ++pixel) {
      double* to = rows.data() + pixel * features;
      const std::vector<Index> at = position_in(picture.shape, pixel);
      for (int axis = 0; axis < axes; ++axis) to[axis] = picture.coordinate(axis, at[axis]);
      for (int k = 0; k < picture.colors.features; ++k) {
        to[axes + k] = picture.inside(pixel) ? picture.colors.at(pixel, k) : 0.0;
      }
      if (picture.mask) weights[pixel] = picture.inside(pixel);
    }
  });
  const Points points{rows.data(), nullptr, picture.pixels(), features};
  const Tree tree = build_tree(points, picture.mask ? weights.data() : nullptr, nullptr, execution);
  nearest_higher(tree, order.heights, order.bits, false, ParentMethod::automatic, {}, execution,
                 edges.parent, edges.distance);
  for (Index pixel = 0; pixel < picture.pixels(); ++pixel) {
    if (!(edges.distance[pixel] > order.tau)) continue;
    edges.parent[pixel] = pixel;
    edges.distance[pixel] = infinity;
  }
}

}  // namespace

void pixel_parents(const Picture& picture, const PixelOrder& order, const Execution& execution,
                   const PixelEdges& edges) {
  Array<double> heights = unset_array<double>(picture.pixels());
  run_ranges(execution, picture.pixels(), [&](Index begin, Index end) {
    for (Index pixel = begin; pixel < end; ++pixel) {
      heights[pixel] =
          picture.inside(pixel) ? round_to_bits(order.heights[pixel], order.bits) : -infinity;
    }
  });
  const double limit_sq = std::isinf(order.tau) ? infinity : largest_square_within(order.tau);
  const SortedSurroundings around = SortedSurroundings::within(picture, order.tau);
  double* squares = edges.distance;
  search_surroundings(picture, heights.data(), pixel_loops().find_higher, around,
                      std::nextafter(limit_sq, infinity), execution,
                      [&](Index pixel, double square, Index number) {
                        edges.parent[pixel] = pixel + number;
                        squares[pixel] = number == 0 ? infinity : square;
                      });
  const std::vector<Index> rest = unfinished(picture, squares, around.complete_sq());
  const Index visits = order.visits * picture.pixels();
  if (!rest.empty() &&
      !search_blocks(picture, heights.data(), rest, visits, limit_sq, execution, edges)) {
    return search_tree(picture, order, execution, edges);
  }
  run_ranges(execution, picture.pixels(), [&](Index begin, Index end) {
    for (Index pixel = begin; pixel < end; ++pixel) {
      edges.distance[pixel] = picture.inside(pixel) ? std::sqrt(squares[pixel]) : nan;
    }
  });
}

void raster_parents(const Picture& picture, const double* heights, Index reach, bool single,
                    const Execution& execution, const PixelEdges& edges) {
  const SortedSurroundings around = SortedSurroundings::boxed(picture, {reach, reach});
  const FindHigher find = single ? pixel_loops().find_raster_single : pixel_loops().find_raster;
  search_surroundings(picture, heights, find, around, std::numeric_limits<double>::max(), execution,
                      [&](Index pixel, double square, Index number) {
                        edges.parent[pixel] = pixel + number;
                        edges.distance[pixel] = number == 0 ? infinity : std::sqrt(square);
                      });
}

}  // namespace quickshift
