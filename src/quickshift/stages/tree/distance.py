"""The merge distortion, a distance between cluster trees."""

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Flags, Indices
from quickshift.checks.results import (
    check_common_samples,
    check_comparable_trees,
    check_known_density,
    check_known_features,
    require_result,
)
from quickshift.stages.tree.cluster_tree import ClusterTree
from quickshift.stages.tree.known_tree import KnownDensity, known_tree
from quickshift.stages.tree.merges import joined_leaves

__all__ = ["merge_distortion"]


def merge_distortion(
    tree_a: ClusterTree, tree_b: ClusterTree | KnownDensity, *, X: ArrayLike | None = None
) -> float:
    """Return the largest difference between the merge levels of two trees, over pairs of samples.

    This is the merge distortion of Eldridge, Belkin and Wang (2015), in the units of the density. A
    sample meets itself at its own density.

    Not all pairs need to be compared. Let two samples meet at a higher level in tree A than in tree
    B. Connect all samples by a spanning tree whose edges have the highest merge levels in A, and
    take the path between the two. On every edge of the path, the level in A is at least the pair's
    level in A. On some edge, the level in B is at most the pair's level in B. On that edge A and B
    differ at least as much as on the pair. It is therefore enough to compare the edges of two such
    maximum spanning trees, one for A and one for B, which takes O(n log n) time.

    Parameters
    ----------
    tree_a : ClusterTree
        A cluster tree.
    tree_b : ClusterTree or KnownDensity
        Another tree of the same samples, or a known density in one or two dimensions, as in
        `quickshift.datasets`, whose tree is computed by `known_tree`. Only samples that are in both
        trees are compared.
    X : array-like of shape (n_samples, n_features), optional
        The samples; required if ``tree_b`` is a known density.

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
    require_result(tree_a, ClusterTree, "tree_a", "link")
    if not isinstance(tree_b, ClusterTree):
        check_known_density(tree_b, "tree_b")
        check_known_features(tree_b.n_features, X)
        tree_b = known_tree(X, tree_b)  # type: ignore[arg-type]  # X is not None
    check_comparable_trees((tree_a.log_unit, tree_b.log_unit), (tree_a.density, tree_b.density))
    both = (tree_a.pieces >= 0) & (tree_b.pieces >= 0)
    check_common_samples(bool(both.any()))
    farthest = float(np.abs(tree_a.density - tree_b.density)[both].max())
    for one, other in ((tree_a, tree_b), (tree_b, tree_a)):
        i, j = _spanning_edges(one, both)
        gain = one.merge_level(i, j) - other.merge_level(i, j)
        farthest = max(farthest, float(np.max(gain, initial=0.0)))
    return farthest


def _spanning_edges(tree: ClusterTree, counted: Flags) -> tuple[Indices, Indices]:
    """Return the edges of a maximum spanning tree of the counted samples of each component."""
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
