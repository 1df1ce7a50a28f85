"""Sums and order statistics of columns, for the rules that choose a bandwidth, tau and scales."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.distributed.inputs import Chunk, read_column
from quickshift.distributed.store import Store
from quickshift.distributed.tasks.regions import Region

__all__ = [
    "Between",
    "BoxColumn",
    "ChunkColumn",
    "Column",
    "angle_sums",
    "largest_value",
    "moments",
    "some_values",
    "sums_in_bins",
    "values_between",
]


@dataclass(frozen=True)
class BoxColumn:
    """A coordinate of the rows of a box or, if there is no coordinate, tau of the distinct rows."""

    store: Store
    box: int
    feature: int | None

    def read(self) -> tuple[Floats, Floats]:
        """Return the values, and their weights."""
        store, box = self.store, self.box
        if self.feature is None:
            first, weights = _locations(store, box)
            values = np.asarray(store.read(box, "tau"))[first]
            finite = np.isfinite(values)
            return values[finite], weights[finite]
        values = np.ascontiguousarray(store.read(box, "points")[:, self.feature])
        if store.has(box, "weights"):
            return values, np.asarray(store.read(box, "weights"))
        return values, np.ones(len(values))


def _locations(store: Store, box: int) -> tuple[Indices, Floats]:
    """Return the place of the first row of each location of a box, and the weights of locations.

    Several passes need them, so they are written to a file.
    """
    if not store.has(box, "locations"):
        first, weights = Region(store, [(box, slice(None))]).samples().tree.first_rows()
        store.write(box, "locations", np.stack([first, weights]))
    places, weights = store.read(box, "locations")
    return places.astype(np.int64), np.asarray(weights)


@dataclass(frozen=True)
class ChunkColumn:
    """A feature of the rows of a chunk that have a positive weight, as the user gave it."""

    chunk: Chunk
    feature: int

    def read(self) -> tuple[Floats, Floats]:
        """Return the values, and their weights."""
        values, weights = read_column(self.chunk, self.feature)
        if weights is None:
            return values, np.ones(len(values))
        return values[weights > 0], weights[weights > 0]


Column = BoxColumn | ChunkColumn


@dataclass(frozen=True)
class Between:
    """The values of a column between two bounds.

    Attributes
    ----------
    below : float
        Weight of the smaller values.
    values : ndarray of shape (n,)
        The distinct values from the lower to the upper bound, in rising order.
    weights : ndarray of shape (n,)
        Their weights.
    """

    below: float
    values: Floats
    weights: Floats


def values_between(column: Column, bounds: Sequence[tuple[float, float]]) -> list[Between]:
    """Return the values of a column that are between two bounds, for each pair of bounds."""
    values, weights = column.read()
    found = []
    for low, high in bounds:
        inside = (values >= low) & (values <= high)
        distinct, where = np.unique(values[inside], return_inverse=True)
        total = np.bincount(where, weights[inside], minlength=distinct.size).astype(np.float64)
        found.append(Between(float(weights[values < low].sum()), distinct, total))
    return found


def some_values(column: Column, most: int) -> tuple[Floats, float]:
    """Return about as many values of a column as are wanted, and the total weight of all."""
    values, weights = column.read()
    return values[:: -(-len(values) // most) or 1].copy(), float(weights.sum())


def sums_in_bins(column: Column, edges: Floats) -> Floats:
    """Return the number and the weight of the values in each bin.

    Parameters
    ----------
    column : Column
        The values.
    edges : ndarray of shape (n,)
        The first value of each bin except the first, in rising order.

    Returns
    -------
    ndarray of shape (2, n + 1)
    """
    values, weights = column.read()
    bins = np.searchsorted(edges, values, side="right")
    n = edges.size + 1
    return np.stack([np.bincount(bins, minlength=n), np.bincount(bins, weights, minlength=n)])


def largest_value(column: Column) -> float:
    """Return the largest value of a column."""
    return float(column.read()[0].max(initial=-np.inf))


def moments(column: Column, shift: float, exponent: int) -> Floats:
    """Return the sums of weights, of deviations from a shift, and of their squares.

    Values and shift are multiplied by 2^-exponent.
    """
    values, weights = column.read()
    deviations = np.ldexp(values, -exponent) - np.ldexp(shift, -exponent)
    return np.array([weights.sum(), weights @ deviations, weights @ deviations**2])


def angle_sums(column: Column, period: float, shift: float) -> Floats:
    """Return the sums of weights, and of functions of a periodic coordinate as an angle.

    These are sine and cosine of the angle, and the square of the sine of half the angle, after
    subtracting a shift from the angle.
    """
    values, weights = column.read()
    angles = 2.0 * np.pi * (values / period) - shift
    terms = np.sin(angles), np.cos(angles), np.sin(0.5 * angles) ** 2
    return np.array([weights.sum(), *(weights @ term for term in terms)])
