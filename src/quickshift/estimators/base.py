"""Parts that the estimators share: names of kernels, validating X, undoing a fit that fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from quickshift.arrays import Numbers
from quickshift.checks.points import check_points, refuse_complex, refuse_masked_or_dates
from quickshift.checks.tables import check_axes, check_numeric

__all__ = ["KernelName", "all_or_nothing", "validated"]

KernelName = Literal[
    "gaussian",
    "exponential",
    "silverman",
    "uniform",
    "tophat",
    "triangular",
    "linear",
    "tricube",
    "cosine",
    "epanechnikov",
]


@contextmanager
def all_or_nothing(estimator: BaseEstimator) -> Iterator[None]:
    """Leave an estimator as it was if fitting fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def validated(estimator: BaseEstimator, X: ArrayLike, *, reset: bool) -> Numbers:
    """Return X as float64 or float32 in C order; store or check its feature count and names."""
    table = check_numeric(X, "X")
    refuse_masked_or_dates(X)
    refuse_complex(table)
    if not hasattr(table, "toarray"):  # scikit-learn refuses sparse matrices in its own words
        check_axes(table, "X", X)
    try:
        points = validate_data(
            estimator,
            table,
            reset=reset,
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,  # `check_points` reports rows that are not finite
        )
    except OverflowError as error:
        message = f"X has a number beyond the range of floats ({error}). Rescale it."
        raise ValueError(message) from error
    return check_points(points, "X", X)
