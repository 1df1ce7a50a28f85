"""Checks of the arguments of displays."""

from typing import Any

import numpy as np

from quickshift.arrays import Floats, Numbers
from quickshift.checks.points import check_points

__all__ = [
    "check_drawn_points",
    "check_features",
    "check_one_cut",
    "check_one_feature",
    "check_plane",
    "check_strength",
]


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


def check_features(features: Any, n_features: int) -> tuple[int, int]:
    """Return two different features as whole numbers."""
    given = np.asarray(features)
    if given.shape != (2,) or given.dtype.kind not in "iu":
        raise TypeError(
            f"features is {features!r}, expected two whole numbers such as (0, 1), the columns "
            f"that are drawn."
        )
    first, second = (int(feature) for feature in given)
    if first == second or not (0 <= first < n_features and 0 <= second < n_features):
        raise ValueError(
            f"features is {features!r}, expected two different columns from 0 to {n_features - 1}."
        )
    return first, second


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
