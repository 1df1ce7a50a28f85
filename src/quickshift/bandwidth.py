"""Formulas for the bandwidth and tau that users do not give.

Pure functions of plain arrays. Weights are frequencies throughout: an integer weight is that
many copies of the point, so the sample size in every rule is the total weight W.
Rules that need the density itself, such as cross-validation, live in the stages.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol

import numpy as np

from quickshift.arrays import Floats

__all__ = [
    "RULES",
    "gaussian_equivalent",
    "joint_rule",
    "neighbour_floor",
    "period_limit",
    "rule_bandwidth",
    "spread",
    "tau_rule",
    "weighted_quantile",
]

# Factor of the spread, from the total weight and the number of features.
_FACTORS: Mapping[str, Callable[[float, int], float]] = MappingProxyType(
    {
        "auto": lambda W, d: 0.5 * W ** (-1 / (d + 4)),
        "paper": lambda W, d: W ** (-1 / (d + 4)),
        "scott": lambda W, d: W ** (-1 / (d + 4)),
        "silverman": lambda W, d: (W * (d + 2) / 4) ** (-1 / (d + 4)),
    }
)

RULES = (*_FACTORS, "cv")

# IQR of a Gaussian in standard deviations.
_GAUSSIAN_IQR = 1.349


class KernelFacts(Protocol):
    """The facts of a `quickshift.kernels.Kernel` that the formulas use."""

    @property
    def support(self) -> float: ...

    @property
    def infinite(self) -> bool: ...

    def variance(self, d: int, /) -> float: ...


def weighted_quantile(values: Floats, weights: Floats, q: float) -> float:
    """Quantile of a weighted sample, by linear interpolation.

    Parameters
    ----------
    values : ndarray (m,)
        The sample, in any order.
    weights : ndarray (m,)
        Frequencies, not negative, at least one positive. They need not be whole numbers, but
        they are counts: a total weight of at most one is a single observation, the lowest.
    q : float
        Between 0 and 1.

    Returns
    -------
    float
        ``np.quantile(np.repeat(values, weights), q)`` wherever the weights are whole numbers.

    Examples
    --------
    >>> weighted_quantile(np.array([1.0, 5.0]), np.array([3.0, 1.0]), 0.75)
    2.0
    >>> float(np.quantile([1.0, 1.0, 1.0, 5.0], 0.75))
    2.0
    """
    return _quantiles(*_present(values, weights), [q])[0]


def _present(rows: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Rows of positive weight, and their weights."""
    present = weights > 0
    return (rows, weights) if present.all() else (rows[present], weights[present])


def _quantiles(values: Floats, weights: Floats, shares: list[float]) -> list[float]:
    positions = np.maximum(np.multiply(shares, weights.sum() - 1.0), 0.0)
    below = np.floor(positions)
    low, high = _order_statistics(values, weights, np.stack([below, below + 1.0]))
    # From the nearer end, as numpy does: repetition then agrees to the last bit.
    part, step = positions - below, high - low
    result = np.where(part < 0.5, low + step * part, high - step * (1.0 - part))
    return [float(x) for x in result]


def _order_statistics(values: Floats, weights: Floats, ranks: Floats) -> Floats:
    """Value at each rank, counted from zero, of the sample with every value repeated."""
    last = len(values) - 1
    if (weights == 1.0).all():  # selection, which spares the sort
        places = np.minimum(ranks, last).astype(np.intp)
        return np.partition(values, np.unique(places))[places]
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return values[order[np.minimum(np.searchsorted(reached, ranks, side="right"), last)]]


