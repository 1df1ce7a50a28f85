// The nearest higher pixel of every pixel.
#pragma once

#include <vector>

#include "image/picture.hpp"
#include "support/parallel.hpp"

namespace quickshift {

struct PixelEdges {
  Index* parent;     // the pixel itself where none was found
  double* distance;  // infinite there, NaN outside of the mask
};

// What decides on parents.
struct PixelOrder {
  const double* density;
  int bits;     // of it that are compared; of equal ones the larger number is higher
  double tau;   // no parent is further
  Index looks;  // at pixels that blocks may take, on the average of all pixels; then a tree is used
};

// In the total order, between equally near pixels the highest.
void pixel_parents(const Picture& picture, const PixelOrder& order, const Execution& execution,
                   const PixelEdges& edges);

// As scikit-image looks for parents, in a square window of a picture with two axes.
void raster_parents(const Picture& picture, const double* density, Index reach, bool single,
                    const Execution& execution, const PixelEdges& edges);

}  // namespace quickshift
