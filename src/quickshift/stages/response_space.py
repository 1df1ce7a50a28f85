"""Algorithm 3 for responses of several columns: Quick Shift among the responses, by tree search."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from quickshift.progress import Progress, reporting
from quickshift.stages.density import Estimate, fit_estimate
from quickshift.stages.forest import cut
from quickshift.stages.joint import Joint
from quickshift.stages.parent_graph import climb
from quickshift.stages.samples import prepare

__all__ = ["modes_in_space"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_POINTS_OF_A_VALLEY = 7


def modes_in_space(
    joint: Joint, queries: Floats, tau: float, ratio: float, progress: Progress | None
) -> tuple[list[Floats], list[Floats], list[Floats]]:
    """Find the modes at each query: values, log joint densities, and those of their valleys.

    Parameters
    ----------
    joint : Joint
        With responses of shape (n_samples, n_outputs).
    queries : ndarray of shape (n_queries, n_features)
        Divided as X was.
    tau, ratio, progress
        As in `conditional_modes`, checked.

    Returns
    -------
    values, log_densities, log_valleys : lists of ndarrays, one a query
    """
    estimate = _joint_estimate(joint)
    responses = np.unique(joint.y[joint.weights > 0] + 0.0, axis=0)
    found = []
    with reporting(progress, "conditional_modes") as report:
        for i, query in enumerate(queries):
            found.append(_modes_at(joint, estimate, responses, query, tau=tau, ratio=ratio))
            if report is not None:
                report((i + 1) / len(queries))
    return tuple(map(list, zip(*found, strict=True)))  # type: ignore[return-value]


def _joint_estimate(joint: Joint) -> Estimate:
    """Return the estimate over rows (x, y), both divided as the kernel sees them."""
    tree = joint.features.samples.tree
    rows = np.flatnonzero(joint.weights > 0)
    points = np.hstack([tree.coordinates(rows), joint.y[rows] / joint.divisor[1]])
    period = joint.features.samples.period
    if period is not None:
        period = np.append(period, np.full(joint.n_outputs, np.inf))
    features = joint.features
    samples = prepare(
        points, sample_weight=joint.weights[rows], period=period, n_jobs=features.n_jobs
    )
    return fit_estimate(
        samples,
        features.bandwidth,
        kernel=features.kernel.name,
        rtol=features.rtol,
        n_jobs=features.n_jobs,
    )


def _modes_at(
    joint: Joint, estimate: Estimate, responses: Floats, query: Floats, *, tau: float, ratio: float
) -> tuple[Floats, Floats, Floats]:
    log_sums = _log_sums(joint, estimate, query, responses)
    highest = log_sums.max()
    if highest == -np.inf:
        return responses[:0], log_sums[:0], log_sums[:0]
    with np.errstate(under="ignore"):
        heights = np.exp(log_sums - highest)  # in units of the highest, so that none underflows
    # A vertex below the least share cannot beat one that will be kept.
    vertices = np.flatnonzero((heights > 0) & (heights >= ratio))
    graph = climb(
        responses[vertices],
        heights[vertices],
        n_jobs=estimate.n_jobs,
        significant_bits=estimate.significant_bits,
    )
    roots = vertices[cut(graph, tau).roots]
    values = responses[roots]
    valleys = _valleys(joint, estimate, query, values, log_sums[roots])
    return values, log_sums[roots] + joint.log_constant, valleys + joint.log_constant


def _log_sums(joint: Joint, estimate: Estimate, query: Floats, responses: Floats) -> Floats:
    at = np.hstack([np.tile(query, (len(responses), 1)), responses / joint.divisor[1]])
    values, log_scales = estimate.sums_at(at)
    with np.errstate(divide="ignore"):
        log_sums: Floats = np.log(values) + log_scales
    return log_sums


def _valleys(
    joint: Joint, estimate: Estimate, query: Floats, values: Floats, log_sums: Floats
) -> Floats:
    """Highest of the lowest points on the straight ways from each mode to the others."""
    valleys = np.full(len(values), -np.inf)
    shares = np.linspace(0, 1, _POINTS_OF_A_VALLEY + 2)[1:-1, None]
    for i, j in combinations(range(len(values)), 2):
        way = (1 - shares) * values[i] + shares * values[j]
        lowest = min(_log_sums(joint, estimate, query, way).min(), log_sums[i], log_sums[j])
        valleys[i], valleys[j] = max(valleys[i], lowest), max(valleys[j], lowest)
    return valleys
