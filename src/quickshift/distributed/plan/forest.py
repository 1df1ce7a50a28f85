"""The passes from heights to a forest, and the unbounded parents of some of its roots."""

from dataclasses import dataclass

import numpy as np

from quickshift.arrays import Flags, Floats, Indices
from quickshift.checks.numbers import check_count
from quickshift.distributed.distances import compared, squared_distances
from quickshift.distributed.partition import boxes_apart, inside
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.stitch import Edges, Leaves, stitch
from quickshift.distributed.store import Store
from quickshift.distributed.tasks.climbing import Order, cut_box
from quickshift.distributed.tasks.queries import Climbers, assign_in_box
from quickshift.distributed.tasks.removing import (
    Longest,
    count_trees,
    longest_edges,
    remove_edges,
    some_longest,
)
from quickshift.stages.parent_graph import rounded

__all__ = ["Removed", "cut", "edges_beyond", "parents_beyond", "remove_longest"]


def cut(
    passes: Passes,
    tau: float | None,
    order: Order,
    edges: Edges | None = None,
    name: str = "top",
) -> Leaves:
    """Cut the parent graph at tau, and join the trees of all boxes.

    Parameters
    ----------
    passes : Passes
        Runs the tasks.
    tau : float or None
        Longest edge kept; None for the tau of each row.
    order : Order
        Which of two rows is higher.
    edges : Edges, optional
        From `edges_beyond`, if tau is longer than the reach within which boxes were climbed.
    name : str
        The array in which the tops of the rows are written.

    Returns
    -------
    Leaves
    """
    tops = passes.each_box("cut", cut_box, tau, name)
    kept = None if edges is None or tau is None else edges.up_to(tau)
    return stitch(passes.store, tops, order.bits, name, kept)


@dataclass(frozen=True)
class Removed:
    """The removal of edges.

    Attributes
    ----------
    longest : float
        Length of the longest edge that was kept; under local scale, relative to the tau of its row.
    multiple : float
        Under local scale, the multiple of their tau by which other points than rows are cut.
    """

    longest: float
    multiple: float


def remove_longest(passes: Passes, n_trees: int, order: Order) -> Removed | None:
    """Remove the longest edges until there are enough trees, as `quickshift.stages.cut_into` does.

    The removed edges are in files, and later cuts leave them out.

    Parameters
    ----------
    passes : Passes
        Runs the tasks. The boxes were climbed.
    n_trees : int
        Number of trees wanted.
    order : Order
        Which of two rows is higher.

    Returns
    -------
    Removed or None
        None if there are enough trees.
    """
    store = passes.store
    fewest, most = np.sum(passes.each_box("trees", count_trees), axis=0).tolist()
    if n_trees <= fewest:
        return None
    what = "the number of distinct samples of positive weight"
    n = check_count(n_trees, "n_clusters", most, what) - fewest
    found = passes.each_box("longest", longest_edges, n + 1, order)
    fields = (np.concatenate([getattr(f, name) for f in found]) for name in Longest.__annotations__)
    edges = some_longest(store, Longest(*fields), n + 1, order)
    longest = float(edges.length[n]) if len(edges.length) > n else 0.0
    removed = np.sort(edges.position[:n])
    ends = np.searchsorted(removed, store.offsets)
    multiples = passes.run(
        "remove",
        remove_edges,
        [
            (store, box, removed[ends[box] : ends[box + 1]] - store.offsets[box], longest)
            for box in range(len(store.counts))
        ],
    )
    return Removed(longest, max(multiples))


def edges_beyond(passes: Passes, order: Order) -> Edges:
    """Find the parents of all rows that have none within the reach of their boxes."""
    # Under another name, because a resumed run reads these tops after the cut at tau is made.
    roots = np.sort(cut(passes, np.inf, order, name="top-known").position)
    return Edges(roots, *parents_beyond(passes, roots, order))


