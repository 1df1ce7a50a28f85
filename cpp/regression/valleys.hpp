// Roots on the line of responses, and the valleys between them.
//
// A valley is the lowest of the sums on the way between two neighbouring roots, at some places. A
// root that is as low as the higher of its two valleys is flat: it stands on the slope of another
// one, and only a gap in the responses made it a root.
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

  // Writes the roots, highest first, without the flat ones if so wanted. Sorts the roots.
  void write(const ResponseWindow& window, const Execution& execution, std::vector<Vertex>& roots,
             std::vector<ConditionalMode>& modes);

 private:
  // A root between its neighbours.
  struct Along {
    ConditionalMode mode;
    std::size_t before, after;  // itself where there is none
    double valley_before = 0.0;
    double valley_after = 0.0;

    double valley() const { return std::max(valley_before, valley_after); }
  };

  void lay_along(const ResponseWindow& window, const Execution& execution,
                 const std::vector<Vertex>& roots);
  void forget(std::size_t i);
  double lowest_between(const ResponseWindow& window, const ConditionalMode& low,
                        const ConditionalMode& high) const;
  double sum_at(const ResponseWindow& window, double place) const;

  const Responses& responses_;
  const Ladder& ladder_;
  const ModeOptions& options_;
  double width_;
  std::vector<Along> along_;  // as the roots
  std::vector<std::size_t> order_, kept_;
};

}  // namespace quickshift
