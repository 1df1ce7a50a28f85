// Branch-and-bound search for the nearest higher pixel, over blocks of pixels.
//
// For each block, the largest height and the bounding box of its colors are known. A block is
// skipped if none of its pixels is higher, or if its box is farther away than the nearest higher
// pixel found so far.
#pragma once

#include <vector>

#include "image/picture.hpp"
#include "support/array.hpp"

namespace quickshift {

struct NearestPixel {
  double square;  // its squared distance; before one is found, the largest admissible one
  Index pixel;    // -1 if none has been found yet
};

class PixelBlocks {
 public:
  // heights are minus infinity outside the mask.
  PixelBlocks(const Picture& picture, const double* heights, const Execution& execution);

  struct Candidate {
    double square;  // a lower bound on the squared distance to the pixels of the block
    Index block;
  };
  // Searches for the nearest pixel that is higher than `pixel`; of equally near ones, the highest.
  // Replaces `nearest` if the result is better than its present value. Returns approximately how
  // many pixels were visited. `scratch` is working memory that callers reuse between calls.
  Index find(Index pixel, NearestPixel& nearest, std::vector<Candidate>& scratch) const;

 private:
  bool higher(Index a, Index b) const {
    return heights_[a] != heights_[b] ? heights_[a] > heights_[b] : a > b;
  }
  std::vector<Index> end_of(const std::vector<Index>& block) const;  // in pixels, exclusive
  void summarize(Index block);  // sets its entries in highest_ and box_
  double least_square(const std::vector<Index>& at, Index pixel,
                      const std::vector<Index>& block) const;
  double square_between(Index a, const std::vector<Index>& at, Index b,
                        const std::vector<Index>& other) const;
  Index search_block(Index pixel, const std::vector<Index>& at, Index block,
                     NearestPixel& nearest) const;

  const Picture& picture_;
  const double* heights_;
  Index side_;               // of a block, in pixels
  std::vector<Index> grid_;  // blocks along each axis
  Array<double> highest_;    // by block: its largest height
  Array<double> box_;        // by block: the minimum of each channel, then the maximum of each
};

}  // namespace quickshift
