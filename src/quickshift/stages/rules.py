"""Rules that choose the bandwidth and tau from the data."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from quickshift.bandwidth import (
    RULES,
    gaussian_equivalent,
    neighbour_floor,
    period_limit,
    rule_bandwidth,
    spread,
    tau_rule,
)
from quickshift.checks.clustering import check_rtol
from quickshift.checks.numbers import check_choice, check_positive
from quickshift.checks.results import require_result
from quickshift.kernels import Kernel, get_kernel
from quickshift.memory import require_memory, rule_bytes
from quickshift.progress import Progress, Report, reporting
from quickshift.stages.density import Estimate, make_estimate
from quickshift.stages.samples import MOST_WITHOUT_FLOOR, Samples, nearest_distances

__all__ = ["choose_bandwidth", "choose_tau"]


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
        "paper" and "scott" are the paper's rate n^(-1/(4+d)) times the spread of the data. "auto"
        is half of that; with more than five features it is at least a third of the median distance
        to the nearest distinct sample. "silverman" is the normal reference rule. "cv" maximizes the
        leave-one-out likelihood: the density of each location as estimated from all others.
    kernel : str
        Name of the kernel. A rule of thumb gives a kernel the bandwidth at which its variance per
        axis is that of the Gaussian; "cv" maximizes the likelihood for the kernel itself.
    rtol : float
        Relative error of the densities that "cv" compares.
    n_jobs : int, optional
        Number of threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)`` about ten times per second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

    Returns
    -------
    float
        The bandwidth: at most as large as the periods admit, and 1 if all points are equal.

    Examples
    --------
    >>> from quickshift.stages import prepare
    >>> samples = prepare([[0.0], [1.0], [2.0], [3.0]])
    >>> round(choose_bandwidth(samples, "paper"), 3)
    0.843
    """
    require_result(samples, Samples, "samples", "prepare")
    check_choice(rule, "bandwidth", RULES)
    chosen, tolerance = get_kernel(kernel), check_rtol(rtol)
    _require_memory(samples, "choose_bandwidth")
    return bandwidth_by(rule, samples, chosen, tolerance, n_jobs=n_jobs, progress=progress)


def bandwidth_by(
    rule: str,
    samples: Samples,
    kernel: Kernel,
    rtol: float,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> float:
    """Choose the bandwidth as `choose_bandwidth` does, from checked arguments."""
    scale = spread_of(samples)
    widest = _widest(kernel, samples)
    h = rule_bandwidth(
        "paper" if rule == "cv" else rule,
        spread=scale,
        total_weight=samples.total_weight,
        n_features=samples.dimension,
        kernel=kernel,
    )
    h = min(h, widest)
    with reporting(progress, "choose_bandwidth") as report:
        if rule == "auto" and samples.dimension > MOST_WITHOUT_FLOOR and scale > 0:
            nearest = nearest_distances(samples, n_jobs, report)
            _, weights = samples.tree.locations()
            floor = neighbour_floor(nearest, weights) / gaussian_equivalent(
                1.0, kernel, samples.dimension
            )
            h = min(max(h, floor), widest)
        if rule == "cv" and scale > 0:
            start = make_estimate(samples, h, kernel, rtol, n_jobs)
            h = min(_most_likely(start, report), widest)
    return h


def spread_of(samples: Samples) -> float:
    """Return σ̄ of samples, see `quickshift.bandwidth.spread`."""
    points, weights = samples.tree.locations()
    dimension = samples.dimension if samples.on_sphere else None
    return spread(points, weights, samples.period, dimension=dimension)


def _widest(kernel: Kernel, samples: Samples) -> float:
    """Return the largest bandwidth that a rule may choose: on a sphere, its diameter."""
    return 2.0 if samples.on_sphere else period_limit(kernel, samples.period)


# "cv" searches bandwidths from 1/32 to 4 times the paper's. Below that range the leave-one-out
# likelihood rewards repeated values; above it, the data have no structure at all.
_SEARCH = (1 / 32, 4.0)
_GRID = 33
_PRECISION = 1e-3  # of the logarithm of the bandwidth
_EVALUATIONS = 44  # of the likelihood, approximately; used only to report progress


def _most_likely(start: Estimate, report: Report | None) -> float:
    """Return the multiple of a bandwidth that maximizes the leave-one-out likelihood."""
    farthest = 0.0
    if not start.kernel.infinite:
        nearest = nearest_distances(start.samples, start.n_jobs)
        farthest = float(nearest.max())
    widest = _widest(start.kernel, start.samples)
    least, most = searched_factors(start.bandwidth, start.kernel, widest, farthest)
    return start.bandwidth * best_factor(least, most, _loss_of(start, report))


def searched_factors(
    bandwidth: float, kernel: Kernel, widest: float, farthest: float
) -> tuple[float, float]:
    """Return the least and the largest factor of a bandwidth that "cv" searches.

    Parameters
    ----------
    bandwidth : float
        The bandwidth, that of the rule "paper".
    kernel : Kernel
        The kernel.
    widest : float
        The largest bandwidth allowed.
    farthest : float
        The largest distance from a location to the nearest other one. With a compact kernel, every
        location must have another one within the support; otherwise its leave-one-out density is 0.

    Returns
    -------
    least, most : float
        If ``least`` is larger, some location has no other even within the widest support.
    """
    least, most = _SEARCH
    most = min(most, widest / bandwidth)
    if not kernel.infinite:
        least = max(least, farthest / kernel.support / bandwidth)
    return least * (1 + 1e-9), most


def best_factor(least: float, most: float, loss: Callable[[float], float]) -> float:
    """Return the factor between two bounds that minimizes a loss.

    The loss, a function of the logarithm of the factor, may have several minima. A grid finds the
    lowest one, and SciPy's bounded minimizer refines it between the neighboring points of the grid.
    """
    from scipy.optimize import minimize_scalar

    if least >= most:
        return most
    grid = np.linspace(math.log(least), math.log(most), _GRID)
    losses = [loss(float(x)) for x in grid]
    best = int(np.argmin(losses))
    between = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, _GRID - 1)])
    found = minimize_scalar(loss, bounds=between, method="bounded", options={"xatol": _PRECISION})
    return math.exp(float(found.x) if found.fun < losses[best] else float(grid[best]))


