"""Checks of the arguments of displays."""

from typing import Any

import numpy as np

from quickshift.arrays import Numbers
from quickshift.checks.points import check_points

__all__ = ["check_drawn_points", "check_features", "check_one_feature"]


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
            f"the samples have {n_features} features, expected 1: {display} draws the density over "
            f"a line. Use ForestDisplay or ClusterTreeDisplay for more features."
        )
