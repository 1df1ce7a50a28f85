"""Partial mean shift, the usual method for conditional modes, to compare ModalRegressor with.

Einbeck and Tutz (2006), Modelling beyond regression functions: an application of multimodal
regression to speed-flow data, Journal of the Royal Statistical Society C 55(4), 461-475, fix x and
shift y alone: y moves to the mean of the responses, weighted by the joint kernel around (x, y),
until it converges. Chen, Genovese, Tibshirani and Wasserman (2016), Nonparametric modal
regression, Annals of Statistics 44(2), 489-514, find the set of all conditional modes by the same
iteration and show how fast it comes near the true one.

In one dimension such a step keeps the order of the points, because the derivative of the new y with
respect to the old one is a variance over h². So starting points that have met stay together, and
one of them goes on for both. The starting points are sample responses, thinned until neighbors are
a fixed share of h apart. To save time, samples that share a bin far narrower than h are replaced by
their mean, which moves a mode by millionths of h.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-12  # samples whose weight in x is below this share of the largest are left out
STARTS_APART = 0.2  # this, BIN, STEP and SAME are in units of h_y
BIN = 0.005
STEP = 1e-6
SAME = 0.01
MOST_STEPS = 2000
CHUNK = 2**18  # kernel values per step: few enough to stay in the cache


def partial_mean_shift(
    X: Floats,
    y: Floats,
    queries: Floats,
    bandwidth: tuple[float, float],
    min_density_ratio: float = 0.01,
) -> list[Floats]:
    """Find the conditional modes at every query by partial mean shift with a Gaussian kernel.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    queries : ndarray of shape (m, d)
    bandwidth : pair of floats
        h_x and h_y.
    min_density_ratio : float, default=0.01
        Modes below this share of the highest density at their query are dropped.

    Returns
    -------
    list of m ndarrays
        The modes at each query, ascending.
    """
    h_x, h_y = bandwidth
    order = np.argsort(y)
    X, y = X[order], y[order]
    found = []
    for query in queries:
        exponents = -0.5 * (((X - query) / h_x) ** 2).sum(axis=1)
        weights = np.exp(exponents - exponents.max())
        near = weights > NEGLIGIBLE
        on_line = binned(y[near] / h_y, weights[near])
        found.append(modes_on_line(*on_line, min_density_ratio) * h_y)
    return found


def binned(y: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Merge increasing samples per bin: return their means and the sums of their weights."""
    firsts = np.flatnonzero(np.diff(np.floor(y / BIN), prepend=-np.inf))
    total = np.add.reduceat(weights, firsts)
    return np.add.reduceat(weights * y, firsts) / total, total


def modes_on_line(y: Floats, weights: Floats, min_density_ratio: float) -> Floats:
    """Return the maxima of Σ w_i exp(-(y - y_i)²/2), increasing; `y` must be increasing."""
    moving = thinned(y, STARTS_APART)
    settled: list[Floats] = []
    for _ in range(MOST_STEPS):
        moved = sums(moving, y, weights)[1]
        rests = np.abs(moved - moving) < STEP
        settled.append(moved[rests])
        moving = thinned(moved[~rests], SAME)
        if not moving.size:
            break
    points = thinned(np.sort(np.concatenate([*settled, moving])), SAME)
    density, left, right = (sums(points + shift, y, weights)[0] for shift in (0.0, -SAME, SAME))
    peaks = (density > left) & (density > right)
    points, density = points[peaks], density[peaks]
    return points[density >= min_density_ratio * density.max()]


def sums(at: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the sum of the weighted kernels at each point, and their weighted mean of `y`."""
    total, mean = np.empty(len(at)), np.empty(len(at))
    columns = np.column_stack([weights, weights * y])
    rows = max(1, CHUNK // len(y))
    for first in range(0, len(at), rows):
        part = slice(first, first + rows)
        values = at[part, None] - y
        values *= values
        values *= -0.5
        np.exp(values, out=values)
        both = values @ columns
        total[part], mean[part] = both[:, 0], both[:, 1] / both[:, 0]
    return total, mean


def thinned(values: Floats, apart: float) -> Floats:
    """Drop from increasing `values` those closer than `apart` to the last one kept."""
    kept: list[float] = []
    first = 0
    while first < len(values):
        kept.append(float(values[first]))
        first = max(first + 1, int(np.searchsorted(values, kept[-1] + apart)))
    return np.array(kept)
