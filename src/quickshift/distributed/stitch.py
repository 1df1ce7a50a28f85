"""Stitching: the edges that leave boxes join the trees of all boxes to one forest.

::

    Tops of every box --stitch--> Forest: leaves, pieces, and the piece of every top

Each box has followed the paths inside it to its tops. What is left is a graph of the tops, which is
small: a root is its own parent, any other top leads to the top of its parent, in another box or
across a dip.
"""

from dataclasses import dataclass

import numpy as np

from quickshift import _core
from quickshift.arrays import Floats, Indices
from quickshift.distributed.store import Store
from quickshift.distributed.tasks.climbing import Tops, highest_first

__all__ = ["Edges", "Leaves", "leaves_of", "pieces_of", "stitch"]


@dataclass(frozen=True)
class Leaves:
    """The roots of the forest over all boxes, highest first.

    Attributes
    ----------
    position : ndarray of shape (n_leaves,)
        Position of each root.
    row : ndarray of shape (n_leaves,)
        Number of each root in the user's data.
    point : ndarray of shape (n_leaves, n_features)
        Coordinates of the roots.
    height : ndarray of shape (n_leaves,)
        Heights of the roots.
    size : ndarray of shape (n_leaves,)
        Total weight of each tree.
    leaf_of_piece : ndarray of shape (n_pieces,)
        The leaf that each piece belongs to. Pieces are the parts of a tree between its dips,
        highest first. Nearly always, every leaf is one piece.
    """

    position: Indices
    row: Indices
    point: Floats
    height: Floats
    size: Floats
    leaf_of_piece: Indices

    def __len__(self) -> int:
        """Return the number of leaves."""
        return len(self.position)


@dataclass(frozen=True)
class Edges:
    """Edges to parents that are too far away for the halo of a box.

    Attributes
    ----------
    position : ndarray of shape (n,)
        Positions of the rows, in rising order.
    parent : ndarray of shape (n,)
        Positions of their parents; their own if no row is higher.
    distance : ndarray of shape (n,)
        Distances to the parents, infinite if no row is higher.
    """

    position: Indices
    parent: Indices
    distance: Floats

    def up_to(self, tau: float) -> "Edges":
        """Return the edges that are no longer than tau."""
        kept = (self.distance <= tau) & np.isfinite(self.distance)
        return Edges(self.position[kept], self.parent[kept], self.distance[kept])


def stitch(
    store: Store, tops: list[Tops], bits: int, name: str = "top", edges: Edges | None = None
) -> Leaves:
    """Join the trees of all boxes, and write the piece of every top.

    Parameters
    ----------
    store : Store
        The files. The piece of each top of a box is written as ``piece``, or as ``piece-of-`` and
        the name if that is not "top".
    tops : list of Tops
        The tops of every box, from `cut_box`.
    bits : int
        Heights are compared after rounding to this many bits.
    name : str
        The array in which `cut_box` wrote the tops of the rows.
    edges : Edges, optional
        More edges to keep. Their rows are roots otherwise.

    Returns
    -------
    Leaves
    """
    firsts = np.concatenate([[0], np.cumsum([len(t.position) for t in tops])]).astype(np.int64)
    joined = Tops(*(np.concatenate([getattr(t, f) for t in tops]) for f in Tops.__annotations__))
    if edges is not None:
        joined.target[np.searchsorted(joined.position, edges.position)] = edges.parent
    up = _tops_of(store, joined.target, firsts, name)
    own = joined.target == joined.position
    up[own] = np.flatnonzero(own)
    leaf_root = _roots(up)
    up[joined.dip] = np.flatnonzero(joined.dip)
    piece_root = _roots(up)
    roots = _highest_first(store, joined, np.flatnonzero(own), bits)
    pieces = roots
    if joined.dip.any():
        pieces = _highest_first(store, joined, np.flatnonzero(own | joined.dip), bits)
    number = np.empty(up.size, dtype=np.int64)
    number[pieces] = np.arange(pieces.size)
    piece = number[piece_root]
    for box in range(len(tops)):
        store.write(box, pieces_of(name), piece[firsts[box] : firsts[box + 1]])
    number[roots] = np.arange(roots.size)
    leaf = number[leaf_root]
    return Leaves(
        joined.position[roots],
        joined.row[roots],
        joined.point[roots],
        joined.height[roots],
        np.bincount(leaf, joined.weight, minlength=roots.size).astype(np.float64),
        leaf[pieces],
    )


def pieces_of(name: str) -> str:
    """Return the name of the array that has the piece of each top."""
    return "piece" if name == "top" else f"piece-of-{name}"


def leaves_of(store: Store, leaves: Leaves, positions: Indices, name: str = "top") -> Indices:
    """Return the leaf of the rows at some positions."""
    tops = store.read_at(name, positions)
    owners = np.searchsorted(store.offsets, positions, side="right") - 1
    result = np.empty(positions.size, dtype=np.int64)
    for box in np.unique(owners).tolist():
        some = owners == box
        result[some] = leaves.leaf_of_piece[store.read(box, pieces_of(name))[tops[some]]]
    return result


def _roots(up: Indices) -> Indices:
    return _core.find_roots(up, np.zeros(up.size), np.inf)[0].view(np.int64)


def _tops_of(store: Store, positions: Indices, firsts: Indices, name: str) -> Indices:
    """Return the number, among the tops of all boxes, of the top that each row leads to."""
    result = np.empty(positions.size, dtype=np.int64)
    offsets = store.offsets
    owners = np.searchsorted(offsets, positions, side="right") - 1
    for box in np.unique(owners).tolist():
        asked = np.flatnonzero(owners == box)
        result[asked] = firsts[box] + store.read(box, name)[positions[asked] - offsets[box]]
    return result


def _highest_first(store: Store, tops: Tops, chosen: Indices, bits: int) -> Indices:
    """Sort some tops in descending order of height; the first of duplicate rows is higher."""
    some = tops.point[chosen], tops.height[chosen], tops.row[chosen]
    return chosen[highest_first(store, *some, bits)]
