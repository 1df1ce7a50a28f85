#include "image/pixel_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "image/pixel_tile.hpp"
#include "vector/pixel_loops.hpp"

namespace quickshift {

namespace {

// A factor that brings the bandwidth into [1, 2). It is a power of two, so that multiplying colors
// by it is exact.
double scale_of(const PixelKernel& kernel) {
  return std::ldexp(1.0, -std::ilogb(kernel.bandwidth));
}

// The factor by which the squared scaled distance is multiplied to get the base-2 logarithm of the
// kernel.
double factor_of(const PixelKernel& kernel) {
  const double width = kernel.bandwidth * scale_of(kernel);
  return -0.5 * 1.4426950408889634 / (width * width);
}

struct LineOffset {
  std::vector<Index> step;      // by axis, except the last
  std::vector<double> squares;  // squared scaled distances, by difference of columns
};

// Offsets from a line to itself and to those later lines, in raster order, that have pixels in the
// boxes around its own pixels.
std::vector<LineOffset> lines_after(const Picture& picture, const PixelKernel& kernel) {
  const int last = picture.axes() - 1;
  const double scale = scale_of(kernel);
  std::vector<Index> begin, end;
  for (int axis = 0; axis < last; ++axis) {
    begin.push_back(-kernel.reach[axis]);
    end.push_back(kernel.reach[axis] + 1);
  }
  std::vector<LineOffset> offsets;
  std::vector<Index> step = begin;
  do {
    if (step < std::vector<Index>(step.size(), 0)) continue;
    LineOffset offset{step, {}};
    double square = 0.0;
    for (int axis = 0; axis < last; ++axis) {
      const double gap = static_cast<double>(step[axis]) * picture.spacing[axis] * scale;
      square += gap * gap;
    }
    for (Index apart = 0; apart <= kernel.reach[last]; ++apart) {
      const double gap = static_cast<double>(apart) * picture.spacing[last] * scale;
      offset.squares.push_back(square + gap * gap);
    }
    offsets.push_back(std::move(offset));
  } while (next_position(step, begin, end));
  return offsets;
}

// Computes the sums of one box of the picture at a time; one object per thread.
class TileSums {
 public:
  TileSums(const Picture& picture, const PixelKernel& kernel,
           const std::vector<LineOffset>& offsets)
      : picture_(picture), kernel_(kernel), offsets_(offsets), tile_(picture, kernel.reach) {}

  void operator()(Index box, double* to, const Execution& execution) {
    tile_.load(box, scale_of(kernel_));
    sums_.assign(static_cast<std::size_t>(tile_.plane_size()), 1.0);  // the pixel's own term
    for (Index line = 0; line < tile_.all_lines() && !execution.stops(); ++line) add_from(line);
    for (const PixelTile::Line& line : tile_.lines()) {
      const double* from = sums_.data() + tile_.start(line.number);
      for (Index i = 0; i < tile_.columns(); ++i) {
        const Index pixel = line.first_pixel + i;
        to[pixel] = picture_.inside(pixel) ? from[i] : std::numeric_limits<double>::quiet_NaN();
      }
    }
  }

 private:
  // Adds the terms of all pairs of pixels within a line, and of the pairs of its pixels with those
  // of later lines. Called for one line after the other, it adds the terms of every sum line by
  // line in raster order.
  void add_from(Index line) {
    const std::vector<Index> at = tile_.position_of(line);
    const bool inner = tile_.is_inner(at);
    if (!tile_.in_picture(at)) return;
    LinesOfPixels lines = lines_from(line);
    int slot = 0;
    for (const LineOffset& offset : offsets_) {
      const Index other = line_at(at, offset.step, inner);
      if (other == line) {
        lines.squares[0] = offset.squares.data();
        pixel_loops().add_lines(lines);
        continue;
      }
      // A call takes lines_per_call consecutive offsets, whether or not their lines exist in this
      // tile. The order in which terms are added, and with it the bits of a sum, is therefore the
      // same in every tile.
      if (slot == lines_per_call) {
        if (lines.others > 0) pixel_loops().add_lines(lines);
        lines.others = slot = 0;
      }
      ++slot;
      if (other < 0) continue;
      lines.other_colors[lines.others] = tile_.colors() + tile_.start(other);
      lines.other_sums[lines.others] = sums_.data() + tile_.start(other);
      lines.squares[lines.others++] = offset.squares.data();
    }
    if (lines.others > 0) pixel_loops().add_lines(lines);
  }

  LinesOfPixels lines_from(Index line) {
    LinesOfPixels lines{};
    lines.colors = tile_.colors() + tile_.start(line);
    lines.plane = tile_.plane_size();
    lines.channels = picture_.colors.features;
    lines.columns = tile_.columns();
    lines.reach = kernel_.reach.back();
    lines.factor = factor_of(kernel_);
    lines.sums = sums_.data() + tile_.start(line);
    return lines;
  }

