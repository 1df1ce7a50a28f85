#include "forest/link_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <tuple>

#include "tree/box.hpp"

namespace quickshift {

namespace {

// The nodes that a descent has yet to visit: at most one more than the tree has levels.
using Stack = std::array<Index, 64>;

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

LinkSearch::LinkSearch(const Tree& tree, const PiecesOfLocations& points, Index pieces, double tau,
                       const Execution& execution)
    : tree_(tree),
      points_(points),
      reach_sq_(square_within(tree, std::nextafter(tau, 0.0))),
      components_(pieces),
      witness_(unset_array<Witness>(tree.nodes())),
      surroundings_(unset_array<Index>(tree.nodes())),
      highest_(unset_array<Highest>(tree.nodes())),
      bounded_(unset_array<Index>(tree.nodes())),
      highest_other_(unset_array<double>(tree.nodes())),
      failures_(unset_array<std::uint32_t>(tree.nodes())),
      squares_(static_cast<std::size_t>(tree.stride)),
      point_(static_cast<std::size_t>(tree.features)) {
  for_nodes_upwards(tree, execution, [&](Index node) {
    witness_[node] = tree.is_leaf(node) ? next_witness(tree.leaf_of(node)) : witness_above(node);
  });
}

std::vector<Index> LinkSearch::leaves_near_other_pieces(const Execution& execution) {
  for_nodes_upwards(tree_, execution, [&](Index node) {
    highest_[node] = tree_.is_leaf(node) ? highest_of_leaf(tree_.leaf_of(node))
                                         : highest_of(highest_[2 * node], highest_[2 * node + 1]);
  });
  for_nodes_downwards(tree_, execution, [&](Index node) {
    surroundings_[node] = surroundings_of(node);
    failures_[node] = 0;
    bounded_[node] = node > 1 ? bounded_[node / 2] : -1;
    if (bounded_[node] >= 0 || !(tree_.is_leaf(node) || is_narrow(node))) return;
    bounded_[node] = node;
    Index boxes = 0;
    highest_other_[node] = highest_of_others_near(node, boxes);
  });
  std::vector<Index> leaves;
  for (Index leaf = 0; leaf < tree_.leaves(); ++leaf) {
    if (highest_other_[bounded_[tree_.leaves() + leaf]] > -infinity) leaves.push_back(leaf);
  }
  return leaves;
}

std::vector<Index> LinkSearch::slots_of(std::span<const Index> leaves) const {
  std::vector<Index> slots;
  slots.reserve(leaves.size() * static_cast<std::size_t>(tree_.stride));
  for (const Index leaf : leaves) {
    const auto [begin, end] = slots_of(leaf);
    for (Index slot = begin; slot < end; ++slot) slots.push_back(slot);
  }
  return slots;
}

std::vector<Index> LinkSearch::slots_with_a_turn(std::span<const Index> leaves) const {
  std::vector<Index> turns;
  for (const Index leaf : leaves) {
    const auto [begin, end] = slots_of(leaf);
    const double* const heights = points_.heights.data();
    const Index highest = std::max_element(heights + begin, heights + end) - heights;
    for (Index slot = begin; slot < end; ++slot) {
      if (slot == highest || may_link_to_higher(slot)) turns.push_back(slot);
    }
  }
  return turns;
}

LinkSearch::Highest LinkSearch::highest_of(const Highest& a, const Highest& b) {
  const auto& [top, low] = a.first.height < b.first.height ? std::tie(b, a) : std::tie(a, b);
  const bool same = low.first.piece == top.first.piece ||
                    (low.first.piece >= 0 &&
                     components_.find(low.first.piece) == components_.find(top.first.piece));
  const Peak& other = same ? low.second : low.first;
  return {top.first, top.second.height < other.height ? other : top.second};
}

LinkSearch::Highest LinkSearch::highest_of_leaf(Index leaf) {
  const auto [begin, end] = slots_of(leaf);
  Highest found;
  for (Index slot = begin; slot < end; ++slot) {
    const Peak point{points_.heights[slot], points_.pieces[slot]};
    if (point.piece != found.first.piece) {
      found = slot == begin ? Highest{point, {}} : highest_of(found, {point, {}});
    } else if (point.height > found.first.height) {
      found.first = point;
    }
  }
  return found;
}

// The highest points of a node in two components. If they have been joined, they are replaced from
// the children or, in a leaf, from the points.
const LinkSearch::Highest& LinkSearch::highest(Index node) {
  Highest& found = highest_[node];
  if (found.second.piece < 0 ||
      components_.find(found.first.piece) != components_.find(found.second.piece)) {
    return found;
  }
  found = tree_.is_leaf(node) ? highest_of_leaf(tree_.leaf_of(node))
                              : highest_of(highest(2 * node), highest(2 * node + 1));
  return found;
}

// The highest point of a node that is not in a component.
LinkSearch::Peak LinkSearch::highest_except(Index node, Index component) {
  const Highest& found = highest(node);
  if (found.first.piece < 0 || components_.find(found.first.piece) != component) return found.first;
  return found.second;
}

// The smallest node whose box contains everything within tau of a node's box, and therefore all
// points there: points of other nodes are on the other side of a face of this box, or on it. The
// box has to be strictly larger, because a margin far below the coordinates vanishes in rounding.
Index LinkSearch::surroundings_of(Index node) const {
  if (tree_.periodic || node == 1) return 1;
  // Squares below 2^-1074 are rounded to that number or to 0.
  const double margin = (1.0 + 0x1p-40) * std::sqrt(reach_sq_) + 0x1p-536;
  const double* inner = tree_.low(node);
  const auto contains = [&](Index around) {
    const double* outer = tree_.low(around);
    for (int k = 0; k < tree_.features; ++k) {
      const int high = tree_.features + k;
      if (outer[k] >= inner[k] - margin || outer[high] <= inner[high] + margin) return false;
    }
    return true;
  };
  Index found = surroundings_[node / 2];
  const auto level = [](Index of) { return std::bit_width(static_cast<std::uint64_t>(of)); };
  while (found != node) {
    const Index below = node >> (level(node) - level(found) - 1);
    if (!contains(below)) break;
    found = below;
  }
  return found;
}

// Whether all points of a node are in one piece and so close together, compared with tau, that one
// bound for all of them is nearly as tight as one per leaf.
// With boxes of up to tau / 4 instead of tau / 8, a million points in the plane with tau = 10 h
// have a tenth more points to search from; with tau / 16, bounds take twice the time.
bool LinkSearch::is_narrow(Index node) const {
  if (highest_[node].second.piece >= 0) return false;
  const double* box = tree_.low(node);
  double square = 0.0;
  for (int k = 0; k < tree_.features; ++k) {
    const double width = box[tree_.features + k] - box[k];
    square += width * width;
  }
  return square <= reach_sq_ / 64.0;
}

// The bound of a node. It stays valid when components are joined.
double LinkSearch::highest_of_others_near(Index own, Index& boxes) {
  if (highest(own).second.piece >= 0) return infinity;
  const Index component = components_.find(highest_[own].first.piece);
  double found = -infinity;
  Stack stack{surroundings_[own]};
  for (int pending = 1; pending > 0;) {
    const Index node = stack[--pending];
    const double height = highest_except(node, component).height;
    if (height <= found) continue;
    ++boxes;
    const Bounds squares =
        between_boxes(tree_.low(own), tree_.low(node), tree_.features, tree_.periods());
    if (squares.least > reach_sq_) continue;
    if (tree_.is_leaf(node) || squares.most <= reach_sq_) {
      found = height;
      continue;
    }
    const bool right_first =
        highest_except(2 * node, component).height < highest_except(2 * node + 1, component).height;
    stack[pending++] = 2 * node + (right_first ? 0 : 1);
    stack[pending++] = 2 * node + (right_first ? 1 : 0);
  }
  return found;
}

void LinkSearch::count_failure(Index slot) {
  const Index node = bounded_[tree_.leaves() + slot / tree_.stride];
  if (tree_.is_leaf(node) || !std::has_single_bit(++failures_[node])) return;
  highest_other_[node] = highest_of_others_near(node, boxes_);
}

void LinkSearch::restart(const Index* group_of_piece) {
  group_of_piece_ = group_of_piece;
  components_.split();
  std::fill(witness_.begin(), witness_.end(), Witness{});
}

void LinkSearch::activate(Index slot) {
  const Index piece = points_.pieces[slot];
  const Index component = components_.find(piece);
  for (Index node = tree_.leaves() + slot / tree_.stride; node > 0; node /= 2) {
    Witness& witness = witness_[node];
    if (witness.piece < 0) {
      witness = {piece, piece};
    } else if (components_.find(witness.piece) == component ||
               components_.find(witness.other) == component) {
      return;  // the nodes above have points of this component, too
    } else if (witness.is_whole()) {
      witness.other = piece;
    }
  }
}

void LinkSearch::deactivate(Index slot) {
  for (Index node = tree_.leaves() + slot / tree_.stride; node > 0; node /= 2) {
    if (witness_[node].piece < 0) return;  // so are the nodes above
    witness_[node] = Witness{};
  }
}

LinkSearch::Witness LinkSearch::witness_above(Index node) const {
  const Witness left = witness_[2 * node];
  const Witness right = witness_[2 * node + 1];
  if (left.piece < 0 || !right.is_whole()) return right;
  if (right.piece < 0 || !left.is_whole()) return left;
  return {left.piece, right.piece};
}

// Whether all active points of a node are in one component by now. A witness whose pieces have
// been joined is replaced by a new one from the children or, in a leaf, from the points.
bool LinkSearch::is_whole(Index node) {
  Witness& witness = witness_[node];
  if (witness.is_whole()) return true;
  if (components_.find(witness.piece) != components_.find(witness.other)) return false;
  witness = tree_.is_leaf(node) ? next_witness(tree_.leaf_of(node)) : next_witness_above(node);
  return witness.is_whole();
}

LinkSearch::Witness LinkSearch::next_witness(Index leaf) {
  Witness found;
  const auto [begin, end] = slots_of(leaf);
  for (Index slot = begin; slot < end; ++slot) {
    if (!is_active(slot)) continue;
    const Index piece = points_.pieces[slot];
    if (found.piece < 0) {
      found = {piece, piece};
    } else if (components_.find(piece) != components_.find(found.piece)) {
      return {found.piece, piece};
    }
  }
  return found;
}

LinkSearch::Witness LinkSearch::next_witness_above(Index node) {
  is_whole(2 * node);
  is_whole(2 * node + 1);
  Witness found = witness_above(node);
  if (found.piece >= 0 && components_.find(found.piece) == components_.find(found.other)) {
    found.other = found.piece;
  }
  return found;
}

void LinkSearch::collect_near(Index leaf, std::vector<Index>& nodes) {
  const Index own = tree_.leaves() + leaf;
  nodes.assign(1, surroundings_[own]);
  if (!is_whole(own)) return;
  const Index component = components_.find(witness_[own].piece);
  Stack stack{nodes.front()};
  nodes.clear();
  for (int pending = 1; pending > 0;) {
    const Index node = stack[--pending];
    if (is_in_component(node, component)) continue;
    ++boxes_;
    const Bounds squares =
        between_boxes(tree_.low(own), tree_.low(node), tree_.features, tree_.periods());
    if (squares.least > reach_sq_) continue;
    if (tree_.is_leaf(node) || squares.most <= reach_sq_) {
      nodes.push_back(node);
      continue;
    }
    stack[pending++] = 2 * node;
    stack[pending++] = 2 * node + 1;
  }
}

void LinkSearch::improve(Index slot, LinkedPair& best) {
  improve_among({&surroundings_[tree_.leaves() + slot / tree_.stride], 1}, slot, best);
}

void LinkSearch::improve_among(std::span<const Index> nodes, Index slot, LinkedPair& best) {
  const Index leaf = slot / tree_.stride;
  const Index component = component_of(slot);
  copy_point(tree_, leaf, static_cast<int>(slot % tree_.stride), point_.data());
  nodes_.clear();
  for (const Index node : nodes) consider(node, component, best);
  while (!nodes_.empty()) {
    const Near near = nodes_.back();
    nodes_.pop_back();
    if (near.square > best.square) continue;
    if (tree_.is_leaf(near.node)) {
      scan_leaf(tree_.leaf_of(near.node), points_.pieces[slot], component, best);
      continue;
    }
    consider(2 * near.node, component, best);
    consider(2 * near.node + 1, component, best);
    const std::size_t count = nodes_.size();
    if (count > 1 && nodes_[count - 2].node == 2 * near.node &&
        nodes_[count - 2].square < nodes_[count - 1].square) {
      std::swap(nodes_[count - 2], nodes_[count - 1]);
    }
  }
}

// Puts a node onto the stack, unless it has no active point of another component within reach.
void LinkSearch::consider(Index node, Index component, const LinkedPair& best) {
  ++boxes_;
  const double square =
      least_to_box(point_.data(), tree_.low(node), tree_.features, tree_.periods());
  if (square > best.square || witness_[node].piece < 0) return;
  if (is_in_component(node, component)) return;
  nodes_.push_back({node, square});
}

void LinkSearch::scan_leaf(Index leaf, Index piece, Index component, LinkedPair& best) {
  const Index first = leaf * tree_.stride;
  kernels_.squares(point_.data(), tree_.leaf_block(leaf), squares_.data());
  for (int i = 0; i < tree_.count(leaf); ++i) {
    if (!(squares_[i] <= best.square) || points_.heights[first + i] < level_) continue;
    const Index other = points_.pieces[first + i];
    if (components_.find(other) == component) continue;
    const LinkedPair link{best.level, squares_[i], piece, other};
    if (best.piece < 0 || link.is_before(best)) best = link;
  }
}

}  // namespace quickshift
