// What compares distances: nothing is fused, so that a square has the bits that its definition
// gives it.
#include "vec.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

// The kernels of t = |q - x| / h that vanish where the distance is not below the edge.
template <Kernel kernel>
struct Compact {
  static constexpr bool may_fuse = false;
  const KernelScale& scale;
  Vec of_square(Vec square) const {
    if constexpr (kernel == Kernel::uniform) {
      return where(square <= scale.support_sq, broadcast(1.0));
    } else {
      return of_ratio(root(square) / scale.width);
    }
  }

 private:
  static Vec of_ratio(Vec t) {
    if constexpr (kernel == Kernel::triangular) {
      return positive(1.0 - t);
    } else if constexpr (kernel == Kernel::tricube) {
      const Vec rest = positive(1.0 - t * t * t);
      return rest * rest * rest;
    } else if constexpr (kernel == Kernel::cosine) {
      return sin_of(positive(1.0 - t) * 1.5707963267948966);  // cos(πt/2)
    } else {
      static_assert(kernel == Kernel::silverman);
      const Vec a = t * 0.70710678118654752;
      const Vec value = exp_of(-a) * sin_of(positive(2.3561944901923449 - a));  // sin(a + π/4)
      return where(t < silverman_support, value);
    }
  }
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

void add_silverman(const LeafPair& pair, const KernelScale& scale, double* sums,
                   double* other_sums) {
  add_terms<Compact<Kernel::silverman>>(pair, scale, sums, other_sums);
}
void add_uniform(const LeafPair& pair, const KernelScale& scale, double* sums, double* other_sums) {
  add_terms<Compact<Kernel::uniform>>(pair, scale, sums, other_sums);
}
void add_triangular(const LeafPair& pair, const KernelScale& scale, double* sums,
                    double* other_sums) {
  add_terms<Compact<Kernel::triangular>>(pair, scale, sums, other_sums);
}
void add_tricube(const LeafPair& pair, const KernelScale& scale, double* sums, double* other_sums) {
  add_terms<Compact<Kernel::tricube>>(pair, scale, sums, other_sums);
}
void add_cosine(const LeafPair& pair, const KernelScale& scale, double* sums, double* other_sums) {
  add_terms<Compact<Kernel::cosine>>(pair, scale, sums, other_sums);
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

unsigned within_box(const LeafBlock& locations, const double* squares, const double* box) {
  unsigned bits = 0;
  for (int first = 0; first < locations.stride; first += lanes) {
    Vec s = {};
    for (int k = 0; k < locations.features; ++k) {
      const Vec x = load(locations.coordinates + k * locations.stride + first);
      const Vec below = box[k] - x;
      const Vec above = x - box[locations.features + k];
      const Vec gap = positive(below > above ? below : above);
      s += gap * gap;
    }
    const Bits near = s <= load(squares + first);
    for (int i = 0; i < lanes; ++i) bits |= static_cast<unsigned>(near[i] & 1) << (first + i);
  }
  return bits;
}

}  // namespace quickshift::QUICKSHIFT_ISA
