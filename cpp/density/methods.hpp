// The methods of computing kernel sums, each in a file of its own; see DensityMethod for what they
// are and which sums they support. The grid is declared in density/grid/density_grid.hpp.
//
// The caller allocates the arrays of `sums`, filled with zeros.
#pragma once

#include "density/sums.hpp"
#include "tree/block_sample.hpp"
#include "vector/pairs.hpp"

namespace quickshift {

// Adds the terms of all pairs between two leaves, given by their nodes, to the sums at the queries.
// If the trees are the same object, the terms are added to the sums at both leaves.
inline void add_leaf_terms(const Tree& queries, Index query, const Tree& samples, Index sample,
                           AddTerms add_terms, const KernelScale& scale, Sums& sums) {
  const Index leaf = queries.leaf_of(query);
  const Index other = samples.leaf_of(sample);
  const bool both = &queries == &samples && leaf != other;
  add_terms(leaf_pair(queries, leaf, samples, other), scale,
            sums.values.data() + leaf * queries.stride,
            both ? sums.values.data() + other * samples.stride : nullptr);
}

// density_direct.cpp
void direct_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
                 const Execution& execution, Sums& sums);

// The share of rtol that apart_sums may take. The rest is left for the sums without these pairs.
inline constexpr double apart_share = 0.125;

// density_direct.cpp: adds the terms of all pairs of samples of which at least one is in the leaves
// `apart`. `sums` already has those of all other pairs; they tell how far samples matter.
void apart_sums(const Tree& samples, const DensityOptions& options, const std::vector<Index>& apart,
                const Execution& execution, Sums& sums);

// density_direct.cpp: sums at the samples of the terms that NearTerms describes.
void near_sums(const Tree& samples, const DensityOptions& options, const NearTerms& near,
               const Execution& execution, Sums& sums);

// density_moments.cpp
void moment_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
                 const Execution& execution, Sums& sums);

// density_expansions.cpp
void expansion_sums(const Tree& queries, const Tree& samples, const DensityOptions& options,
                    const Execution& execution, Sums& sums);

// expansion_cost.cpp: whether expansion_sums supports these sums, and whether it is estimated to be
// faster than direct_sums.
bool expansions_serve(const Tree& samples, const DensityOptions& options);
bool expansions_pay(const Tree& queries, const Tree& samples, const DensityOptions& options);

// density_blocks.cpp
void block_sums(const Tree& samples, const DensityOptions& options, const Execution& execution,
                Sums& sums);

// Up to this many features block_sums is never chosen.
inline constexpr int most_features_without_blocks = 6;

// density_blocks_cost.cpp: the work of the sums through the tree and of block_sums, and whether the
// latter is estimated to be faster.
WorkEstimates work_of_sums(const Tree& samples, const DensityOptions& options);
bool blocks_pay_for_sums(const Tree& samples, const DensityOptions& options);

// density_blocks_cost.cpp: whether moment_sums at the samples is estimated to be faster than
// direct_sums.
bool moments_pay_for_sums(const Tree& samples, const DensityOptions& options);

}  // namespace quickshift
