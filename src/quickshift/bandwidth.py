"""Formulas for the default bandwidth and tau.

These are pure functions of plain arrays. Weights are frequencies throughout: a point of integer
weight w counts as w copies, so the sample size in every rule is the total weight W. Rules that need
the density itself, such as cross-validation, are in `quickshift.stages`.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol

import numpy as np

from quickshift.arrays import Floats

__all__ = [
    "RULES",
    "feature_scale",
    "gaussian_equivalent",
    "joint_rule",
    "neighbour_floor",
    "period_limit",
    "rule_bandwidth",
    "spread",
    "tau_rule",
    "weighted_quantile",
]

# Factor by which each rule multiplies the spread, from the total weight W and the dimension d.
_FACTORS: Mapping[str, Callable[[float, int], float]] = MappingProxyType(
    {
        "auto": lambda W, d: 0.5 * W ** (-1 / (d + 4)),
        "paper": lambda W, d: W ** (-1 / (d + 4)),
        "scott": lambda W, d: W ** (-1 / (d + 4)),
        "silverman": lambda W, d: (W * (d + 2) / 4) ** (-1 / (d + 4)),
    }
)

RULES = (*_FACTORS, "cv")

# Interquartile range of a Gaussian, in standard deviations.
_GAUSSIAN_IQR = 1.349

_BLOCK = 1 << 16  # values that are summed at once


class KernelFacts(Protocol):
    """The attributes of a `quickshift.kernels.Kernel` that the formulas use."""

    @property
    def support(self) -> float: ...

    @property
    def infinite(self) -> bool: ...

    def variance(self, d: int, /) -> float: ...


def weighted_quantile(values: Floats, weights: Floats, q: float) -> float:
    """Return a quantile of a weighted sample, by linear interpolation.

    Parameters
    ----------
    values : ndarray (m,)
        The sample, in any order.
    weights : ndarray (m,)
        Frequencies, not negative, at least one of them positive. They need not be whole numbers,
        but they are counts: if their total is at most one, the sample is a single observation, and
        every quantile is the lowest value.
    q : float
        Between 0 and 1.

    Returns
    -------
    float
        The quantile. If the weights are whole numbers, it equals
        ``np.quantile(np.repeat(values, weights), q)``.

    Examples
    --------
    >>> weighted_quantile(np.array([1.0, 5.0]), np.array([3.0, 1.0]), 0.75)
    2.0
    >>> float(np.quantile([1.0, 1.0, 1.0, 5.0], 0.75))
    2.0
    """
    return _quantiles(*_present(values, weights), [q])[0]


def _present(rows: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the rows of positive weight, and their weights."""
    present = weights > 0
    return (rows, weights) if present.all() else (rows[present], weights[present])


def _quantiles(values: Floats, weights: Floats, shares: list[float]) -> list[float]:
    positions = np.maximum(np.multiply(shares, weights.sum() - 1.0), 0.0)
    below = np.floor(positions)
    low, high = _order_statistics(values, weights, np.stack([below, below + 1.0]))
    # Interpolate from the nearer end, as NumPy does, so that a value of weight w gives the same
    # bits as w equal values.
    part, step = positions - below, high - low
    result = np.where(part < 0.5, low + step * part, high - step * (1.0 - part))
    return [float(x) for x in result]


def _order_statistics(values: Floats, weights: Floats, ranks: Floats) -> Floats:
    """Return the values at given ranks (from 0) in the sorted sample, each repeated by weight."""
    last = len(values) - 1
    if (weights == 1.0).all():  # selection is cheaper than sorting
        places = np.minimum(ranks, last).astype(np.intp)
        return np.partition(values, np.unique(places))[places]
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return values[order[np.minimum(np.searchsorted(reached, ranks, side="right"), last)]]


def spread(
    points: Floats,
    weights: Floats,
    period: Floats | None = None,
    *,
    dimension: int | None = None,
) -> float:
    """Return σ̄, a typical scale of the data that is robust against single outliers.

    This is the mean over features of min(standard deviation, IQR / 1.349); if the IQR of a feature
    is zero, its standard deviation is used. A periodic feature enters with its circular standard
    deviation, limited to the standard deviation of a uniform distribution over the period.

    On a sphere, where it must not depend on how the axes are turned, it is the root of the sum of
    the squares of these scales, divided by the dimension of the sphere.

    Parameters
    ----------
    points : ndarray (m, d)
        The sample. Pass it in an order that does not depend on the order of the caller's rows, so
        that the rounding of the result does not depend on it either.
    weights : ndarray (m,)
        Frequencies, not negative, at least one of them positive.
    period : ndarray (d,), optional
        Period of each feature, inf for a feature that is not periodic.
    dimension : int, optional
        Dimension of the sphere that the points lie on, if they do.

    Returns
    -------
    float
        σ̄; exactly zero if all points are equal.

    Examples
    --------
    >>> points = np.array([[-1.0], [0.0], [0.0], [1.0]])
    >>> round(spread(points, np.ones(4)), 6) == round(0.5 / 1.349, 6)
    True
    >>> points[-1] = 1e9
    >>> spread(points, np.ones(4)) < 1e9
    True
    """
    points, weights = _present(points, weights)
    periods = np.full(points.shape[1], np.inf) if period is None else period
    scales = np.array(
        [
            _circular_deviation(x, weights, float(p)) if math.isfinite(p) else _robust(x, weights)
            for x, p in zip(points.T, periods, strict=True)
        ]
    )
    return mean_scale(scales, dimension)


