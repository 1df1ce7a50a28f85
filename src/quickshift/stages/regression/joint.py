"""Samples of (x, y) made ready for modal regression: one joint kernel over both."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from quickshift import _core
from quickshift.arrays import Floats, Indices, Numbers
from quickshift.checks import (
    check_bandwidth,
    check_n_features,
    check_period,
    check_points,
    check_responses,
    check_weights,
)
from quickshift.kernels import Kernel, get_kernel
from quickshift.stages.density import Estimate, fit_estimate
from quickshift.stages.samples import prepare

__all__ = ["Joint", "Responses", "check_pair", "prepare_joint", "sort_responses", "wrapped"]


_RUNGS = 0.05, 0.5  # bandwidths between two rungs of the line, at least and at most
_LARGEST = 2.0**500  # a place on the line of responses, beside the coordinates of the samples


@dataclass(frozen=True)
class Responses:
    """Responses of one column, in the order of the line and in that of the tree of the samples.

    Attributes
    ----------
    values : ndarray of shape (n_vertices,)
        The distinct responses of samples of positive weight, rising.
    places : ndarray of shape (n_vertices,)
        The same in bandwidths, in the scale of the tree.
    rungs : ndarray of shape (n_rungs,)
        Some of them, where a search begins.
    begin : ndarray of shape (n_slots + 1,)
        The samples at each location of the tree, up to those of the next.
    place_of_sample, rung_of_sample, weights : ndarray of shape (n_pairs,)
        Of each distinct pair (x, y), by location: its place on the line, the last rung that is not
        above it, and its weight.
    """

    values: Floats
    places: Floats
    rungs: Indices
    begin: Indices
    place_of_sample: Floats
    rung_of_sample: Indices
    weights: Floats


@dataclass(frozen=True)
class Joint:
    """The joint density estimate f̂(x, y) over samples.

    Attributes
    ----------
    features : Estimate
        Of x alone: over X divided by h_x, where bandwidths differ.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        The responses.
    weights : ndarray of shape (n_samples,)
        Frequencies.
    bandwidth : (float, float)
        h_x and h_y.
    divisor : (float, float)
        What X and y are divided by before the kernel sees them: (1, 1) where one h serves both.
    """

    features: Estimate
    y: Floats
    weights: Floats
    bandwidth: tuple[float, float]
    divisor: tuple[float, float]

    @property
    def kernel(self) -> Kernel:
        """K, over x and y together."""
        return self.features.kernel

    @property
    def n_outputs(self) -> int:
        """Number of columns of y."""
        return 1 if self.y.ndim == 1 else self.y.shape[1]

    @property
    def log_constant(self) -> float:
        """Logarithm of the factor from a sum of profiles to a joint density."""
        samples, (h_x, h_y) = self.features.samples, self.bandwidth
        d = samples.n_features
        volume = d * math.log(h_x) + self.n_outputs * math.log(h_y)
        log_c = self.kernel.log_normaliser(d + self.n_outputs)
        return log_c - math.log(samples.total_weight) - volume

    def scaled_queries(self, queries: ArrayLike) -> Floats:
        """Check queries and divide them as X was divided."""
        points = check_points(queries, "queries").astype(np.float64)
        check_n_features(points, self.features.samples.n_features, "queries")
        with np.errstate(over="ignore"):
            return np.nan_to_num(points / self.divisor[0])

    def log_support(self, sums: Floats, log_scales: Floats) -> Floats:
        """Log density of x from sums over samples of profiles in x alone."""
        volume = self.features.samples.n_features * math.log(self.divisor[0])
        return self.features.log_density(sums, log_scales - volume)


def check_pair(bandwidth: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return (h_x, h_y), and what X and y are to be divided by; periods are not looked at."""
    single = np.ndim(bandwidth) == 0
    pair = (bandwidth, bandwidth) if single else tuple(bandwidth)
    known = all(isinstance(h, int | float | np.number) and 0 < h < math.inf for h in pair)
    if len(pair) != 2 or not known or any(isinstance(h, bool) for h in pair):
        raise ValueError(
            f"bandwidth is {bandwidth!r}, expected a positive number, or a pair of them: one for X "
            f"and one for y (estimators also take a rule such as 'auto')."
        )
    h_x, h_y = float(pair[0]), float(pair[1])
    return (h_x, h_y), ((1.0, 1.0) if single else (h_x, h_y))


