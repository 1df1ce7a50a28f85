"""Spaces: the coordinates in which a fit takes distances, and the lengths that users see.

A metric is a space with coordinates whose Euclidean distances order points as the metric does. The
stages know nothing but these coordinates: a fit embeds the user's points, and converts lengths
where users give or get them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats, Numbers
from quickshift.bandwidth import feature_scale
from quickshift.checks.spaces import (
    LONGEST_CHORD,
    check_arc,
    check_chord,
    check_metric,
    check_not_zero,
    check_places,
    check_scale,
    check_scaled,
)

__all__ = ["Space", "space_of", "unscaled_space"]

# Coordinates on a sphere are rounded to multiples of 2^-50, so that longitudes do not matter at the
# poles, where cos(π/2) is 6e-17 in floating point, and that -π and π are the same longitude.
_GRID = math.ldexp(1.0, 50)
_DECIMALS = 9  # of longitudes in degrees that are reduced by whole turns without rounding errors
_SAME_DEGREES = 2.0**-42  # four units in the last place of 360
_LARGEST = float(np.finfo(np.float64).max)


class Space(Protocol):
    """Where distances are taken, and how users measure lengths there."""

    @property
    def period(self) -> Floats | None:
        """Period of each coordinate, or None if there is none."""
        ...

    @property
    def units(self) -> Floats | None:
        """The numbers that features are divided by, or None if they are not."""
        ...

    @property
    def on_sphere(self) -> bool:
        """Whether the coordinates are those of points on the unit sphere."""
        ...

    @property
    def keeps_points(self) -> bool:
        """Whether the coordinates are the points themselves."""
        ...

    @property
    def remarks(self) -> list[str]:
        """Sentences for a summary: what lengths and densities mean; none if they are plain."""
        ...

    def n_coordinates(self, n_features: int) -> int:
        """Return the number of coordinates of points with a number of features."""
        ...

    def embed(self, points: Numbers) -> Numbers:
        """Return the coordinates of points, or raise if they are not in this space."""
        ...

    def to_user(self, length: float | Floats) -> Any:
        """Turn distances of coordinates into the user's lengths; infinity and NaN stay."""
        ...

    def from_user(self, length: Any, name: str) -> Any:
        """Turn the user's lengths, of the parameter of this name, into distances of coordinates.

        The result is the longest distance that `to_user` does not turn into a larger number, so
        comparing distances and comparing the user's lengths gives the same answer.
        """
        ...


@dataclass(frozen=True)
class Flat:
    """The features themselves, some of them periodic, or each divided by a number."""

    period: Floats | None
    units: Floats | None

    on_sphere = False

    @property
    def keeps_points(self) -> bool:
        return self.units is None

    @property
    def remarks(self) -> list[str]:
        if self.units is None:
            return []
        return [
            "Units: features were divided by scale_, and lengths are distances after that. Modes "
            "and densities are in the units of X."
        ]

    def n_coordinates(self, n_features: int) -> int:
        return n_features

    def embed(self, points: Numbers) -> Numbers:
        if self.units is None:
            return points
        with np.errstate(over="ignore"):  # in queries only; those of the samples were checked
            return np.clip(points / self.units, -_LARGEST, _LARGEST)

    def to_user(self, length: float | Floats) -> Any:
        return length

    def from_user(self, length: Any, name: str) -> Any:  # noqa: ARG002 (the other spaces use it)
        return length


class _Sphere:
    """The unit sphere: neither periods nor scales."""

    period = None
    units = None
    on_sphere = True
    keeps_points = False


@dataclass(frozen=True)
class Directions(_Sphere):
    """Rows scaled to length one. Lengths are the Euclidean distances of these."""

    @property
    def remarks(self) -> list[str]:
        return [
            "Units: lengths are distances between rows scaled to length one. Half the square of a "
            "length is the cosine distance, 1 - cos."
        ]

    def n_coordinates(self, n_features: int) -> int:
        return n_features

    def embed(self, points: Numbers) -> Floats:
        # Multiples of a row of whole numbers get the same coordinates, because quotients by the
        # largest entry do not depend on the multiple. It also keeps squares from overflowing.
        largest = np.abs(points).max(axis=1, keepdims=True).astype(np.float64)
        check_not_zero(np.flatnonzero(largest[:, 0] == 0), len(points))
        rows: Floats = points / largest
        rows /= np.sqrt((rows**2).sum(axis=1, keepdims=True))
        return _on_grid(rows)

    def to_user(self, length: float | Floats) -> Any:
        # Rounding may make the longest chords longer than 2, and rules may choose a longer tau.
        chords = np.where(np.isinf(length), np.inf, np.minimum(length, 2.0))
        return chords if np.ndim(length) else float(chords)

    def from_user(self, length: Any, name: str) -> Any:
        chords = np.asarray(check_chord(length, name), dtype=np.float64)
        chords = np.where((chords >= 2.0) & np.isfinite(chords), LONGEST_CHORD, chords)
        return chords if np.ndim(length) else float(chords)


