"""More clusters than modes: the longest edges of the forest, which are removed to get them."""

from dataclasses import dataclass

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.distributed.store import Store
from quickshift.distributed.tasks.climbing import Order, highest_first

__all__ = ["Longest", "count_trees", "longest_edges", "remove_edges", "some_longest"]

_SMALLEST = float(np.finfo(np.float64).tiny)


def count_trees(store: Store, box: int) -> tuple[int, int]:
    """Return how many trees the rows of a box are roots of: if no edge is removed, and at most.

    At most, all edges are removed that do not join duplicates.
    """
    distance = store.read(box, "distance")
    return int(np.isinf(distance).sum()), int((distance > 0).sum())


@dataclass(frozen=True)
class Longest:
    """Some of the longest edges.

    Attributes
    ----------
    position : ndarray of shape (n,)
        Positions of the rows whose edges to their parents these are.
    length : ndarray of shape (n,)
        Lengths of the edges or, under local scale, their lengths divided by the tau of their rows.
    height, row, point : ndarray
        Heights of the rows, their numbers in the user's data, and their coordinates.
    """

    position: Indices
    length: Floats
    height: Floats
    row: Indices
    point: Floats

    def some(self, chosen: Indices) -> "Longest":
        """Return some of the edges."""
        return Longest(
            self.position[chosen],
            self.length[chosen],
            self.height[chosen],
            self.row[chosen],
            self.point[chosen],
        )


def longest_edges(store: Store, box: int, n: int, order: Order) -> Longest:
    """Return the longest edges of the rows of a box, see `some_longest`."""
    distance = np.asarray(store.read(box, "distance"))
    length = distance
    if store.is_local:
        length = distance / np.maximum(store.read(box, "tau"), _SMALLEST)
    at = np.flatnonzero(np.isfinite(distance))
    if at.size > n:  # of those as long as the last one, heights decide
        at = at[length[at] >= np.partition(length[at], at.size - n)[at.size - n]]
    edges = Longest(
        store.offsets[box] + at,
        length[at],
        store.read(box, "heights")[at],
        store.read(box, "rows")[at],
        store.read(box, "points")[at],
    )
    return some_longest(store, edges, n, order)


def some_longest(store: Store, edges: Longest, n: int, order: Order) -> Longest:
    """Return the n longest edges, longest first; of edges of one length, the highest rows first."""
    by_height = highest_first(store, edges.point, edges.height, edges.row, order.bits)
    longest = by_height[np.argsort(-edges.length[by_height], kind="stable")]
    return edges.some(longest[:n])


def remove_edges(store: Store, box: int, places: Indices, longest: float) -> float:
    """Write which edges of a box are removed and, under local scale, the tau that removes them.

    Parameters
    ----------
    store : Store
        The files.
    box : int
        Number of the box.
    places : ndarray of shape (n,)
        Places of the rows whose edges are removed.
    longest : float
        Length of the longest edge that is kept in any box, relative to tau under local scale.

    Returns
    -------
    float
        The largest multiple of the tau of a row that became its new tau.
    """
    store.write(box, "removed", places)
    if not store.is_local:
        return 1.0
    tau, distance = np.asarray(store.read(box, "tau")), np.asarray(store.read(box, "distance"))
    # Rounding must not change on which side of its length an edge is, see `stages.cut_into`.
    lengths = np.where(np.isfinite(distance), np.maximum(longest * tau, distance), longest * tau)
    below = np.nextafter(distance[places], 0.0)
    lengths[places] = np.minimum(longest * tau[places], below)
    store.write(box, "kept-tau", lengths)
    return float((lengths / np.maximum(tau, _SMALLEST)).max())
