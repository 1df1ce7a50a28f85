"""Merges of a cluster tree: arrays with columns for surviving leaf, absorbed leaf and level."""

import numpy as np

from quickshift import _core
from quickshift.arrays import Flags, Floats, Indices

__all__ = ["joined_leaves", "lone_leaves", "merges_of_leaves"]


def joined_leaves(merges: Floats) -> Indices:
    """Return the surviving and the absorbed leaf of each merge as indices, shape (n_merges, 2)."""
    return np.ascontiguousarray(merges[:, :2].astype(np.int64))


def lone_leaves(merges: Floats, n_leaves: int) -> Flags:
    """Flag the leaves that no other leaf absorbs."""
    alone = np.ones(n_leaves, dtype=bool)
    alone[joined_leaves(merges)[:, 1]] = False
    return alone


def merges_of_leaves(
    joined: Indices, levels: Floats, n_leaves: int, leaf_of_piece: Indices | None = None
) -> tuple[Floats, Indices]:
    """Find which leaf absorbs which, from pairs of joined pieces in descending order of level.

    Returns
    -------
    merges : (n_merges, 3) surviving leaf, absorbed leaf and level of each merge
    towards : (n_leaves,) for an absorbed leaf, the higher leaf on the other side of the saddle; for
        any other leaf, the leaf itself
    """
    leaf = np.arange(n_leaves) if leaf_of_piece is None else leaf_of_piece
    levels = np.ascontiguousarray(levels)
    named, at, towards = _core.merges(joined, levels, leaf, n_leaves)
    above = at > 0.0  # leaves that meet at level 0 are together at no level λ ≥ 0
    merges = np.column_stack([named[above].astype(np.float64), at[above]])
    return merges, towards.view(np.int64)
