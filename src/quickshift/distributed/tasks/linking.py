"""Links of one box: the saddles between pieces of the forest that meet in it."""

from dataclasses import dataclass

import numpy as np

from quickshift import _core
from quickshift.arrays import Floats, Indices
from quickshift.distributed.store import Store
from quickshift.distributed.tasks.climbing import removed_from, surroundings
from quickshift.distributed.tasks.regions import Region
from quickshift.stages.local_scale import levels_of

__all__ = ["Saddles", "link_box"]


@dataclass(frozen=True)
class Saddles:
    """Saddles between pieces, see `quickshift.stages.link`.

    Attributes
    ----------
    pieces : ndarray of shape (n, 2)
        The two pieces that each saddle joins.
    level : ndarray of shape (n,)
        The level at which it joins them.
    square : ndarray of shape (n,)
        Squared distance of its two rows, times 4^-exponent of the store. Saddles of the same level
        are common, because one low row may be near several pieces; the shortest counts first.
    """

    pieces: Indices
    level: Floats
    square: Floats


def link_box(store: Store, box: int, tau: float | None) -> Saddles:
    """Find the saddles between pieces that have linked rows of which one is in a box.

    Rows are linked that are nearer than tau to each other or, under local scale, no farther apart
    than the larger tau of the two. The saddles are those of a maximum spanning forest, for the box
    and its halo. The pieces of all boxes together are joined by the same saddles as by all pairs.

    Parameters
    ----------
    store : Store
        The files, with the piece of every row.
    box : int
        Number of the box.
    tau : float or None
        Rows nearer than this are linked; None for the tau of each row.

    Returns
    -------
    Saddles
    """
    region = surroundings(store, box, tau)
    heights = region.read("heights")
    values = levels_of(-heights) if store.is_local else heights
    pieces, piece = np.unique(region.pieces(), return_inverse=True)
    lengths = region.read("tau") if tau is None else tau
    lower, upper = _dips(region, tau)
    tree = region.samples().tree
    joined, levels, squares = _core.saddles(tree, values, piece, pieces.size, lengths, lower, upper)
    unit = 2 * (tree.exponent - store.exponent)  # of this tree, in those of all boxes
    return Saddles(pieces[joined.view(np.int64)], levels, np.ldexp(squares, unit))


def _dips(region: Region, tau: float | None) -> tuple[Indices, Indices]:
    """Return the rows of the box whose parents have a lower height, and those parents.

    Only edges count that the cut keeps.
    """
    store, box = region.store, region.box
    dips = np.array(store.read(box, "dips"))
    if tau is not None:
        dips &= store.read(box, "distance") <= tau
    dips[removed_from(store, box)] = False
    lower = np.flatnonzero(dips)
    positions = region.positions()
    order = np.argsort(positions)
    parents = store.read(box, "parent")[lower]
    return lower, order[np.searchsorted(positions, parents, sorter=order)]
