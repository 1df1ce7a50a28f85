"""Pruning a cluster tree: which leaves are too small, and the tree without given leaves."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from quickshift import _core
from quickshift.arrays import Flags
from quickshift.stages.tree.merges import joined_leaves, lone_leaves, merges_of_leaves

if TYPE_CHECKING:
    from quickshift.stages.tree.cluster_tree import ClusterTree

__all__ = ["contract", "small_leaves"]


def small_leaves(tree: "ClusterTree", min_size: float) -> Flags:
    """Flag the leaves whose merge has fewer than ``min_size`` samples on one of its two sides.

    A leaf that no other leaf absorbs is flagged if its own size is below ``min_size`` in the end. A
    survivor gains the size of an absorbed leaf only if that leaf is flagged. If it gained the size
    in any case, a larger ``min_size`` could keep more leaves.
    """
    size = tree.sizes.tolist()
    small = np.zeros(tree.leaf_indices.size, dtype=bool)
    for survivor, absorbed in joined_leaves(tree.merges).tolist():
        if min(size[survivor], size[absorbed]) < min_size:
            small[absorbed] = True
            size[survivor] += size[absorbed]
    return small | (lone_leaves(tree.merges, small.size) & (np.array(size) < min_size))


def contract(tree: "ClusterTree", gone: Flags) -> "ClusterTree":
    """Remove leaves, and give their samples to the next higher leaves that remain.

    Parameters
    ----------
    tree : ClusterTree
        The tree.
    gone : (n_leaves,) bool
        Leaves to remove. A leaf is kept all the same if no higher leaf can take its samples.
    """
    n_leaves = tree.leaf_indices.size
    leaves = np.arange(n_leaves)
    to = np.where(gone & (tree.towards >= 0), tree.towards, leaves)
    to = _core.find_roots(to, np.zeros(n_leaves), np.inf)[0].view(np.int64)
    kept, number = np.unique(to, return_inverse=True)
    above = tree.towards[kept]
    labels = number[tree.leaf_labels]
    labels[tree.leaf_labels < 0] = -1
    joined = number[joined_leaves(tree.merges)]
    merges = merges_of_leaves(joined, tree.merges[:, 2], kept.size)[0]
    sizes = np.zeros(kept.size)
    np.add.at(sizes, number, tree.sizes)
    return replace(
        tree,
        leaf_labels=labels,
        leaf_indices=tree.leaf_indices[kept],
        merges=merges,
        sizes=sizes,
        towards=np.where(above < 0, -1, number[above]),
        significance=None if tree.significance is None else tree.significance[kept],
        pieces=labels,
        piece_merges=merges,
    )
