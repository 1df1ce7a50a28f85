"""Algorithm 3, Quick Shift modal regression."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from quickshift.reference.algorithm_1 import quick_shift
from quickshift.reference.density import Kde, exp, fit
from quickshift.reference.order import checked_bits, rounded
from quickshift.reference.samples import (
    Samples,
    checked_bandwidth,
    checked_column,
    checked_samples,
)
from quickshift.reference.scaled_distances import Floats

__all__ = ["joint_density", "modal_regression"]


def modal_regression(
    X: ArrayLike,
    y: ArrayLike,
    x: ArrayLike,
    bandwidth: float | Sequence[float] | None = None,
    tau: float = np.inf,
    *,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    min_density_ratio: float = 0.0,
    ties: str = "total",
    rtol: float = 1e-9,
    density: ArrayLike | None = None,
    significant_bits: int | None = None,
) -> tuple[Floats, Floats]:
    """Run Algorithm 3 at one query.

    Parameters
    ----------
    X : (n, d) array
        Features of the samples.
    y : (n,) array
        Responses of the samples.
    x : (d,) array
        The query.
    bandwidth : float or pair of floats, optional
        One h for the joint kernel, or (h_x, h_y). May be left out if `density` is given.
    tau : float
        Longest edge kept, in the units of `y`.
    period : (d,) array, optional
        Period of each feature, inf for a feature that is not periodic; `y` is never periodic.
    min_density_ratio : float
        Roots below this share of the highest root's density are dropped; 0 keeps all.
    density : (n,) array, optional
        Values of f̂(x, y_j), used in place of the kernel density.
    kernel, sample_weight, ties, rtol, significant_bits
        As in `quick_shift`.

    Returns
    -------
    values : (k,) float array
        The modes of f(y given x), highest first; empty if no response has positive density.
    densities : (k,) float array
        f̂(x, value) of each mode. Far from the samples it may underflow to 0, although there are
        modes.

    Examples
    --------
    >>> X = [[0.0], [0.0], [0.0], [9.0]]
    >>> y = [1.0, 1.5, 6.0, 3.0]
    >>> values, densities = modal_regression(X, y, [0.0], 1.0, 2.0, kernel="triangular")
    >>> values
    array([1.5, 6. ])
    >>> densities.round(4)
    array([0.3581, 0.2387])
    """
    samples = checked_samples(X, sample_weight, period)
    responses = checked_column(y, len(samples.points), "y")
    if not 0 <= min_density_ratio <= 1:
        raise ValueError(f"min_density_ratio must lie in [0, 1], got {min_density_ratio!r}")
    kde = None
    if density is None:
        query = samples.checked_queries(np.reshape(x, (1, -1)), "x")
        kde, divisor = joint_density(samples, responses, bandwidth, kernel)
        at = np.column_stack([np.repeat(query, len(responses), axis=0), responses]) / divisor
        origin = np.repeat(kde.nearest(at[:1, :-1]), len(at))  # distance in x alone
        sums = kde.sums(at, origin)  # line 2
        densities = exp(kde.log_normalised(sums, origin))
    else:
        sums = densities = checked_column(density, len(responses), "density", low=0.0)
    # Line 3. Responses of density zero are left out: with a compact kernel there are many, and each
    # would be a root.
    vertices = np.flatnonzero((samples.weights > 0) & (sums > 0))
    if vertices.size == 0:
        return np.empty(0), np.empty(0)
    bits = checked_bits(significant_bits, rtol, kde)
    forest = quick_shift(  # Lines 4 to 8 are lines 3 to 7 of Algorithm 1 on the line of responses.
        responses[vertices, None],
        tau=tau,
        ties=ties,
        density=sums[vertices],
        significant_bits=bits,
    )
    roots = vertices[forest.roots]  # line 9
    heights = rounded(sums[roots], bits)
    roots = roots[heights >= min_density_ratio * heights[0]]
    return responses[roots], densities[roots]


def joint_density(
    samples: Samples, y: Floats, bandwidth: float | Sequence[float] | None, kernel: str
) -> tuple[Kde, Floats]:
    """Return f̂_h of the points (x_j, y_j) / divisor, and the divisor: (h_x, ..., h_x, h_y) or 1."""
    if isinstance(bandwidth, Sequence):
        (h_x, h_y), h = map(checked_bandwidth, bandwidth), 1.0
    else:
        h_x, h_y, h = 1.0, 1.0, checked_bandwidth(bandwidth)
    divisor = np.append(np.full(samples.points.shape[1], h_x), h_y)
    points = np.column_stack([samples.points, y]) / divisor
    period = np.append(samples.period, np.inf) / divisor
    kde = fit(Samples(points, samples.weights, period), h, kernel)
    return replace(kde, log_volume=kde.log_volume + np.log(divisor).sum()), divisor
