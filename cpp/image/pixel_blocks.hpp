// Branch-and-bound search for distant higher pixels, over blocks of pixels.
//
// Each block knows its highest height and the bounding box of its colors, so a block is skipped if
// nothing in it is higher, or if its box is farther than the nearest pixel found so far.
#pragma once

#include <vector>

#include "image/picture.hpp"
#include "support/array.hpp"

namespace quickshift {

struct NearestPixel {
  double square;  // of the distance to it; before one is found, the largest admissible square
  Index pixel;    // -1 if none has been found yet
};

class PixelBlocks {
 public:
  // heights are minus infinity outside the mask.
  PixelBlocks(const Picture& picture, const double* heights, const Execution& execution);

  struct Candidate {
    double square;  // a lower bound of the squared distance to the pixels of the block
    Index block;
  };
  // Replaces `nearest` if a pixel that is higher than `pixel` is nearer, or equally near and higher
  // than the present one. Returns approximately how many pixels were visited. `scratch` is working
  // memory that callers reuse between calls.
  Index find(Index pixel, NearestPixel& nearest, std::vector<Candidate>& scratch) const;

 private:
  bool higher(Index a, Index b) const {
    return heights_[a] != heights_[b] ? heights_[a] > heights_[b] : a > b;
  }
  std::vector<Index> end_of(const std::vector<Index>& block) const;  // in pixels, exclusive
  void measure(Index block);
  double least_square(const std::vector<Index>& at, Index pixel,
                      const std::vector<Index>& block) const;
  double square_between(Index a, const std::vector<Index>& at, Index b,
                        const std::vector<Index>& other) const;
  Index search_block(Index pixel, const std::vector<Index>& at, Index block,
                     NearestPixel& nearest) const;

  const Picture& picture_;
  const double* heights_;
  Index side_;
  std::vector<Index> grid_;  // blocks along each axis
  Array<double> highest_;    // by block
  Array<double> box_;        // by block: the minimum of each channel, then the maximum of each
};

}  // namespace quickshift
