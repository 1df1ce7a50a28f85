"""How far two cluster trees are apart."""

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Flags, Indices
from quickshift.stages.tree.cluster_tree import ClusterTree
from quickshift.stages.tree.known_tree import KnownDensity, known_tree
from quickshift.stages.tree.merges import joined_leaves

__all__ = ["merge_distortion"]


def merge_distortion(
    tree_a: ClusterTree, tree_b: ClusterTree | KnownDensity, *, X: ArrayLike | None = None
) -> float:
    """Largest difference between the levels at which two trees join the same two samples.

    The merge distortion of Eldridge, Belkin and Wang (2015), in the units of the density. A sample
    meets itself at its own density.

    Of two samples that meet higher in one tree, some edge on their path in a maximum spanning tree
    of that one is at least as high there and at most as high in the other. So the edges of a
    spanning tree of each will do, and no other pairs: the time is O(n log n).

    Parameters
    ----------
    tree_a : ClusterTree
        A tree.
    tree_b : ClusterTree or KnownDensity
        Another one of the same samples (only those in both count), or a density in one or two
        dimensions whose tree is known, as in `quickshift.datasets`; see `known_tree`.
    X : array-like of shape (n_samples, n_features), optional
        The samples; a known density needs them.

    Returns
    -------
    float

    Examples
    --------
    >>> from quickshift.stages import climb, cut, link
    >>> X, density = [[0.0], [1.0], [2.0]], [3.0, 1.0, 2.0]
    >>> narrow, wide = (link(X, density, cut(climb(X, density), tau), tau) for tau in (1.5, 2.5))
    >>> merge_distortion(narrow, wide)
    1.0
    """
    if not isinstance(tree_b, ClusterTree):
        if X is None:
            raise ValueError(
                "X is None, expected the samples: the tree of a density that is known has to be "
                "compared over them. Give X=..."
            )
        tree_b = known_tree(X, tree_b)
    if tree_a.log_unit != tree_b.log_unit:
        raise ValueError(
            f"tree_a and tree_b have densities in different units (log_unit {tree_a.log_unit!r} "
            f"and {tree_b.log_unit!r}), expected the same."
        )
    if tree_a.density.size != tree_b.density.size:
        raise ValueError(
            f"tree_a has {tree_a.density.size} samples and tree_b {tree_b.density.size}, expected "
            f"trees of the same samples."
        )
    both = (tree_a.pieces >= 0) & (tree_b.pieces >= 0)
    if not both.any():
        raise ValueError("tree_a and tree_b have no sample in common, expected the same samples.")
    farthest = float(np.abs(tree_a.density - tree_b.density)[both].max())
    for one, other in ((tree_a, tree_b), (tree_b, tree_a)):
        i, j = _spanning_edges(one, both)
        gain = one.merge_level(i, j) - other.merge_level(i, j)
        farthest = max(farthest, float(np.max(gain, initial=0.0)))
    return farthest


def _spanning_edges(tree: ClusterTree, counted: Flags) -> tuple[Indices, Indices]:
    """Pairs of counted samples that span each component of a tree, by its highest merges."""
    rows = np.flatnonzero(counted)
    rows = rows[np.argsort(-tree.density[rows], kind="stable")]
    pieces, first = np.unique(tree.pieces[rows], return_index=True)
    highest = dict(zip(pieces.tolist(), rows[first].tolist(), strict=True))
    top = rows[first][np.searchsorted(pieces, tree.pieces[rows])]
    joined = []
    for survivor, absorbed in joined_leaves(tree.piece_merges).tolist():
        below = highest.get(absorbed)
        if below is None:
            continue
        above = highest.setdefault(survivor, below)
        joined.append((below, above))
        if tree.density[below] > tree.density[above]:
            highest[survivor] = below
    pairs = np.array(joined, dtype=np.int64).reshape(-1, 2)
    return np.concatenate([rows, pairs[:, 0]]), np.concatenate([top, pairs[:, 1]])
