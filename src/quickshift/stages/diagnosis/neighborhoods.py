"""What diagnoses share: step functions of a radius, and samples measured as in the core."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.checks import check_least
from quickshift.stages.samples import Samples

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

__all__ = [
    "Space",
    "StepFunction",
    "space_of",
]


PAIRS = 1 << 20  # pairs of neighbours looked at together
_MARGIN = 1.0 + 1e-9  # neighbours are searched a little too far, then measured as the core does


class StepFunction(NamedTuple):
    """A step function of a radius.

    Attributes
    ----------
    radii : ndarray of shape (n_steps,)
        Where it steps, rising.
    values : ndarray of shape (n_steps,)
        Its value from each radius on.
    """

    radii: Floats
    values: Floats

    def at(self, radius: float, before: float) -> float:
        """Value at a radius; ``before`` where that is short of the first step."""
        step = int(np.searchsorted(self.radii, check_least(radius, "r"), side="right"))
        return float(self.values[step - 1]) if step else before


@dataclass(frozen=True)
class Space:
    """Samples of positive weight, held and measured as in the core.

    Coordinates are times 2^-exponent, so squares neither overflow nor underflow; terms are added
    feature by feature, so distances are the core's to the last bit.
    """

    rows: Indices
    points: Floats
    density: Floats
    box: Floats  # periods in that scale, 0 for open features
    exponent: int

    @cached_property
    def falling(self) -> Indices:
        """Places from the highest down."""
        return np.argsort(-self.density, kind="stable")

    @cached_property
    def tree(self) -> "cKDTree":
        """Index of neighbours, periods included."""
        return self._tree_of(self.points)

    def _tree_of(self, points: Floats) -> "cKDTree":
        from scipy.spatial import cKDTree

        return cKDTree(points, boxsize=self.box)

    def places(self, rows: Indices, name: str) -> Indices:
        """Places of rows, which must have weight."""
        places = np.minimum(np.searchsorted(self.rows, rows), self.rows.size - 1)
        absent = self.rows[places] != rows
        if absent.any():
            raise ValueError(
                f"{name} names row {rows[absent][0]}, which has weight zero, expected rows of "
                f"positive weight: the others are outside the estimate. Choose another row."
            )
        return places

    def distances(self, first: Indices, second: Indices) -> Floats:
        """Distances between places in the scale of the points, pair by pair."""
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
        """Length in the scale of the points."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(length, -self.exponent))

    def pairs_within(self, places: Indices, r: float) -> Iterator[tuple[Indices, Indices, Floats]]:
        """Yield positions in ``places``, places within r of them, and scaled distances."""
        limit = self.scaled(r)
        diameter = float(np.sqrt((np.ptp(self.points, axis=0) ** 2).sum()))
        reach = min(limit, diameter) * _MARGIN + 1e-15 * float(self.box.max())
        counts = self.tree.query_ball_point(self.points[places], reach, return_length=True)
        ends = np.cumsum(counts)
        first = 0
        while first < places.size:
            before = int(ends[first - 1]) if first else 0
            stop = max(first + 1, int(np.searchsorted(ends, before + PAIRS, side="right")))
            part = self._tree_of(self.points[places[first:stop]])
            found = part.sparse_distance_matrix(self.tree, reach, output_type="ndarray")
            i, j = found["i"] + first, found["j"]
            distance = self.distances(places[i], j)
            near = distance <= limit
            yield i[near], j[near], distance[near]
            first = stop


def space_of(samples: Samples, density: Floats) -> Space:
    """Take the samples of positive weight, with their densities."""
    absent = samples.tree.absent_rows()
    rows = np.delete(np.arange(samples.n_samples), absent)
    exponent = samples.tree.exponent
    points = np.ldexp(samples.tree.coordinates(rows), -exponent)
    box = np.zeros(samples.n_features)
    if samples.period is not None:
        closed = np.isfinite(samples.period)
        box[closed] = np.ldexp(samples.period[closed], -exponent)
    return Space(rows, points, density[rows], box, exponent)
