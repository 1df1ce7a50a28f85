// Sums of Gaussian kernels at the pixels of a picture, over a box of pixels around each.
#pragma once

#include <vector>

#include "image/picture.hpp"
#include "support/parallel.hpp"

namespace quickshift {

struct PixelKernel {
  double bandwidth;
  std::vector<Index> reach;  // half the width of the box, in pixels, by axis
};

// sums[pixel] = Σ exp(-s / 2h²) over the pixels in its box, itself included, where s is the squared
// distance to them and h the bandwidth; NaN outside the mask. The bits of a sum depend only on the
// pixels in the box.
void pixel_sums(const Picture& picture, PixelKernel kernel, const Execution& execution,
                double* sums);

// Adds Σ exp(factor s) over a square window to `start`, in single precision and in the order of
// scikit-image, for pictures with two axes. The window extends `reach` pixels to each side.
void raster_sums(const Picture& picture, const double* start, float factor, Index reach,
                 const Execution& execution, double* sums);

}  // namespace quickshift
