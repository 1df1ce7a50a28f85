"""Checks of the arguments of modal regression."""

import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats
from quickshift.checks.numbers import check_bandwidth, check_real, n_axes, shown
from quickshift.checks.points import check_numbers, check_points, refuse_masked_or_dates
from quickshift.kernels import Kernel

_LARGEST = sys.float_info.max

__all__ = [
    "check_bandwidth_pair",
    "check_coverage",
    "check_coverages",
    "check_grid",
    "check_min_density_ratio",
    "check_n_outputs",
    "check_one_output",
    "check_queried_responses",
    "check_response_given",
    "check_response_shape",
    "check_rule_serves_outputs",
    "check_scores",
]


def check_min_density_ratio(min_density_ratio: Any) -> float:
    """Return ``min_density_ratio`` as a float, from 0 to 1."""
    expected = "a share of the highest mode's density, from 0 to 1"
    return check_real(min_density_ratio, "min_density_ratio", expected, 0, 1)


def check_coverage(coverage: Any) -> float:
    """Return ``coverage`` as a float, strictly between 0 and 1."""
    expected = "a share of new responses, above 0 and below 1"
    return check_real(coverage, "coverage", expected, 0, 1, closed="neither")


def check_coverages(coverages: Any) -> list[float]:
    """Return several coverages as floats, each strictly between 0 and 1."""
    if isinstance(coverages, str) or n_axes(coverages) != 1 or len(coverages) == 0:
        raise TypeError(
            f"coverage is {coverages!r}, expected a share of new responses, above 0 and below 1, "
            f"or a list of such shares, as in coverage=[0.5, 0.9]."
        )
    return [check_coverage(coverage) for coverage in coverages]


def check_bandwidth_pair(
    bandwidth: Any, kernel: Kernel, period: Floats | None
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the bandwidths (h_x, h_y), and the numbers by which X and y are to be divided.

    The divisors are (h_x, h_y) if a pair of bandwidths was given, and (1, 1) if a single bandwidth
    was given for both X and y.
    """
    single = n_axes(bandwidth) == 0
    pair = (bandwidth, bandwidth) if single else tuple(bandwidth)
    valid = all(_is_bandwidth(h) for h in pair)
    if len(pair) != 2 or not valid:
        raise ValueError(
            f"bandwidth is {shown(bandwidth)}, expected a positive number, or a pair of them: one "
            f"for X and one for y. ModalRegressor(bandwidth='auto') chooses both from the data."
        )
    h_x, h_y = float(pair[0]), float(pair[1])
    if period is not None:
        check_bandwidth(h_x, kernel, period)
    return (h_x, h_y), ((1.0, 1.0) if single else (h_x, h_y))


def _is_bandwidth(value: Any) -> bool:
    if isinstance(value, np.integer | np.floating):
        value = value.item()
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _LARGEST


def check_grid(grid: ArrayLike, n_queries: int | None = None) -> Floats:
    """Return a grid of strictly increasing, finite x, shape (m,), float64.

    If ``n_queries`` is given, m must be equal to it: modes were found at that many queries, and the
    grid has one x for each of them.
    """
    refuse_masked_or_dates(grid, "grid")
    # A ragged list becomes an array of objects, so that the checks below can describe it.
    column = grid if hasattr(grid, "ndim") else np.array(grid, dtype=object)
    shape = np.shape(column)
    n = n_queries if n_queries is not None else (shape[0] if shape else 1)
    if shape not in {(n,), (n, 1)}:
        lengths = "(m,) or (m, 1)" if n_queries is None else f"({n},) or ({n}, 1)"
        raise ValueError(
            f"grid has shape {shape}, expected {lengths}: one x per query. Pass the x at "
            f"which the modes were found."
        )
    x: Floats = check_points(np.asarray(column).reshape(-1, 1), "grid")[:, 0].astype(np.float64)
    falls = np.flatnonzero(np.diff(x) <= 0)
    if falls.size:
        i = int(falls[0])
        raise ValueError(
            f"grid has {float(x[i + 1])!r} after {float(x[i])!r} at position {i + 1}, expected "
            f"increasing numbers. Find the modes at numpy.unique(grid)."
        )
    return x


def check_one_output(values: Floats) -> None:
    """Raise if modes have several outputs, because curves are defined for a single output."""
    if values.ndim != 1:
        raise ValueError(
            f"modes has values of shape {values.shape}, expected (k,): curves are defined for "
            f"one output. Find the modes of each output separately."
        )


def check_n_outputs(responses: Floats, n_outputs: int) -> Floats:
    """Return the responses if they have ``n_outputs`` columns, and raise otherwise."""
    columns = 1 if responses.ndim == 1 else responses.shape[1]
    if columns != n_outputs:
        raise ValueError(
            f"y has {columns} columns, expected {n_outputs} as in fit. Pass the same columns in "
            f"the same order."
        )
    return responses


def check_response_given(y: Any) -> None:
    """Raise if there is no response, in the words that scikit-learn expects."""
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None: modal regression needs one "
            "response per row of X."
        )


def check_response_shape(responses: Floats, expected: tuple[int, ...]) -> None:
    """Raise if responses do not have the shape of a prediction set: queries, then outputs."""
    if responses.shape != expected:
        raise ValueError(
            f"y has shape {responses.shape}, expected {expected}: one response per query, with the "
            f"outputs of this set."
        )


def check_scores(scores: Any, weights: Any) -> tuple[Floats, Floats]:
    """Return nonconformity scores and their weights, shape (n,) each; there may be none."""
    found, given = (
        check_numbers(scores, "scores", "(n,)"),
        check_numbers(weights, "weights", "(n,)"),
    )
    if found.ndim != 1 or given.shape != found.shape:
        raise ValueError(
            f"scores has shape {found.shape} and weights {given.shape}, expected (n,) for both: "
            f"one weight per score. Pass numpy.ones(len(scores)) for equal weights."
        )
    return found.astype(np.float64), given.astype(np.float64)


def check_queried_responses(y: Any, n_queries: int) -> Floats:
    """Return the responses of queries, one row for each."""
    responses = check_numbers(y, "y", "(n_queries,)")
    if responses.ndim not in (1, 2) or len(responses) != n_queries:
        raise ValueError(
            f"y has shape {responses.shape}, expected one response for each of the {n_queries} "
            f"queries. Pass the responses of the queries at which the modes were found."
        )
    return responses.astype(np.float64)


def check_rule_serves_outputs(responses: Floats) -> None:
    """Raise if the rule "prediction_set" is used with several outputs."""
    if responses.ndim > 1:
        raise ValueError(
            f"bandwidth is 'prediction_set', which compares lengths of intervals, but y has "
            f"{responses.shape[1]} columns. Use 'auto' or 'cv', or regress one column at a time."
        )
