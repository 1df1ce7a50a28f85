"""Distances between points: periodic features, a power-of-two scale, sums in feature order."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Flags", "Floats", "Indices", "ScaledDistances", "scaled_for", "wrapped"]

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class ScaledDistances:
    """Distances divided by 2**exponent, so that squares neither overflow nor underflow."""

    period: Floats  # (d,), in the caller's units; inf for a feature that is not periodic
    exponent: int

    def scaled(self, lengths: ArrayLike) -> Floats:
        """Convert lengths from the caller's units to the scale of `distances_sq`."""
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(np.asarray(lengths, dtype=np.float64), -self.exponent)

    def unscaled(self, lengths: ArrayLike) -> Floats:
        """Convert lengths back to the caller's units."""
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(np.asarray(lengths, dtype=np.float64), self.exponent)

    def distances_sq(self, A: Floats, B: Floats) -> Floats:
        """Return the squares of the scaled distances; shape (len(A), len(B)).

        The points are in the caller's units. If A or B has fewer features, only the leading
        features that both have are used.
        """
        total = np.zeros((len(A), len(B)))
        with np.errstate(over="ignore", under="ignore"):
            scaled = [np.ldexp(lengths.T, -self.exponent) for lengths in (A, B, self.period)]
            for a, b, p in zip(*scaled, strict=False):
                delta = a[:, None] - b[None, :]
                if np.isfinite(p):
                    delta = delta - p * np.rint(delta / p)
                total += delta * delta
        return total


def scaled_for(points: Floats, period: Floats) -> ScaledDistances:
    """Choose the power of two that scales the largest coordinate into [1, 2)."""
    largest = np.abs(points).max()
    exponent = int(np.frexp(largest)[1]) - 1 if largest > 0 else 0
    return ScaledDistances(period, exponent)


def wrapped(points: Floats, period: Floats) -> Floats:
    """Return a copy with periodic features in [0, period)."""
    points = points.copy()
    for column, p in zip(points.T, period, strict=True):
        if np.isfinite(p):
            column -= p * np.floor(column / p)  # noqa: PLW2901
            column[(column >= p) | (column < 0)] = 0.0  # the product may round past x
    return points
