// The valleys between neighboring roots, and the removal of flat roots (decision records 24 and
// 26).
//
// A valley is the lowest of the sums at some places between two neighboring roots. A root is flat
// if its sum does not exceed the higher one of the valleys on its two sides: it stands on the slope
// of another root, and is a root only because of a gap in the responses.
#pragma once

#include <vector>

#include "regression/response_window.hpp"
#include "regression/vertex.hpp"

namespace quickshift {

class Valleys {
 public:
  // width: the bandwidth in the scale of the tree.
  Valleys(const Responses& responses, const Ladder& ladder, const ModeOptions& options,
          double width)
      : responses_(responses), ladder_(ladder), options_(options), width_(width) {}

  // Appends the roots to `modes`, highest first, without the flat ones unless options.keep_flat is
  // set. Sorts `roots` by rank.
  void write(const ResponseWindow& window, const Execution& execution, std::vector<Vertex>& roots,
             std::vector<ConditionalMode>& modes);

 private:
  // A root in a doubly linked list of roots by rank.
  struct LinkedRoot {
    ConditionalMode mode;
    std::size_t before, after;  // its own position if there is no such neighbor
    double valley_before = 0.0;
    double valley_after = 0.0;

    double valley() const { return std::max(valley_before, valley_after); }
  };

  void link_roots(const ResponseWindow& window, const Execution& execution,
                  const std::vector<Vertex>& roots);
  void unlink(std::size_t i);
  double lowest_between(const ResponseWindow& window, const ConditionalMode& low,
                        const ConditionalMode& high) const;
  double sum_at(const ResponseWindow& window, double place) const;

  const Responses& responses_;
  const Ladder& ladder_;
  const ModeOptions& options_;
  double width_;
  std::vector<LinkedRoot> linked_;  // one per root, by rank
  std::vector<std::size_t> order_, kept_;
};

}  // namespace quickshift
