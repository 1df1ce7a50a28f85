// Rows become distinct weighted locations, so that duplicates cost nothing further on.
#pragma once

#include <vector>

#include "support/array.hpp"
#include "support/parallel.hpp"
#include "support/points.hpp"

namespace quickshift {

struct Locations {
  Array<double> coordinates;     // (m, features): wrapped, scaled, without -0.0
  std::vector<double> weights;   // (m,), or empty where every one is 1
  Index count = 0;               // m
  std::vector<Index> first_row;  // (m,); empty where it is the location itself
  std::vector<Index>
      location_of_row;  // (rows,), -1 for weight zero; empty where it is the identity
};

// x - p floor(x / p), in [0, p).
double wrapped(double x, double period);

// The exponent of the power of two that brings the largest coordinate of a row of positive weight
// into [1, 2).
int scale_exponent(const Points& points, const double* weights, const double* period,
                   const Execution& execution);

// weights and period may be null.
Locations distinct_locations(const Points& points, const double* weights, const double* period,
                             int exponent, const Execution& execution);

}  // namespace quickshift
