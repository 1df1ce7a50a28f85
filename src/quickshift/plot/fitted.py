"""What the displays read from a fitted QuickShift."""

from __future__ import annotations

import math

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.estimators.modal_regressor import ModalRegressor
from quickshift.estimators.pipelines import quick_shift_of
from quickshift.estimators.quick_shift import QuickShift
from quickshift.spaces import Globe
from quickshift.stages.local_scale import LocalScale, n_varying
from quickshift.stages.tree.cluster_tree import ClusterTree

__all__ = [
    "coordinates_of",
    "dimension_of",
    "feature_names",
    "is_on_globe",
    "log10_density_of",
    "log10_levels",
    "moves_of",
    "periods_of",
    "present_rows",
    "quick_shift_of",
    "require_tree",
    "unit_of_lengths",
]

_LOG_10 = math.log(10)


def require_tree(tree: object) -> None:
    """Raise if the argument of a ``from_tree`` is no cluster tree."""
    if not isinstance(tree, ClusterTree):
        raise TypeError(
            f"tree is of type {type(tree).__name__}, expected a ClusterTree. Pass tree_ of a "
            f"fitted QuickShift, or use from_estimator."
        )


def coordinates_of(fitted: QuickShift, rows: Indices) -> Floats:
    """Return rows in the user's units.

    Periodic features are wrapped to [0, period), longitudes to [-π, π).
    """
    if fitted._own_points is not None:
        points = fitted._own_points[rows].astype(np.float64)
    else:
        points = np.empty((rows.size, fitted.n_features_in_))
        absent = np.isin(rows, fitted._absent)
        present = np.ascontiguousarray(rows[~absent])
        points[~absent] = fitted._graph.samples.tree.coordinates(present)
        points[absent] = fitted._absent_points[np.searchsorted(fitted._absent, rows[absent])]
    period = fitted._space.period
    if period is not None:
        closed = np.isfinite(period)
        points[:, closed] %= period[closed]
    if is_on_globe(fitted):
        points[:, 1] -= 2 * np.pi * np.floor((points[:, 1] + np.pi) / (2 * np.pi))
    return points


def periods_of(fitted: QuickShift) -> Floats:
    """Return the period of each feature, as it is drawn; infinite if it has none."""
    if is_on_globe(fitted):
        return np.array([np.inf, 2 * np.pi])
    period = fitted._space.period
    return np.full(fitted.n_features_in_, np.inf) if period is None else period


def is_on_globe(fitted: QuickShift) -> bool:
    """Return whether the features are latitudes and longitudes."""
    return isinstance(fitted._space, Globe)


def feature_names(fitted: QuickShift | ModalRegressor) -> list[str]:
    """Return the names of the features: those of the data frame, or x0, x1 and so on."""
    names = getattr(fitted, "feature_names_in_", None)
    if names is None and isinstance(fitted, QuickShift) and is_on_globe(fitted):
        return ["latitude", "longitude"]
    if names is None:
        return [f"x{i}" for i in range(fitted.n_features_in_)]
    return [str(name) for name in names]


def log10_density_of(fitted: QuickShift) -> Floats:
    """Return the decimal logarithm of the density at the samples, which does not underflow."""
    return fitted.log_density_ / _LOG_10


def log10_levels(tree: ClusterTree, levels: Floats) -> Floats:
    """Return the decimal logarithm of the density at levels of a tree; -inf for level 0."""
    with np.errstate(divide="ignore"):
        return (tree.log_unit + tree.power * np.log(levels)) / _LOG_10


def moves_of(fitted: QuickShift) -> tuple[Floats, float, bool]:
    """Return the moves to the parents as a cut compares them.

    Returns
    -------
    moves : (n_samples,) the lengths, or the lengths relative to tau of each sample
    tau : the longest move kept; if the moves are relative, 1, or 0 if no move is kept
    relative : whether the moves are relative
    """
    if isinstance(fitted.tau_, float):
        return fitted.parent_distance_, fitted.tau_, False
    tau, longest = fitted.tau_, 1.0
    if fitted._multiple_of_tau == 0:  # every distinct sample is a cluster, and no move is kept
        estimate = fitted._estimate
        assert isinstance(estimate, LocalScale)  # only then tau differs between samples
        tau, longest = fitted._space.to_user(estimate.tau), 0.0
    return fitted.parent_distance_ / np.maximum(tau, np.finfo(np.float64).tiny), longest, True


def dimension_of(fitted: QuickShift) -> int:
    """Return the d of a density per length to the power of d."""
    samples = fitted._graph.samples
    return n_varying(samples) if isinstance(fitted._estimate, LocalScale) else samples.dimension


def unit_of_lengths(fitted: QuickShift, unit: str | None) -> str | None:
    """Return the unit of moves and of tau, given that of the features; scaled lengths have none."""
    return None if fitted._space.units is not None else unit


def present_rows(fitted: QuickShift) -> Indices:
    """Return the rows of positive weight."""
    return np.setdiff1d(np.arange(len(fitted.labels_)), fitted._absent)
