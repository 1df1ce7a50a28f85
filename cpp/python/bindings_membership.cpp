// The shares of clusters at queries.
#include "membership/kernel_shares.hpp"
#include "membership/nearest_shares.hpp"
#include "python/bindings.hpp"

namespace quickshift {

namespace {

// The labels of samples as Python passes them; see Labels.
struct GivenLabels {
  const Indices& of_slot;
  Index clusters;
  const Indices& part_offsets;
  const Indices& part_clusters;
  const Reals& part_shares;
};

// Returns the labels after checking everything that is used as an index.
Labels checked_labels(const GivenLabels& given, const Tree& samples) {
  require(static_cast<Index>(given.of_slot.size()) == samples.slots(),
          "label_of_slot must have one value per slot of the samples");
  require(given.clusters >= 1, "clusters must be at least 1");
  require(given.part_offsets.size() >= 1 && given.part_clusters.size() == given.part_shares.size(),
          "part_offsets must not be empty, and each part must have a cluster and a share");
  const auto divided = static_cast<Index>(given.part_offsets.size()) - 1;
  const Labels labels{
      given.of_slot.data(),       given.clusters,          divided, given.part_offsets.data(),
      given.part_clusters.data(), given.part_shares.data()};
  const auto parts = static_cast<Index>(given.part_clusters.size());
  for (Index i = 0; i < divided; ++i) {
    require(labels.part_offsets[i] >= 0 && labels.part_offsets[i] <= labels.part_offsets[i + 1] &&
                labels.part_offsets[i + 1] <= parts,
            "part_offsets must rise from 0 to the number of parts");
  }
  for (Index i = 0; i < parts; ++i) {
    require(labels.part_clusters[i] >= 0 && labels.part_clusters[i] < labels.clusters,
            "part_clusters must hold numbers from 0 to clusters - 1");
  }
  for (Index slot = 0; slot < samples.slots(); ++slot) {
    if (samples.row_of_slot[slot] < 0) continue;
    require(labels.of_slot[slot] >= 0 && labels.of_slot[slot] < labels.count(),
            "label_of_slot must hold labels of clusters or of divided locations");
  }
  return labels;
}

// Runs write(labels, execution, table) and returns the table: labels of shape (rows, top), shares
// of the same shape (with top = 0, of all clusters), and the rows whose shares are all 0.
template <class Write>
auto table_of(const Tree& queries, const Tree& samples, const GivenLabels& given, Index top,
              int threads, const Write& write) {
  require(&queries != &samples && queries.features == samples.features,
          "queries must be a tree of their own, with as many columns as the samples");
  require(top >= 0 && top <= given.clusters, "top must be from 0 to clusters");
  const Labels labels = checked_labels(given, samples);
  const Index columns = top > 0 ? top : labels.clusters;
  Buffer<Index> found(queries.rows * top);
  Buffer<double> shares(queries.rows * columns);
  Array<char> vanished = unset_array<char>(queries.rows);
  without_gil(threads, [&](const Execution& execution) {
    Index* const listed = top > 0 ? found.data() : nullptr;
    write(labels, execution, ShareTable{columns, listed, shares.data(), vanished.data()});
  });
  std::vector<Index> empty;
  for (Index row = 0; row < queries.rows; ++row) {
    if (vanished[row]) empty.push_back(row);
  }
  const auto rows = static_cast<std::size_t>(queries.rows);
  return std::make_tuple(found.shaped<2>({rows, static_cast<std::size_t>(top)}),
                         shares.shaped<2>({rows, static_cast<std::size_t>(columns)}),
                         array_of(empty));
}

auto by_kernel(const Tree& queries, const Tree& samples, const Indices& label_of_slot,
               Index clusters, const Indices& part_offsets, const Indices& part_clusters,
               const Reals& part_shares, Index top, int kernel, double bandwidth, double rtol,
               int threads) {
  const DensityOptions options = density_options(kernel, bandwidth, rtol);
  return table_of(queries, samples,
                  {label_of_slot, clusters, part_offsets, part_clusters, part_shares}, top, threads,
                  [&](const Labels& labels, const Execution& execution, const ShareTable& table) {
                    kernel_shares(queries, samples, labels, options, execution, table);
                  });
}

auto by_nearest(const Tree& queries, const Tree& samples, const Indices& label_of_slot,
                Index clusters, const Indices& part_offsets, const Indices& part_clusters,
                const Reals& part_shares, Index top, double neighbors, int dimension, int threads) {
  require(neighbors >= 1.0 && dimension >= 1, "neighbors and dimension must be at least 1");
  return table_of(
      queries, samples, {label_of_slot, clusters, part_offsets, part_clusters, part_shares}, top,
      threads, [&](const Labels& labels, const Execution& execution, const ShareTable& table) {
        nearest_shares(queries, samples, labels, neighbors, dimension, execution, table);
      });
}

}  // namespace

void bind_membership(nb::module_& m) {
  m.def(
      "kernel_shares", &by_kernel, "queries"_a, "samples"_a, "label_of_slot"_a, "clusters"_a,
      "part_offsets"_a, "part_clusters"_a, "part_shares"_a, "top"_a, "kernel"_a, "bandwidth"_a,
      "rtol"_a, "threads"_a = 1,
      "The `top` largest shares at each query and the labels of their clusters, or with top = 0 "
      "the shares of all clusters and no labels. The share of a cluster is the part of the "
      "kernel sum that its samples contribute. The third array holds the queries at which the sum "
      "vanishes and all shares are 0. A label from `clusters` on is that of a location whose "
      "weight is "
      "divided between clusters.");
  m.def("nearest_shares", &by_nearest, "queries"_a, "samples"_a, "label_of_slot"_a, "clusters"_a,
        "part_offsets"_a, "part_clusters"_a, "part_shares"_a, "top"_a, "neighbors"_a, "dimension"_a,
        "threads"_a = 1,
        "The same for the `neighbors` nearest samples of each query, counted by weight: the share "
        "of a cluster is that of its samples among them. Samples at the same distance as the last "
        "count in part.");
}

}  // namespace quickshift
