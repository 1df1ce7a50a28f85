"""Rules that choose the bandwidth and tau from the data."""

import math

import numpy as np
from numpy.typing import NDArray

from quickshift import _core
from quickshift.bandwidth import (
    RULES,
    gaussian_equivalent,
    period_limit,
    rule_bandwidth,
    spread,
    tau_rule,
)
from quickshift.kernels import get_kernel
from quickshift.stages.checks import check_choice
from quickshift.stages.density import Estimate, fit_estimate
from quickshift.stages.samples import Samples
from quickshift.threads import resolve_threads

__all__ = ["choose_bandwidth", "choose_tau"]


def choose_bandwidth(
    samples: Samples,
    rule: str = "auto",
    *,
    kernel: str = "gaussian",
    rtol: float = 1e-9,
    n_jobs: int | None = None,
) -> float:
    """Choose the bandwidth by a rule.

    Parameters
    ----------
    samples : Samples
        From `prepare`.
    rule : {"auto", "paper", "scott", "silverman", "cv"}
        "paper" and "scott" are the paper's rate n^(-1/(4+d)) times the spread of the data, "auto"
        is half of that, "silverman" the normal reference rule, "cv" maximises the likelihood of
        every location under the estimate from all others.
    kernel : str
        Name of the kernel; all rules give bandwidths of equal variance per axis.
    rtol : float
        Relative error of the densities that "cv" compares.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    float
        At most what the periods admit; 1 where all points are equal.

    Examples
    --------
    >>> from quickshift.stages import prepare
    >>> samples = prepare([[0.0], [1.0], [2.0], [3.0]])
    >>> round(choose_bandwidth(samples, "paper"), 3)
    0.843
    """
    check_choice(rule, "bandwidth", RULES)
    chosen = get_kernel(kernel)
    points, weights = samples.tree.locations()
    scale = spread(points, weights, samples.period)
    h = rule_bandwidth(
        "paper" if rule == "cv" else rule,
        spread=scale,
        total_weight=samples.total_weight,
        n_features=samples.n_features,
        kernel=chosen,
    )
    h = min(h, period_limit(chosen, samples.period))
    if rule == "cv" and scale > 0:
        start = fit_estimate(samples, h, kernel=kernel, rtol=rtol, n_jobs=n_jobs)
        h = _most_likely(start)
    return h


# The search covers bandwidths from 1/32 to 4 times the paper's: beyond that the leave-one-out
# likelihood rewards repeated values or says that the data have no structure at all.
_SEARCH = (1 / 32, 4.0)


def _most_likely(start: Estimate) -> float:
    """Maximise the leave-one-out likelihood over log h: a grid, then Brent around its best."""
    from scipy.optimize import minimize_scalar

    limit = period_limit(start.kernel, start.samples.period)
    low = start.bandwidth * _SEARCH[0]
    high = min(start.bandwidth * _SEARCH[1], limit)
    grid = np.linspace(math.log(low), math.log(high), 13)
    losses = [_loss(start, math.exp(x)) for x in grid]
    best = int(np.argmin(losses))
    if not math.isfinite(losses[best]):
        return high  # some location is alone even in the widest compact support
    bounds = (grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)])
    found = minimize_scalar(
        lambda x: _loss(start, math.exp(x)),
        bounds=bounds,
        method="bounded",
        options={"xatol": 1e-3},
    )
    refined = found.fun < losses[best]
    return math.exp(float(found.x) if refined else float(grid[best]))


def _loss(start: Estimate, bandwidth: float) -> float:
    """Minus the mean log density of each location, estimated from the others."""
    estimate = Estimate(start.samples, start.kernel, bandwidth, start.rtol, start.n_threads)
    log_density, weight = _left_out(estimate)
    if not np.isfinite(log_density).all():
        return math.inf
    return -float(np.average(log_density, weights=weight))


def _left_out(estimate: Estimate) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Log density and weight of the locations, in their canonical order."""
    values, scales = estimate.sums_left_out()
    rows, weight = estimate.samples.tree.first_rows()
    total = estimate.samples.total_weight
    others = np.maximum(total - weight, np.finfo(float).tiny)
    log_density = estimate.log_density(values[rows], scales[rows]) + np.log(total / others)
    return log_density, weight


def choose_tau(
    samples: Samples, bandwidth: float, *, kernel: str = "gaussian", n_jobs: int | None = None
) -> float:
    """Choose tau: 1.5 Gaussian bandwidths, but enough for nearly every point to reach a neighbour.

    Parameters
    ----------
    samples : Samples
        From `prepare`.
    bandwidth : float
        h of the kernel.
    kernel : str
        Name of the kernel.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    float
        max(1.5 h_G, 99th percentile of the distance to the nearest distinct sample), h_G the
        Gaussian bandwidth of the same variance per axis.

    Examples
    --------
    >>> from quickshift.stages import prepare
    >>> choose_tau(prepare([[0.0], [1.0], [2.0], [3.0]]), 2.0)
    3.0
    """
    h_gaussian = gaussian_equivalent(bandwidth, get_kernel(kernel), samples.n_features)
    nearest = _core.nearest_distances(samples.tree, resolve_threads(n_jobs))
    _, weights = samples.tree.locations()
    return tau_rule(h_gaussian, nearest, weights)
