// Sums of the kernels that gain nothing from vectors wider than four doubles, and the loops that
// compare distances. Squared distances that are compared with each other are computed without fused
// operations, so that they have exactly the bits of their definition.
#include "vector/pair_loop.hpp"
#include "vector/pair_terms.hpp"

namespace quickshift::QUICKSHIFT_ISA {

namespace {

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

// pairs_wide.cpp declares these two templates and uses the instances that are made here.
template <Kernel kernel>
void add_narrow(const LeafPair& pair, const KernelScale& scale, double* sums, double* other_sums) {
  add_terms<TermsOf<kernel>>(pair, scale, sums, other_sums);
}
template <Kernel kernel>
void to_narrow(const KernelScale& scale, int count, double* values) {
  to_terms<TermsOf<kernel>>(scale, count, values);
}

#define QUICKSHIFT_SKIP(name)
#define QUICKSHIFT_INSTANTIATE(name)                                                             \
  template void add_narrow<Kernel::name>(const LeafPair&, const KernelScale&, double*, double*); \
  template void to_narrow<Kernel::name>(const KernelScale&, int, double*);
QUICKSHIFT_KERNELS(QUICKSHIFT_SKIP, QUICKSHIFT_INSTANTIATE)

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

void ranks(const double* keys, int count, long long* out) {
  for (int first = 0; first < count; first += lanes) {
    const Vec mine = load(keys + first);
    Bits rank = {};
    for (int j = 0; j < count; ++j) rank -= broadcast(keys[j]) < mine;
    store_bits(out + first, rank);
  }
}

namespace {

template <int fixed_features>
unsigned near_in_lanes(const LeafBlock& locations, const double* squares, const double* box) {
  const int features = fixed_features ? fixed_features : locations.features;
  unsigned near = 0;
  for (int first = 0; first < locations.stride; first += lanes) {
    Vec s = {};
    for (int k = 0; k < features; ++k) {
      const Vec x = load(locations.coordinates + k * locations.stride + first);
      const Vec gap = positive(larger(box[k] - x, x - box[features + k]));
      s += gap * gap;
    }
    near |= static_cast<unsigned>(any(s <= load(squares + first))) << first / 4;
  }
  return near;
}

}  // namespace

unsigned near_box(const LeafBlock& locations, const double* squares, const double* box) {
  if (locations.features == 2) return near_in_lanes<2>(locations, squares, box);
  if (locations.features == 3) return near_in_lanes<3>(locations, squares, box);
  return near_in_lanes<0>(locations, squares, box);
}

namespace {

// Each lane holds one location. The squared distance to a sample below the location's floor is
// turned into a NaN, for which every comparison is false.
template <int fixed_features>
void offer_in_lanes(const LeafBlock& locations, const HigherSamples& samples, unsigned fours,
                    HigherFound& found) {
  const int features = fixed_features ? fixed_features : locations.features;
  for (int first = 0; first < locations.stride; first += lanes) {
    if (!(fours >> first / 4 & 1)) continue;
    const Vec floor = load(found.floor + first);
    Vec best = load(found.square + first);
    Bits slot = load_bits(found.slot + first);
    Bits tied = load_bits(found.tied + first);
    for (int j = 0; j < samples.count; ++j) {
      Vec s = {};
      for (int k = 0; k < features; ++k) {
        const Vec delta = load(locations.coordinates + k * locations.stride + first) -
                          broadcast(samples.block.coordinates[k * samples.block.stride + j]);
        s = k == 0 ? delta * delta : s + delta * delta;
      }
      const Bits low = broadcast(samples.heights[j]) < floor;
      s = reinterpret_cast<Vec>(reinterpret_cast<Bits>(s) | low);
      tied |= s == best;
      const Bits nearer = s < best;
      best = nearer ? s : best;
      slot = nearer ? Bits{} + (samples.first_slot + j) : slot;
    }
    store(found.square + first, best);
    store_bits(found.slot + first, slot);
    store_bits(found.tied + first, tied);
  }
}

}  // namespace

void offer_higher(const LeafBlock& locations, const HigherSamples& samples, unsigned fours,
                  HigherFound& found) {
  if (locations.features == 1) return offer_in_lanes<1>(locations, samples, fours, found);
  if (locations.features == 2) return offer_in_lanes<2>(locations, samples, fours, found);
  if (locations.features == 3) return offer_in_lanes<3>(locations, samples, fours, found);
  if (locations.features == 4) return offer_in_lanes<4>(locations, samples, fours, found);
  if (locations.features == 5) return offer_in_lanes<5>(locations, samples, fours, found);
  offer_in_lanes<0>(locations, samples, fours, found);
}

}  // namespace quickshift::QUICKSHIFT_ISA
