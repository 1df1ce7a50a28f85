"""Checks of metrics and scales: places, arcs, directions, and numbers that divide features."""

import difflib
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats, Indices, Numbers
from quickshift.checks.numbers import check_choice, check_real, n_axes
from quickshift.checks.points import check_period

__all__ = [
    "check_arc",
    "check_chord",
    "check_metric",
    "check_not_zero",
    "check_places",
    "check_scale",
    "check_scaled",
]

METRICS = ("euclidean", "periodic", "haversine", "cosine")
SPHERES = ("haversine", "cosine")
SCALES = ("std", "iqr")
# Rounded to single precision, π, π/2 and 2π are slightly larger than in double precision.
_LONGEST_ARC = float(np.float32(math.pi))
# Longer than every chord of the unit sphere, in spite of rounding.
LONGEST_CHORD = 2.0 * (1.0 + math.ldexp(1.0, -47))
_LARGEST_LATITUDE = float(np.float32(math.pi / 2))
_LARGEST_LONGITUDE = float(np.float32(2 * math.pi))
_SHOWN_ROWS = 5


def check_metric(metric: Any, period: ArrayLike | None, n_features: int) -> Floats | None:
    """Return one period per feature, or None if no feature is periodic.

    A period implies the periodic metric, so it is enough to give one of them: the period.
    """
    _check_metric_name(metric)
    if metric in SPHERES and period is not None:
        reason = "longitudes wrap around by themselves"
        if metric == "cosine":
            reason = "rows are compared by their directions only"
        raise ValueError(
            f"period is {period!r} but metric is {metric!r}, expected no period: {reason}. Leave "
            f"period out, or use metric='periodic'."
        )
    if metric == "haversine" and n_features != 2:
        raise ValueError(
            f"X has {n_features} features but metric is 'haversine', expected 2: latitude and "
            f"longitude in radians, in this order. Pass these two columns."
        )
    if metric == "periodic" and period is None:
        raise ValueError(
            "period is None but metric is 'periodic'. Give one length for each feature "
            "(numpy.inf for a feature that is not periodic)."
        )
    return check_period(period, n_features)


def _check_metric_name(metric: Any) -> None:
    """Raise unless the metric is one of those known; the message has a hint for likely mistakes."""
    try:
        check_choice(metric, "metric", METRICS)
    except ValueError as error:
        close = difflib.get_close_matches(str(metric).lower(), METRICS, n=1)
        if close:
            hint = f"Did you mean {close[0]!r}?"
        elif isinstance(metric, str) and metric == "precomputed":
            hint = "Pass the coordinates of the points in place of their distances."
        else:
            hint = (
                "Other metrics are not supported, because Quick Shift needs coordinates whose "
                "Euclidean distances order the points in the same way."
            )
        raise ValueError(f"{error} {hint}") from None


def check_scale(
    scale: Any, metric: str, period: Floats | None, n_features: int
) -> str | Floats | None:
    """Return the rule that scales features, or one positive number per feature, or None."""
    if scale is None:
        return None
    if metric in SPHERES:
        raise ValueError(
            f"scale is {scale!r} but metric is {metric!r}, expected scale=None: the distances of "
            f"this metric need the features as they are. Leave scale out, or use "
            f"metric='euclidean'."
        )
    if isinstance(scale, str):
        return check_choice(scale, "scale", SCALES, "one positive number per feature, None or ")
    expected = f"'std', 'iqr', None or one positive number for each of the {n_features} features"
    try:
        array = np.array(scale, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0)
    if array.shape != (n_features,) or not ((array > 0) & (array < np.inf)).all():
        raise ValueError(
            f"scale is {scale!r}, expected {expected}. Use 1 for a feature that is not to be "
            f"scaled."
        )
    if period is not None and (array[np.isfinite(period)] != 1).any():
        raise ValueError(
            f"scale is {scale!r}, expected 1 for periodic features: their distances are in the "
            f"units of period. Use 1 there, or divide both the feature and its period before the "
            f"fit."
        )
    return array


def check_scaled(points: Numbers, units: Floats) -> None:
    """Raise if dividing the features by their scales would overflow."""
    with np.errstate(over="ignore"):
        largest = np.abs(points).max(axis=0).astype(np.float64) / units
    if np.isinf(largest).any():
        bad = int(np.flatnonzero(np.isinf(largest))[0])
        raise ValueError(
            f"scale is {float(units[bad])!r} for feature {bad}, by which its values overflow when "
            f"they are divided, expected a larger number. Use one close to the spread of the "
            f"feature."
        )


def check_places(points: Numbers) -> None:
    """Raise if rows cannot be latitudes and longitudes in radians.

    Longitudes beyond a whole turn would be meaningful, but they are nearly always degrees.
    """
    columns = (("latitude", _LARGEST_LATITUDE, "±π/2"), ("longitude", _LARGEST_LONGITUDE, "±2π"))
    for i, (name, largest, limit) in enumerate(columns):
        beyond = np.flatnonzero(np.abs(points[:, i]) > largest)
        if beyond.size:
            row = int(beyond[0])
            raise ValueError(
                f"X has the {name} {float(points[row, i])!r} in row {row} (and {beyond.size - 1} "
                f"more beyond {limit}), expected latitudes from -π/2 to π/2 in the first column "
                f"and longitudes from -2π to 2π in the second, both in radians. If X is in "
                f"degrees, pass numpy.radians(X)."
            )


def check_arc(length: Any, name: str) -> float | Floats:
    """Return arcs of at most π, which a metric on the globe needs; infinity is allowed, too."""
    return _check_on_sphere(
        length,
        name,
        _LONGEST_ARC,
        "an arc in radians, from 0 to π, because metric is 'haversine'. If it is in degrees, pass "
        f"numpy.radians({name}); if it is a distance on the Earth, divide it by the radius, 6371 "
        f"km",
    )


def check_chord(length: Any, name: str) -> float | Floats:
    """Return distances of directions, which are at most 2; infinity is allowed, too."""
    return _check_on_sphere(
        length,
        name,
        LONGEST_CHORD,
        "a distance between rows scaled to length one, from 0 to 2, because metric is 'cosine'. If "
        f"it is a cosine distance, 1 - cos, pass numpy.sqrt(2 * {name})",
    )


def _check_on_sphere(length: Any, name: str, longest: float, expected: str) -> float | Floats:
    """Return one length or an array of lengths, none of which is finite and too long.

    Arrays were checked before, except for their upper limit.
    """
    if n_axes(length) == 0:
        number = check_real(length, name, expected, 0)
        if not longest < number < math.inf:
            return number
        raise ValueError(f"{name} is {length!r}, expected {expected}.")
    lengths: Floats = length
    too_long = lengths[(lengths > longest) & np.isfinite(lengths)]
    if too_long.size:
        raise ValueError(f"{name} has the entry {float(too_long[0])!r}, expected {expected}.")
    return lengths


def check_not_zero(zero: Indices, n_samples: int) -> None:
    """Raise if there are rows without a direction, which consist of zeros."""
    if zero.size:
        shown = ", ".join(str(row) for row in zero[:_SHOWN_ROWS])
        more = f" and {zero.size - _SHOWN_ROWS} more" if zero.size > _SHOWN_ROWS else ""
        raise ValueError(
            f"X has only zeros in {zero.size} of {n_samples} rows ({shown}{more}), expected rows "
            f"with a direction because metric is 'cosine'. Drop those rows, or use "
            f"metric='euclidean'."
        )
