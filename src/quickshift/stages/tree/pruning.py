"""Smaller cluster trees: which leaves go, and what is left."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from quickshift import _core
from quickshift.arrays import Flags
from quickshift.stages.tree.merges import joined_leaves, lone_leaves, name_merges

if TYPE_CHECKING:
    from quickshift.stages.tree.cluster_tree import ClusterTree

__all__ = ["contract", "small_leaves"]


def small_leaves(tree: "ClusterTree", min_size: float) -> Flags:
    """Find the leaves of which a part smaller than ``min_size`` is made when they are absorbed.

    A leaf that nothing absorbs is judged at the end; what others lose to it does not count, or a
    larger ``min_size`` might keep more.
    """
    size = tree.sizes.tolist()
    small = np.zeros(tree.leaf_indices.size, dtype=bool)
    for survivor, absorbed in joined_leaves(tree.merges).tolist():
        if min(size[survivor], size[absorbed]) < min_size:
            small[absorbed] = True
            size[survivor] += size[absorbed]
    return small | (lone_leaves(tree.merges, small.size) & (np.array(size) < min_size))


def contract(tree: "ClusterTree", gone: Flags) -> "ClusterTree":
    """Leave out leaves, and give their samples to the next higher leaves that stay.

    Parameters
    ----------
    tree : ClusterTree
        The tree.
    gone : (n_leaves,) bool
        Leaves to leave out; those with no leaf above them stay.
    """
    n_leaves = tree.leaf_indices.size
    leaves = np.arange(n_leaves)
    to = np.where(gone & (tree.towards >= 0), tree.towards, leaves)
    to = _core.find_roots(to, np.zeros(n_leaves), np.inf)[0].view(np.int64)
    kept, number = np.unique(to, return_inverse=True)
    above = tree.towards[kept]
    labels = np.where(tree.leaf_labels < 0, -1, number[tree.leaf_labels])
    merges = name_merges(number[joined_leaves(tree.merges)], tree.merges[:, 2], kept.size)[0]
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