@dataclass
class _Search:
    """Rows in search of their nearest higher row, and the best found so far (-1 for none)."""

    store: Store
    order: Order
    position: Indices
    point: Floats
    height: Floats
    found: Indices
    square: Floats

    def offer(self, some: Indices, candidate: Indices) -> None:
        """Replace what was found for some rows by candidates that are higher rows and nearer."""
        store, strict = self.store, self.order.ties == "strict"
        point = store.read_at("points", candidate)
        height = rounded(store.read_at("heights", candidate), self.order.bits)
        square = squared_distances(self.point[some], point, store.partition.period, store.exponent)
        higher = compared((height, self.height[some]), (point, self.point[some]), strict)
        better = higher & (square < self.square[some])
        equal = np.flatnonzero(higher & (square == self.square[some]))
        known = self.found[some[equal]]
        rival = rounded(store.read_at("heights", known), self.order.bits)
        points = point[equal], store.read_at("points", known)
        better[equal] = compared((height[equal], rival), points, strict=False)
        self.found[some[better]] = candidate[better]
        self.square[some[better]] = square[better]

    def distance(self) -> Floats:
        """Return the distance to the row that was found, infinite if there is none."""
        return np.ldexp(np.sqrt(self.square), self.store.exponent)


def parents_beyond(passes: Passes, positions: Indices, order: Order) -> tuple[Indices, Floats]:
    """Find the nearest higher row of some rows, however far away.

    A box that has a higher row is asked at most once per row: the nearest such box first, then all
    that are not farther away than what it has found.

    Parameters
    ----------
    passes : Passes
        Runs the tasks.
    positions : ndarray of shape (n,)
        Positions of rows.
    order : Order
        Which of two rows is higher.

    Returns
    -------
    parent : ndarray of shape (n,)
        Position of the nearest higher row; the row's own if none is higher.
    distance : ndarray of shape (n,)
        Distance to it, infinite if none is higher.
    """
    most = max(_DISTANCES // len(passes.store.counts), 1)
    parts = [
        _search(passes, positions[first : first + most], order)
        for first in range(0, positions.size, most)
    ]
    if not parts:
        return positions, np.empty(0)
    return np.concatenate([p for p, _ in parts]), np.concatenate([d for _, d in parts])


_DISTANCES = 1 << 23  # between rows and boxes, that are held in memory at once


def _search(passes: Passes, positions: Indices, order: Order) -> tuple[Indices, Floats]:
    """Find parents as `parents_beyond` does, for a number of rows that is not too large."""
    store = passes.store
    search = _Search(
        store,
        order,
        positions,
        store.read_at("points", positions),
        rounded(store.read_at("heights", positions), order.bits),
        np.full(positions.size, -1, dtype=np.int64),
        np.full(positions.size, np.inf),
    )
    _start(search)
    apart, may = _boxes(search)
    nearest = np.where(may, apart, np.inf).argmin(axis=0)
    first = may & (np.arange(len(apart))[:, None] == nearest)
    _ask(passes, search, first & inside(apart, search.distance()))
    _ask(passes, search, may & ~first & inside(apart, search.distance()))
    return np.where(search.found < 0, positions, search.found), search.distance()


def _start(search: _Search) -> None:
    """Offer the rows that were found when the boxes were climbed, within reach or beyond."""
    offsets = search.store.offsets
    parent = search.store.read_at("parent", search.position)
    within = np.flatnonzero(parent != search.position)
    search.offer(within, parent[within])
    for box in range(len(offsets) - 1):
        place, parent = search.store.read(box, "beyond")
        _, index, known = np.intersect1d(
            search.position, offsets[box] + place, assume_unique=True, return_indices=True
        )
        search.offer(index, np.asarray(parent[known]))


def _boxes(search: _Search) -> tuple[Floats, Flags]:
    """Return the distance of each row from each box, and whether the box may have a higher row.

    The box that a row is in has been searched before.
    """
    store = search.store
    period = store.partition.period
    apart = np.empty((len(store.counts), search.position.size))
    may = np.empty(apart.shape, dtype=bool)
    for box, (low, high) in enumerate(store.bounds):
        apart[box] = boxes_apart(low, high, (search.point, search.point), period)
        highest = rounded(np.array([store.read(box, "heights").max()]), search.order.bits)[0]
        higher = highest >= search.height
        elsewhere = (search.position < store.offsets[box]) | (
            search.position >= store.offsets[box + 1]
        )
        may[box] = higher & elsewhere
    return apart, may


def _ask(passes: Passes, search: _Search, asked: Flags) -> None:
    """Ask boxes for higher rows; ``asked`` has one row per box and one column per query."""
    queries = [(box, np.flatnonzero(some)) for box, some in enumerate(asked) if some.any()]
    everyone = Climbers(search.point, search.height, np.full(search.height.size, np.inf))
    found = passes.run(
        "higher",
        assign_in_box,
        [(search.store, box, everyone.some(q), search.order) for box, q in queries],
    )
    for (_, q), candidate in zip(queries, found, strict=True):
        search.offer(q, candidate)
