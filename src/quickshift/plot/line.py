"""Densities and clusters over one feature, for the displays of data on a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.checks.plots import check_one_feature
from quickshift.plot.fitted import coordinates_of, periods_of, quick_shift_of
from quickshift.stages.local_scale import LocalScale

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from quickshift.estimators.quick_shift import QuickShift

__all__ = ["curve_width", "density_curve", "on_line", "runs"]

_CURVE_POINTS = 600
_POINTS_PER_MODE = 20
_BEYOND = 0.08  # share of the range of the samples by which the curve extends beyond them


def on_line(fitted: QuickShift | Pipeline, display: str) -> tuple[QuickShift, Floats]:
    """Return a fitted estimator of one feature, and the coordinates of its samples."""
    model = quick_shift_of(fitted)
    check_one_feature(model.n_features_in_, display)
    return model, coordinates_of(model, np.arange(len(model.labels_)))[:, 0]


def density_curve(model: QuickShift, x: Floats) -> tuple[Floats, Floats]:
    """Return a grid over the samples, which includes the modes, and the density on it.

    A local scale is measured at a sample without the sample itself, but at other points it includes
    all samples, so that the density would have a spike at each of them. Between samples, the curve
    therefore interpolates their densities, and beyond them it is not higher than at the last one.
    """
    period = float(periods_of(model)[0])
    if np.isfinite(period):
        low, high = 0.0, period
    else:
        span = float(np.ptp(x)) or max(abs(float(x[0])), 1.0)
        low, high = float(x.min()) - _BEYOND * span, float(x.max()) + _BEYOND * span
    modes = model.modes_[:, 0]
    count = max(_CURVE_POINTS, _POINTS_PER_MODE * len(modes))
    grid = np.union1d(np.linspace(low, high, count), modes)
    with np.errstate(under="ignore"):
        density = np.exp(model._log_density_at(model._space.embed(grid[:, None])))
    if isinstance(model._estimate, LocalScale):
        order = np.argsort(x, kind="stable")
        between = np.interp(grid, x[order], model.density_[order])
        inside = (grid >= x.min()) & (grid <= x.max())
        density = np.where(inside, between, np.minimum(density, between))
    return grid, density


def curve_width(grid: Floats) -> float:
    """Return the width of the line of a density; curves with many modes are thin."""
    return 1.3 if len(grid) <= 2 * _CURVE_POINTS else 0.5


def runs(x: Floats, numbers: Indices, *, low: float, high: float) -> tuple[Floats, Indices]:
    """Divide the line into intervals of samples with equal numbers.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Coordinates.
    numbers : ndarray of shape (n,)
        Number of each sample; negative ones belong to no interval.
    low, high : float
        Where the first interval begins and the last one ends, if they are not negative.

    Returns
    -------
    intervals : ndarray of shape (k, 2)
        Their ends, in the middle between two samples.
    of_interval : ndarray of shape (k,)
        The number of each.

    Examples
    --------
    >>> runs(np.array([0.0, 1.0, 4.0, 6.0]), np.array([0, 0, -1, 1]), low=-1.0, high=7.0)
    (array([[-1. ,  2.5], [ 5. ,  7. ]]), array([0, 1]))
    """
    order = np.argsort(x, kind="stable")
    x, numbers = x[order], numbers[order]
    change = np.flatnonzero(numbers[1:] != numbers[:-1])
    middles = (x[change] + x[change + 1]) / 2
    edges = np.concatenate([[low], middles, [high]])
    of_interval = numbers[np.append(change, x.size - 1)]
    kept = of_interval >= 0
    return np.column_stack([edges[:-1], edges[1:]])[kept], of_interval[kept]