def _loss_of(start: Estimate, report: Report | None) -> Callable[[float], float]:
    """Return the loss that "cv" minimizes, which also reports the progress of the search.

    The loss is minus the mean leave-one-out log density of the locations, up to a constant, as a
    function of the logarithm of the factor that multiplies the bandwidth.
    """
    rows, weights = start.samples.tree.first_rows()
    evaluated = 0

    def report_part(done: float) -> None:
        if report is not None:
            report(min((evaluated + done) / _EVALUATIONS, 1.0))

    def loss(log_factor: float) -> float:
        nonlocal evaluated
        h = start.bandwidth * math.exp(log_factor)
        values, log_scales = replace(start, bandwidth=h).sums_left_out(report_part)
        report_part(1.0)
        evaluated += 1
        with np.errstate(divide="ignore"):
            log_sums = np.log(values[rows]) + log_scales[rows]
        return start.samples.dimension * log_factor - float(np.average(log_sums, weights=weights))

    return loss


def choose_tau(
    samples: Samples,
    bandwidth: float,
    *,
    kernel: str = "gaussian",
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> float:
    """Choose tau: at least 1.5 Gaussian bandwidths, enough to give nearly all samples a neighbor.

    Parameters
    ----------
    samples : Samples
        From `prepare`.
    bandwidth : float
        h of the kernel.
    kernel : str
        Name of the kernel.
    n_jobs : int, optional
        Number of threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)`` about ten times per second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

    Returns
    -------
    float
        max(1.5 h_G, 99th percentile of the distance to the nearest distinct sample), where h_G is
        the bandwidth of the Gaussian kernel that has the same variance per axis.

    Examples
    --------
    >>> from quickshift.stages import prepare
    >>> choose_tau(prepare([[0.0], [1.0], [2.0], [3.0]]), 2.0)
    3.0
    """
    require_result(samples, Samples, "samples", "prepare")
    chosen = get_kernel(kernel)
    h = check_positive(bandwidth, "bandwidth")
    _require_memory(samples, "choose_tau")
    return automatic_tau(samples, h, chosen, n_jobs=n_jobs, progress=progress)


def automatic_tau(
    samples: Samples,
    bandwidth: float,
    kernel: Kernel,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> float:
    """Choose tau as `choose_tau` does, from checked arguments."""
    h_gaussian = gaussian_equivalent(bandwidth, kernel, samples.dimension)
    with reporting(progress, "choose_tau") as report:
        nearest = nearest_distances(samples, n_jobs, report)
    _, weights = samples.tree.locations()
    return tau_rule(h_gaussian, nearest, weights)


def _require_memory(samples: Samples, stage: str) -> None:
    shape = samples.n_samples, samples.n_features
    require_memory(rule_bytes(*shape), stage, shape)
