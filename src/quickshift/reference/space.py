"""Where points lie: features that wrap, a power-of-two scale, distances in feature order."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Indices", "Space", "space_around", "wrapped"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Space:
    """Lengths of the data divided by 2**exponent, so that no square over- or underflows."""

    period: Floats  # (d,), in the caller's units; inf for an open feature
    exponent: int

    def scaled(self, length: float) -> float:
        """Take a length from the caller's units to those of `distances_sq`."""
        with np.errstate(over="ignore", under="ignore"):
            return float(np.ldexp(length, -self.exponent))

    def unscaled(self, lengths: Floats) -> Floats:
        """Take lengths back to the caller's units."""
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(lengths, self.exponent)

    def distances_sq(self, A: Floats, B: Floats) -> Floats:
        """Return the squares of the scaled distances; shape (len(A), len(B)).

        The points are in the caller's units. Trailing features that A or B lacks are left out.
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


def space_around(points: Floats, period: Floats) -> Space:
    """Scale by the power of two that takes the largest coordinate into [1, 2)."""
    largest = np.abs(points).max()
    exponent = int(np.frexp(largest)[1]) - 1 if largest > 0 else 0
    return Space(period, exponent)


def wrapped(points: Floats, period: Floats) -> Floats:
    """Return a copy with periodic features in [0, period)."""
    points = points.copy()
    for column, p in zip(points.T, period, strict=True):
        if np.isfinite(p):
            column -= p * np.floor(column / p)  # noqa: PLW2901
            column[(column >= p) | (column < 0)] = 0.0  # the product may round past x
    return points
