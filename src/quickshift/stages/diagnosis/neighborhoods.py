"""The samples in a ball: an index that finds them, and step functions of the radius."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.checks.numbers import check_nonnegative
from quickshift.stages.samples import Samples

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

__all__ = [
    "NeighborIndex",
    "StepFunction",
    "index_neighbors",
]


PAIRS = 1 << 20  # number of pairs of neighbors that are held in memory at once
# SciPy's tree may round a distance differently from the core. It therefore searches a slightly
# larger ball, and the distances of the pairs that it finds are computed again as in the core.
_MARGIN = 1.0 + 1e-9


class StepFunction(NamedTuple):
    """A step function of a radius.

    Attributes
    ----------
    radii : ndarray of shape (n_steps,)
        Radii at which the value changes, in ascending order.
    values : ndarray of shape (n_steps,)
        Value from each of these radii on, up to the next one.
    """

    radii: Floats
    values: Floats

    def at(self, radius: float, before: float) -> float:
        """Return the value at a radius, or ``before`` if the radius is below the first step."""
        step = int(np.searchsorted(self.radii, check_nonnegative(radius, "r"), side="right"))
        return float(self.values[step - 1]) if step else before


@dataclass(frozen=True)
class NeighborIndex:
    """The samples of positive weight with their heights, and queries for their neighbors.

    Coordinates are multiplied by 2^-exponent, so that squares neither overflow nor underflow. The
    squares are added feature by feature, so that distances agree with the core's to the last bit.
    Samples are addressed by their position in this index, not by their row.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Row of each sample, in ascending order.
    points : ndarray of shape (m, n_features)
        Scaled coordinates.
    heights : ndarray of shape (m,)
        Heights, which decide which sample is higher.
    box : ndarray of shape (n_features,)
        Scaled periods; 0 for features that are not periodic.
    exponent : int
        Exponent of the power of two that coordinates were divided by.
    """

    rows: Indices
    points: Floats
    heights: Floats
    box: Floats
    exponent: int

    @cached_property
    def highest_first(self) -> Indices:
        """All positions, sorted by descending height."""
        return np.argsort(-self.heights, kind="stable")

    @cached_property
    def tree(self) -> "cKDTree":
        """SciPy's k-d tree of all samples; it knows the periods."""
        return self._tree_of(self.points)

    def _tree_of(self, points: Floats) -> "cKDTree":
        from scipy.spatial import cKDTree

        return cKDTree(points, boxsize=self.box, balanced_tree=False, compact_nodes=False)

    def positions_of(self, rows: Indices, name: str) -> Indices:
        """Return the positions of rows; raise if one of them has weight zero."""
        positions = np.minimum(np.searchsorted(self.rows, rows), self.rows.size - 1)
        absent = self.rows[positions] != rows
        if absent.any():
            raise ValueError(
                f"{name} names row {rows[absent][0]}, which has weight zero, expected rows of "
                f"positive weight: the others are not part of the estimate. Choose another row."
            )
        return positions

    def distances(self, first: Indices, second: Indices) -> Floats:
        """Return the scaled distance of each pair of positions; the arrays are broadcast."""
        squares = np.zeros(np.broadcast(first, second).shape)
        for column, period in zip(self.points.T, self.box.tolist(), strict=True):
            delta = column[first] - column[second]
            if period:
                over, under = delta > 0.5 * period, delta < -0.5 * period
                delta[over] -= period
                delta[under] += period
            squares += delta * delta
        return np.sqrt(squares)

    def scaled(self, length: float) -> float:
        """Return a length in the scale of the points."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(length, -self.exponent))

    def pairs_within(self, centers: Indices, r: float) -> Iterator[tuple[Indices, Indices, Floats]]:
        """Find all samples within r of some centers, in batches of about ``PAIRS`` pairs.

        Yields
        ------
        i : indices into ``centers``
        j : positions of the samples within r of that center, including the center itself
        distance : scaled distances
        """
        limit, reach = self._limits(r)
        counts = self.tree.query_ball_point(self.points[centers], reach, return_length=True)
        ends = np.cumsum(counts)
        first = 0
        while first < centers.size:
            before = int(ends[first - 1]) if first else 0
            stop = max(first + 1, int(np.searchsorted(ends, before + PAIRS, side="right")))
            batch = self._tree_of(self.points[centers[first:stop]])
            found = batch.sparse_distance_matrix(self.tree, reach, output_type="ndarray")
            i, j = found["i"] + first, found["j"]
            distance = self.distances(centers[i], j)
            near = distance <= limit
            yield i[near], j[near], distance[near]
            first = stop

    def first_within(self, order: Indices, r: float) -> Indices:
        """Return, for every sample, the first sample in ``order`` that is within r of it.

        Only samples that have found none yet are searched. A few of the first samples are usually
        the answer for most of the others, so this takes far less time than all pairs within r.

        Parameters
        ----------
        order : ndarray of shape (m,)
            All positions, in the order of preference.
        r : float
            Radius.

        Returns
        -------
        ndarray of shape (m,)
            Positions.
        """
        limit, reach = self._limits(r)
        place = np.full(order.size, order.size)
        left, tree = np.arange(order.size), self.tree
        begin, size, in_vain = 0, 1, 0
        while begin < order.size:
            centers = order[begin : begin + size]
            counts = tree.query_ball_point(self.points[centers], reach, return_length=True)
            centers = centers[: max(1, int(np.searchsorted(np.cumsum(counts), PAIRS, "right")))]
            found = self._tree_of(self.points[centers]).sparse_distance_matrix(
                tree, reach, output_type="ndarray"
            )
            i, j = found["i"], left[found["j"]]
            new = place[j] == order.size
            in_vain += j.size - int(new.sum())
            i, j = i[new], j[new]
            near = self.distances(centers[i], j) <= limit
            np.minimum.at(place, j[near], begin + i[near])
            begin, size = begin + centers.size, 2 * centers.size
            if in_vain > left.size or 2 * np.count_nonzero(place[left] == order.size) < left.size:
                left, in_vain = left[place[left] == order.size], 0
                if not left.size:
                    break
                tree = self._tree_of(self.points[left])
        first: Indices = order[place]
        return first

    def _limits(self, r: float) -> tuple[float, float]:
        """Return a radius in the scale of the points, and the radius that SciPy's tree searches."""
        limit = self.scaled(r)
        diameter = float(np.sqrt((np.ptp(self.points, axis=0) ** 2).sum()))
        return limit, min(limit, diameter) * _MARGIN + 1e-15 * float(self.box.max())


def index_neighbors(samples: Samples, heights: Floats) -> NeighborIndex:
    """Build the index of the samples of positive weight; ``heights`` has one entry per row."""
    absent = samples.tree.absent_rows()
    rows = np.delete(np.arange(samples.n_samples), absent)
    exponent = samples.tree.exponent
    points = np.ldexp(samples.tree.coordinates(rows), -exponent)
    box = np.zeros(samples.n_features)
    if samples.period is not None:
        closed = np.isfinite(samples.period)
        box[closed] = np.ldexp(samples.period[closed], -exponent)
    return NeighborIndex(rows, points, heights[rows], box, exponent)
