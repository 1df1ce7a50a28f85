// Sums along a line: the loops over samples that a query on it makes, one table an instruction set.
#pragma once

#include "pairs.hpp"

namespace quickshift {

// Samples along a line, each away from it by a square of its own.
struct LineBlock {
  const double* places;   // on the line
  const double* squares;  // of the distances from it
  const double* weights;
  long long count;  // a multiple of line_step, filled up with weights of zero
};
inline constexpr int line_step = 8;
// Σ w_j k at the point of an interval of the line that is nearest to each sample: a bound on the
// sums within, or the sum at a point that is both its ends.
using LineSum = double (*)(const LineBlock&, const KernelScale&, double low, double high);

struct SumAndSlope {
  double sum;
  double slope;  // of its logarithm, in a bandwidth
};
using LineSlope = SumAndSlope (*)(const LineBlock&, const KernelScale&, double place);

// The first coefficients of the gaussian sum along the line, as a series in (place - centre) / h:
// up to a quarter from the centre it is as exact as `roughness`, relative to the sum.
inline constexpr int line_terms = 14;
using ExpandLine = void (*)(const LineBlock&, const KernelScale&, double centre,
                            double* coefficients);

struct LineLoops {
  const LineSum* sums;        // by kernel
  const LineSum* rough_sums;  // of the infinite kernels, to a relative `roughness`
  LineSlope slope;            // of the gaussian
  LineSlope rough_slope;
  ExpandLine series;
};

// Those of the instruction set in use.
const LineLoops& line_loops();

}  // namespace quickshift
