#include "regression/conditional_modes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "regression/response_window.hpp"
#include "regression/valleys.hpp"
#include "regression/vertex.hpp"
#include "tree/heights.hpp"

namespace quickshift {

namespace {

// A bound on the slope counts only if it is at least this far from zero, as a share of the sum per
// bandwidth: enough to exceed the errors of the sums.
constexpr double slope_margin = 0.01;
constexpr Index rungs_at_first = 8;  // a search starts at every eighth rung

// By how much the maximum of a function on an interval exceeds its higher end, if the function is a
// line that rises by `rise` >= 0 plus a concave parabola that is 0 at both ends and `height` in the
// middle.
double bulge(double rise, double height) {
  const double most = 4.0 * height;  // slope of the parabola at the lower end, times the length
  return rise >= most ? 0.0 : (most - rise) * (most - rise) / (4.0 * most);
}

// c such that the second derivative of a kernel along any line is at least -c / h²; infinite for
// kernels with kinks or jumps. For the gaussian it refers to the logarithm of a sum.
double curvature(Kernel kernel) {
  switch (kernel) {
    case Kernel::gaussian:
      return 1.0;
    case Kernel::epanechnikov:
      return 2.0;
    case Kernel::cosine:
      return 2.4674011002723400;  // (π/2)²
    case Kernel::tricube:
      return 5.046;  // the maximum of 18 t (1 - t³)(1 - 4t³)
    case Kernel::silverman:
      return 0.70710678118654752;
    default:
      return std::numeric_limits<double>::infinity();
  }
}

// One thread's search for the modes at a query.
class ModeFinder {
 public:
  ModeFinder(const Tree& tree, const Responses& responses, const Ladder& ladder,
             const ModeOptions& options, const Execution& execution)
      : execution_(execution),
        responses_(responses),
        ladder_(ladder),
        options_(options),
        width_(bandwidth_in(tree, options.density)),
        tau_(options.tau * responses.places_of_values() / width_),
        slack_(error_of(options.density)),
        logarithmic_(options.density.kernel == Kernel::gaussian),
        curvature_(curvature(options.density.kernel)),
        window_(tree, responses, ladder, options),
        valleys_(responses, ladder, options, width_) {}

  // Writes the modes, highest first.
  void find(const double* point, std::vector<ConditionalMode>& modes) {
    roots_.clear();
    window_.collect_near(point);
    if (window_.empty()) return;
    find_roots();
    if (!execution_.stops()) valleys_.write(window_, execution_, roots_, modes);
  }
  double marginal() const { return window_.empty() ? 0.0 : window_.marginal(); }
  double log_scale() const { return window_.log_scale(); }

 private:
  // A factor that covers the relative errors of the sums that a bound is computed from.
  static double error_of(const DensityOptions& options) {
    return 1.0 + 1e-13 + (is_infinite(options.kernel) ? 4.0 * options.rtol : 0.0);
  }

  Vertex rung_vertex(Index rung) const { return summed_vertex(ladder_.ranks[rung], rung); }
  Vertex inner_vertex(Index rank, Index rung) {
    const ResponseSeries* series = window_.series_above(rung);
    if (!series) return summed_vertex(rank, rung);
    return vertex(rank, rung, series->sum_at(responses_.places[rank]));
  }
  Vertex summed_vertex(Index rank, Index rung) const {
    const double place = responses_.places[rank];
    if (logarithmic_) return vertex(rank, rung, window_.slope_at(place, rung));
    return vertex(rank, rung, {window_.sum_at(place, rung), 0.0});
  }
  Vertex vertex(Index rank, Index rung, SumAndSlope at) const {
    const double height = round_to_bits(at.sum, options_.bits);
    const double place = responses_.places[rank] / width_;
    return {rank, rung, responses_.values[rank], height, at.sum, place, at.slope};
  }

  // An upper bound on the heights of the vertices between two known ones; 0 if there are none.
  double bound_between(const Vertex& low, const Vertex& high) const {
    if (high.rank - low.rank < 2) return 0.0;
    return round_to_bits(slack_ * most_between(low, high), options_.bits);
  }