def prepare_joint(
    X: ArrayLike,
    y: ArrayLike,
    bandwidth: float | tuple[float, float],
    *,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    rtol: float = 1e-9,
    n_jobs: int | None = None,
) -> Joint:
    """Check samples of (x, y) and put those of X into a tree.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Where the samples were taken.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Their responses.
    bandwidth : float or pair of floats
        One h for x and y together, or (h_x, h_y).
    kernel : str
        Name of the kernel; see `quickshift.kernels`.
    sample_weight : array-like of shape (n_samples,), optional
        Frequencies.
    period : array-like of shape (n_features,), optional
        Length of each feature's period, ``numpy.inf`` for an open one. Responses are open.
    rtol : float
        For kernels of infinite support: the relative error allowed to the density of a mode.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    Joint

    Examples
    --------
    >>> joint = prepare_joint([[0.0], [1.0]], [5.0, 7.0], (0.5, 2.0))
    >>> joint.bandwidth, joint.n_outputs
    ((0.5, 2.0), 1)
    """
    points = check_points(X)
    responses = check_responses(y, len(points))
    given = check_weights(sample_weight, len(points))
    pair, divisor = check_pair(bandwidth)
    lengths = check_period(period, points.shape[1])
    if lengths is not None:
        chosen = get_kernel(kernel)
        check_bandwidth(pair[0], chosen, lengths)  # in the units of the caller
        points = wrapped(points, lengths)
        if divisor[0] != 1.0:
            least = 4.0 if chosen.infinite else 2.0 * chosen.support  # for a bandwidth of 1
            lengths = np.maximum(lengths / divisor[0], least)  # the quotient may round down
    scaled = points if divisor[0] == 1.0 else _divided(points, divisor[0], "X", "h_x")
    samples = prepare(scaled, sample_weight=given, period=lengths, n_jobs=n_jobs)
    h = pair[0] / divisor[0]
    features = fit_estimate(samples, h, kernel=kernel, rtol=rtol, n_jobs=n_jobs)
    weights = np.ones(len(points)) if given is None else given
    return Joint(features, responses, weights, pair, divisor)


def wrapped(points: Numbers, period: Floats | None) -> Numbers:
    """Return periodic features in [0, period), in float64; the points as they are without any."""
    if period is None:
        return points
    points = points.astype(np.float64)
    for column, length in zip(points.T, period, strict=True):
        if np.isfinite(length):
            column -= length * np.floor(column / length)  # noqa: PLW2901
            column[(column >= length) | (column < 0)] = 0.0  # the product may round past x
    return points


def sort_responses(joint: Joint, tau: float) -> Responses:
    """Put the responses of one column into the order of the line, and of the tree.

    The rungs suit a search with tau; with another one it only takes longer.
    """
    tree = joint.features.samples.tree
    slots = tree.slots_of_rows()
    rows = np.flatnonzero(slots >= 0)
    values, ranks = np.unique(joint.y[rows] + 0.0, return_inverse=True)
    places = np.ldexp(_divided(values, joint.divisor[1], "y", "h_y"), -tree.exponent)
    if np.abs(places).max() > _LARGEST:
        raise ValueError(
            f"y reaches {float(np.abs(values).max())!r}, too far beyond the features for one "
            f"distance: expected at most {_LARGEST!r} times their largest. Give a bandwidth for "
            f"each, as in bandwidth=(h_x, h_y)."
        )
    slots = slots[rows]
    # Equal pairs become one; the smallest weight is added first, whatever the order of the rows.
    order = np.lexsort((joint.weights[rows], ranks, slots))
    slots, ranks, weights = slots[order], ranks[order], joint.weights[rows][order]
    first = np.flatnonzero(np.diff(slots, prepend=-1) | np.diff(ranks, prepend=-1))
    weights = np.ldexp(np.add.reduceat(weights, first), -tree.weight_exponent)
    begin = np.searchsorted(slots[first], np.arange(tree.slots + 1))
    least, most = (share * joint.features.bandwidth for share in _RUNGS)
    width = math.ldexp(min(max(0.5 * tau / joint.divisor[1], least), most), -tree.exponent)
    rungs = _core.rungs(places, width)
    ranks = ranks[first]
    rung_of_sample = np.searchsorted(rungs, ranks, side="right") - 1
    return Responses(values, places, rungs, begin, places[ranks], rung_of_sample, weights)


def _divided(values: Numbers, divisor: float, name: str, bandwidth: str) -> Floats:
    with np.errstate(over="ignore", under="ignore"):
        result: Floats = values.astype(np.float64) / divisor
    if not np.isfinite(result).all():
        raise ValueError(
            f"{name} divided by {bandwidth} = {divisor!r} exceeds the range of floats. Use a "
            f"larger bandwidth, or rescale {name}."
        )
    return result
