// Sums along a line: the loops over samples that a query on it makes, one table an instruction set.
#pragma once

#include "vector/pairs.hpp"

namespace quickshift {

// Samples along a line, each away from it by a square of its own.
struct ResponseBlock {
  const double* places;   // on the line
  const double* squares;  // of the distances from it
  const double* weights;
  long long count;  // a multiple of response_step, filled up with weights of zero
};
inline constexpr int response_step = 8;
// Σ w_j k at the point of an interval of the line that is nearest to each sample: a bound on the
// sums within, or the sum at a point that is both its ends.
using ResponseSum = double (*)(const ResponseBlock&, const KernelScale&, double low, double high);

struct SumAndSlope {
  double sum;
  double slope;  // of its logarithm, in a bandwidth
};
using ResponseSlope = SumAndSlope (*)(const ResponseBlock&, const KernelScale&, double place);

// The first coefficients of the gaussian sum along the line, as a series in (place - centre) / h:
// up to a quarter from the centre it is as exact as `roughness`, relative to the sum.
inline constexpr int series_terms = 14;
using ExpandResponses = void (*)(const ResponseBlock&, const KernelScale&, double centre,
                                 double* coefficients);

struct ResponseLoops {
  const ResponseSum* sums;        // by kernel
  const ResponseSum* rough_sums;  // of the infinite kernels, to a relative `roughness`
  ResponseSlope slope;            // of the gaussian
  ResponseSlope rough_slope;
  ExpandResponses series;
};

// Those of the instruction set in use.
const ResponseLoops& response_loops();

}  // namespace quickshift
