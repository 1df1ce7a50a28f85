#include "forest/saddles.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>

#include "forest/link_search.hpp"
#include "forest/linked_groups.hpp"
#include "forest/nearby_links.hpp"
#include "support/radix_sort.hpp"

namespace quickshift {

namespace {

// Leaves out the slots of groups with a single piece, and sorts the others by group, and those of a
// group by descending height.
void sort_slots(std::vector<Index>& slots, const PiecesOfLocations& points,
                const LinkedGroups& groups) {
  const auto group_of = [&](Index slot) { return groups.of_piece[points.pieces[slot]]; };
  std::erase_if(slots, [&](Index slot) { return groups.sizes[group_of(slot)] == 1; });
  radix_sort(slots, [&](Index slot) { return falling(points.heights[slot]); });
  std::vector<Index> place(groups.sizes.size() + 1);  // by group, of its next slot
  for (const Index slot : slots) ++place[group_of(slot) + 1];
  if (std::find(place.begin(), place.end(), static_cast<Index>(slots.size())) != place.end()) {
    return;  // all are in one group
  }
  std::partial_sum(place.begin(), place.end(), place.begin());
  std::vector<Index> sorted(slots.size());
  for (const Index slot : slots) sorted[place[group_of(slot)]++] = slot;
  slots.swap(sorted);
}

void sort_edges(std::vector<LinkedPair>& edges, const LinkedGroups& groups) {
  std::sort(edges.begin(), edges.end(), [&](const LinkedPair& a, const LinkedPair& b) {
    const Index group = groups.of_piece[a.piece];
    const Index other = groups.of_piece[b.piece];
    return group != other ? group < other : a.is_before(b);
  });
}

// Kruskal's algorithm for a maximum spanning forest, one point after another. Points become active
// in descending order of height. The level of a saddle is the height of its lower point, so all
// saddles at a point's height are those between it and active points within tau. In each step the
// shortest of these that leads to another component is joined, until there is none.
//
// Three facts save most of the work. Points without a point of another piece within tau have no
// saddle and are left out. Each node knows whether its active points are all in one component. And
// each group of linked pieces is handled by itself: as soon as its pieces are all joined, nothing
// is left to search for. Without that, an outlier that meets nothing would keep its node from being
// skipped, in searches from all points within tau of the node's box.
class Linker {
 public:
  Linker(const Tree& tree, const PieceOfRow& rows, std::span<const Saddle> edges, double tau,
         const Execution& execution)
      : points_(tree, rows, edges, execution),
        search_(tree, points_, rows.pieces, tau, execution),
        slots_(search_.slots_near_other_pieces(execution)),
        first_link_(static_cast<std::size_t>(rows.pieces)),
        active_points_(static_cast<std::size_t>(rows.pieces)) {}

  // Runs on one thread.
  std::vector<Saddle> run(const Execution& execution) {
    const auto pieces = static_cast<Index>(first_link_.size());
    const LinkedGroups groups = group_pieces(search_, slots_, points_.edges, pieces, execution);
    search_.restart(groups.sizes.size() == 1 ? nullptr : groups.of_piece.data());
    sort_slots(slots_, points_, groups);
    sort_edges(points_.edges, groups);
    const auto group_of = [&](Index piece) { return groups.of_piece[piece]; };
    Slots slots{slots_};
    Links edges{points_.edges};
    for (Index group = 0; group < static_cast<Index>(groups.sizes.size()); ++group) {
      const Slots own =
          take_while(slots, [&](Index slot) { return group_of(points_.pieces[slot]) == group; });
      const Links own_edges =
          take_while(edges, [&](const LinkedPair& edge) { return group_of(edge.piece) == group; });
      apart_ = groups.sizes[group] - 1;
      if (apart_ == 0) continue;
      search_.enter(group);
      link_group(own, own_edges, execution);
    }
    std::sort(found_.begin(), found_.end(),
              [](const LinkedPair& a, const LinkedPair& b) { return a.is_before(b); });
    std::vector<Saddle> saddles;
    for (const LinkedPair& link : found_) {
      saddles.push_back({link.piece, link.other, link.level, link.square});
    }
    return saddles;
  }

  Index boxes() const { return search_.boxes(); }

 private:
  using Slots = std::span<const Index>;
  using Links = std::span<const LinkedPair>;

  static constexpr double lowest = -std::numeric_limits<double>::infinity();

  // The first link from a point to another component, or an edge of the caller, with slot -1.
  struct Candidate {
    LinkedPair link;
    Index slot;

    bool operator<(const Candidate& first) const { return first.link.is_before(link); }
  };

  // Removes the first items, as long as they fulfill the condition, and returns them.
  template <class Item, class Condition>
  static std::span<const Item> take_while(std::span<const Item>& items, const Condition& holds) {
    const auto end = std::find_if_not(items.begin(), items.end(), holds);
    const auto count = static_cast<std::size_t>(end - items.begin());
    const std::span<const Item> taken = items.first(count);
    items = items.subspan(count);
    return taken;
  }

  bool stops(const Execution& execution) {
    return ++steps_ % 256 == 0 ? execution.stops() : execution.stop.load();
  }

