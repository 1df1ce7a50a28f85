"""Checks of the arguments of modal regression: shares, pairs of bandwidths, grids, outputs."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats
from quickshift.checks.numbers import check_bandwidth, check_real
from quickshift.checks.points import check_points, refuse_lossy
from quickshift.kernels import Kernel

__all__ = [
    "check_coverage",
    "check_grid",
    "check_one_output",
    "check_outputs",
    "check_pair",
    "check_ratio",
]


def check_ratio(min_density_ratio: Any) -> float:
    """Return ``min_density_ratio`` as a float, from 0 to 1."""
    expected = "a share of the highest mode's density, from 0 to 1"
    ratio = check_real(min_density_ratio, "min_density_ratio", expected)
    if not 0 <= ratio <= 1:
        raise ValueError(f"min_density_ratio is {min_density_ratio!r}, expected {expected}.")
    return ratio


def check_coverage(coverage: Any) -> float:
    """Return ``coverage`` as a float, strictly between 0 and 1."""
    expected = "a share of new responses, above 0 and below 1"
    share = check_real(coverage, "coverage", expected)
    if not 0 < share < 1:
        raise ValueError(f"coverage is {coverage!r}, expected {expected}.")
    return share


def check_pair(
    bandwidth: Any, kernel: Kernel, period: Floats | None
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the bandwidths (h_x, h_y), and the numbers that X and y have to be divided by.

    The divisors are (1, 1) if one bandwidth was given for x and y together, (h_x, h_y) if a pair
    was given.
    """
    single = np.ndim(bandwidth) == 0
    pair = (bandwidth, bandwidth) if single else tuple(bandwidth)
    valid = all(isinstance(h, int | float | np.number) and 0 < h < math.inf for h in pair)
    if len(pair) != 2 or not valid or any(isinstance(h, bool) for h in pair):
        raise ValueError(
            f"bandwidth is {bandwidth!r}, expected a positive number, or a pair of them: one for X "
            f"and one for y (estimators also take a rule such as 'auto')."
        )
    h_x, h_y = float(pair[0]), float(pair[1])
    if period is not None:
        check_bandwidth(h_x, kernel, period)
    return (h_x, h_y), ((1.0, 1.0) if single else (h_x, h_y))


def check_grid(grid: ArrayLike, n_queries: int | None = None) -> Floats:
    """Return a grid of increasing, finite x as a float64 array of one dimension.

    ``n_queries`` is the number of queries whose modes are to be followed, if it is known; the grid
    must have one x for each of them.
    """
    refuse_lossy(grid, "grid")
    # A ragged list becomes an array of objects, so that the checks below can describe it.
    column = grid if hasattr(grid, "ndim") else np.array(grid, dtype=object)
    shape = np.shape(column)
    n = n_queries if n_queries is not None else (shape[0] if shape else 1)
    if shape not in {(n,), (n, 1)}:
        lengths = "(m,) or (m, 1)" if n_queries is None else f"({n},) or ({n}, 1)"
        raise ValueError(
            f"grid has shape {shape}, expected {lengths}: one x for each query of the modes. Pass "
            f"the grid that the modes were found at."
        )
    x: Floats = check_points(np.asarray(column).reshape(-1, 1), "grid")[:, 0].astype(np.float64)
    falls = np.flatnonzero(np.diff(x) <= 0)
    if falls.size:
        i = int(falls[0])
        raise ValueError(
            f"grid has {float(x[i + 1])!r} after {float(x[i])!r} at position {i + 1}, expected "
            f"rising numbers. Find the modes at numpy.unique(grid)."
        )
    return x


def check_one_output(values: Floats) -> None:
    """Raise if modes have several outputs, which cannot be followed as curves."""
    if values.ndim != 1:
        raise ValueError(
            f"modes has values of shape {values.shape}, expected (k,): curves are drawn for one "
            f"output. Find the modes of each output by itself."
        )


def check_outputs(responses: Floats, n_outputs: int) -> Floats:
    """Return checked responses if they have as many columns as those of the samples."""
    columns = 1 if responses.ndim == 1 else responses.shape[1]
    if columns != n_outputs:
        raise ValueError(
            f"y has {columns} columns, expected {n_outputs} as in fit. Pass the same columns in "
            f"the same order."
        )
    return responses
