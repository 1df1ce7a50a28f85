"""Checks of the arguments of displays."""

from typing import Any

import numpy as np

from quickshift.arrays import Floats, Indices, Numbers
from quickshift.checks.numbers import as_array
from quickshift.checks.points import check_points

__all__ = [
    "check_drawn_points",
    "check_features",
    "check_label_numbers",
    "check_one_cut",
    "check_one_feature",
    "check_plane",
    "check_strength",
    "check_unit",
]

_MOST_NAMED = 8  # columns that an error message lists by name


def check_drawn_points(X: Any, n_samples: int) -> Numbers:
    """Return coordinates at which to draw the samples: one row per sample, two columns."""
    points = check_points(X)
    if points.shape != (n_samples, 2):
        raise ValueError(
            f"X has shape {points.shape}, expected ({n_samples}, 2): one row per sample of the fit "
            f"and two columns to draw it at. Leave X out to draw two features of the samples, "
            f"which the parameter features selects."
        )
    return points


def check_features(features: Any, names: list[str]) -> tuple[int, int]:
    """Return the numbers of two different features, given as numbers or names."""
    given = np.asarray(features, dtype=object)
    known = given.shape == (2,) and all(
        isinstance(feature, int | np.integer | str) and not isinstance(feature, bool)
        for feature in given
    )
    if not known:
        raise TypeError(
            f"features is {features!r}, expected the two columns that are drawn, as numbers such "
            f"as (0, 1) or as names such as {tuple(names[:2])!r}."
        )
    columns = {name: number for number, name in reversed(list(enumerate(names)))}
    numbers = [columns.get(part, -1) if isinstance(part, str) else int(part) for part in given]
    first, second = numbers
    if first == second or not all(0 <= number < len(names) for number in numbers):
        listed = ", ".join(map(repr, names[:_MOST_NAMED])) + ", ..." * (len(names) > _MOST_NAMED)
        raise ValueError(
            f"features is {features!r}, expected two different columns from 0 to "
            f"{len(names) - 1}, or two of the names {listed}."
        )
    return first, second


def check_unit(unit: Any) -> None:
    """Raise unless a unit is a text or None."""
    if unit is not None and not isinstance(unit, str):
        raise TypeError(
            f"unit is {unit!r}, expected a text such as 'km', which is added to the labels of the "
            f"axes, or None."
        )


def check_label_numbers(labels: Any) -> Indices:
    """Return labels as int64, or raise if they are not whole numbers."""
    numbers = as_array(labels)
    whole = np.full(numbers.shape, numbers.dtype.kind in "biu")
    if numbers.dtype.kind == "f":
        whole = np.isfinite(numbers) & (numbers == np.rint(numbers))
    if not whole.all():
        raise TypeError(
            f"labels contains {numbers[~whole].tolist()[0]!r}, expected whole numbers such as "
            f"labels_ of a fit. For other names of groups, pass "
            f"np.unique(labels, return_inverse=True)[1]."
        )
    return numbers.astype(np.int64)


def check_one_feature(n_features: int, display: str) -> None:
    """Raise unless the samples have one feature."""
    if n_features != 1:
        raise ValueError(
            f"the samples have {n_features} features, expected 1: {display} draws over a line. For "
            f"clusters of more features, use ForestDisplay or ClusterTreeDisplay."
        )


def check_plane(shape: tuple[int, ...]) -> None:
    """Raise unless a label image has two axes."""
    if len(shape) != 2:
        raise ValueError(
            f"labels has shape {shape}, expected two axes, rows and columns. Pass one slice of a "
            f"volume and of its labels, for example labels[0]."
        )


def check_one_cut(tau: Any, n_segments: Any) -> None:
    """Raise unless either tau or n_segments is given."""
    if (tau is None) == (n_segments is None):
        raise TypeError(
            f"tau is {tau!r} and n_segments is {n_segments!r}, expected exactly one of them. Pass "
            f"tau for the longest move that is kept, or n_segments."
        )


def check_strength(strength: Floats | None) -> Floats:
    """Return boundary strengths, or raise if they are not known."""
    if strength is None:
        raise ValueError(
            "show is 'strength', but the strength of boundaries cannot be computed from labels. "
            "Create the display with SegmentationDisplay.from_forest."
        )
    return strength
