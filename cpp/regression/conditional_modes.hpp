// Algorithm 3: the modes of f(y | x) at queries x, by branch and bound over the sorted responses.
// Decision record 26 (docs/decisions/26-conditional-modes.md) has the full argument.
//
// The vertices are the distinct responses of all samples. At a query x, the sum of the kernels at a
// vertex is taken over the samples near x (response_window.hpp). A vertex is a root, and so a mode,
// if no vertex within tau of it has a higher sum. Evaluating the sum at every vertex would cost the
// number of vertices times the number of samples near x. Instead, sums are computed at few
// vertices, and the sums between two successive ones are bounded: the logarithm of the sum
// (gaussian) or the sum itself (kernels of bounded curvature) becomes convex when a known parabola
// is added, so it exceeds its chord by no more than a known parabola. The interval between the two
// holds no root if a vertex within tau of all of it has a sum above that bound.
#pragma once

#include <vector>

#include "regression/responses.hpp"

namespace quickshift {

// The modes of query q are those from modes[offsets[q]] to before modes[offsets[q + 1]], highest
// first.
struct ConditionalModes {
  std::vector<Index> offsets;
  std::vector<ConditionalMode> modes;
  std::vector<double> marginals;   // by query: the sum of the kernels in x alone
  std::vector<double> log_scales;  // by query: its sums and marginal are relative to exp(log_scale)
};

ConditionalModes conditional_modes(const Tree& tree, const Responses& responses,
                                   const Points& queries, const ModeOptions& options,
                                   const Execution& execution);

}  // namespace quickshift
