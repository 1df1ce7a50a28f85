#include "forest/nearby_links.hpp"

#include <cmath>

#include "support/disjoint_set.hpp"
#include "tree/block_sample.hpp"
#include "tree/search.hpp"

namespace quickshift {

namespace {

constexpr int most_features_for_search = 6;

Array<Index> pieces_of_nodes(const Tree& tree, const Array<Index>& by_slot,
                             const Execution& execution) {
  Array<Index> by_node = unset_array<Index>(tree.nodes());
  for_nodes_upwards(tree, execution, [&](Index node) {
    if (!tree.is_leaf(node)) {
      by_node[node] = by_node[2 * node] == by_node[2 * node + 1] ? by_node[2 * node] : -1;
      return;
    }
    const Index leaf = tree.leaf_of(node);
    const Index* first = by_slot.data() + leaf * tree.stride;
    const auto same = [&](Index piece) { return piece == *first; };
    by_node[node] = std::all_of(first, first + tree.count(leaf), same) ? *first : -1;
  });
  return by_node;
}

// The largest squared distance below tau.
double square_below(const Tree& tree, double tau) {
  return square_within(tree, std::nextafter(tau, 0.0));
}

// Of several rows at a location, the largest tau counts.
Array<double> reaches_of(const Tree& tree, const LinkLength& length, const Execution& execution) {
  if (!length.tau_of_row) {
    return filled_array(tree.slots(), square_below(tree, length.tau), execution);
  }
  Array<double> reaches = filled_array(tree.slots(), -1.0, execution);
  for (Index row = 0; row < tree.rows; ++row) {
    const Index slot = tree.slot_of_row[row];
    if (slot < 0) continue;
    reaches[slot] = std::max(reaches[slot], square_within(tree, length.tau_of_row[row]));
  }
  return reaches;
}

// A keeper (tree/search.hpp) that counts the locations within a squared distance, up to a limit.
class CountWithin {
 public:
  CountWithin(double reach_sq, Index most) : reach_sq_(reach_sq), most_(most) {}

  double reach() const { return reach_sq_; }
  bool wants(Index) const { return count_ < most_; }
  void scan(const PairKernels& kernels, const Tree& tree, Index leaf, const double* point,
            double* squares) {
    kernels.squares(point, tree.leaf_block(leaf), squares);
    for (int i = 0; i < tree.count(leaf); ++i) count_ += squares[i] <= reach_sq_;
    if (count_ >= most_) reach_sq_ = -1.0;  // ends the search
  }
  Index count() const { return std::min(count_, most_); }

 private:
  double reach_sq_;
  Index most_;
  Index count_ = 0;
};

// A keeper (tree/search.hpp) that offers all links from one point to other pieces. It skips every
// node that lies in the piece of its point.
class OfferLinks {
 public:
  OfferLinks(const NearbyLinks& links, Index slot, SaddleTable& table)
      : links_(links), slot_(slot), piece_(links.points.pieces[slot]), table_(table) {}

  double reach() const { return links_.reaches[slot_]; }
  bool wants(Index node) const { return links_.piece_of_node[node] != piece_; }
  void scan(const PairKernels& kernels, const Tree& tree, Index leaf, const double* point,
            double* squares) {
    if (!wants(tree.leaves() + leaf)) return;
    kernels.squares(point, tree.leaf_block(leaf), squares);
    const Index first = leaf * tree.stride;
    for (int i = 0; i < tree.count(leaf); ++i) {
      if (links_.points.pieces[first + i] == piece_ || !(squares[i] <= reach())) continue;
      links_.offer(table_, slot_, first + i, squares[i]);
    }
  }

