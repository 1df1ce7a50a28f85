"""Checks of the parameters of density estimates, parent graphs and cuts."""

import math
from typing import Any

import numpy as np

from quickshift.arrays import Floats, Indices, packed
from quickshift.checks.numbers import (
    as_array,
    check_choice,
    check_count,
    check_nonnegative,
    check_real,
    check_tau,
    check_whole,
    n_axes,
    shown,
)

__all__ = [
    "check_bandwidth_underflow",
    "check_cut",
    "check_frequencies",
    "check_local",
    "check_min_cluster_size",
    "check_min_significance",
    "check_n_neighbors",
    "check_n_trees",
    "check_one_cut",
    "check_relative_lengths",
    "check_rtol",
    "check_scale_underflow",
    "check_taus",
    "check_ties",
]

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


def check_scale_underflow(heights: Floats) -> None:
    """Raise if most local scales, the negative heights, have underflowed."""
    smallest = float(np.finfo(np.float64).tiny)
    if np.count_nonzero(heights >= -smallest) > heights.size / 2:
        raise ValueError(
            f"most samples have a mean distance to their neighbors that underflows to less than "
            f"{smallest:.2g}, expected distances that differ. If X has an extremely large "
            f"value, such as 1e300 in place of a missing one, drop that row; otherwise rescale the "
            f"features."
        )


def check_ties(ties: Any) -> str:
    """Return the rule for samples of equal height, "total" or "strict"."""
    return check_choice(ties, "ties", TIES)


def check_taus(
    tau: Any, n: int, what: str = "sample", ignored: Indices | None = None
) -> float | Floats:
    """Return one length of at least 0, or one per sample (or query) as an array.

    NaN is allowed in the ignored rows, which have weight zero.
    """
    if n_axes(tau) == 0:
        return check_tau(tau)
    given = as_array(tau)
    expected = f"one length, or an array of shape ({n},) with one length per {what}"
    if given.dtype.kind not in "fiu":
        raise TypeError(f"tau has entries of type {given.dtype}, expected {expected}.")
    if given.shape != (n,):
        raise ValueError(f"tau has shape {given.shape}, expected {expected}.")
    lengths = packed(given, dtype=np.float64)
    wrong = ~(lengths >= 0)
    if ignored is not None:
        wrong[ignored] = False
    if wrong.any():
        raise ValueError("tau has negative or NaN entries, expected lengths of at least 0.")
    return lengths


def check_relative_lengths(lengths: Any, n: int, ignored: Indices) -> Floats:
    """Return one finite length of at least 0 per sample; NaN is allowed in the ignored rows."""
    given = as_array(lengths)
    expected = f"an array of shape ({n},) with one finite length of at least 0 per sample"
    if given.shape != (n,) or given.dtype.kind not in "fiu":
        raise ValueError(f"relative_to is {shown(lengths)}, expected {expected}.")
    array = packed(given, dtype=np.float64)
    wrong = ~((array >= 0) & (array < np.inf))
    wrong[ignored] = False
    if wrong.any():
        raise ValueError(
            f"relative_to has the entry {float(array[wrong][0])!r}, expected {expected}."
        )
    return array


def check_local(kernel: str, n_neighbors: Any, *, local: bool) -> None:
    """Raise if parameters are given that the chosen kind of density does not have."""
    if local and kernel != "gaussian":
        raise ValueError(
            f"kernel is {kernel!r} but bandwidth is 'local', which uses distances to neighbors "
            f"instead of a kernel. Give a bandwidth too, for example bandwidth='auto', or leave "
            f"kernel out."
        )
    if not local and not (isinstance(n_neighbors, str) and n_neighbors == "auto"):
        raise ValueError(
            f"n_neighbors is {n_neighbors!r}, which only bandwidth='local' uses. Leave n_neighbors "
            f"out, or leave bandwidth out."
        )


def check_frequencies(total_weight: float, n_rows: int) -> None:
    """Raise if weights cannot be frequencies: their sum is below 8 for more than eight rows.

    Rows of weight zero do not count.
    """
    if total_weight < 8 < n_rows:
        raise ValueError(
            f"sample_weight has the sum {total_weight:g} for {n_rows} rows of positive weight, "
            f"expected frequencies: a weight of 2 counts a row twice. Multiply the weights by a "
            f"constant, for example so that they sum to (Σw)² / Σw²."
        )


def check_n_neighbors(n_neighbors: Any, total_weight: float) -> int | None:
    """Return the given number of neighbors, or None for "auto"."""
    if isinstance(n_neighbors, str):
        check_choice(n_neighbors, "n_neighbors", ("auto",), "a whole number or ")
        return None
    most = max(math.floor(total_weight) - 1, 1)
    expected = f"a whole number from 1 to {most}, the total weight of other samples, or 'auto'"
    number = check_whole(n_neighbors, "n_neighbors", expected=expected)
    if not 1 <= number <= most:
        raise ValueError(f"n_neighbors is {n_neighbors!r}, expected {expected}.")
    return number


def check_min_cluster_size(min_cluster_size: Any) -> float:
    """Return the least total weight of a cluster."""
    expected = "a finite number of at least 1, where 1 keeps clusters of any size"
    return check_real(min_cluster_size, "min_cluster_size", expected, 1, closed="left")


def check_one_cut(given: dict[str, Any]) -> str:
    """Return the name of the only parameter of a recut that is not None."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        came = " and ".join(f"{name}={shown(given[name])}" for name in names) or "no parameter"
        raise ValueError(
            f"recut was called with {came}, expected exactly one of {', '.join(given)}. To combine "
            f"them, call recut on the result of recut."
        )
    return names[0]


def check_min_significance(min_significance: Any, tau: Any, n_clusters: Any) -> float | None:
    """Return the given least significance, or None for "auto".

    Raises if ``tau`` or ``n_clusters`` is given as well, because then nothing else is merged.
    """
    if isinstance(min_significance, str):
        check_choice(min_significance, "min_significance", ("auto",), "a number or ")
        return None
    expected = "a number of at least 0, or 'auto'"
    least = check_nonnegative(min_significance, "min_significance", expected)
    if n_clusters is not None or not isinstance(tau, str):
        name, value = ("n_clusters", n_clusters) if n_clusters is not None else ("tau", tau)
        raise ValueError(
            f"min_significance is {min_significance!r} and {name} is {value!r}, expected at most "
            f"one of them, because each decides which modes stay. Leave one of them out."
        )
    return least


def check_cut(tau: Any, n_clusters: Any, n_samples: int) -> float | None:
    """Return the given tau, or None if a rule or the number of clusters decides the cut.

    Raises if both ``tau`` and ``n_clusters`` are given, because each of them decides the cut.
    """
    if isinstance(tau, str):
        check_choice(tau, "tau", ("auto",), "a length of at least 0 or ")
        length = None
    else:
        length = check_tau(tau, " or 'auto'")
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