  // An upper bound on the sum between two known vertices.
  double most_between(const Vertex& low, const Vertex& high) const {
    const double least = std::min(low.sum, high.sum);
    const double most = std::max(low.sum, high.sum);
    const double width = high.place - low.place;
    const double parabola = bend(low, high) * width * width / 8.0;
    if (logarithmic_ && !is_faint(low.sum < high.sum ? low : high)) {
      return most * std::exp(bulge(std::log(most / least), parabola));
    }
    if (!logarithmic_ && !std::isinf(curvature_)) return most + bulge(most - least, parabola);
    return window_.sum_within(responses_.places[low.rank], responses_.places[high.rank], low.rung,
                              high.rung);
  }

  // Whether a gaussian sum is so small that the samples outside the window may matter to it.
  bool is_faint(const Vertex& vertex) const { return !(vertex.sum > window_.least()); }

  // Returns b such that the logarithm of the sum (gaussian), or the sum itself, becomes convex
  // when b * place² / 2 is added to it, with the place in bandwidths.
  double bend(const Vertex& low, const Vertex& high) const {
    return logarithmic_ ? 1.0 : curvature_ * window_.weight_within(low.rung, high.rung);
  }

  // Whether the sum increases all the way from a known vertex to the next. The slope decreases by
  // at most `bend` per bandwidth, and must still be positive at the upper vertex. For the gaussian,
  // the slope is known at the lower vertex. For other kernels, the mean slope along the chord that
  // ends at the lower vertex serves as the slope at the middle of that chord.
  bool rises(std::size_t i) const {
    const Vertex& low = known_[i].vertex;
    const Vertex& high = known_[i + 1].vertex;
    if (logarithmic_) {
      return !is_faint(low) && low.slope - (high.place - low.place) > slope_margin;
    }
    if (i == 0 || std::isinf(curvature_)) return false;
    const Vertex& before = known_[i - 1].vertex;
    const double slope = (low.sum - before.sum) / (low.place - before.place);
    const double distance = high.place - 0.5 * (before.place + low.place);
    return slope - bend(before, high) * distance > slope_margin * high.sum;
  }
  // Whether the sum decreases all the way; the mirror image of `rises`.
  bool falls(std::size_t i) const {
    const Vertex& low = known_[i].vertex;
    const Vertex& high = known_[i + 1].vertex;
    if (logarithmic_) {
      return !is_faint(high) && high.slope + (high.place - low.place) < -slope_margin;
    }
    if (i + 2 >= known_.size() || std::isinf(curvature_)) return false;
    const Vertex& after = known_[i + 2].vertex;
    const double slope = (after.sum - high.sum) / (after.place - high.place);
    const double distance = 0.5 * (high.place + after.place) - low.place;
    return slope + bend(low, after) * distance < -slope_margin * low.sum;
  }

  // Whether a sum that changes by `slope` per bandwidth changes its rounded height over a distance
  // of `indistinct` tau, which is the difference between tau and the widest gap of a dense stretch.
  bool outdoes_rounding(double slope, double sum) const {
    return slope * indistinct * tau_ > std::ldexp(sum, 2 - options_.bits);
  }

  // Whether successive vertices from `low` to `high` are at most (1 - indistinct) tau apart. If so,
  // every vertex between them has, in either direction, a vertex that is within tau of it and at
  // least `indistinct` tau away, unless `low` or `high` comes before.
  bool is_dense(const Vertex& low, const Vertex& high) const {
    const auto gap = std::lower_bound(ladder_.gaps.begin(), ladder_.gaps.end(), low.rank);
    return gap == ladder_.gaps.end() || *gap >= high.rank;
  }

  // A vertex whose sum is known, and the interval from it to the next known vertex.
  struct KnownVertex {
    Vertex vertex;
    bool beaten = false;  // a vertex within tau of it is higher, which may have been dropped since
    double bound = 0.0;   // no vertex inside the interval is higher than this; 0 if there is none
    bool hidden = false;  // every vertex of the interval is beaten, so that none is a root
    bool split = false;   // the interval has to be split
    bool needed = false;  // the vertex may still decide about others
  };

