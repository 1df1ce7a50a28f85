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

constexpr double least_slope = 0.01;  // of a share of the sum, in a bandwidth
constexpr Index rungs_at_first = 8;   // between two that are looked at before others

// How far a concave parabola of the given height in its middle, added to a line that rises by
// `rise` (not negative), stands out above the line's higher end.
double bulge(double rise, double height) {
  const double most = 4.0 * height;  // slope of the parabola at its ends
  return rise >= most ? 0.0 : (most - rise) * (most - rise) / (4.0 * most);
}

// The least second derivative of a kernel along any line, times -h²; infinite where it has kinks.
double curvature(Kernel kernel) {
  switch (kernel) {
    case Kernel::gaussian:  // of its logarithm
      return 1.0;
    case Kernel::epanechnikov:
      return 2.0;
    case Kernel::cosine:
      return 2.4674011002723400;  // (π/2)²
    case Kernel::tricube:
      return 5.046;  // 18 t (1 - t³)(1 - 4t³) at its largest
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
    window_.gather(point);
    if (window_.empty()) return;
    find_roots();
    if (!execution_.stops()) valleys_.write(window_, execution_, roots_, modes);
  }
  double marginal() const { return window_.empty() ? 0.0 : window_.marginal(); }
  double log_scale() const { return window_.log_scale(); }

 private:
  // How far a sum may be off, and its bound with it.
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

  double bound_between(const Vertex& low, const Vertex& high) const {
    if (high.rank - low.rank < 2) return 0.0;
    return round_to_bits(slack_ * most_between(low, high), options_.bits);
  }

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

  // Whether what the window leaves out may be a part of a gaussian sum that counts.
  bool is_faint(const Vertex& vertex) const { return !(vertex.sum > window_.least()); }

  // The logarithm of the sum (gaussian), or the sum itself, is convex once this much of half the
  // square of the place is added.
  double bend(const Vertex& low, const Vertex& high) const {
    return logarithmic_ ? 1.0 : curvature_ * window_.weight_within(low.rung, high.rung);
  }

  // Whether the sum rises all the way between two known vertices: as steep as it is at the first,
  // or was before it, it has not bent down enough at the second.
  bool rises(std::size_t i) const {
    const Vertex& low = known_[i].vertex;
    const Vertex& high = known_[i + 1].vertex;
    if (logarithmic_) {
      return !is_faint(low) && low.slope - (high.place - low.place) > least_slope;
    }
    if (i == 0 || std::isinf(curvature_)) return false;
    const Vertex& before = known_[i - 1].vertex;
    const double slope = (low.sum - before.sum) / (low.place - before.place);
    const double way = high.place - 0.5 * (before.place + low.place);
    return slope - bend(before, high) * way > least_slope * high.sum;
  }
  // And whether it falls, from how it does so at the second or after it.
  bool falls(std::size_t i) const {
    const Vertex& low = known_[i].vertex;
    const Vertex& high = known_[i + 1].vertex;
    if (logarithmic_) {
      return !is_faint(high) && high.slope + (high.place - low.place) < -least_slope;
    }
    if (i + 2 >= known_.size() || std::isinf(curvature_)) return false;
    const Vertex& after = known_[i + 2].vertex;
    const double slope = (after.sum - high.sum) / (after.place - high.place);
    const double way = 0.5 * (high.place + after.place) - low.place;
    return slope + bend(low, after) * way < -least_slope * low.sum;
  }

  // Whether a sum that changes by `slope` in a bandwidth has changed its rounded height by the time
  // a dense stretch has gone on by the room that is left between its widest gap and tau.
  bool outdoes_rounding(double slope, double sum) const {
    return slope * indistinct * tau_ > std::ldexp(sum, 2 - options_.bits);
  }

  // Whether every vertex from one to another has the next one within tau, with room for those that
  // rounding cannot tell apart on a slope.
  bool is_dense(const Vertex& low, const Vertex& high) const {
    const auto gap = std::lower_bound(ladder_.gaps.begin(), ladder_.gaps.end(), low.rank);
    return gap == ladder_.gaps.end() || *gap >= high.rank;
  }

  // A vertex whose sum is known, and what is known of those up to the next such vertex.
  struct Known {
    Vertex vertex;
    bool beaten = false;  // by another within tau, which may have been forgotten
    double bound = 0.0;   // of the sums in between, rounded; 0 if there are none
    bool hidden = false;  // whether all of those are beaten
    bool split = false;   // whether one of them may matter
    bool needed = false;  // whether this vertex may decide on another
  };

  // Intervals between known vertices are split until no vertex inside can be a root, because a
  // known one within tau of all of them is higher than any, nor be higher than a root within tau.
  // Then the known vertices that no other beats are the roots.
  void find_roots() {
    highest_ = 0.0;
    begin_on_ladder();
    while (judge() && !execution_.stops()) refine();
    std::erase_if(roots_,
                  [&](const Vertex& root) { return root.sum < options_.least_ratio * highest_; });
  }

  void begin_on_ladder() {
    known_.clear();
    const Index last = window_.last_rung();
    for (Index rung = window_.first_rung(); rung < last; rung += rungs_at_first) {
      add(known_, rung_vertex(rung));
    }
    add(known_, rung_vertex(last));
  }

  // Appends a vertex, and bounds those between it and the one before.
  void add(std::vector<Known>& known, const Vertex& vertex) {
    highest_ = std::max(highest_, vertex.sum);
    if (!known.empty()) known.back().bound = bound_between(known.back().vertex, vertex);
    known.push_back({vertex});
  }

  // Finds the vertices that no known one beats, and whether intervals are left to split.
  bool judge() {
    roots_.clear();
    const double floor = (1.0 - 0x1p-10) * options_.least_ratio * highest_;
    bool unsettled = false;
    top_ = 0;
    for (std::size_t i = 1; i < known_.size(); ++i) {
      if (above(known_[i].vertex, known_[top_].vertex)) top_ = i;
    }
    for (std::size_t i = 0; i < known_.size(); ++i) {
      Known& here = known_[i];
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

  // Whether two known vertices, the lower one first, are within tau.
  bool near(std::size_t low, std::size_t high) const {
    return known_[high].vertex.value - known_[low].vertex.value <= options_.tau;
  }
  // Whether a vertex between the i-th known one and the next may be above a given one.
  bool may_exceed(std::size_t i, const Vertex& other) const {
    const double bound = known_[i].bound;
    if (bound != other.height) return bound > other.height;
    return bound > 0.0 && known_[i + 1].vertex.rank - 1 > other.rank;
  }

  // The highest of all is asked first, because a large tau has many within it.
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

  // Whether a known vertex within tau of both ends of an interval beats all vertices in between.
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

  // Whether every vertex between two known ones is beaten by its neighbour uphill; so is the lower
  // end.
  bool is_slope(std::size_t i) {
    if (!outdoes_rounding(least_slope, 1.0)) return false;
    const bool up = rises(i);
    if (!up && !falls(i)) return false;
    if (!is_dense(known_[i].vertex, known_[i + 1].vertex)) return false;
    known_[up ? i : i + 1].beaten = true;
    return true;
  }

  // Marks what may decide on vertices between two known ones: those within tau, and one more.
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

  // Marks the intervals within tau of a root so far that may hold a higher vertex.
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

  // Looks at a vertex in the middle of each marked interval; forgets what is not needed.
  void refine() {
    next_.clear();
    for (std::size_t i = 0; i < known_.size(); ++i) {
      const Known& here = known_[i];
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

  // From a rung to the next, where the sum is known to be concave: its highest vertex is beside its
  // top, and the sums fall to both sides of it.
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
    // Whose vertices their neighbours beat, or the best one does if it is within tau.
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

  // Of the vertices from one on up to an end, among which heights fall, the last that is as high.
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
  double slack_;
  bool logarithmic_;
  double curvature_;  // in bandwidths
  ResponseWindow window_;
  Valleys valleys_;
  std::vector<Vertex> roots_;
  std::vector<Known> known_, next_;  // by rising rank
  std::size_t top_ = 0;              // the highest of the known ones
  double highest_ = 0.0;             // of the sums known so far, also of forgotten ones
};

// What was found at the location of a query, in the order of their tree.
struct AtLocation {
  std::vector<ConditionalMode> modes;
  double marginal;
  double log_scale;
};

// The same for every row of the queries.
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

// Queries go leaf by leaf of a tree of their own, so that one finds in the cache what another used.
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
