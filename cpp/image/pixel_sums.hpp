// Sums of Gaussian kernels at the pixels of a picture, over a box of pixels around each.
#pragma once

#include <vector>

#include "image/picture.hpp"
#include "support/parallel.hpp"

namespace quickshift {

struct PixelKernel {
  double bandwidth;
  std::vector<Index> reach;  // of the box, in pixels to each side, by axis
};

// sums[pixel] = Σ exp(-s / 2h²), its own term included; NaN outside of the mask. The bits at a
// pixel depend on the pixels in its box and on nothing else.
void pixel_sums(const Picture& picture, PixelKernel kernel, const Execution& execution,
                double* sums);

// As scikit-image sums in single precision, on top of `start`, for two axes.
void raster_sums(const Picture& picture, const double* start, float factor, Index reach,
                 const Execution& execution, double* sums);

}  // namespace quickshift