  // Splits intervals between known vertices until (a) no vertex inside an interval can be a root
  // that is kept, and (b) no vertex inside an interval can be higher than a known vertex within tau
  // of it that is not beaten. Then the known vertices that are not beaten are the roots.
  void find_roots() {
    highest_ = 0.0;
    begin_on_ladder();
    while (judge() && !execution_.stops()) refine();
    const double least = options_.least_ratio * round_to_bits(highest_, options_.bits);
    std::erase_if(roots_, [&](const Vertex& root) { return root.height < least; });
  }

  void begin_on_ladder() {
    known_.clear();
    const Index last = window_.last_rung();
    for (Index rung = window_.first_rung(); rung < last; rung += rungs_at_first) {
      add(known_, rung_vertex(rung));
    }
    add(known_, rung_vertex(last));
  }

  // Appends a vertex, and bounds the interval between it and the one before.
  void add(std::vector<KnownVertex>& known, const Vertex& vertex) {
    highest_ = std::max(highest_, vertex.sum);
    if (!known.empty()) known.back().bound = bound_between(known.back().vertex, vertex);
    known.push_back({vertex});
  }

  // Collects in roots_ the known vertices that no known vertex within tau beats, and marks the
  // intervals that still have to be split. Returns whether any interval is marked.
  bool judge() {
    roots_.clear();
    const double rounding = std::max(0x1p-10, std::ldexp(1.0, 1 - options_.bits));
    const double floor = (1.0 - rounding) * options_.least_ratio * highest_;
    bool unsettled = false;
    top_ = 0;
    for (std::size_t i = 1; i < known_.size(); ++i) {
      if (above(known_[i].vertex, known_[top_].vertex)) top_ = i;
    }
    for (std::size_t i = 0; i < known_.size(); ++i) {
      KnownVertex& here = known_[i];
      here.hidden = here.hidden || here.bound <= floor || hidden(i) || is_slope(i);
      if (!here.hidden) {
        mark_split(i);
        unsettled = true;
      }
      here.beaten = here.beaten || here.vertex.sum <= floor || beaten(i);
      if (!here.beaten) {
        roots_.push_back(here.vertex);
        unsettled |= mark_rivals(i);
      }
    }
    return unsettled;
  }

  // Whether two known vertices are within tau of each other; `low` must not come after `high`.
  bool near(std::size_t low, std::size_t high) const {
    return known_[high].vertex.value - known_[low].vertex.value <= options_.tau;
  }
  // Whether a vertex of the i-th interval may be above a given vertex.
  bool may_exceed(std::size_t i, const Vertex& other) const {
    const double bound = known_[i].bound;
    if (bound != other.height) return bound > other.height;
    return bound > 0.0 && known_[i + 1].vertex.rank - 1 > other.rank;
  }

  // Whether a known vertex within tau of the i-th is higher. The highest of all is tried first:
  // with a large tau it is often within tau, and the loops would be long.
  bool beaten(std::size_t i) const {
    const auto beats = [&](std::size_t j) { return above(known_[j].vertex, known_[i].vertex); };
    if (near(std::min(i, top_), std::max(i, top_)) && beats(top_)) return true;
    for (std::size_t j = i + 1; j < known_.size() && near(i, j); ++j) {
      if (beats(j)) return true;
    }
    for (std::size_t j = i; j-- > 0 && near(j, i);) {
      if (beats(j)) return true;
    }
    return false;
  }

  // Whether a known vertex within tau of both ends of an interval is higher than its bound.
  bool hidden(std::size_t i) const {
    if (near(std::min(i, top_), std::max(i + 1, top_)) && !may_exceed(i, known_[top_].vertex)) {
      return true;
    }
    for (std::size_t j = i + 1; j < known_.size() && near(i, j); ++j) {
      if (!may_exceed(i, known_[j].vertex)) return true;
    }
    for (std::size_t j = i + 1; j-- > 0 && near(j, i + 1);) {
      if (!may_exceed(i, known_[j].vertex)) return true;
    }
    return false;
  }