def mean_scale(scales: Floats, dimension: int | None = None) -> float:
    """Return the mean of the scales of all features, without overflow.

    On a sphere of a given dimension, it is the root of the sum of their squares per dimension.
    """
    exponent = _exponent(scales)
    if dimension is not None:
        total = float((np.ldexp(scales, -exponent) ** 2).sum())
        return math.ldexp(math.sqrt(total / dimension), exponent)
    return math.ldexp(float(np.ldexp(scales, -exponent).mean()), exponent)


def _exponent(x: Floats) -> int:
    """Return the exponent of the power of two that scales x into [-1, 1] without rounding."""
    return int(np.frexp(np.abs(x).max())[1])


def _robust(x: Floats, weights: Floats) -> float:
    """Return the smaller of the standard deviation and the scaled IQR of one feature."""
    deviation, iqr, exponent = _deviation_and_iqr(x, weights)
    return math.ldexp(robust_scale(iqr, deviation), exponent)


def _deviation_and_iqr(x: Floats, weights: Floats) -> tuple[float, float, int]:
    """Return the standard deviation and the IQR of one feature, both divided by 2^exponent."""
    exponent = _exponent(x)  # so that squares neither overflow nor vanish
    x = np.ldexp(x, -exponent)
    lower, upper = _quantiles(x, weights, [0.25, 0.75])
    # The lower quartile is subtracted first. This removes a large common offset before the mean is
    # computed, and gives a deviation of exactly zero if all values are equal.
    x -= lower  # in place, because a summary of many samples needs little memory then
    x -= np.average(x, weights=weights)
    x *= x
    return math.sqrt(np.average(x, weights=weights)), upper - lower, exponent


def feature_scale(values: Floats, weights: Floats, rule: str) -> float:
    """Return the standard deviation or the interquartile range of one feature.

    Parameters
    ----------
    values : ndarray (m,)
        The feature, in any order; the order does not influence the result.
    weights : ndarray (m,)
        Frequencies, not negative, at least one of them positive.
    rule : {"std", "iqr"}
        "std" is the standard deviation (the root of the mean squared deviation from the mean).
        "iqr" is the distance between the quartiles. If that is zero, because most values are equal,
        it is 1.349 standard deviations, the interquartile range of a Gaussian.

    Returns
    -------
    float
        The scale; zero if the feature is constant.

    Examples
    --------
    >>> values, weights = np.array([0.0, 2.0, 4.0, 8.0]), np.array([1.0, 1.0, 1.0, 0.0])
    >>> feature_scale(values, weights, "iqr")
    2.0
    >>> round(feature_scale(values, weights, "std") ** 2, 12)
    2.666666666667
    """
    values, weights = _merged(*_present(values, weights))
    deviation, iqr, exponent = _deviation_and_iqr(values, weights)
    return math.ldexp(iqr_scale(iqr, deviation) if rule == "iqr" else deviation, exponent)


def standard_deviation(values: Floats, weights: Floats) -> float:
    """Return the standard deviation of one feature, block by block, because memory may be scarce.

    Parameters
    ----------
    values : ndarray (m,)
        The feature. Pass it in an order that does not depend on the order of the caller's rows, so
        that the rounding of the result does not depend on it either.
    weights : ndarray (m,)
        Frequencies, positive.

    Returns
    -------
    float
        The deviation; exactly zero if all values are equal.

    Examples
    --------
    >>> values, weights = np.array([0.0, 2.0, 4.0]), np.array([1.0, 2.0, 1.0])
    >>> round(standard_deviation(values, weights) ** 2, 12)
    2.0
    """
    exponent = _exponent(np.array([values.min(), values.max()]))
    first, total = math.ldexp(float(values[0]), -exponent), float(weights.sum())
    starts = range(0, values.size, _BLOCK)

    def moment(center: float, power: int) -> float:
        parts = ((values[i : i + _BLOCK], weights[i : i + _BLOCK]) for i in starts)
        # The first value is subtracted before the mean, as the quartile in _deviation_and_iqr is.
        terms = (w * (np.ldexp(x, -exponent) - first - center) ** power for x, w in parts)
        return math.fsum(float(term.sum()) for term in terms) / total

    return math.ldexp(math.sqrt(moment(moment(0.0, 1), 2)), exponent)


