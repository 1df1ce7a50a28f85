// Sums of kernels at points of a line on which x is fixed and the response varies: the loops over
// samples, in one table per instruction set.
#pragma once

#include "vector/pairs.hpp"

namespace quickshift {

// Samples near a line. Each has its place along the line and its squared distance from the line.
// For rough gaussian sums, which are the most frequent, `squares` holds logarithms instead: the
// base-2 logarithm of the weight times the kernel at that distance. A term then takes fewer
// operations, and the weights are not read. Padding has weight 0 and logarithm minus infinity.
struct ResponseBlock {
  const double* places;   // along the line
  const double* squares;  // squared distances from the line
  const double* weights;
  long long count;  // a multiple of response_step
};
inline constexpr int response_step = 8;
// Σ w_j k(distance from sample j to the interval [low, high] of the line): an upper bound on the
// sums at the points of the interval, and the sum itself if low == high.
using ResponseSum = double (*)(const ResponseBlock&, const KernelScale&, double low, double high);

struct SumAndSlope {
  double sum;
  double slope;  // of the logarithm of the sum, per bandwidth
};
using ResponseSlope = SumAndSlope (*)(const ResponseBlock&, const KernelScale&, double place);

// The first coefficients of the gaussian sum along the line, as a power series in (place - center)
// / h, for arguments of at most a quarter. Decision record 26 states the error.
inline constexpr int series_terms = 14;
using ExpandResponses = void (*)(const ResponseBlock&, const KernelScale&, double center,
                                 double* coefficients);

struct ResponseLoops {
  const ResponseSum* sums;        // by kernel
  const ResponseSum* rough_sums;  // infinite kernels, to a relative `roughness`
  ResponseSlope slope;            // gaussian only
  ResponseSlope rough_slope;
  ExpandResponses series;
};

// The table of the instruction set in use.
const ResponseLoops& response_loops();

}  // namespace quickshift
