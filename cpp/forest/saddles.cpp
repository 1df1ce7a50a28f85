#include "forest/saddles.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>

#include "forest/link_search.hpp"
#include "forest/linked_groups.hpp"
#include "forest/nearby_links.hpp"
#include "forest/sorted_slots.hpp"

namespace quickshift {

namespace {

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
// Four facts save most of the work.
// - Points without a point of another piece within tau have no saddle and are left out.
// - Of the others, only those that a point of another component within tau may be above are
//   searched from. Besides them, only the highest point of a leaf has to become active in its turn,
//   because a node just has to know the components of its active points. Often, most points are
//   neither.
// - If the active points of a node are all in one component, searches from it skip the node.
// - Each group of linked pieces is handled by itself: as soon as its pieces are all joined, nothing
//   is left to search for. Without that, an outlier that meets nothing would keep its node from
//   being skipped, in searches from all points within tau of the node's box.
class Linker {
 public:
  Linker(const Tree& tree, const PieceOfRow& rows, std::span<const Saddle> edges, double tau,
         const Execution& execution)
      : points_(tree, rows, edges, execution),
        search_(tree, points_, rows.pieces, tau, execution),
        leaves_(search_.leaves_near_other_pieces(execution)),
        first_link_(static_cast<std::size_t>(rows.pieces)),
        active_points_(static_cast<std::size_t>(rows.pieces)) {}

  // Runs on one thread.
  std::vector<Saddle> run(const Execution& execution) {
    const auto pieces = static_cast<Index>(first_link_.size());

    groups_ = group_pieces(search_, leaves_, points_.edges, pieces, execution);
    search_.restart(groups_.sizes.size() == 1 ? nullptr : groups_.of_piece.data());
    const SortedSlots turns(search_.slots_with_a_turn(leaves_), points_, groups_);
    sort_edges(points_.edges, groups_);
    Links edges{points_.edges};
    for (Index group = 0; group < static_cast<Index>(groups_.sizes.size()); ++group) {
      const Links own_edges = take_while(
          edges, [&](const LinkedPair& edge) { return groups_.of_piece[edge.piece] == group; });
      apart_ = groups_.sizes[group] - 1;
      if (apart_ == 0) continue;
      group_ = group;
      search_.enter(group);
      link_group(turns.of(group), own_edges, execution);
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

  void link_group(Slots turns, Links edges, const Execution& execution) {
    const Slots all = turns;
    pending_ = {};
    while (apart_ > 0 && (!turns.empty() || !edges.empty()) && !execution.stops_after(steps_)) {
      level_ = std::max(turns.empty() ? lowest : points_.heights[turns.front()],
                        edges.empty() ? lowest : edges.front().level);
      const Slots own =
          take_while(turns, [&](Index slot) { return points_.heights[slot] == level_; });
      const Links own_edges =
          take_while(edges, [&](const LinkedPair& edge) { return edge.level == level_; });
      search_.lower_to(level_);
      for (const Index slot : own) search_.activate(slot);
      link_level(own, own_edges, all.size() - turns.size(), execution);
    }
    for (const Index slot : all.first(all.size() - turns.size())) search_.deactivate(slot);
  }

  // Joins all components with links at the current level: those from the points of this height, and
  // the edges of the caller. Where many points have the same height, one after another may have to
  // be searched from again, because what it had found was joined by others. Then, and at once if
  // this is the height of most active points, `link_in_rounds` is faster, unless there are few.
  // `begun` counts the turns so far, including those of this level.
  void link_level(Slots turns, Links edges, std::size_t begun, const Execution& execution) {
    if (rounds_pay(2 * turns.size(), begun)) return link_in_rounds(edges, execution);
    for (const LinkedPair& edge : edges) pending_.push({edge, -1});
    for (const Index slot : turns) {
      if (execution.stops_after(steps_)) return;
      if (search_.may_link_to_higher(slot)) offer(slot);
    }
    std::size_t again = 0;
    while (!pending_.empty() && apart_ > 0 && !execution.stops_after(steps_)) {
      const Candidate next = pending_.top();
      pending_.pop();
      join(next.link);
      if (next.slot < 0) continue;
      if (rounds_pay(4 * ++again, begun)) {
        pending_ = {};
        return link_in_rounds(edges, execution);
      }
      offer(next.slot);
    }
  }

  // Whether searches from all active points take less time than a number of searches one after
  // another. The active points are sorted and counted only if there is a chance of it.
  bool rounds_pay(std::size_t searches, std::size_t begun) {
    constexpr std::size_t few = 256;
    return searches > few && searches > begun && searches > active_points().size();
  }

  // The points of the current group that are at least as high as the current level.
  Slots active_points() {
    if (!sorted_) sorted_.emplace(search_.slots_of(leaves_), points_, groups_);
    const Slots own = sorted_->of(group_);
    const auto is_active = [&](Index slot) { return points_.heights[slot] >= level_; };
    return {own.begin(), std::partition_point(own.begin(), own.end(), is_active)};
  }

  // Puts the first link from an active point to another component into the queue, if any.
  void offer(Index slot) {
    LinkedPair first{level_, search_.reach_sq()};
    search_.improve(slot, first);
    if (first.piece < 0) return search_.count_failure(slot);
    pending_.push({first, slot});
  }

  // Borůvka's algorithm for the current level. In each round, every component except the one with
  // the most points finds its first link. All points of a component are searched from: a link
  // between two components that have not been joined has a point of the current height at one end.
  void link_in_rounds(Links edges, const Execution& execution) {
    const Slots active = active_points();
    for (bool joined = true; joined && apart_ > 0 && !execution.stops_after(steps_);) {
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
      if (component == largest || execution.stops_after(steps_)) continue;
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
  std::vector<Index> leaves_;  // those with points near other pieces
  LinkedGroups groups_;
  std::optional<SortedSlots> sorted_;  // all slots of these leaves, if they are needed
  Index group_ = 0;                    // the current one
  Index apart_ = 0;                    // the number of components of the current group, minus one
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
