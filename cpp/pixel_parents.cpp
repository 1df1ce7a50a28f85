#include "pixel_parents.hpp"

#include <cmath>
#include <limits>

#include "heights.hpp"
#include "kernel.hpp"
#include "pixel_blocks.hpp"
#include "pixel_surroundings.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Looks around every pixel, tile by tile. finish(pixel, square, number) gets what was found:
// `number` is to be added to the pixel's, 0 for none.
template <class Finish>
void look_around(const Picture& picture, const double* heights, FindHigher find,
                 const SortedSurroundings& around, double beyond, const Execution& execution,
                 const Finish& finish) {
  struct Scratch {
    PixelTile tile;
    SortedSurroundings around;
    std::vector<double> heights, places, line_sq, squares;
    std::vector<Index> numbers;
  };
  const double work = 100.0 * static_cast<double>(picture.pixels());
  run_tasks(execution, PixelTile::count(picture), work, [&] {
    return [&, s = Scratch{PixelTile(picture, around.halo()), around, {}, {}, {}, {}, {}}](
               Index box) mutable {
      const int last = picture.axes() - 1;
      const Index halo = around.halo()[last];
      s.tile.load(box, 1.0, 0.0);
      s.tile.load_plane(heights, -infinity, s.heights);
      const Surroundings surroundings = s.around.in(s.tile);
      s.places.resize(static_cast<std::size_t>(s.tile.length()));
      for (Index i = 0; i < s.tile.length(); ++i) {
        s.places[i] = picture.coordinate(last, s.tile.first_column() - halo + i);
      }
      s.squares.resize(static_cast<std::size_t>(s.tile.length()));
      s.numbers.resize(static_cast<std::size_t>(s.tile.length()));
      for (const PixelTile::Line& line : s.tile.lines()) {
        if (execution.stop) return;
        around.write_line_squares(picture, line.at, s.line_sq);
        const Index start = s.tile.start(line.number);
        find({s.tile.colors() + start, s.tile.plane_size(), picture.colors.features,
              s.tile.columns(), s.heights.data() + start, s.places.data() + halo, s.line_sq.data(),
              beyond, s.squares.data(), s.numbers.data()},
             surroundings);
        for (Index i = 0; i < s.tile.columns(); ++i) {
          finish(line.first_pixel + i, s.squares[i], s.numbers[i]);
        }
      }
    };
  });
}

// Goes on with the pixels for which the surroundings may not have been enough.
void look_further(const Picture& picture, const double* heights, double enough_sq, double limit_sq,
                  const Execution& execution, const PixelEdges& edges, double* squares) {
  std::vector<Index> rest;
  for (Index pixel = 0; pixel < picture.pixels(); ++pixel) {
    if (picture.inside(pixel) && squares[pixel] > enough_sq) rest.push_back(pixel);
  }
  if (rest.empty()) return;
  const PixelBlocks blocks(picture, heights, execution);
  const auto count = static_cast<Index>(rest.size());
  run_tasks(execution, count, 1e4 * static_cast<double>(count), [&] {
    return [&, scratch = std::vector<PixelBlocks::Candidate>()](Index task) mutable {
      const Index pixel = rest[task];
      const bool found = edges.parent[pixel] != pixel;
      NearestPixel nearest{found ? squares[pixel] : limit_sq, found ? edges.parent[pixel] : -1};
      blocks.find(pixel, nearest, scratch);
      if (nearest.pixel < 0) return;
      squares[pixel] = nearest.square;
      edges.parent[pixel] = nearest.pixel;
    };
  });
}

}  // namespace

void pixel_parents(const Picture& picture, const double* density, int bits, double tau,
                   const Execution& execution, const PixelEdges& edges) {
  Array<double> heights = unset_array<double>(picture.pixels());
  run_ranges(execution, picture.pixels(), [&](Index begin, Index end) {
    for (Index pixel = begin; pixel < end; ++pixel) {
      heights[pixel] = picture.inside(pixel) ? round_to_bits(density[pixel], bits) : -infinity;
    }
  });
  const double limit_sq = std::isinf(tau) ? infinity : largest_square_within(tau);
  const SortedSurroundings around = SortedSurroundings::within(picture, tau);
  double* squares = edges.distance;
  look_around(picture, heights.data(), pixel_loops().find_higher, around,
              std::nextafter(limit_sq, infinity), execution,
              [&](Index pixel, double square, Index number) {
                edges.parent[pixel] = pixel + number;
                squares[pixel] = number == 0 ? infinity : square;
              });
  if (around.complete_sq() < limit_sq) {
    look_further(picture, heights.data(), around.complete_sq(), limit_sq, execution, edges,
                 squares);
  }
  run_ranges(execution, picture.pixels(), [&](Index begin, Index end) {
    for (Index pixel = begin; pixel < end; ++pixel) {
      edges.distance[pixel] = picture.inside(pixel) ? std::sqrt(squares[pixel]) : nan;
    }
  });
}

void raster_parents(const Picture& picture, const double* density, Index reach, bool single,
                    const Execution& execution, const PixelEdges& edges) {
  const SortedSurroundings around = SortedSurroundings::boxed(picture, {reach, reach});
  const FindHigher find = single ? pixel_loops().find_raster_single : pixel_loops().find_raster;
  look_around(picture, density, find, around, infinity, execution,
              [&](Index pixel, double square, Index number) {
                edges.parent[pixel] = pixel + number;
                edges.distance[pixel] = number == 0 ? infinity : std::sqrt(square);
              });
}

}  // namespace quickshift
