// The inner loops of sums by expansions (density/density_expansions.cpp), compiled once per
// instruction set.
//
// An expansion is a polynomial of some total degree, its order, in two coordinates u and v about
// the center of a node. Its coefficients are stored by degree: that of u^(n - i) v^i / ((n - i)!
// i!) is at place n (n + 1) / 2 + i. Moments Σ w u^a v^b / (a! b!) are stored in the same order.
// With one feature, v is 0. Lengths are in units of the radius of the support.
#pragma once

namespace quickshift {

inline constexpr int most_expansion_order = 16;
// The orders that the loops can be called with.
inline constexpr int expansion_orders[] = {8, 10, 12, most_expansion_order};

constexpr int expansion_size(int order) { return (order + 1) * (order + 2) / 2; }
constexpr int expansion_place(int degree, int i) { return degree * (degree + 1) / 2 + i; }

// The distance between two expansions in memory: at least one place more than the coefficients. The
// places after the coefficients are zero in moments, and not changed by `translate`.
constexpr int expansion_stride(int order) { return (expansion_size(order) + 8) / 8 * 8; }

// A kernel as a function of the squared distance s and its root t: k = E(s) + t O(s), where E and O
// are polynomials. The j-th derivative by s is Σ even[i][j] s^i + t s^(-j) Σ odd[i][j] s^i.
struct RadialSeries {
  static constexpr int most = 17;
  int evens = 0;
  int odds = 0;
  double even[most][most_expansion_order + 1] = {};
  double odd[most][most_expansion_order + 1] = {};
};

// Pairs of nodes A and B. `x` and `y` lead from the center of A to that of B.
struct NodePairs {
  static constexpr int most = 8;
  int count = 0;
  double x[most];
  double y[most];
  const double* moments[most];       // of A
  double* expansion[most];           // of B
  const double* back_moments[most];  // of B
  double* back_expansion[most];      // of A; null if the sums in A are not needed
};

// The points of `leaves` successive leaves, stored as in Tree.
struct LeafRange {
  const double* coordinates;  // [leaf][feature][stride]
  int features;               // one or two
  int stride;
  long long leaves;
  double center[2];
  double unit;  // a length in units of the radius of the support is the difference times this
};

struct ExpansionLoops {
  // Writes the moments of the points; weights are zero in unused slots.
  void (*write_moments)(const LeafRange&, int order, const double* weights, double* moments);
  // Adds to the expansions the sums of the kernel over the other nodes of the pairs.
  void (*translate)(const RadialSeries&, int order, const NodePairs&);
  // Adds the value of an expansion at every point to sums, [leaf][stride].
  void (*evaluate)(const LeafRange&, int order, const double* expansion, double* sums);
};

// The loops for the instruction set in use.
const ExpansionLoops& expansion_loops();

}  // namespace quickshift
