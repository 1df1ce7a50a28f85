"""What the page needs of a cluster tree: its leaves, and where they merge."""

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.explorer.packing import Section
from quickshift.plot.fitted import log10_levels
from quickshift.stages.tree.cluster_tree import ClusterTree
from quickshift.stages.tree.merges import joined_leaves

__all__ = ["leaf_sections", "scores_of"]


def leaf_sections(tree: ClusterTree, final: Indices, position: Indices) -> dict[str, Section]:
    """Write the leaves of a tree.

    Parameters
    ----------
    tree : ClusterTree
        The tree of all modes.
    final : ndarray of shape (n_leaves,)
        Label of each leaf in the fit.
    position : ndarray of shape (n_samples,)
        Position of each row in the page.

    Returns
    -------
    dict of str to Section
        ``leaf``: position of each leaf's mode; ``towards``: the leaf that takes its samples if it
        is removed; ``score``: a cut keeps the leaves of at least a score; ``final``; ``birth``,
        ``merged`` (survivor and absorbed leaf in turn) and ``level`` draw the tree.
    """
    score, _ = scores_of(tree)
    joined = joined_leaves(tree.merges)
    return {
        "leaf": Section(position[tree.leaf_indices], "i32"),
        "towards": Section(tree.towards, "i32"),
        "score": Section(score, "f64"),
        "final": Section(final, "i32"),
        "birth": Section(log10_levels(tree, tree.births), "f32"),
        "merged": Section(joined.reshape(-1), "i32"),
        "level": Section(log10_levels(tree, tree.merges[:, 2]), "f32"),
    }


def scores_of(tree: ClusterTree) -> tuple[Floats, str]:
    """Return the numbers by which leaves are kept, and the argument of `prune` they stand for."""
    if tree.significance is not None:
        return tree.significance, "significance"
    birth, death = tree.persistence().T
    ratio = np.full(birth.size, np.inf)
    np.divide(birth, death, out=ratio, where=death > 0)
    return ratio, "prominence_ratio"
