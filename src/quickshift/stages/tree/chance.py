"""Chance: the significance that spurious modes of a single Gaussian rarely exceed."""

import math
from collections.abc import Mapping

import numpy as np

from quickshift.checks.numbers import check_nonnegative, check_positive, check_real
from quickshift.kernels import get_kernel
from quickshift.stages.tree.chance_tables import GLOBAL, LOCAL, Table

__all__ = ["chance_significance", "per_drop"]

_SPARE = 1.05  # factor on the table of a global bandwidth, about its sampling error
_SPARE_PER_DECADE = 0.1  # share of a threshold, beyond the largest number of samples in its row
_LEAST = 0.2  # lower limit of the threshold of a global bandwidth, where the table is close to 0
# With more features than this, the table of a global bandwidth describes the Gaussian kernel only;
# other kernels keep the threshold for this number of features.
_MOST_FOR_ANY_KERNEL = 20
_MOST_LOG = 600.0  # keeps significances finite with thousands of features


def chance_significance(
    total_weight: float,
    n_features: int,
    *,
    scale: float | None = None,
    kernel: str = "gaussian",
) -> float:
    """Return the significance that chance rarely exceeds in data with a single mode.

    Parameters
    ----------
    total_weight : float
        Number of samples, or the sum of their weights.
    n_features : int
        Number of features.
    scale : float, optional
        Scale of the local bandwidth, usually 1, 2 or 4. None is for a global bandwidth.
    kernel : str
        Kernel of a global bandwidth. It matters only with more than 20 features, where kernels
        other than the Gaussian keep the value for 20 features.

    Returns
    -------
    float
        The threshold. In most samples of a single Gaussian, every mode except the highest is less
        significant than this: in about 99 % of the samples, where the scales 1, 2 and 4 of local
        scale are counted together. With local scale and up to ten features, the same is true of
        most samples of a uniform cube. For a global bandwidth, the simulated threshold is raised by
        5 %, and it is at least 0.2.

        Thresholds are interpolated in a table of simulations, linearly in the logarithms of the
        arguments. Beyond the largest number of samples, number of features or scale in the table,
        the last slope is continued if it is positive; otherwise the last entry is used. There are
        more samples in the table for few features than for many. Beyond the last number of samples,
        a threshold grows at least as much, relatively, as that for the next smaller number of
        features in the table, and then by another 10 % for every factor of ten.

    Examples
    --------
    >>> chance_significance(1000, 2) < chance_significance(100_000, 2) < 3
    True
    >>> chance_significance(3, 1) == chance_significance(8, 1)
    True
    """
    total_weight = check_nonnegative(total_weight, "total_weight")
    features = check_real(n_features, "n_features", "a number of at least 1", 1)
    kernel = get_kernel(kernel).name
    if scale is None:
        d = features if kernel == "gaussian" else min(features, _MOST_FOR_ANY_KERNEL)
        log_unit = -0.5 * d * math.log(2.0)  # of the Gaussian kernel
        drop = _SPARE * _interpolated(GLOBAL, total_weight, d)
        return max(drop * per_drop(log_unit), _LEAST)
    return chance_by_scale(total_weight, features, check_positive(scale, "scale"))


def chance_by_scale(total_weight: float, n_features: float, scale: float) -> float:
    """Return the significance due to chance under local scale, from checked arguments."""
    by_scale = {s: _interpolated(table, total_weight, n_features) for s, table in LOCAL.items()}
    return _along(scale, by_scale) * math.sqrt(n_features)


def per_drop(log_unit: float) -> float:
    """Return the factor that turns a drop of the log density into standard errors.

    The argument is log(∫K² / K(0)); for the Gaussian kernel, the result is 2^(d/4). It is limited,
    because it would overflow with thousands of features.
    """
    return math.exp(min(-0.5 * log_unit, _MOST_LOG))


def _interpolated(table: Table, n: float, d: float) -> float:
    """Interpolate in a table, first each row at a number of samples, then between the rows.

    Beyond its last entry, a row grows at least by the factor by which the row above it grows.
    """
    n = max(n, 1.0)
    rows: dict[int, float] = {}
    above: int | None = None
    for features, row in table.items():
        rows[features], last = _along(n, row), max(row)
        if n > last and above is not None:
            growth = rows[above] / _along(last, table[above])
            rows[features] = max(rows[features], row[last] * growth)
        above = features
    return _along(d, {k: value * _spare_beyond(n / max(table[k])) for k, value in rows.items()})


def _spare_beyond(ratio: float) -> float:
    """Return the factor on a threshold at this multiple of the last number of samples."""
    return 1.0 + _SPARE_PER_DECADE * max(math.log10(ratio), 0.0)


def _along(x: float, entries: Mapping[int, float]) -> float:
    """Interpolate entries linearly in the logarithm of x.

    Beyond the last entry, the last slope is continued unless it falls.
    """
    knots, values = np.log(list(entries)), list(entries.values())
    inside, beyond = float(np.interp(math.log(x), knots, values)), math.log(x) - float(knots[-1])
    if beyond <= 0 or len(knots) == 1:
        return inside
    slope = float((values[-1] - values[-2]) / (knots[-1] - knots[-2]))
    return inside + max(slope, 0.0) * beyond
