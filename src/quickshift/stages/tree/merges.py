"""Merges of a cluster tree: rows of surviving leaf, absorbed leaf and level."""

import numpy as np

from quickshift import _core
from quickshift.arrays import Flags, Floats, Indices

__all__ = ["joined_leaves", "lone_leaves", "name_merges"]


def joined_leaves(merges: Floats) -> Indices:
    """Surviving and absorbed leaf of each merge, as indices."""
    return np.ascontiguousarray(merges[:, :2].astype(np.int64))


def lone_leaves(merges: Floats, n_leaves: int) -> Flags:
    """Flag the leaves that nothing absorbs."""
    alone = np.ones(n_leaves, dtype=bool)
    alone[joined_leaves(merges)[:, 1]] = False
    return alone


def name_merges(
    joined: Indices, levels: Floats, n_leaves: int, leaf_of_piece: Indices | None = None
) -> tuple[Floats, Indices]:
    """Rewrite joined pieces, in falling order of level, as the merges of their leaves.

    Returns
    -------
    merges : (n_merges, 3) surviving leaf, absorbed leaf and level of each
    towards : (n_leaves,) a higher leaf beside each one that is absorbed, itself elsewhere
    """
    leaf = np.arange(n_leaves) if leaf_of_piece is None else leaf_of_piece
    levels = np.ascontiguousarray(levels)
    named, at, towards = _core.merges(joined, levels, leaf, n_leaves)
    above = at > 0.0  # what meets at level 0 meets at no level
    merges = np.column_stack([named[above].astype(np.float64), at[above]])
    return merges, towards.view(np.int64)
