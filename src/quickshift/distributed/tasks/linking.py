"""Links of one box: the saddles between pieces of the forest that meet in it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from quickshift import _core
from quickshift.arrays import Floats, Indices, Numbers
from quickshift.distributed.distances import squared_distances
from quickshift.distributed.store import Store
from quickshift.distributed.tasks.climbing import removed_from, surroundings
from quickshift.distributed.tasks.regions import Region
from quickshift.stages.local_scale import levels_of

__all__ = ["Saddles", "link_box"]

_FEW = 4096  # rows, to which distances are computed one by one; among more, a tree finds the near


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
        Squared distance of its two rows. Saddles of the same level are common, because one low row
        may be near several pieces; the shortest of them counts first.
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
    joined, levels = _core.saddles(
        region.samples().tree, values, piece, pieces.size, lengths, lower, upper
    )
    links = _Links(region, values, piece, np.broadcast_to(lengths, values.shape), tau is not None)
    dips = {(*sorted((a, b)), v) for a, b, v in links.across(lower, upper)}
    squares = [
        0.0 if (*sorted((a, b)), level) in dips else links.shortest(a, b, level)
        for (a, b), level in zip(joined.tolist(), levels.tolist(), strict=True)
    ]
    return Saddles(pieces[joined.view(np.int64)], levels, np.array(squares, dtype=np.float64))


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


@dataclass(frozen=True)
class _Links:
    """Links between the rows of a region, to measure the saddles that the core found."""

    region: Region
    values: Floats
    piece: Indices
    tau: Floats
    strict: bool  # whether rows at a distance of exactly tau are not linked

    def across(self, lower: Indices, upper: Indices) -> list[tuple[int, int, float]]:
        """Return the pieces and the levels that edges join."""
        level = np.minimum(self.values[lower], self.values[upper])
        return list(
            zip(
                self.piece[lower].tolist(),
                self.piece[upper].tolist(),
                level.tolist(),
                strict=True,
            )
        )

    def shortest(self, a: int, b: int, level: float) -> float:
        """Return the least squared distance of rows of two pieces that are linked at a level."""
        least = np.inf
        for low in self._rising[_run(self._sorted, level)].tolist():
            if self.piece[low] in (a, b):
                other = b if self.piece[low] == a else a
                least = min(least, self._nearest_linked(low, other, level))
        return float(least)

    def _nearest_linked(self, low: int, other: int, level: float) -> float:
        rows = self._rows_above(other, level)
        if rows.size > _FEW:
            reach = max(self.tau[low], self.tau[rows].max())
            near = self._tree.query_ball_point(self._points[low], reach * (1 + 1e-9))
            near = np.asarray(near, dtype=np.int64)
            rows = near[(self.piece[near] == other) & (self.values[near] >= level)]
        period = self.region.store.partition.period
        squares = squared_distances(self._points[low], self._points[rows], period, self._exponent)
        distance = np.ldexp(np.sqrt(squares), self._exponent)
        reach = np.maximum(self.tau[low], self.tau[rows])
        linked = distance < reach if self.strict else distance <= reach
        return float(squares[linked].min(initial=np.inf))

    def _rows_above(self, piece: int, level: float) -> Indices:
        """Return the rows of a piece whose values are at least a level."""
        rows = self._by_piece[_run(self._piece_of_place, piece)]
        return rows[np.searchsorted(self.values[rows], level) :]

    @cached_property
    def _exponent(self) -> int:
        return self.region.store.exponent

    @cached_property
    def _rising(self) -> Indices:
        return np.argsort(self.values, kind="stable")

    @cached_property
    def _sorted(self) -> Floats:
        return self.values[self._rising]

    @cached_property
    def _by_piece(self) -> Indices:
        return np.lexsort([self.values, self.piece])

    @cached_property
    def _piece_of_place(self) -> Indices:
        return self.piece[self._by_piece]

    @cached_property
    def _points(self) -> Floats:
        points: Floats = self.region.read("points")
        return points

    @cached_property
    def _tree(self) -> cKDTree:
        return tree_of(self._points, self.region.store.partition.period)


def _run(rising: Numbers, value: float) -> slice:
    """Return where a value is in an array of rising values."""
    return slice(
        int(np.searchsorted(rising, value, side="left")),
        int(np.searchsorted(rising, value, side="right")),
    )


def tree_of(points: Floats, period: Floats | None) -> cKDTree:
    """Return SciPy's tree of points. It only selects candidates, with a margin for its rounding."""
    if period is None:
        return cKDTree(points)
    return cKDTree(points, boxsize=np.where(np.isfinite(period), period, 0.0))
