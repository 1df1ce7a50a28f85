"""Checks of the parameters of density estimates, parent graphs and cuts."""

import math
from typing import Any

from numpy.typing import ArrayLike

from quickshift.arrays import Floats
from quickshift.checks.numbers import check_choice, check_count, check_real, check_tau
from quickshift.checks.points import check_period

__all__ = [
    "check_above_rounding",
    "check_cut",
    "check_metric",
    "check_n_trees",
    "check_rtol",
    "check_ties",
]

METRICS = ("euclidean", "periodic")
TIES = ("total", "strict")
_SMALLEST_SHARE = math.ldexp(1.0, -400)  # of the largest coordinate: its square does not underflow


def check_rtol(rtol: Any) -> float:
    """Return a relative error from 0 to below 1."""
    expected = "a relative error from 0 to below 1"
    tolerance = check_real(rtol, "rtol", expected)
    if not 0 <= tolerance < 1:
        raise ValueError(f"rtol is {rtol!r}, expected {expected}.")
    return tolerance


def check_above_rounding(bandwidth: float, exponent: int) -> None:
    """Raise if squared distances of a bandwidth would underflow relative to 2^exponent."""
    if math.frexp(bandwidth)[1] < exponent - 400:
        raise ValueError(
            f"bandwidth is {bandwidth!r}, expected at least {_SMALLEST_SHARE!r} of the largest "
            f"coordinate: squared distances would underflow to 0. Use a larger bandwidth, or "
            f"rescale the features."
        )


def check_ties(ties: Any) -> bool:
    """Return whether ties are strict."""
    return check_choice(ties, "ties", TIES) == "strict"


def check_cut(tau: Any, n_clusters: Any, n_samples: int) -> float | None:
    """Return the given tau, or None if a rule chooses it; check the number of clusters with it."""
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
            f"n_clusters is {n_clusters!r} and tau is {tau!r}, but each of them decides the cut. "
            f"Leave tau at 'auto' to get a number of clusters, or drop n_clusters."
        )
    return None


def check_n_trees(n_clusters: int, n_trees: int) -> None:
    """Raise if fewer clusters are wanted than there are trees without an edge between them."""
    if n_clusters < n_trees:
        raise ValueError(
            f"n_clusters is {n_clusters}, expected at least {n_trees}: with ties='strict', that "
            f"many samples have no higher one. Use ties='total'."
        )


def check_metric(metric: Any, period: ArrayLike | None, n_features: int) -> Floats | None:
    """Return the periods of the features, None for plain Euclidean distances."""
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