  // Whether every vertex of an interval is beaten by one uphill, because the sum is monotone there
  // and the vertices are dense. If so, the lower end is beaten, too.
  bool is_slope(std::size_t i) {
    if (!outdoes_rounding(slope_margin, 1.0)) return false;
    const bool up = rises(i);
    if (!up && !falls(i)) return false;
    if (!is_dense(known_[i].vertex, known_[i + 1].vertex)) return false;
    known_[up ? i : i + 1].beaten = true;
    return true;
  }

  // Marks the vertices that may decide about the interval from `low` to `high`, or about a vertex
  // if the two are the same: those within tau of it, and one more on either side.
  void mark_needed(std::size_t low, std::size_t high) {
    for (std::size_t j = low; j != std::size_t(-1); --j) {
      known_[j].needed = true;
      if (!near(j, low)) break;
    }
    for (std::size_t j = high; j < known_.size(); ++j) {
      known_[j].needed = true;
      if (!near(high, j)) break;
    }
  }

  void mark_split(std::size_t i) {
    known_[i].split = true;
    mark_needed(i, i + 1);
  }

  // Marks the intervals that may hold a vertex that is higher than the i-th known vertex and within
  // tau of it; returns whether there are any. Called for vertices that are not beaten so far.
  bool mark_rivals(std::size_t i) {
    mark_needed(i, i);
    bool any = false;
    const auto consider = [&](std::size_t j) {
      if (!may_exceed(j, known_[i].vertex)) return;
      mark_split(j);
      any = true;
    };
    for (std::size_t j = i; j + 1 < known_.size() && near(i, j); ++j) consider(j);
    for (std::size_t j = i; j > 0 && near(j, i); --j) consider(j - 1);
    return any;
  }

  // Computes the sum at a vertex in the middle of each marked interval, and drops vertices that are
  // not needed.
  void refine() {
    next_.clear();
    for (std::size_t i = 0; i < known_.size(); ++i) {
      const KnownVertex& here = known_[i];
      if (!here.needed) continue;
      next_.push_back({here.vertex, here.beaten});
      if (here.split) {
        split_before(known_[i + 1].vertex, here.hidden);
      } else if (i + 1 < known_.size() && known_[i + 1].needed) {
        next_.back().bound = here.bound;
        next_.back().hidden = here.hidden;
      }
    }
    known_.swap(next_);
  }

  void split_before(const Vertex& end, bool hidden) {
    const Vertex start = next_.back().vertex;
    const bool by_rung = end.rung - start.rung > 1;
    if (!by_rung && start.rank == ladder_.ranks[start.rung] &&
        end.rank == ladder_.ranks[end.rung] && split_at_top(start, end, hidden)) {
      return;
    }
    next_.back().hidden = hidden;
    add(next_, by_rung ? rung_vertex((start.rung + end.rung) / 2)
                       : inner_vertex((start.rank + end.rank) / 2, start.rung));
    next_.back().beaten = next_.back().hidden = hidden;
    next_.back().bound = bound_between(next_.back().vertex, end);
  }

  // Splits the interval between two successive rungs at its highest vertex, if the series shows
  // that the sum is concave there: then the highest vertex is next to the maximum of the series,
  // and heights decrease to both sides of it. Returns false, without a split, if it is not concave.
  bool split_at_top(const Vertex& start, const Vertex& end, bool hidden) {
    const ResponseSeries* series = window_.series_above(start.rung);
    const double bend = series ? series->least_bend() : 0.0;
    if (!(bend > 0.0)) return false;
    const double* places = responses_.places;
    const double* after =
        std::upper_bound(places + start.rank + 1, places + end.rank, series->top());
    Vertex best = inner_vertex(std::min<Index>(after - places, end.rank - 1), start.rung);
    if (best.rank > start.rank + 1) {
      const Vertex before = inner_vertex(best.rank - 1, start.rung);
      if (above(before, best)) best = before;
    }
    best = last_as_high(best, end.rank);
    // Whether the vertices on both sides are beaten by vertices uphill of them.
    const bool slopes = outdoes_rounding(bend * tau_, best.sum) && is_dense(start, end);
    next_.back().bound = best.rank > start.rank + 1 ? best.height : 0.0;
    next_.back().hidden = hidden || slopes;
    add_inner(best, hidden);
    if (best.rank + 1 < end.rank) {
      const Vertex lower = inner_vertex(best.rank + 1, start.rung);
      add_inner(lower, hidden || slopes);
      if (lower.rank + 1 < end.rank) next_.back().bound = lower.height;
    }
    return true;
  }

