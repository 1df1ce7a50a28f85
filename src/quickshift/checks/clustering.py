"""Checks of the parameters of density estimates, parent graphs and cuts."""

import math
from typing import Any

from numpy.typing import ArrayLike

from quickshift.arrays import Floats
from quickshift.checks.numbers import check_choice, check_count, check_real, check_tau
from quickshift.checks.points import check_period

__all__ = [
    "check_bandwidth_underflow",
    "check_cut",
    "check_metric",
    "check_n_trees",
    "check_rtol",
    "check_ties",
]

METRICS = ("euclidean", "periodic")
TIES = ("total", "strict")
# The smallest bandwidth, as a share of the largest coordinate: squared shares do not underflow.
_SMALLEST_SHARE = math.ldexp(1.0, -400)


def check_rtol(rtol: Any) -> float:
    """Return a relative error of at least 0 and below 1."""
    return check_real(rtol, "rtol", "a relative error from 0 to below 1", 0, 1, closed="left")


def check_bandwidth_underflow(bandwidth: float, exponent: int) -> None:
    """Raise if the bandwidth is so small that squared distances would underflow.

    Coordinates are divided by 2^exponent, which brings the largest of them into [1, 2). The
    bandwidth is divided by the same number before it is squared.
    """
    if math.frexp(bandwidth)[1] < exponent - 400:
        raise ValueError(
            f"bandwidth is {bandwidth!r}, expected at least {_SMALLEST_SHARE!r} times the largest "
            f"coordinate: squared distances would underflow to 0. Use a larger bandwidth, or "
            f"rescale the features."
        )


def check_ties(ties: Any) -> str:
    """Return the rule for samples of equal height, "total" or "strict"."""
    return check_choice(ties, "ties", TIES)


def check_cut(tau: Any, n_clusters: Any, n_samples: int) -> float | None:
    """Return the given tau, or None if a rule or the number of clusters decides the cut.

    Raises if both ``tau`` and ``n_clusters`` are given, because each of them decides the cut.
    """
    if isinstance(tau, str):
        check_choice(tau, "tau", ("auto",), "a length of at least 0 or ")
        length = None
    else:
        length = check_tau(tau)
    if n_clusters is None:
        return length
    check_count(n_clusters, "n_clusters", n_samples)
    if length is not None:
        raise ValueError(
            f"n_clusters is {n_clusters!r} and tau is {tau!r}, expected at most one of them, "
            f"because each decides the cut. Leave tau at 'auto', or leave n_clusters out."
        )
    return None


def check_n_trees(n_clusters: int, n_trees: int) -> None:
    """Raise if fewer clusters are requested than the parent graph has trees.

    No edge joins two trees, so no cut has fewer clusters.
    """
    if n_clusters < n_trees:
        raise ValueError(
            f"n_clusters is {n_clusters}, expected at least {n_trees}: with ties='strict', "
            f"{n_trees} samples have no higher sample. Use ties='total'."
        )


def check_metric(metric: Any, period: ArrayLike | None, n_features: int) -> Floats | None:
    """Return one period per feature, or None for plain Euclidean distances."""
    check_choice(metric, "metric", METRICS)
    if metric == "euclidean":
        if period is not None:
            raise ValueError(
                f"period is {period!r} but metric is 'euclidean', which has no period. Set "
                f"metric='periodic', or leave period out."
            )
        return None
    if period is None:
        raise ValueError(
            "period is None but metric is 'periodic'. Give one length for each feature "
            "(numpy.inf for a feature that is not periodic)."
        )
    return check_period(period, n_features)
