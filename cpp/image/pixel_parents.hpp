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
  const double* density;
  int bits;      // significant bits compared; of equal densities the larger pixel number is higher
  double tau;    // largest distance to a parent
  Index visits;  // budget of the search through blocks, in visited pixels per pixel of the picture;
                 // when it is spent, all parents are found in a k-d tree instead
};

// Finds the nearest higher pixel of every pixel in the total order; of equally near pixels, the
// highest.
void pixel_parents(const Picture& picture, const PixelOrder& order, const Execution& execution,
                   const PixelEdges& edges);

// Finds parents as scikit-image does, in a square window of a picture with two axes; `single`
// selects the arithmetic of float32.
void raster_parents(const Picture& picture, const double* density, Index reach, bool single,
                    const Execution& execution, const PixelEdges& edges);

}  // namespace quickshift