def iqr_scale(iqr: float, deviation: float) -> float:
    """Return the IQR or, if it is zero, that of a Gaussian with the given standard deviation."""
    return iqr if iqr > 0 else _GAUSSIAN_IQR * deviation


def _merged(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the distinct values in ascending order, and the total weight of each."""
    order = np.lexsort((weights, values))
    values, weights = values[order], weights[order]
    del order
    first = np.append(True, values[1:] != values[:-1])
    if first.all():
        return values, weights
    starts = np.flatnonzero(first)
    return values[starts], np.add.reduceat(weights, starts)


def robust_scale(iqr: float, deviation: float) -> float:
    """Return the smaller of a standard deviation and the IQR, scaled like a Gaussian's.

    If the IQR is zero, this is the standard deviation.
    """
    return min(deviation, iqr / _GAUSSIAN_IQR) if iqr > 0 else deviation


def _circular_deviation(x: Floats, weights: Floats, period: float) -> float:
    """Return the circular standard deviation of one feature.

    It is √(-2 ln R)·period/2π, where R is the mean resultant length.
    """
    turns = (x - x[0]) / period
    angles = 2.0 * math.pi * (turns - np.rint(turns))
    sine, cosine = (np.average(f(angles), weights=weights) for f in (np.sin, np.cos))
    # 1 - R is computed as a sum of squares, because R rounds to 1 if the data are close together.
    halves = 0.5 * (angles - math.atan2(sine, cosine))
    loss = 2.0 * float(np.average(np.sin(halves) ** 2, weights=weights))
    return circular_scale(loss, period)


def circular_scale(loss: float, period: float) -> float:
    """Return the circular standard deviation, from 1 minus the mean resultant length."""
    uniform = math.pi**2 / 3.0
    variance = min(-2.0 * math.log1p(-loss), uniform) if loss < 1.0 else uniform
    return period * (math.sqrt(variance) / (2.0 * math.pi))


def rule_bandwidth(
    rule: str, *, spread: float, total_weight: float, n_features: int, kernel: KernelFacts
) -> float:
    """Return the bandwidth of a rule of thumb.

    The rules are stated for the Gaussian kernel. Another kernel gets the bandwidth at which its
    variance along each axis equals that of the Gaussian.

    Parameters
    ----------
    rule : {"auto", "paper", "scott", "silverman"}
        "paper" and "scott" are σ̄·W^(-1/(d+4)), "auto" is half of it, "silverman" is
        σ̄·(W(d+2)/4)^(-1/(d+4)).
    spread : float
        σ̄ of the data, as from `spread`.
    total_weight : float
        W, the sum of the weights.
    n_features : int
        d.
    kernel : Kernel
        The kernel that the bandwidth is for.

    Returns
    -------
    float
        The bandwidth; 1.0 if the spread is zero, because then no scale is better than another.

    Examples
    --------
    >>> from quickshift.kernels import get_kernel
    >>> facts = dict(spread=2.0, total_weight=32.0, n_features=1)
    >>> rule_bandwidth("paper", kernel=get_kernel("gaussian"), **facts)
    1.0
    >>> round(rule_bandwidth("paper", kernel=get_kernel("epanechnikov"), **facts) ** 2, 12)
    5.0
    """
    if rule not in RULES:
        known = ", ".join(map(repr, RULES))
        raise ValueError(f"rule is {rule!r}, expected one of {known}, or a number as bandwidth.")
    if rule not in _FACTORS:
        known = ", ".join(map(repr, _FACTORS))
        raise ValueError(
            f"rule is {rule!r}, expected one of {known}: {rule!r} cannot be computed from the "
            f"spread alone. Use quickshift.stages.choose_bandwidth."
        )
    if spread == 0:
        return 1.0
    return (
        spread * _FACTORS[rule](total_weight, n_features) / math.sqrt(kernel.variance(n_features))
    )


def joint_rule(
    *, spread: float, total_weight: float, n_dimensions: int, kernel: KernelFacts
) -> float:
    """Return a rule-of-thumb bandwidth for the features or the responses of a joint density.

    Parameters
    ----------
    spread : float
        σ̄ of the features or of the responses, whichever the bandwidth is for; see `spread`.
    total_weight : float
        W, the sum of the weights.
    n_dimensions : int
        Number of features and responses together.
    kernel : Kernel
        The kernel of the joint density.

    Returns
    -------
    float
        σ̄·W^(-1/(n_dimensions + 4)) for the Gaussian kernel. For another kernel, the bandwidth at
        which its variance along each axis equals that of the Gaussian. 1.0 if the spread is zero.

    Examples
    --------
    >>> from quickshift.kernels import get_kernel
    >>> facts = dict(total_weight=64.0, n_dimensions=2, kernel=get_kernel("gaussian"))
    >>> round(joint_rule(spread=1.0, **facts), 12), joint_rule(spread=0.0, **facts)
    (0.5, 1.0)
    """
    if spread == 0:
        return 1.0
    rate: float = total_weight ** (-1 / (n_dimensions + 4))
    return spread * rate / math.sqrt(kernel.variance(n_dimensions))


def gaussian_equivalent(bandwidth: float, kernel: KernelFacts, d: int) -> float:
    """Return the bandwidth at which a Gaussian has the same variance per axis as a given kernel.

    Parameters
    ----------
    bandwidth : float
        Bandwidth h of ``kernel``.
    kernel : Kernel
        The kernel.
    d : int
        Number of features.

    Returns
    -------
    float
        h_G. This conversion is the inverse of the one in `rule_bandwidth`.

    Examples
    --------
    >>> from quickshift.kernels import get_kernel
    >>> gaussian_equivalent(2.0, get_kernel("uniform"), 2)
    1.0
    """
    return bandwidth * math.sqrt(kernel.variance(d))


def neighbour_floor(nearest_distance: Floats, weights: Floats) -> float:
    """Return the least Gaussian bandwidth at which neighbors contribute to most densities.

    With many features the rate n^(-1/(d+4)) hardly decreases with n, while nearest neighbors are
    far away. With a smaller bandwidth, most points would have only their own contribution in their
    sum of profiles.

    Parameters
    ----------
    nearest_distance : ndarray (m,)
        Distance from each point to the nearest distinct point; inf or NaN if there is none.
    weights : ndarray (m,)
        Frequencies.

    Returns
    -------
    float
        A third of the weighted median of the finite distances; 0 if there are none.

    Examples
    --------
    >>> neighbour_floor(np.array([1.0, 3.0, 4.0]), np.ones(3))
    1.0
    """
    return _finite_quantile(nearest_distance, weights, 0.5) / 3.0


def _finite_quantile(distance: Floats, weights: Floats, q: float) -> float:
    finite = np.isfinite(distance)
    distances, counts = _present(distance[finite], weights[finite])
    return weighted_quantile(distances, counts, q) if len(distances) else 0.0


def tau_rule(h_gaussian: float, nearest_distance: Floats, weights: Floats) -> float:
    """Return the default tau: at least 1.5·h_G, enough to give nearly all points a neighbor.

    Parameters
    ----------
    h_gaussian : float
        h_G, the bandwidth of the equivalent Gaussian, see `gaussian_equivalent`.
    nearest_distance : ndarray (m,)
        Distance from each point to the nearest distinct point; inf or NaN if there is none.
    weights : ndarray (m,)
        Frequencies.

    Returns
    -------
    float
        max(1.5·h_G, 99th weighted percentile of the finite distances).

    Examples
    --------
    >>> tau_rule(2.0, np.array([1.0, 1.0, 4.0]), np.array([1.0, 1.0, 99.0]))
    4.0
    >>> tau_rule(2.0, np.array([np.inf]), np.array([1.0]))
    3.0
    """
    return max(1.5 * h_gaussian, _finite_quantile(nearest_distance, weights, 0.99))


def period_limit(kernel: KernelFacts, period: Floats | None) -> float:
    """Return the largest bandwidth that periodic features allow.

    Sums use only the nearest periodic image of each point, so a kernel must not be too wide.

    Parameters
    ----------
    kernel : Kernel
        The kernel. The support of a compact kernel may extend to half a period; the bandwidth of an
        infinite kernel may be at most a quarter of a period.
    period : ndarray (d,) or None
        Period of each feature, inf for a feature that is not periodic.

    Returns
    -------
    float
        The limit that the shortest period sets; inf if no feature is periodic.

    Examples
    --------
    >>> from quickshift.kernels import get_kernel
    >>> period_limit(get_kernel("epanechnikov"), np.array([np.inf, 24.0, 360.0]))
    12.0
    >>> period_limit(get_kernel("gaussian"), np.array([np.inf, 24.0, 360.0]))
    6.0
    """
    shortest = math.inf if period is None else float(np.min(period))
    if kernel.infinite:
        return shortest / 4.0
    limit = shortest / 2.0 / kernel.support
    # The quotient may round up, but a bandwidth equal to the limit must be admissible.
    return limit if limit * kernel.support <= shortest / 2.0 else math.nextafter(limit, 0.0)
