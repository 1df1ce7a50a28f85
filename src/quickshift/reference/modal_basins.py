"""The share of the samples near x, weighted by their kernels in x, in the basin of each mode."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from quickshift.reference.algorithm_3 import joint_density
from quickshift.reference.density import fit
from quickshift.reference.samples import checked_column, checked_samples
from quickshift.reference.scaled_distances import Floats

__all__ = ["modal_probabilities"]


def modal_probabilities(
    X: ArrayLike,
    y: ArrayLike,
    x: ArrayLike,
    values: ArrayLike,
    bandwidth: float | Sequence[float],
    *,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
) -> Floats:
    """Return the probability of each mode at one query.

    The basin of a mode reaches from the valley below it to the valley above it. Its probability is
    the total ``w_j k(|x - x_j| / h_x)`` of the samples whose responses are in the basin, divided by
    the total of all samples. The valley between two neighboring modes is the lowest of the seven
    points that divide the distance between them into eighths, and then the lowest of the seven
    points that divide the distance between its two neighbors into eighths. It is the mean of the
    lowest points if several are equally low. A response on a valley belongs to the higher mode.

    Parameters
    ----------
    X, y, x, bandwidth, kernel, sample_weight, period
        As in `modal_regression`.
    values : (k,) array
        The modes at the query, highest first, as `modal_regression` returns them.

    Returns
    -------
    (k,) float array
        The probabilities, which sum to 1; empty if there are no modes.

    Examples
    --------
    >>> X = [[0.0], [0.0], [0.0], [9.0]]
    >>> y = [1.0, 1.5, 6.0, 3.0]
    >>> modal_probabilities(X, y, [0.0], [1.5, 6.0], 1.0, kernel="triangular").round(4)
    array([0.6667, 0.3333])
    """
    samples = checked_samples(X, sample_weight, period)
    responses = checked_column(y, len(samples.points), "y")
    modes = np.asarray(values, dtype=np.float64)
    if modes.size == 0:
        return np.empty(0)
    query = samples.checked_queries(np.reshape(x, (1, -1)), "x")
    h_x = bandwidth[0] if isinstance(bandwidth, Sequence) else bandwidth
    features = fit(samples, h_x, kernel)
    weights = features.terms(query, features.nearest(query))[0]
    joint, divisor = joint_density(samples, responses, bandwidth, kernel)

    def log_density(places: Floats) -> Floats:
        at = np.column_stack([np.repeat(query, len(places), axis=0), places]) / divisor
        return joint.log_density(at)

    rising = np.argsort(modes)
    place = np.zeros(len(weights), dtype=np.int64)  # position of each response's mode in `rising`
    for below, above in pairwise(rising):
        valley = _valley(float(modes[below]), float(modes[above]), log_density)
        near = responses[samples.kept]
        place += near > valley if below < above else near >= valley  # smaller index: higher mode
    masses = np.array([math.fsum(weights[rising[place] == mode]) for mode in range(len(modes))])
    shares: Floats = masses / math.fsum(masses)
    return shares


def _valley(low: float, high: float, log_density: Callable[[Floats], Floats]) -> float:
    """Return the y of the valley between two modes."""
    eighths = np.arange(1, 8)
    valley = low
    for _ in range(2):
        heights = log_density(low + (high - low) * (eighths / 8))
        lowest = eighths[heights <= heights.min() + 1e-6]  # equal up to the errors of fast sums
        valley = low + (high - low) * (lowest.mean() / 8)
        step = (high - low) / 8
        low, high = valley - step, valley + step
    return float(valley)
