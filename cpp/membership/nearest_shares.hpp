// To which clusters do the K nearest samples of a query belong?
#pragma once

#include "membership/share_table.hpp"

namespace quickshift {

// Writes the share of each cluster in the K = `neighbors` nearest samples of every query, counted
// by weight. Samples at the same distance as the last that counts share what is left of K in
// proportion to their weights. If all samples together weigh less than K, all of them count.
// dimension: the number of features that are not constant.
void nearest_shares(const Tree& queries, const Tree& samples, const Labels& labels,
                    double neighbors, int dimension, const Execution& execution,
                    const ShareTable& table);

}  // namespace quickshift
