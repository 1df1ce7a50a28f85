"""Samples of (x, y) prepared for modal regression: one joint kernel over both.

The kernel is radial in the d + n_outputs dimensions of (x, y) and has one bandwidth; if a pair
(h_x, h_y) is given, X and y are divided by it first (decision 11). Only X goes into a tree. The
responses of one column are sorted instead (`sort_responses`), because the search for modes runs
along them.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from quickshift import _core
from quickshift.arrays import Floats, Indices, Numbers
from quickshift.bundles import Bundle, counted, number
from quickshift.checks.points import (
    check_n_features,
    check_period,
    check_points,
    check_responses,
    check_weights,
)
from quickshift.checks.regression import check_bandwidth_pair
from quickshift.kernels import Kernel, get_kernel
from quickshift.memory import prepare_bytes, require_memory
from quickshift.stages.density import Estimate, fit_estimate, make_estimate
from quickshift.stages.regression.kernel_weights import KernelWeights, weigh_responses
from quickshift.stages.samples import build_samples

__all__ = [
    "Joint",
    "RegressionData",
    "prepare_joint",
]


# Least and largest distance between neighboring rungs, the responses at which a search begins, in
# bandwidths.
_RUNG_SPACING = 0.05, 0.5
# Largest response, in units of the largest scaled coordinate of X, up to which no sum depends on
# the largest bandwidth that the core allows, 2^490.
_LARGEST_PLACE = 2.0**436


@dataclass(frozen=True, repr=False, eq=False)
class RegressionData(Bundle):
    """Checked samples of (x, y), with the settings that every estimate from them shares.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features of the samples.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Responses of the samples.
    weights : ndarray of shape (n_samples,)
        Frequencies.
    period : ndarray of shape (n_features,) or None
        Periods of the features; None if no feature is periodic.
    kernel : str
        Name of the kernel.
    rtol : float
        Relative error allowed in the sums of a kernel with infinite support.
    n_jobs : int or None
        Number of threads; None for all cores.
    """

    X: Numbers
    y: Floats
    weights: Floats
    period: Floats | None
    kernel: str
    rtol: float
    n_jobs: int | None

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.X)

    def _facts(self) -> Iterable[str]:
        yield counted(len(self), "sample")
        yield counted(self.X.shape[1], "feature")
        yield counted(1 if self.y.ndim == 1 else self.y.shape[1], "output")
        yield f"{self.kernel} kernel"

    def joint(self, bandwidth: float | tuple[float, float]) -> "Joint":
        """Return the joint estimate with the given bandwidths."""
        return prepare_joint(
            self.X,
            self.y,
            bandwidth,
            kernel=self.kernel,
            sample_weight=self.weights,
            period=self.period,
            rtol=self.rtol,
            n_jobs=self.n_jobs,
        )

    def at(self, rows: Indices) -> "RegressionData":
        """Return the data of some rows only."""
        return replace(self, X=self.X[rows], y=self.y[rows], weights=self.weights[rows])


@dataclass(frozen=True)
class Responses:
    """Responses of one column, sorted, and the samples grouped by the locations of the tree of X.

    The distinct responses are the vertices of Algorithm 3; the *place* of a response is its value
    in the units of the tree, in which the kernel measures distances.

    Attributes
    ----------
    values : ndarray of shape (n_vertices,)
        The distinct responses of samples of positive weight, increasing.
    places : ndarray of shape (n_vertices,)
        Their places.
    rungs : ndarray of shape (n_rungs,)
        Positions in `values` of the vertices at which a search begins (decision 26).
    begin : ndarray of shape (n_slots + 1,)
        CSR offsets: the samples in slot i of the tree are those from ``begin[i]`` to before
        ``begin[i + 1]``.
    place_of_sample, rung_of_sample, weights : ndarray of shape (n_pairs,)
        For each distinct pair (x, y), ordered by slot: its place, the last rung that is not above
        it, and its weight.
    """

    values: Floats
    places: Floats
    rungs: Indices
    begin: Indices
    place_of_sample: Floats
    rung_of_sample: Indices
    weights: Floats


@dataclass(frozen=True, repr=False, eq=False)
class Joint(Bundle):
    """The joint density estimate f̂(x, y) over samples.

    Attributes
    ----------
    features : Estimate
        The estimate over X alone, after the division by ``divisor[0]``.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        The responses.
    weights : ndarray of shape (n_samples,)
        Frequencies.
    bandwidth : (float, float)
        h_x and h_y.
    divisor : (float, float)
        The numbers by which X and y are divided before the kernel is applied: (1, 1) if one h
        serves both.
    """

    features: Estimate
    y: Floats
    weights: Floats
    bandwidth: tuple[float, float]
    divisor: tuple[float, float]

    def _facts(self) -> Iterable[str]:
        yield counted(self.features.samples.n_samples, "sample")
        yield counted(self.features.samples.n_features, "feature")
        yield counted(self.n_outputs, "output")
        yield f"{self.kernel.name} kernel"
        yield "bandwidths {} and {}".format(*map(number, self.bandwidth))

    @property
    def kernel(self) -> Kernel:
        """The kernel K over x and y together."""
        return self.features.kernel

    @property
    def n_outputs(self) -> int:
        """Number of columns of y."""
        return 1 if self.y.ndim == 1 else self.y.shape[1]

    @property
    def log_constant(self) -> float:
        """Logarithm of the factor that turns a sum of profiles into a joint density."""
        samples, (h_x, h_y) = self.features.samples, self.bandwidth
        d = samples.n_features
        volume = d * math.log(h_x) + self.n_outputs * math.log(h_y)
        log_c = self.kernel.log_normaliser(d + self.n_outputs)
        return log_c - math.log(samples.total_weight) - volume

    @cached_property
    def together(self) -> Estimate:
        """The estimate over the rows (x, y) of positive weight, divided by `divisor`."""
        features = self.features
        rows = np.flatnonzero(self.weights > 0)
        columns = self.y[rows].reshape(rows.size, -1)
        shape = rows.size, features.samples.n_features + self.n_outputs
        require_memory(prepare_bytes(*shape), "conditional_modes", shape)
        coordinates = features.samples.tree.coordinates(rows)
        period = features.samples.period
        if period is not None:
            period = np.append(period, np.full(self.n_outputs, np.inf))
        samples = build_samples(
            np.hstack([coordinates, divided(columns, self.divisor[1], "y", "h_y")]),
            self.weights[rows],
            period,
            n_jobs=features.n_jobs,
        )
        return make_estimate(
            samples, features.bandwidth, features.kernel, features.rtol, features.n_jobs
        )

    @cached_property
    def by_response(self) -> KernelWeights:
        """The samples sorted by response, with their kernels in x alone."""
        return weigh_responses(self.features, self.y, self.weights)

    def scaled_queries(self, queries: ArrayLike) -> Floats:
        """Check queries and divide them as X was divided."""
        points = check_points(queries, "queries")
        check_n_features(points, self.features.samples.n_features, "queries")
        return scale_queries(self, points)

    def log_support(self, sums: Floats, log_scales: Floats) -> Floats:
        """Turn sums of profiles over the features alone into log densities of x."""
        volume = self.features.samples.n_features * math.log(self.divisor[0])
        return self.features.log_density(sums, log_scales - volume)


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
    """Make the joint density estimate of samples (x, y): check them and build the tree of X.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features of the samples.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Responses of the samples.
    bandwidth : float or pair of floats
        One h for x and y together, or (h_x, h_y).
    kernel : str
        Name of the kernel; see `quickshift.kernels`.
    sample_weight : array-like of shape (n_samples,), optional
        Frequencies.
    period : array-like of shape (n_features,), optional
        Length of each feature's period, ``numpy.inf`` for a feature that is not periodic.
        Responses are never periodic.
    rtol : float
        For kernels of infinite support: the relative error allowed in the density of a mode.
    n_jobs : int, optional
        Number of threads; None for all cores.

    Returns
    -------
    Joint

    Examples
    --------
    >>> joint = prepare_joint([[0.0], [1.0]], [5.0, 7.0], (0.5, 2.0))
    >>> joint.bandwidth, joint.n_outputs
    ((0.5, 2.0), 1)
    """
    data = checked_data(X, y, sample_weight, period, kernel=kernel, rtol=rtol, n_jobs=n_jobs)
    pair, divisor = check_bandwidth_pair(bandwidth, get_kernel(kernel), data.period)
    return estimate_joint(data, pair, divisor)


def checked_data(
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    period: ArrayLike | None,
    *,
    kernel: str,
    rtol: float,
    n_jobs: int | None,
) -> RegressionData:
    """Check samples; the estimate that is made from them checks kernel, rtol and n_jobs."""
    points = check_points(X)
    responses = check_responses(y, len(points))
    weights = check_weights(sample_weight, len(points))
    require_memory(joint_bytes(points, responses), "prepare_joint", points.shape)
    return RegressionData(
        points,
        responses.copy(),  # the estimate keeps it, and the caller may change the given array
        np.ones(len(points)) if weights is None else weights.copy(),
        check_period(period, points.shape[1]),
        kernel,
        rtol,
        n_jobs,
    )


def joint_bytes(points: Numbers, responses: Floats) -> int:
    """Bytes at the peak of building the largest tree of the samples: that of the rows (x, y)."""
    return prepare_bytes(len(points), points.shape[1] + responses[0].size)


def estimate_joint(
    data: RegressionData, pair: tuple[float, float], divisor: tuple[float, float]
) -> Joint:
    """Make the joint estimate as `prepare_joint` does, from checked arguments.

    ``pair`` and ``divisor`` are the results of `check_bandwidth_pair`.
    """
    points, lengths = wrapped(data.X, data.period), data.period
    if lengths is not None and divisor[0] != 1.0:
        kernel = get_kernel(data.kernel)
        # The least period that a bandwidth of 1 admits: the quotient may round to below it.
        least = 4.0 if kernel.infinite else 2.0 * kernel.support
        lengths = np.maximum(lengths / divisor[0], least)
    scaled = points if divisor[0] == 1.0 else divided(points, divisor[0], "X", "h_x")
    samples = build_samples(scaled, data.weights, lengths, n_jobs=data.n_jobs)
    h = pair[0] / divisor[0]
    features = fit_estimate(samples, h, kernel=data.kernel, rtol=data.rtol, n_jobs=data.n_jobs)
    return Joint(features, data.y, data.weights, pair, divisor)


def scale_queries(joint: Joint, points: Numbers) -> Floats:
    """Divide checked queries as X was divided; quotients that overflow become the largest float."""
    with np.errstate(over="ignore"):
        return np.nan_to_num(points.astype(np.float64) / joint.divisor[0])


def wrapped(points: Numbers, period: Floats | None) -> Numbers:
    """Return points in float64 with periodic features in [0, period); unchanged without periods."""
    if period is None:
        return points
    points = points.astype(np.float64)
    for column, length in zip(points.T, period, strict=True):
        if np.isfinite(length):
            column -= length * np.floor(column / length)  # noqa: PLW2901
            column[(column >= length) | (column < 0)] = 0.0  # the product may round past x
    return points


def sort_responses(joint: Joint, tau: float) -> Responses:
    """Sort the responses of one column, and group the samples by slot of the tree.

    The spacing of the rungs suits a search with the given tau. A search with another tau is just as
    exact, but takes longer.
    """
    tree = joint.features.samples.tree
    slots = tree.slots_of_rows()
    rows = np.flatnonzero(slots >= 0)
    values, ranks = np.unique(joint.y[rows] + 0.0, return_inverse=True)
    places = np.ldexp(divided(values, joint.divisor[1], "y", "h_y"), -tree.exponent)
    if np.abs(places).max() > _LARGEST_PLACE:
        raise ValueError(
            f"y reaches {float(np.abs(values).max())!r}, too large relative to the features for "
            f"one distance over both: expected at most {_LARGEST_PLACE!r} times the largest "
            f"feature. Give each its own bandwidth, as in bandwidth=(h_x, h_y)."
        )
    slots = slots[rows]
    # Equal pairs are merged. Their weights are added in increasing order, so that the sum does not
    # depend on the order of the rows.
    order = np.lexsort((joint.weights[rows], ranks, slots))
    slots, ranks, weights = slots[order], ranks[order], joint.weights[rows][order]
    first = np.flatnonzero(np.diff(slots, prepend=-1) | np.diff(ranks, prepend=-1))
    weights = np.ldexp(np.add.reduceat(weights, first), -tree.weight_exponent)
    begin = np.searchsorted(slots[first], np.arange(tree.slots + 1))
    least, most = (share * joint.features.bandwidth for share in _RUNG_SPACING)
    with np.errstate(over="ignore", under="ignore"):
        width = np.ldexp(min(max(0.5 * tau / joint.divisor[1], least), most), -tree.exponent)
    width = min(float(width), _LARGEST_PLACE)
    rungs = _core.rungs(places, width)
    ranks = ranks[first]
    rung_of_sample = np.searchsorted(rungs, ranks, side="right") - 1
    return Responses(values, places, rungs, begin, places[ranks], rung_of_sample, weights)


def divided(values: Numbers, divisor: float, name: str, bandwidth: str) -> Floats:
    """Divide X or y by its bandwidth, and raise if a quotient exceeds the range of floats."""
    with np.errstate(over="ignore", under="ignore"):
        result: Floats = values.astype(np.float64) / divisor
    if not np.isfinite(result).all():
        raise ValueError(
            f"{name} divided by {bandwidth} = {divisor!r} exceeds the range of floats. Use a "
            f"larger bandwidth, or rescale {name}."
        )
    return result
