"""The arguments of the caller, checked once: points, weights, periods, columns of numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quickshift.reference.scaled_distances import (
    Floats,
    Indices,
    ScaledDistances,
    scaled_for,
    wrapped,
)

__all__ = [
    "Samples",
    "checked_bandwidth",
    "checked_column",
    "checked_density",
    "checked_samples",
    "checked_tau",
]


@dataclass(frozen=True)
class Samples:
    """The rows of X, including those of weight zero."""

    points: Floats  # (n, d), wrapped
    weights: Floats  # (n,)
    period: Floats  # (d,), inf for a feature that is not periodic

    @property
    def kept(self) -> Indices:
        """Rows of positive weight."""
        return np.flatnonzero(self.weights > 0)

    @property
    def scale(self) -> ScaledDistances:
        """Distances in a scale chosen for the rows of positive weight."""
        return scaled_for(self.points[self.kept], self.period)

    def checked_queries(self, queries: ArrayLike, name: str) -> Floats:
        """Return queries with the same features as the samples, wrapped; shape (m, d)."""
        points, d = _checked_points(queries, name), self.points.shape[1]
        if points.shape[1] != d:
            raise ValueError(f"{name} must have {d} features, got {points.shape[1]}")
        return wrapped(points, self.period)


def checked_samples(
    X: ArrayLike, sample_weight: ArrayLike | None, period: ArrayLike | None
) -> Samples:
    """Check the arguments that all functions share; by default weights are 1 and periods inf."""
    points = _checked_points(X, "X")
    n, d = points.shape
    lengths = np.full(d, np.inf) if period is None else np.asarray(period, dtype=np.float64)
    if lengths.shape != (d,) or not (lengths > 0).all():
        raise ValueError(
            f"period must hold {d} positive lengths (inf: not periodic), got {period!r}"
        )
    given = np.ones(n) if sample_weight is None else sample_weight
    weights = checked_column(given, n, "sample_weight", low=0.0)
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not 0 < total < np.inf:
        raise ValueError(f"sample_weight must have a positive, finite sum, got {total}")
    return Samples(wrapped(points, lengths), weights, lengths)


def checked_column(values: ArrayLike | None, n: int, name: str, low: float = -np.inf) -> Floats:
    """Return n finite numbers >= low, without -0.0."""
    column = np.asarray(values, dtype=np.float64) + 0.0
    if column.shape != (n,) or not np.isfinite(column).all() or (column < low).any():
        raise ValueError(f"{name} must hold {n} finite numbers >= {low}, got {values!r}")
    return column


def checked_density(values: ArrayLike | None, n: int, name: str) -> Floats:
    """Return n finite numbers, all of one sign: densities, or -r of the local scale."""
    column = checked_column(values, n, name)
    if (column < 0).any() and (column > 0).any():
        raise ValueError(
            f"{name} must hold densities, or negative numbers such as -r, but not numbers of both "
            f"signs, got {values!r}"
        )
    return column


def checked_tau(tau: ArrayLike, n: int, name: str) -> Floats:
    """Return one length per point, shape (n,); a single number is repeated."""
    lengths = np.asarray(tau, dtype=np.float64)
    if lengths.shape not in ((), (n,)) or not (lengths >= 0).all():
        raise ValueError(f"{name} must be a length >= 0 or {n} of them, got {tau!r}")
    return np.broadcast_to(lengths, (n,))


def checked_bandwidth(bandwidth: float | None) -> float:
    """Return a bandwidth, h or h_x or h_y, if it is positive and finite."""
    if bandwidth is None or not 0 < bandwidth < np.inf:
        raise ValueError(f"bandwidth must be a positive number, got {bandwidth!r}")
    return float(bandwidth)


def _checked_points(X: ArrayLike, name: str) -> Floats:
    points = np.asarray(X, dtype=np.float64) + 0.0  # -0.0 becomes 0.0
    if points.ndim != 2 or points.size == 0 or not np.isfinite(points).all():
        raise ValueError(f"{name} must be finite and of shape (n, d), got shape {points.shape}")
    return points
