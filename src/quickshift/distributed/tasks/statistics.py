"""Sums and order statistics of one box, for the rules that choose a bandwidth and tau."""

from dataclasses import dataclass

import numpy as np

from quickshift.arrays import Floats
from quickshift.distributed.store import Store
from quickshift.distributed.tasks.regions import Region

__all__ = ["Between", "angle_sums", "moments", "some_values", "values_between"]

_SAMPLED = 4096


def _column(store: Store, box: int, feature: int | None) -> tuple[Floats, Floats]:
    """Return the values of a feature, or of tau at the distinct rows, with their weights."""
    if feature is None:
        first, weights = Region(store, [(box, slice(None))]).samples().tree.first_rows()
        values = np.asarray(store.read(box, "tau"))[first]
        finite = np.isfinite(values)
        return values[finite], weights[finite]
    values = np.ascontiguousarray(store.read(box, "points")[:, feature])
    if store.has(box, "weights"):
        return values, np.asarray(store.read(box, "weights"))
    return values, np.ones(len(values))


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


def values_between(store: Store, box: int, feature: int | None, low: float, high: float) -> Between:
    """Return the values of a feature, or of tau, that are between two bounds."""
    values, weights = _column(store, box, feature)
    inside = (values >= low) & (values <= high)
    distinct, where = np.unique(values[inside], return_inverse=True)
    return Between(
        float(weights[values < low].sum()),
        float(weights[values > high].sum()),
        distinct,
        np.bincount(where, weights[inside], minlength=distinct.size).astype(np.float64),
    )


def some_values(store: Store, box: int, feature: int | None) -> Floats:
    """Return some of the values of a feature, or of tau."""
    values, _ = _column(store, box, feature)
    return values[:: max(len(values) // _SAMPLED, 1)].copy()


def moments(store: Store, box: int, feature: int, shift: float, exponent: int) -> Floats:
    """Return the sums of weights, of deviations from a shift, and of their squares.

    Values and shift are multiplied by 2^-exponent.
    """
    values, weights = _column(store, box, feature)
    deviations = np.ldexp(values, -exponent) - np.ldexp(shift, -exponent)
    return np.array([weights.sum(), weights @ deviations, weights @ deviations**2])


def angle_sums(store: Store, box: int, feature: int, period: float, shift: float) -> Floats:
    """Return the sums of weights, and of functions of a periodic feature as an angle.

    These are sine and cosine of the angle, and the square of the sine of half the angle, after
    subtracting a shift from the angle.
    """
    values, weights = _column(store, box, feature)
    angles = 2.0 * np.pi * (values / period) - shift
    terms = np.sin(angles), np.cos(angles), np.sin(0.5 * angles) ** 2
    return np.array([weights.sum(), *(weights @ term for term in terms)])
