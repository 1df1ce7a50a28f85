// Merges duplicate rows into distinct weighted locations, so that duplicates cost nothing later on.
#pragma once

#include <vector>

#include "support/array.hpp"
#include "support/parallel.hpp"
#include "support/points.hpp"

namespace quickshift {

struct Locations {
  // (m, features): wrapped into the periods, multiplied by 2^-exponent, with 0.0 in place of -0.0.
  Array<double> coordinates;
  std::vector<double> weights;   // (m,); empty if all weights are 1
  Index count = 0;               // m
  std::vector<Index> first_row;  // (m,); empty if location i is row i
  // (rows,), -1 for rows of weight zero; empty if row i is location i.
  std::vector<Index> location_of_row;
  Index comparisons = 0;  // how many times two rows were compared to find duplicates
};

// x - p floor(x / p), in [0, p); x itself if the period is infinite.
double wrapped(double x, double period);

// The exponent e for which the largest absolute coordinate of the rows of positive weight, times
// 2^-e, is in [1, 2).
int scale_exponent(const Points& points, const double* weights, const double* period,
                   const Execution& execution);

// weights: one per row, or null if all are 1. period: one per feature, or null if no feature is
// periodic. Coordinates are multiplied by 2^-exponent.
Locations distinct_locations(const Points& points, const double* weights, const double* period,
                             int exponent, const Execution& execution);

}  // namespace quickshift