 private:
  const NearbyLinks& links_;
  Index slot_;
  Index piece_;
  SaddleTable& table_;
};

// Kruskal's algorithm.
std::vector<Saddle> spanning_forest(std::vector<LinkedPair> links, Index pieces) {
  std::sort(links.begin(), links.end(),
            [](const LinkedPair& a, const LinkedPair& b) { return a.is_before(b); });
  DisjointSet components(pieces);
  std::vector<Saddle> saddles;
  for (const LinkedPair& link : links) {
    const Index a = components.find(link.piece);
    const Index b = components.find(link.other);
    if (a == b) continue;
    components.join(a, b);
    saddles.push_back({link.piece, link.other, link.level, link.square});
  }
  return saddles;
}

// Offers all links from the listed locations; not for periodic features.
void link_by_lists(NearbyLinks& links, const NearLists& near, const Execution& execution) {
  const Tree& tree = links.tree;
  const auto offer_from = [&](Index slot, SaddleTable& table) {
    for (const Index other : near.of(slot)) {
      if (links.points.pieces[slot] == links.points.pieces[other]) continue;
      links.offer(table, slot, other, square_between(tree, slot, other));
    }
  };
  for_each_leaf(tree, 20.0 * static_cast<double>(tree.locations), execution, [&] {
    return [&, &table = links.new_table()](Index leaf) {
      for (int i = 0; i < tree.count(leaf); ++i) offer_from(leaf * tree.stride + i, table);
    };
  });
}

}  // namespace

NearbyLinks::NearbyLinks(const Tree& searched, const PieceOfRow& rows,
                         std::span<const Saddle> edges, const LinkLength& length,
                         const Execution& execution)
    : tree(searched), points(searched, rows, edges, execution) {
  if (length.near) return;
  piece_of_node = pieces_of_nodes(searched, points.pieces, execution);
  reaches = reaches_of(searched, length, execution);
}

void link_by_search(NearbyLinks& links, const Execution& execution) {
  const Tree& tree = links.tree;
  for_each_leaf(tree, 300.0 * static_cast<double>(tree.locations), execution, [&] {
    return
        [&, &table = links.new_table(), search = TreeSearch(tree),
         point = std::vector<double>(static_cast<std::size_t>(tree.features))](Index leaf) mutable {
          for (int i = 0; i < tree.count(leaf); ++i) {
            copy_point(tree, leaf, i, point.data());
            OfferLinks keeper(links, leaf * tree.stride + i, table);
            search.from_leaf(leaf, point.data(), keeper);
          }
        };
  });
}

bool search_pays_for_links(const Tree& tree, Index pieces, double tau) {
  // With five features or more, searches of data with long tails may be far slower. With more than
  // eight, they seldom pay.
  constexpr int most_features = 8;
  const bool few_features = tree.features <= 4;
  const Index most_locations_per_piece = few_features ? 12 : 8;
  const Index most_within = few_features ? 10 : 4;  // on average, including the location itself
  constexpr Index counted = 1024;
  if (tree.features > most_features) return false;
  if (pieces * most_locations_per_piece < tree.locations) return false;
  TreeSearch search(tree);
  std::vector<double> point(static_cast<std::size_t>(tree.features));
  Index within = 0;
  Index sampled = 0;
  for_sampled_leaves(tree, 64, [&](Index leaf) {
    const int middle = tree.count(leaf) / 2;
    copy_point(tree, leaf, middle, point.data());
    CountWithin keeper(square_below(tree, tau), counted);
    search.from_leaf(leaf, point.data(), keeper);
    within += keeper.count();
    ++sampled;
  });
  return within <= most_within * sampled;
}

// Whether blocks would compute a large part of all pairs twice. Then searches are faster, even with
// many features.
bool single_precision_decides_little(const NearbyLinks& links) {
  constexpr double large = 0.05;
  const UndecidedPairs pairs(links.tree);
  std::vector<double> point(static_cast<std::size_t>(links.tree.features));
  double share = 0.0;
  double leaves = 0.0;
  for_sampled_leaves(links.tree, 8, [&](Index leaf) {
    const int middle = links.tree.count(leaf) / 2;  // the first and the last ones may be outliers
    copy_point(links.tree, leaf, middle, point.data());
    const double reach_sq = links.reaches[leaf * links.tree.stride + middle];
    share += pairs.near_point(point.data(), reach_sq);
    leaves += 1.0;
  });
  return share > large * leaves;
}

std::vector<Saddle> find_saddles_nearby(const Tree& tree, const PieceOfRow& rows,
                                        std::span<const Saddle> edges, const LinkLength& length,
                                        const Execution& execution) {
  if (rows.pieces == 1) return {};
  NearbyLinks links(tree, rows, edges, length, execution);
  if (length.near) {
    link_by_lists(links, length.near, execution);
  } else if (!length.tau_of_row || tree.periodic || tree.features <= most_features_for_search ||
             single_precision_decides_little(links)) {
    link_by_search(links, execution);
  } else {
    link_by_blocks(links, execution);
  }
  SaddleTable all;
  for (const LinkedPair& edge : links.points.edges) all.offer(edge);
  for (const SaddleTable& table : links.tables) {
    table.for_each([&](const LinkedPair& link) { all.offer(link); });
  }
  std::vector<LinkedPair> candidates;
  all.for_each([&](const LinkedPair& link) { candidates.push_back(link); });
  return spanning_forest(std::move(candidates), rows.pieces);
}

}  // namespace quickshift