def spread(
    points: Floats,
    weights: Floats,
    period: Floats | None = None,
) -> float:
    """Typical scale of the data, σ̄, which one far outlier does not move.

    The mean over features of min(standard deviation, IQR / 1.349), or of the standard deviation
    where the IQR is zero. A periodic feature counts with its circular standard deviation, at most
    that of a uniform distribution over the period.

    Parameters
    ----------
    points : ndarray (m, d)
        Sample, in an order that does not depend on the caller's rows.
    weights : ndarray (m,)
        Frequencies, not negative, at least one positive.
    period : ndarray (d,), optional
        Length of each periodic feature, inf for an open one.

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
    exponent = _exponent(scales)
    return math.ldexp(float(np.ldexp(scales, -exponent).mean()), exponent)


def _exponent(x: Floats) -> int:
    """Power of two that scales x into [-1, 1] without rounding."""
    return int(np.frexp(np.abs(x).max())[1])


def _robust(x: Floats, weights: Floats) -> float:
    """Smaller of the standard deviation and the scaled IQR of one feature."""
    exponent = _exponent(x)  # so that squares neither overflow nor vanish
    x = np.ldexp(x, -exponent)
    lower, upper = _quantiles(x, weights, [0.25, 0.75])
    # Starting from a value among the data keeps a large common offset out of the mean, and
    # leaves an exact zero where all values are equal.
    shifted = x - lower
    deviations = shifted - np.average(shifted, weights=weights)
    deviation = math.sqrt(np.average(deviations**2, weights=weights))
    iqr = (upper - lower) / _GAUSSIAN_IQR
    return math.ldexp(min(deviation, iqr) if iqr > 0 else deviation, exponent)


def _circular_deviation(x: Floats, weights: Floats, period: float) -> float:
    """Circular standard deviation √(-2 ln R)·period/2π of one feature, R the mean resultant."""
    turns = (x - x[0]) / period
    angles = 2.0 * math.pi * (turns - np.rint(turns))
    sine, cosine = (np.average(f(angles), weights=weights) for f in (np.sin, np.cos))
    # 1 - R as a sum of squares: R itself is rounded to 1 where the data lie close together.
    halves = 0.5 * (angles - math.atan2(sine, cosine))
    loss = 2.0 * float(np.average(np.sin(halves) ** 2, weights=weights))
    uniform = math.pi**2 / 3.0
    variance = min(-2.0 * math.log1p(-loss), uniform) if loss < 1.0 else uniform
    return period * (math.sqrt(variance) / (2.0 * math.pi))


def rule_bandwidth(
    rule: str, *, spread: float, total_weight: float, n_features: int, kernel: KernelFacts
) -> float:
    """Bandwidth by a rule of thumb.

    The rules are made for the Gaussian; another kernel gets the bandwidth at which its variance
    along each axis is that of the Gaussian.

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
        The bandwidth; 1.0 if the spread is zero, where no scale is better than another.

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
        raise ValueError(f"unknown bandwidth rule {rule!r}. Give a number or one of {known}.")
    if rule not in _FACTORS:
        raise ValueError(f"{rule!r} is no formula of the spread: it has to look at the data.")
    if spread == 0:
        return 1.0
    return (
        spread * _FACTORS[rule](total_weight, n_features) / math.sqrt(kernel.variance(n_features))
    )


def joint_rule(
    *, spread: float, total_weight: float, n_dimensions: int, kernel: KernelFacts
) -> float:
    """Bandwidth of features or responses for the density of both, by a rule of thumb.

    Parameters
    ----------
    spread : float
        σ̄ of the columns, as from `spread`.
    total_weight : float
        W, the sum of the weights.
    n_dimensions : int
        Number of features and responses together.
    kernel : Kernel
        The kernel, over all of them.

    Returns
    -------
    float
        σ̄·W^(-1/(n_dimensions + 4)), for another kernel that of the Gaussian's variance along each
        axis; 1.0 if the spread is zero.

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
    """Bandwidth of the Gaussian with the same variance along each axis.

    Parameters
    ----------
    bandwidth : float
        h of `kernel`.
    kernel : Kernel
        The kernel that it belongs to.
    d : int
        Number of features.

    Returns
    -------
    float
        h_G, the inverse of the conversion in `rule_bandwidth`.

    Examples
    --------
    >>> from quickshift.kernels import get_kernel
    >>> gaussian_equivalent(2.0, get_kernel("uniform"), 2)
    1.0
    """
    return bandwidth * math.sqrt(kernel.variance(d))


def neighbour_floor(nearest_distance: Floats, weights: Floats) -> float:
    """Least Gaussian bandwidth at which most points have a neighbour that counts.

    With many features the rate n^(-1/(d+4)) hardly falls, while the nearest neighbours are far
    away: sums of profiles would hold nothing but each point's own.

    Parameters
    ----------
    nearest_distance : ndarray (m,)
        Distance from each point to the nearest one elsewhere; inf (or NaN) where there is none.
    weights : ndarray (m,)
        Frequencies.

    Returns
    -------
    float
        A third of the weighted median of the finite distances; 0 where there are none.

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
    """Cut length: 1.5·h_G, but long enough for nearly every point to reach a neighbour.

    Parameters
    ----------
    h_gaussian : float
        Bandwidth in terms of the Gaussian.
    nearest_distance : ndarray (m,)
        Distance from each point to the nearest one elsewhere; inf (or NaN) where there is none.
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
    """Largest bandwidth at which a kernel meets only the nearest image of a point.

    Parameters
    ----------
    kernel : Kernel
        Compact ones may reach half a period, infinite ones may have a bandwidth of a quarter.
    period : ndarray (d,) or None
        Length of each periodic feature, inf for an open one.

    Returns
    -------
    float
        The limit of the shortest period; inf if no feature is periodic.

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
    # The quotient may round up; a bandwidth at the limit has to be admissible.
    return limit if limit * kernel.support <= shortest / 2.0 else math.nextafter(limit, 0.0)
