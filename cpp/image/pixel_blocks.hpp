// Search for higher pixels far away, through blocks of pixels whose extremes are known.
#pragma once

#include <vector>

#include "image/picture.hpp"
#include "support/array.hpp"

namespace quickshift {

struct NearestPixel {
  double square;  // to it, or the largest that counts
  Index pixel;    // -1 while none is found
};

class PixelBlocks {
 public:
  // heights: minus infinity outside of the mask.
  PixelBlocks(const Picture& picture, const double* heights, const Execution& execution);

  // Looks for one that is higher than a pixel, and nearer than the nearest so far or as near and
  // higher than that. `scratch` saves memory from call to call.
  struct Candidate {
    double square;
    Index block;
  };
  // Returns about how many pixels were looked at.
  Index find(Index pixel, NearestPixel& nearest, std::vector<Candidate>& scratch) const;

 private:
  bool higher(Index a, Index b) const {
    return heights_[a] != heights_[b] ? heights_[a] > heights_[b] : a > b;
  }
  std::vector<Index> end_of(const std::vector<Index>& block) const;  // in pixels
  void measure(Index block);
  double least_square(const std::vector<Index>& at, Index pixel,
                      const std::vector<Index>& block) const;
  double square_between(Index a, const std::vector<Index>& at, Index b,
                        const std::vector<Index>& other) const;
  Index look_through(Index pixel, const std::vector<Index>& at, Index block,
                     NearestPixel& nearest) const;

  const Picture& picture_;
  const double* heights_;
  Index side_;
  std::vector<Index> grid_;  // blocks along each axis
  Array<double> highest_;    // by block
  Array<double> box_;        // by block: the least of each channel, then the greatest
};

}  // namespace quickshift