  // The number of the line at a given step from another; -1 if there is none, or if both lines lie
  // in the halo, where sums are not needed.
  Index line_at(const std::vector<Index>& from, const std::vector<Index>& step, bool inner) const {
    std::vector<Index> at = from;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      at[axis] += step[axis];
      if (at[axis] < 0 || at[axis] >= tile_.line_extents()[axis]) return -1;
    }
    if (!tile_.in_picture(at)) return -1;
    return inner || tile_.is_inner(at) ? number_of(at, tile_.line_extents()) : -1;
  }

  const Picture& picture_;
  const PixelKernel& kernel_;
  const std::vector<LineOffset>& offsets_;
  PixelTile tile_;
  std::vector<double> sums_;
};

// Computes the sums of one box of the picture at a time in single precision; one object per thread.
class RasterTileSums {
 public:
  RasterTileSums(const Picture& picture, const std::vector<Index>& halo, float factor)
      : picture_(picture),
        halo_(halo),
        factor_(factor),
        tile_(picture, halo),
        terms_(static_cast<std::size_t>(2 * halo[1] + 1)) {
    for (Index apart = -halo[1]; apart <= halo[1]; ++apart) {
      columns_sq_.push_back(static_cast<float>(apart * apart));
    }
  }

  void operator()(Index box, const double* start, double* to, const Execution& execution) {
    tile_.load(box);
    colors_.assign(tile_.colors(), tile_.colors() + tile_.plane_size() * picture_.colors.features);
    tile_.load_plane(start, 0.0, sums_);
    for (Index line = 0; line < tile_.all_lines() && !execution.stops(); ++line) add_from(line);
    for (const PixelTile::Line& line : tile_.lines()) {
      std::copy_n(sums_.data() + tile_.start(line.number), tile_.columns(), to + line.first_pixel);
    }
  }

 private:
  // Adds the terms of all pairs of pixels within a line, and of the pairs of its pixels with those
  // of later lines.
  void add_from(Index line) {
    if (!tile_.in_picture({line})) return;
    if (tile_.is_inner({line})) pixel_loops().add_raster_single(lines_from(line, line));
    const Index last = std::min(line + halo_[0], tile_.all_lines() - 1);
    for (Index other = line + 1; other <= last && tile_.in_picture({other}); ++other) {
      if (!tile_.is_inner({line}) && !tile_.is_inner({other})) continue;
      pixel_loops().add_raster_single(lines_from(line, other));
    }
  }

  RasterLines lines_from(Index line, Index other) {
    RasterLines lines{};
    lines.colors = colors_.data() + tile_.start(line);
    lines.other_colors = colors_.data() + tile_.start(other);
    lines.plane = tile_.plane_size();
    lines.channels = picture_.colors.features;
    lines.columns = tile_.columns();
    lines.reach = halo_[1];
    lines.lines_sq = static_cast<float>((other - line) * (other - line));
    lines.columns_sq = columns_sq_.data();
    lines.factor = factor_;
    lines.sums = sums_.data() + tile_.start(line);
    const bool adds_to_other = other != line && tile_.is_inner({other});
    lines.other_sums = adds_to_other ? sums_.data() + tile_.start(other) : nullptr;
    lines.terms = terms_.data();
    return lines;
  }

  const Picture& picture_;
  const std::vector<Index>& halo_;
  float factor_;
  PixelTile tile_;
  std::vector<float> colors_, columns_sq_;
  std::vector<double> sums_;
  std::vector<RasterTerms> terms_;
};

// An upper bound on the number of pairs of pixels, from which the amount of work is estimated.
double pairs_in(const Picture& picture, const std::vector<Index>& reach) {
  double pairs = static_cast<double>(picture.pixels());
  for (const Index r : reach) pairs *= static_cast<double>(2 * r + 1);
  return pairs;
}

}  // namespace

void pixel_sums(const Picture& picture, PixelKernel kernel, const Execution& execution,
                double* sums) {
  kernel.reach = clipped(picture, std::move(kernel.reach));
  const std::vector<LineOffset> offsets = lines_after(picture, kernel);
  run_tasks(execution, PixelTile::count(picture), 2.0 * pairs_in(picture, kernel.reach), [&] {
    return [&, tile = TileSums(picture, kernel, offsets)](Index box) mutable {
      tile(box, sums, execution);
    };
  });
}

void raster_sums(const Picture& picture, const double* start, float factor, Index reach,
                 const Execution& execution, double* sums) {
  const std::vector<Index> halo = clipped(picture, {reach, reach});
  run_tasks(execution, PixelTile::count(picture), 4.0 * pairs_in(picture, halo), [&] {
    return [&, tile = RasterTileSums(picture, halo, factor)](Index box) mutable {
      tile(box, start, sums, execution);
    };
  });
}

}  // namespace quickshift
