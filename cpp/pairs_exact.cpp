// What compares distances: compiled without contraction, so that a square has the bits that its
// definition gives it.
#include "vec.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

struct Uniform {
  const KernelScale& scale;
  Vec start() const { return Vec{}; }
  Vec add(Vec square, Vec delta) const { return square + delta * delta; }
  Vec finish(Vec square) const { return where(square <= scale.support_sq, broadcast(1.0)); }
};

inline Vec square_from(const double* point, const LeafBlock& samples, int first) {
  Vec s = {};
  for (int k = 0; k < samples.features; ++k) {
    Vec delta = point[k] - load(samples.coordinates + k * samples.stride + first);
    if (samples.period && samples.period[k] < __builtin_inf()) {
      delta = nearest_image(delta, samples.period[k]);
    }
    s += delta * delta;
  }
  return s;
}

}  // namespace

void add_uniform(const LeafPair& pair, const KernelScale& scale, double* sums) {
  add_terms<Uniform>(pair, scale, sums);
}

void squares(const double* point, const LeafBlock& samples, double* out) {
  for (int first = 0; first < samples.stride; first += lanes) {
    store(out + first, square_from(point, samples, first));
  }
}

LeafView squares_above(const double* point, const LeafBlock& samples, const double* heights,
                       double height, double* out) {
  const Vec infinity = broadcast(__builtin_inf());
  Vec least = infinity;
  Bits equal = {};
  for (int first = 0; first < samples.stride; first += lanes) {
    const Vec s = square_from(point, samples, first);
    const Vec above = load(heights + first);
    const Vec masked = above > height ? s : infinity;
    equal -= above == height;
    least = masked < least ? masked : least;
    store(out + first, masked);
  }
  LeafView view{__builtin_inf(), 0};
  for (int i = 0; i < lanes; ++i) {
    view.least = least[i] < view.least ? least[i] : view.least;
    view.equal += static_cast<int>(equal[i]);
  }
  return view;
}

}  // namespace quickshift::QUICKSHIFT_ISA
