"""Sums and order statistics of columns, for the rules that choose a bandwidth, tau and scales."""

from dataclasses import dataclass

import numpy as np

from quickshift.arrays import Floats
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
    "values_between",
]

_SAMPLED = 4096


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
            first, weights = Region(store, [(box, slice(None))]).samples().tree.first_rows()
            values = np.asarray(store.read(box, "tau"))[first]
            finite = np.isfinite(values)
            return values[finite], weights[finite]
        values = np.ascontiguousarray(store.read(box, "points")[:, self.feature])
        if store.has(box, "weights"):
            return values, np.asarray(store.read(box, "weights"))
        return values, np.ones(len(values))


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
    below, above : float
        Weight of the smaller and of the larger values.
    values : ndarray of shape (n,)
        The distinct values from the lower to the upper bound, in rising order.
    weights : ndarray of shape (n,)
        Their weights.
    """

    below: float
    above: float
    values: Floats
    weights: Floats


def values_between(column: Column, low: float, high: float) -> Between:
    """Return the values of a column that are between two bounds."""
    values, weights = column.read()
    inside = (values >= low) & (values <= high)
    distinct, where = np.unique(values[inside], return_inverse=True)
    return Between(
        float(weights[values < low].sum()),
        float(weights[values > high].sum()),
        distinct,
        np.bincount(where, weights[inside], minlength=distinct.size).astype(np.float64),
    )


def some_values(column: Column) -> Floats:
    """Return some of the values of a column."""
    values, _ = column.read()
    return values[:: max(len(values) // _SAMPLED, 1)].copy()


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