@dataclass(frozen=True)
class Globe(_Sphere):
    """Latitudes and longitudes in radians, as points on the unit sphere. Lengths are arcs."""

    @property
    def remarks(self) -> list[str]:
        return ["Units: lengths are arcs in radians, and densities are per steradian."]

    def n_coordinates(self, n_features: int) -> int:
        return n_features + 1

    def embed(self, points: Numbers) -> Floats:
        check_places(points)
        latitude, longitude = points.T.astype(np.float64)
        latitude = np.clip(latitude, -math.pi / 2, math.pi / 2)
        longitude = _without_turns(longitude)
        ring = np.cos(latitude)
        rows = [ring * np.cos(longitude), ring * np.sin(longitude), np.sin(latitude)]
        return _on_grid(np.column_stack(rows))

    def to_user(self, length: float | Floats) -> Any:
        arcs = _arcs(np.asarray(length, dtype=np.float64))
        return arcs if np.ndim(length) else float(arcs)

    def from_user(self, length: Any, name: str) -> Any:
        arcs = np.asarray(check_arc(length, name), dtype=np.float64)
        chords = 2.0 * np.sin(0.5 * np.minimum(arcs, math.pi))
        with np.errstate(under="ignore"):  # for NumPy, the number after 0 is an underflow
            for _ in range(4):  # rounding is off by a unit or two in the last place
                chords = np.where(_arcs(chords) > arcs, np.nextafter(chords, 0.0), chords)
            for _ in range(4):
                longer = np.nextafter(chords, np.inf)
                chords = np.where(_arcs(longer) <= arcs, longer, chords)
        chords = np.where(arcs >= math.pi, LONGEST_CHORD, chords)
        chords = np.where(np.isinf(arcs), np.inf, chords)
        return chords if np.ndim(length) else float(chords)


def _without_turns(longitude: Floats) -> Floats:
    """Reduce longitudes of up to nine decimals of a degree to at most half a turn.

    190° and -170° then have the same coordinates to the last bit. Otherwise, a place that is given
    in both ways would be two locations about 1e-15 apart, whose local scales are meaningless.
    """
    degrees = np.degrees(longitude)
    short = np.round(degrees, _DECIMALS)
    turned = np.radians(np.round(short - 360.0 * np.rint(short / 360.0), _DECIMALS))
    return np.where(np.abs(short - degrees) < _SAME_DEGREES, turned, longitude)


def _arcs(chords: Floats) -> Floats:
    """Return the arcs of great circles that belong to chords."""
    return np.where(np.isinf(chords), np.inf, 2.0 * np.arcsin(np.minimum(0.5 * chords, 1.0)))


def _on_grid(coordinates: Floats) -> Floats:
    """Round coordinates of the unit sphere, in place."""
    coordinates *= _GRID
    np.rint(coordinates, out=coordinates)
    coordinates /= _GRID
    return coordinates


def space_of(
    metric: Any, period: ArrayLike | None, scale: Any, points: Numbers, weights: Floats | None
) -> Space:
    """Check the parameters that determine the space of a fit, and measure its scales.

    Parameters
    ----------
    metric, period, scale
        As in `QuickShift`.
    points : ndarray of shape (n_samples, n_features)
        The samples, checked.
    weights : ndarray of shape (n_samples,) or None
        Their frequencies, checked.

    Returns
    -------
    Space

    Examples
    --------
    >>> points = np.array([[0.0, 5.0], [2.0, 5.0]])
    >>> space_of("euclidean", None, "std", points, None).units
    array([1., 1.])
    >>> space_of("haversine", None, None, np.zeros((1, 2)), None).embed(np.zeros((1, 2)))
    array([[1., 0., 0.]])
    """
    n_features = points.shape[1]
    space = unscaled_space(metric, period, n_features)
    units = check_scale(scale, metric, space.period, n_features)
    if units is None:
        return space
    if isinstance(units, str):
        units = _measured(points, weights, space.period, units)
    check_scaled(points, units)
    return Flat(space.period, units)


def unscaled_space(metric: Any, period: ArrayLike | None, n_features: int) -> Space:
    """Check a metric and its periods, and return its space, in which no feature is divided.

    Examples
    --------
    >>> unscaled_space("cosine", None, 2).embed(np.array([[3.0, 4.0]])).round(6)
    array([[0.6, 0.8]])
    """
    lengths = check_metric(metric, period, n_features)
    if metric == "haversine":
        return Globe()
    return Directions() if metric == "cosine" else Flat(lengths, None)


def _measured(points: Numbers, weights: Floats | None, period: Floats | None, rule: str) -> Floats:
    """Measure the scale of each feature; 1 for constant and for periodic features."""
    counts = np.ones(len(points)) if weights is None else weights
    units = np.ones(points.shape[1])
    for i, column in enumerate(points.T):
        if period is None or np.isinf(period[i]):
            units[i] = feature_scale(column.astype(np.float64), counts, rule) or 1.0
    return units
