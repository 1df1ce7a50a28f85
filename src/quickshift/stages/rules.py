"""Rules that choose the bandwidth and tau from the data."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from quickshift import _core
from quickshift.bandwidth import (
    RULES,
    gaussian_equivalent,
    neighbour_floor,
    period_limit,
    rule_bandwidth,
    spread,
    tau_rule,
)
from quickshift.checks import check_choice
from quickshift.kernels import get_kernel
from quickshift.memory import require_memory, rule_bytes
from quickshift.progress import Progress, Report, reporting
from quickshift.stages.density import Estimate, fit_estimate
from quickshift.stages.samples import Samples
from quickshift.threads import resolve_threads

__all__ = ["choose_bandwidth", "choose_tau"]

_FEW = 5  # features, with which neighbours are near enough


def choose_bandwidth(
    samples: Samples,
    rule: str = "auto",
    *,
    kernel: str = "gaussian",
    rtol: float = 1e-9,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> float:
    """Choose the bandwidth by a rule.

    Parameters
    ----------
    samples : Samples
        From `prepare`.
    rule : {"auto", "paper", "scott", "silverman", "cv"}
        "paper" and "scott" are the paper's rate n^(-1/(4+d)) times the spread of the data, "auto"
        is half of that, with more than five features at least a third of the median distance to
        the nearest distinct sample, "silverman" the normal reference rule, "cv" maximises the
        likelihood of every location under the estimate from all others.
    kernel : str
        Name of the kernel; all rules give bandwidths of equal variance per axis.
    rtol : float
        Relative error of the densities that "cv" compares.
    n_jobs : int, optional
        Threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)``, about ten times a second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

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
    _require_memory(samples, "choose_bandwidth")
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
    with reporting(progress, "choose_bandwidth") as report:
        if rule == "auto" and samples.n_features > _FEW and scale > 0:
            nearest = _core.nearest_distances(samples.tree, resolve_threads(n_jobs), report)
            floor = neighbour_floor(nearest, weights) / gaussian_equivalent(
                1.0, chosen, samples.n_features
            )
            h = min(max(h, floor), period_limit(chosen, samples.period))
        if rule == "cv" and scale > 0:
            start = fit_estimate(samples, h, kernel=kernel, rtol=rtol, n_jobs=n_jobs)
            h = min(_most_likely(start, report), period_limit(chosen, samples.period))
    return h


# The search covers bandwidths from 1/32 to 4 times the paper's: beyond that the leave-one-out
# likelihood rewards repeated values or says that the data have no structure at all.
_SEARCH = (1 / 32, 4.0)
_GRID = 33
_EVALUATIONS = 48  # on the grid and in the golden sections, about
_GOLDEN = (math.sqrt(5) - 1) / 2


def _most_likely(start: Estimate, report: Report | None) -> float:
    """Maximise the leave-one-out likelihood over factors of a bandwidth.

    A grid finds the hill, because there may be several, and golden sections its top.
    """
    least, most = _searched_factors(start)
    if least >= most:
        return start.bandwidth * most  # some location is alone even in the widest support
    grid = np.linspace(math.log(least), math.log(most), _GRID)
    loss = _loss_of(start, report)
    losses = [loss(float(x)) for x in grid]
    best = int(np.argmin(losses))
    refined, least_loss = _golden_section(
        loss, float(grid[max(best - 1, 0)]), float(grid[min(best + 1, _GRID - 1)])
    )
    return start.bandwidth * math.exp(refined if least_loss < losses[best] else grid[best])


def _searched_factors(start: Estimate) -> tuple[float, float]:
    """Bound the search, for compact kernels so that every location has another in its support."""
    least, most = _SEARCH
    most = min(most, period_limit(start.kernel, start.samples.period) / start.bandwidth)
    if not start.kernel.infinite:
        nearest = _core.nearest_distances(start.samples.tree, resolve_threads(start.n_jobs))
        least = max(least, float(nearest.max()) / start.kernel.support / start.bandwidth)
    return least * (1 + 1e-9), most


def _golden_section(loss: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Minimise the loss between two log factors to a relative width of a thousandth."""
    inner = [high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)]
    losses = [loss(x) for x in inner]
    while high - low > 1e-3:
        if losses[0] <= losses[1]:
            high, inner[1], losses[1] = inner[1], inner[0], losses[0]
            inner[0] = high - _GOLDEN * (high - low)
            losses[0] = loss(inner[0])
        else:
            low, inner[0], losses[0] = inner[0], inner[1], losses[1]
            inner[1] = low + _GOLDEN * (high - low)
            losses[1] = loss(inner[1])
    best = int(losses[1] < losses[0])
    return inner[best], losses[best]


def _loss_of(start: Estimate, report: Report | None) -> Callable[[float], float]:
    """Minus the mean log density of each location from the others, but for a constant.

    It is a function of the logarithm of the factor, and reports each of its evaluations.
    """
    rows, weights = start.samples.tree.first_rows()
    evaluated = 0

    def tell(done: float) -> None:
        if report is not None:
            report(min((evaluated + done) / _EVALUATIONS, 1.0))

    def loss(log_factor: float) -> float:
        nonlocal evaluated
        h = start.bandwidth * math.exp(log_factor)
        values, log_scales = replace(start, bandwidth=h).sums_left_out(tell)
        tell(1.0)
        evaluated += 1
        with np.errstate(divide="ignore"):
            log_sums = np.log(values[rows]) + log_scales[rows]
        return start.samples.n_features * log_factor - float(np.average(log_sums, weights=weights))

    return loss


def choose_tau(
    samples: Samples,
    bandwidth: float,
    *,
    kernel: str = "gaussian",
    n_jobs: int | None = None,
    progress: Progress | None = None,
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
    progress : callable, optional
        Called as ``progress(stage, done)``, about ten times a second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

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
    _require_memory(samples, "choose_tau")
    with reporting(progress, "choose_tau") as report:
        nearest = _core.nearest_distances(samples.tree, resolve_threads(n_jobs), report)
    _, weights = samples.tree.locations()
    return tau_rule(h_gaussian, nearest, weights)


def _require_memory(samples: Samples, stage: str) -> None:
    shape = samples.n_samples, samples.n_features
    require_memory(rule_bytes(*shape), stage, shape)
