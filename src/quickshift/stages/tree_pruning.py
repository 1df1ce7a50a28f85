"""Smaller cluster trees: which merges are undone, and what is left."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from quickshift import _core

if TYPE_CHECKING:
    from quickshift.stages.cluster_tree import ClusterTree

__all__ = ["contract", "contract_leaves", "small_merges"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]


def small_merges(tree: "ClusterTree", min_size: float) -> tuple[Flags, Flags]:
    """Find what joins something smaller than ``min_size``.

    Returns
    -------
    undone : (n_merges,) merges of a part that is too small when they come
    lone : (n_leaves,) leaves that are too small at the end; what others lose to them does not
        count, or a larger ``min_size`` might keep more
    """
    size = tree.sizes.tolist()
    undone = np.zeros(len(tree.merges), dtype=bool)
    for i, (survivor, absorbed) in enumerate(tree.merges[:, :2].astype(np.int64).tolist()):
        if min(size[survivor], size[absorbed]) < min_size:
            undone[i] = True
            size[survivor] += size[absorbed]
    return undone, np.array(size) < min_size


def contract_leaves(tree: "ClusterTree", low: Flags) -> "ClusterTree":
    """Leave out the leaves that are flagged, however they would go."""
    return contract(tree, low[tree.merges[:, 1].astype(np.int64)], low)


def contract(tree: "ClusterTree", undone: Flags, lone: Flags) -> "ClusterTree":
    """Give absorbed leaves to their survivors, and lone ones to the leaf above them.

    Parameters
    ----------
    tree : ClusterTree
        The tree.
    undone : (n_merges,) bool
        Merges whose absorbed leaf goes.
    lone : (n_leaves,) bool
        Leaves that go to that of their root's parent; looked at only where nothing absorbs them.
    """
    n_leaves = tree.leaf_indices.size
    survivor, absorbed = tree.merges[:, :2].astype(np.int64).T
    to = np.arange(n_leaves)
    to[absorbed[undone]] = survivor[undone]
    alone = np.ones(n_leaves, dtype=bool)
    alone[absorbed] = False
    gone = np.flatnonzero(alone & lone & (tree.parents >= 0))
    to[gone] = tree.parents[gone]
    to = _core.find_roots(to, np.zeros(n_leaves), np.inf)[0].view(np.int64)
    kept, number = np.unique(to, return_inverse=True)
    merges = tree.merges[~undone].copy()
    merges[:, :2] = number[merges[:, :2].astype(np.int64)]
    outside = tree.leaf_labels < 0
    labels = np.where(outside, -1, number[tree.leaf_labels])
    sizes = np.zeros(kept.size)
    np.add.at(sizes, number, tree.sizes)
    above = tree.parents[kept]
    return replace(
        tree,
        leaf_labels=labels,
        leaf_indices=tree.leaf_indices[kept],
        merges=merges,
        sizes=sizes,
        parents=np.where(above < 0, -1, number[above]),
        pieces=labels,
        piece_merges=merges,
    )
