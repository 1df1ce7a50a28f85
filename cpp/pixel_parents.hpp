// The nearest higher pixel of every pixel.
#pragma once

#include <vector>

#include "parallel.hpp"
#include "picture.hpp"

namespace quickshift {

struct PixelEdges {
  Index* parent;     // the pixel itself where none was found
  double* distance;  // infinite there, NaN outside of the mask
};

// In the total order of rounded densities (of equal ones the larger number is higher), between
// equally near pixels the highest, no further than tau.
void pixel_parents(const Picture& picture, const double* density, int bits, double tau,
                   const Execution& execution, const PixelEdges& edges);

// As scikit-image looks for parents, in a square window of a picture with two axes.
void raster_parents(const Picture& picture, const double* density, Index reach, bool single,
                    const Execution& execution, const PixelEdges& edges);

}  // namespace quickshift