  void link_group(Slots slots, Links edges, const Execution& execution) {
    const Index* const highest = slots.data();
    pending_ = {};
    while (apart_ > 0 && (!slots.empty() || !edges.empty()) && !stops(execution)) {
      level_ = std::max(slots.empty() ? lowest : points_.heights[slots.front()],
                        edges.empty() ? lowest : edges.front().level);
      const Slots own =
          take_while(slots, [&](Index slot) { return points_.heights[slot] == level_; });
      const Links own_edges =
          take_while(edges, [&](const LinkedPair& edge) { return edge.level == level_; });
      search_.lower_to(level_);
      for (const Index slot : own) search_.activate(slot);
      link_level(own, own_edges, {highest, slots.data()}, execution);
    }
    for (const Index slot : Slots{highest, slots.data()}) search_.deactivate(slot);
  }

  // Joins all components with links at the current level: those from the points of this height, and
  // the edges of the caller. Where many points have the same height, one after another may have to
  // be searched from again, because what it had found was joined by others. Then, and at once if
  // this is the height of most active points, `link_in_rounds` is faster.
  void link_level(Slots slots, Links edges, Slots active, const Execution& execution) {
    if (2 * slots.size() > active.size()) return link_in_rounds(edges, active, execution);
    for (const LinkedPair& edge : edges) pending_.push({edge, -1});
    for (const Index slot : slots) {
      if (stops(execution)) return;
      if (search_.may_link_to_higher(slot)) offer(slot);
    }
    std::size_t again = 0;
    while (!pending_.empty() && apart_ > 0 && !stops(execution)) {
      const Candidate next = pending_.top();
      pending_.pop();
      join(next.link);
      if (next.slot < 0) continue;
      if (4 * ++again > active.size()) {
        pending_ = {};
        return link_in_rounds(edges, active, execution);
      }
      offer(next.slot);
    }
  }

  // Puts the first link from an active point to another component into the queue, if any.
  void offer(Index slot) {
    LinkedPair first{level_, search_.reach_sq()};
    search_.improve(slot, first);
    if (first.piece >= 0) pending_.push({first, slot});
  }

  // Borůvka's algorithm for the current level. In each round, every component except the one with
  // the most points finds its first link. All points of a component are searched from: a link
  // between two components that have not been joined has a point of the current height at one end.
  void link_in_rounds(Links edges, Slots active, const Execution& execution) {
    for (bool joined = true; joined && apart_ > 0 && !stops(execution);) {
      find_first_links(edges, active, execution);
      joined = false;
      for (const Index component : found_from_) {
        const LinkedPair link = std::exchange(first_link_[component], LinkedPair{});
        if (link.piece < 0) continue;
        join(link);
        joined = true;
      }
    }
  }

  void find_first_links(Links edges, Slots active, const Execution& execution) {
    found_from_.clear();
    const Index largest = largest_component(active);
    for (const Index slot : active) {
      const Index component = search_.component_of(slot);
      if (component == largest || stops(execution)) continue;
      search_.improve(slot, first_link_of(component));
    }
    for (const LinkedPair& edge : edges) {
      const Index a = search_.find(edge.piece);
      const Index b = search_.find(edge.other);
      if (a == b) continue;
      for (const Index end : {a, b}) {
        LinkedPair& first = first_link_of(end);
        if (first.piece < 0 || edge.is_before(first)) first = edge;
      }
    }
  }

  LinkedPair& first_link_of(Index component) {
    LinkedPair& first = first_link_[component];
    if (first.level == lowest) {
      first = {level_, search_.reach_sq()};
      found_from_.push_back(component);
    }
    return first;
  }

  Index largest_component(Slots active) {
    Index largest = -1;
    for (const Index slot : active) {
      const Index component = search_.component_of(slot);
      const Index count = ++active_points_[component];
      if (largest < 0 || count > active_points_[largest]) largest = component;
    }
    for (const Index slot : active) active_points_[search_.component_of(slot)] = 0;
    return largest;
  }

  void join(const LinkedPair& link) {
    const Index a = search_.find(link.piece);
    const Index b = search_.find(link.other);
    if (a == b) return;
    search_.join(a, b);
    found_.push_back(link);
    --apart_;
  }

  PiecesOfLocations points_;
  LinkSearch search_;
  std::vector<Index> slots_;  // all that are searched from
  Index apart_ = 0;           // the number of components of the current group, minus one
  double level_ = lowest;
  std::priority_queue<Candidate> pending_;  // of the current level
  std::vector<LinkedPair> first_link_;      // by component; of the current round
  std::vector<Index> found_from_;           // the components that have one
  std::vector<Index> active_points_;        // by component; zero between rounds
  std::vector<LinkedPair> found_;
  unsigned steps_ = 0;
};

}  // namespace

std::vector<Saddle> find_saddles(const Tree& tree, const PieceOfRow& rows,
                                 std::span<const Saddle> edges, const LinkLength& length,
                                 const Execution& execution) {
  if (length.tau_of_row || search_pays_for_links(tree, rows.pieces, length.tau)) {
    return find_saddles_nearby(tree, rows, edges, length, execution);
  }
  Linker linker(tree, rows, edges, length.tau, execution);
  std::vector<Saddle> saddles;
  const double work = std::max(2.0 * serial_work, 100.0 * static_cast<double>(tree.locations));
  run_tasks(execution, 1, work, [&] { return [&](Index) { saddles = linker.run(execution); }; });
  return saddles;
}

Index boxes_for_saddles(const Tree& tree, const PieceOfRow& rows, double tau) {
  const Execution execution;
  Linker linker(tree, rows, {}, tau, execution);
  linker.run(execution);
  return linker.boxes();
}

}  // namespace quickshift
