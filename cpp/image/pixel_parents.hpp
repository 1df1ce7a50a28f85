// The nearest higher pixel of every pixel.
#pragma once

#include <vector>

#include "image/picture.hpp"
#include "support/parallel.hpp"

namespace quickshift {

struct PixelEdges {
  Index* parent;     // the pixel itself if it has no parent
  double* distance;  // infinite if it has no parent, NaN outside the mask
};

// The order of the pixels, and the limits of the search for parents.
struct PixelOrder {
  const double* heights;  // by pixel: sums of kernels
  int bits;      // heights are rounded to this many significant bits before they are compared; of
                 // equal heights the larger pixel number is higher
  double tau;    // largest distance to a parent
  Index visits;  // the search through blocks may visit this many pixels per pixel of the picture;
                 // beyond that, all parents are found in a k-d tree instead
};

// Finds, for every pixel, the nearest pixel that is higher in the total order; of equally near
// pixels, the highest.
void pixel_parents(const Picture& picture, const PixelOrder& order, const Execution& execution,
                   const PixelEdges& edges);

// Finds parents as scikit-image does, in a picture with two axes. The window around a pixel is a
// square that extends `reach` pixels to each side. `single` selects the arithmetic of float32.
void raster_parents(const Picture& picture, const double* heights, Index reach, bool single,
                    const Execution& execution, const PixelEdges& edges);

}  // namespace quickshift