  void add_inner(const Vertex& vertex, bool hidden) {
    highest_ = std::max(highest_, vertex.sum);
    next_.push_back({vertex, hidden});
    next_.back().hidden = hidden;
  }

  // The last vertex before `end` that is as high as a given one, among vertices whose heights do
  // not increase. Of equal heights the larger response is the higher one.
  Vertex last_as_high(Vertex best, Index end) {
    for (Index step = 1; best.rank + 1 < end;) {
      const Vertex next = inner_vertex(std::min(best.rank + step, end - 1), best.rung);
      if (next.height >= best.height) {
        best = next;
        step *= 2;
      } else {
        end = next.rank;
        step = std::max<Index>((end - best.rank) / 2, 1);
      }
    }
    return best;
  }

  const Execution& execution_;
  const Responses& responses_;
  const Ladder& ladder_;
  const ModeOptions& options_;
  double width_;  // h in the scale of the tree
  double tau_;    // in bandwidths
  double slack_;  // bounds are multiplied by this, to cover the errors of the sums
  bool logarithmic_;
  double curvature_;
  ResponseWindow window_;
  Valleys valleys_;
  std::vector<Vertex> roots_;
  std::vector<KnownVertex> known_, next_;  // in ascending order of rank
  std::size_t top_ = 0;                    // position of the highest vertex in known_
  double highest_ = 0.0;  // the highest sum so far, including vertices that were dropped
};

// The result at one location of the tree of queries.
struct AtLocation {
  std::vector<ConditionalMode> modes;
  double marginal;
  double log_scale;
};

// Copies the results of the locations to the rows of the queries.
ConditionalModes by_row(const Tree& queries, const std::vector<AtLocation>& found) {
  ConditionalModes result;
  result.offsets.push_back(0);
  for (Index row = 0; row < queries.rows; ++row) {
    const AtLocation& here = found[queries.slot_of_row[row]];
    result.modes.insert(result.modes.end(), here.modes.begin(), here.modes.end());
    result.offsets.push_back(static_cast<Index>(result.modes.size()));
    result.marginals.push_back(here.marginal);
    result.log_scales.push_back(here.log_scale);
  }
  return result;
}

}  // namespace

// Queries are processed leaf by leaf of a tree of their own, so that successive queries are near
// each other and find the same samples in the cache.
ConditionalModes conditional_modes(const Tree& tree, const Responses& responses,
                                   const Points& queries, const ModeOptions& options,
                                   const Execution& execution) {
  const Tree at = build_query_tree(queries, tree, execution);
  const Ladder ladder(tree, responses, options);
  std::vector<AtLocation> found(static_cast<std::size_t>(at.slots()));
  run_tasks(execution, at.leaves(), 1e5 * static_cast<double>(at.locations), [&] {
    return
        [&, finder = ModeFinder(tree, responses, ladder, options, execution),
         point = std::vector<double>(static_cast<std::size_t>(tree.features))](Index leaf) mutable {
          for (int i = 0; i < at.count(leaf) && !execution.stops(); ++i) {
            AtLocation& here = found[leaf * at.stride + i];
            copy_point(at, leaf, i, point.data());
            finder.find(point.data(), here.modes);
            here.marginal = finder.marginal();
            here.log_scale = finder.log_scale();
          }
        };
  });
  return by_row(at, found);
}

}  // namespace quickshift
