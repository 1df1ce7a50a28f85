// Algorithm 3: the modes of f(y | x) at queries x, by branch and bound over the sorted responses.
//
// The vertices are the distinct responses of all samples. Along the line of responses the sum of
// the kernels at x is that of the samples near x, so a vertex costs as much as the window has
// samples, and there are far more vertices than that. But the sum between two vertices is bounded
// by the sums at both: its logarithm (gaussian) or itself (most others) is convex once a parabola
// is added, whose size is known. So the highest vertex of a range is found from few sums.
#pragma once

#include <vector>

#include "regression/responses.hpp"

namespace quickshift {

// The modes at every query, from `offsets[query]` to before `offsets[query + 1]`, highest first.
struct ConditionalModes {
  std::vector<Index> offsets;
  std::vector<ConditionalMode> modes;
  std::vector<double> marginals;   // by query: the sum of the kernels at x, whatever the response
  std::vector<double> log_scales;  // by query: sums are relative to exp of it
};

ConditionalModes conditional_modes(const Tree& tree, const Responses& responses,
                                   const Points& queries, const ModeOptions& options,
                                   const Execution& execution);

}  // namespace quickshift
