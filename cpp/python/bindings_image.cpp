// Bindings of the functions for pictures.
#include <algorithm>
#include <cmath>

#include "image/joins.hpp"
#include "image/pixel_parents.hpp"
#include "image/pixel_sums.hpp"
#include "python/bindings.hpp"
#include "tree/heights.hpp"

namespace quickshift {

namespace {

using Mask = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Axes = std::vector<Index>;

Axes axes_of(const Indices& array) { return {array.data(), array.data() + array.size()}; }

// Sets the mask. Throws if the shape or the mask does not match the number of pixels.
void validate_and_set_mask(Picture& picture, const std::optional<Mask>& mask) {
  require(!picture.shape.empty(), "shape must have at least one axis");
  Index pixels = 1;
  for (const Index extent : picture.shape) {
    require(extent > 0 && extent <= picture.pixels() / pixels,
            "shape must be positive, with one pixel per color");
    pixels *= extent;
  }
  require(pixels == picture.pixels(), "shape must be positive, with one pixel per color");
  if (!mask) return;
  require(static_cast<Index>(mask->size()) == pixels, "mask must have one entry per pixel");
  picture.mask = mask->data();
}

Picture picture_of(const AnyPoints& colors, const Indices& shape, const Reals& spacing,
                   const Axes& origin, const std::optional<Mask>& mask) {
  Picture picture{
      points_of(colors), axes_of(shape), {spacing.data(), spacing.data() + spacing.size()}, origin};
  validate_and_set_mask(picture, mask);
  require(spacing.size() == shape.size() && origin.size() == shape.size(),
          "shape, spacing and origin must have the same length");
  for (const double gap : picture.spacing) {
    require(gap > 0.0 && std::isfinite(gap), "spacing must be positive and finite");
  }
  return picture;
}

auto sums(const AnyPoints& colors, const Indices& shape, const Reals& spacing,
          const std::optional<Mask>& mask, double bandwidth, const Indices& reach, int threads,
          const Report& report) {
  const Picture picture = picture_of(colors, shape, spacing, Axes(shape.size(), 0), mask);
  const PixelKernel kernel{bandwidth, axes_of(reach)};
  require(bandwidth > 0.0 && std::isfinite(bandwidth), "bandwidth must be positive and finite");
  require(kernel.reach.size() == picture.shape.size() &&
              std::all_of(kernel.reach.begin(), kernel.reach.end(), [](Index r) { return r >= 0; }),
          "reach must have one number per axis, none negative");
  Buffer<double> values(picture.pixels());
  without_gil(threads, report, 0.0, [&](const Execution& execution) {
    pixel_sums(picture, kernel, execution, values.data());
  });
  return values.array();
}

auto edges_of(Buffer<Index>& parent, Buffer<double>& distance) {
  return std::make_tuple(parent.array(), distance.array());
}

auto parents(const AnyPoints& colors, const Indices& shape, const Reals& spacing,
             const Indices& origin, const std::optional<Mask>& mask, const Reals& heights, int bits,
             double tau, int threads, const Report& report, Index visits) {
  const Picture picture = picture_of(colors, shape, spacing, axes_of(origin), mask);
  require(static_cast<Index>(heights.size()) == picture.pixels(),
          "heights must have one entry per pixel");
  require(tau >= 0.0 && bits >= 1 && bits <= 53, "tau must be at least 0, and bits from 1 to 53");
  require(visits >= 0 && visits <= 1'000'000, "visits must be from 0 to 1000000");
  Buffer<Index> parent(picture.pixels());
  Buffer<double> distance(picture.pixels());
  without_gil(threads, report, 0.0, [&](const Execution& execution) {
    pixel_parents(picture, {heights.data(), bits, tau, visits}, execution,
                  {parent.data(), distance.data()});
  });
  return edges_of(parent, distance);
}

auto strength(const Indices& shape, const std::optional<Mask>& mask, const Indices& parent,
              const Reals& distance, int threads, const Report& report) {
  const auto rows = static_cast<Index>(parent.size());
  Picture picture{{nullptr, nullptr, rows, 0}, axes_of(shape), {}, {}};
  validate_and_set_mask(picture, mask);
  require(distance.size() == parent.size(), "parent and distance must have the same length");
  require(std::all_of(parent.data(), parent.data() + rows,
                      [=](Index row) { return row >= 0 && row < rows; }),
          "parent must have numbers of pixels");
  Buffer<double> values(rows);
  without_gil(threads, report, 0.0, [&](const Execution& execution) {
    boundary_strength(picture, {parent.data(), distance.data(), rows}, execution, values.data());
  });
  return values.array();
}

auto rounded(const Reals& values, int bits) {
  require(bits >= 1 && bits <= 53, "bits must be from 1 to 53");
  Buffer<double> result(static_cast<Index>(values.size()));
  std::transform(values.data(), values.data() + values.size(), result.data(),
                 [=](double value) { return round_to_bits(value, bits); });
  return result.array();
}

// A picture with two axes and unit spacing, as in scikit-image.
Picture raster_picture(const AnyPoints& colors, Index rows, Index columns) {
  Picture picture{points_of(colors), {rows, columns}, {1.0, 1.0}, {0, 0}};
  validate_and_set_mask(picture, std::nullopt);
  return picture;
}

auto raster_sums_single(const AnyPoints& colors, Index rows, Index columns, const Reals& start,
                        double factor, Index reach, int threads, const Report& report) {
  const Picture picture = raster_picture(colors, rows, columns);
  require(static_cast<Index>(start.size()) == picture.pixels(),
          "start must have one entry per pixel");
  require(reach >= 0, "reach must not be negative");
  Buffer<double> values(picture.pixels());
  without_gil(threads, report, 0.0, [&](const Execution& execution) {
    raster_sums(picture, start.data(), static_cast<float>(factor), reach, execution, values.data());
  });
  return values.array();
}

auto parents_in_raster(const AnyPoints& colors, Index rows, Index columns, const Reals& heights,
                       Index reach, bool single, int threads, const Report& report) {
  const Picture picture = raster_picture(colors, rows, columns);
  require(static_cast<Index>(heights.size()) == picture.pixels(),
          "heights must have one entry per pixel");
  require(reach >= 0, "reach must not be negative");
  Buffer<Index> parent(picture.pixels());
  Buffer<double> distance(picture.pixels());
  without_gil(threads, report, 0.0, [&](const Execution& execution) {
    raster_parents(picture, heights.data(), reach, single, execution,
                   {parent.data(), distance.data()});
  });
  return edges_of(parent, distance);
}

}  // namespace

void bind_image(nb::module_& m) {
  m.def("pixel_sums", &sums, "colors"_a, "shape"_a, "spacing"_a, "mask"_a.none(), "bandwidth"_a,
        "reach"_a, "threads"_a = 1, "report"_a = nb::none(),
        "Sum Gaussian kernels over the pixels in a box around each pixel.");
  m.def("pixel_parents", &parents, "colors"_a, "shape"_a, "spacing"_a, "origin"_a, "mask"_a.none(),
        "heights"_a, "bits"_a, "tau"_a, "threads"_a = 1, "report"_a = nb::none(), "visits"_a = 300,
        "Find, for every pixel, the nearest higher pixel within tau, and the distance to it.");
  m.def(
      "boundary_strength", &strength, "shape"_a, "mask"_a.none(), "parent"_a, "distance"_a,
      "threads"_a = 1, "report"_a = nb::none(),
      "Find, for every pixel, the smallest tau at which it is in one tree with all its neighbors.");
  m.def("round_to_bits", &rounded, "values"_a, "bits"_a,
        "Round numbers to a number of significant bits, as heights are before they are compared.");
  m.def("raster_sums_single", &raster_sums_single, "colors"_a, "rows"_a, "columns"_a, "start"_a,
        "factor"_a, "reach"_a, "threads"_a = 1, "report"_a = nb::none(),
        "Add sums of kernels to `start`, in single precision and in raster order.");
  m.def("raster_parents", &parents_in_raster, "colors"_a, "rows"_a, "columns"_a, "heights"_a,
        "reach"_a, "single"_a = false, "threads"_a = 1, "report"_a = nb::none(),
        "Find the nearest strictly higher pixel in a square window; of ties, the first in raster "
        "order.");
}

}  // namespace quickshift
