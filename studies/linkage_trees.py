"""Cluster trees of single-linkage methods, as `quickshift.ClusterTree` in units of density.

RobustSingleLinkage of hdbscan is the estimator of Chaudhuri and Dasgupta (2010) for alpha = √2.
With alpha = 1, its clusters at distance r are those of DBSCAN with eps = r and min_samples = k, so
the whole tree is DBSCAN swept over eps. A distance r becomes the level k / (n · volume of a ball of
radius r), the density at which k neighbors are within r.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

import quickshift as qs
from quickshift.stages.tree.merges import merges_of_leaves

Floats = NDArray[np.float64]


def linkage_tree(X: Floats, k: int, alpha: float) -> qs.ClusterTree:
    """Return the tree, in which every sample is a leaf of its own."""
    from hdbscan import RobustSingleLinkage

    n, d = X.shape
    linkage = RobustSingleLinkage(k=k, alpha=alpha).fit(X).cluster_hierarchy_.to_numpy()
    volume = math.pi ** (d / 2) / math.gamma(d / 2 + 1)
    core = cKDTree(X).query(X, k=k)[0][:, -1]
    density = k / (n * volume * core**d)
    order = np.argsort(-density, kind="stable")
    piece = np.empty(n, dtype=np.int64)
    piece[order] = np.arange(n)
    first = np.concatenate([piece, np.empty(n - 1, dtype=np.int64)])  # a piece below each node
    joined = np.empty((n - 1, 2), dtype=np.int64)
    for step, (a, b) in enumerate(linkage[:, :2].astype(int)):
        joined[step] = first[a], first[b]
        first[n + step] = first[a]
    levels = k / (n * volume * np.maximum(linkage[:, 2], 1e-300) ** d)
    merges, towards = merges_of_leaves(joined, levels, n)
    return qs.ClusterTree(
        leaf_labels=piece,
        leaf_indices=order,
        density=density,
        merges=merges,
        tau=math.inf,
        sizes=np.ones(n),
        towards=np.where(towards == np.arange(n), -1, towards),
        pieces=piece,
        piece_merges=merges,
    )
