"""Checks of arrays: points, responses, weights, periods and densities."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats, Indices, Numbers, packed
from quickshift.checks.numbers import as_array
from quickshift.checks.tables import check_axes, check_finite_rows, check_numeric

__all__ = [
    "check_density",
    "check_finite_density",
    "check_n_features",
    "check_numbers",
    "check_period",
    "check_points",
    "check_responses",
    "check_rows",
    "check_weights",
    "refuse_complex",
    "refuse_masked_or_dates",
]


def refuse_masked_or_dates(X: Any, name: str = "X") -> None:
    """Raise for masked entries and for dates, which NumPy would silently convert to numbers."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        masked = int(np.ma.getmaskarray(X).sum())
        raise ValueError(
            f"{name} has {masked} masked entries, expected none. Drop those rows or fill them, "
            f"for example with {name}.filled(value)."
        )
    dates = [dtype for dtype in _types_of(X) if getattr(dtype, "kind", "") in ("m", "M")]
    if dates:
        raise ValueError(
            f"{name} has dates or durations ({dates[0]}), expected numbers. Choose a unit and "
            f"divide by it, for example {name} / numpy.timedelta64(1, 's')."
        )


def refuse_complex(X: Any, name: str = "X") -> None:
    """Raise for complex numbers. The first words are those that scikit-learn's checks look for."""
    if any(getattr(dtype, "kind", "") == "c" for dtype in _types_of(X)):
        raise ValueError(
            f"Complex data not supported: {name} is complex, expected real numbers. Stack "
            f"{name}.real and {name}.imag as columns."
        )


def _types_of(X: Any) -> list[Any]:
    """Return the type of each column of a data frame, or the one type of an array."""
    dtypes = getattr(X, "dtypes", None) if getattr(X, "ndim", 2) == 2 else None  # a data frame
    return [getattr(X, "dtype", None)] if dtypes is None else list(dtypes)


def check_numbers(values: Any, name: str, shape: str) -> Numbers:
    """Return real numbers as an array: float32 stays float32, anything else becomes float64."""
    if hasattr(values, "toarray"):
        raise TypeError(f"{name} is sparse, expected a dense array. Use {name}.toarray().")
    given = check_numeric(values, name, f"real numbers of shape {shape}")
    refuse_masked_or_dates(values, name)
    try:
        array = np.asarray(given)
        if array.dtype != np.float32 and array.dtype.kind != "c":
            array = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        if "NAType" in str(error):  # pandas.NA in a column of a nullable type
            message = f"{name} has NA, expected finite numbers. Drop those rows or impute them."
            raise ValueError(message) from error
        message = (
            f"{name} has entries that are not numbers ({error}), expected real numbers of shape "
            f"{shape}. Convert these entries, or drop them."
        )
        raise ValueError(message) from error
    refuse_complex(array, name)
    return array


def check_points(X: ArrayLike, name: str = "X", given: Any = None) -> Numbers:
    """Return points as a C-ordered float64 or float32 array with at least one row and column.

    ``given`` is the argument as the user passed it, if X was converted from it. It tells a message
    the names of columns.
    """
    given = X if given is None else given
    array = check_numbers(X, name, "(n_samples, n_features)")
    check_axes(array, name, given)
    if array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}, expected at least one row and column.")
    check_finite_rows(array, name, given)
    return packed(array)


def check_responses(y: ArrayLike, n_samples: int) -> Floats:
    """Return responses as a float64 array of shape (n_samples,) or (n_samples, n_outputs)."""
    array = packed(
        check_numbers(y, "y", "(n_samples,) or (n_samples, n_outputs)"), dtype=np.float64
    )
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2) or len(array) != n_samples or array.size == 0:
        raise ValueError(
            f"y has shape {np.shape(y)}, expected ({n_samples},) or ({n_samples}, n_outputs): one "
            f"response per row of X."
        )
    finite = np.isfinite(array.reshape(n_samples, -1)).all(axis=1)
    if not finite.all():
        bad = np.flatnonzero(~finite)
        raise ValueError(
            f"y has NaN or infinity in {bad.size} of {n_samples} rows, the first at row {bad[0]}; "
            f"expected finite numbers. Drop those rows."
        )
    return array


def check_n_features(points: Numbers, n_features: int, name: str) -> None:
    """Raise if queries do not have as many columns as the samples."""
    if points.shape[1] != n_features:
        raise ValueError(
            f"{name} has {points.shape[1]} features, expected {n_features} as in the samples. Pass "
            f"the same columns in the same order."
        )


def check_weights(weights: ArrayLike | None, n_samples: int) -> Floats | None:
    """Return weights as a float64 array; None, which stands for equal weights, stays None."""
    if weights is None:
        return None
    array = packed(check_numbers(weights, "sample_weight", "(n_samples,)"), dtype=np.float64)
    if array.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has shape {array.shape}, expected ({n_samples},): one weight per row."
        )
    if not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(
            "sample_weight has negative, NaN or infinite entries, expected frequencies: "
            "0 leaves a row out, 2 counts it twice."
        )
    if not array.any():
        raise ValueError("sample_weight is all zero, expected at least one positive weight.")
    with np.errstate(over="ignore"):
        total = array.sum()
    if not np.isfinite(total):
        raise ValueError(
            "sample_weight has a sum that overflows, expected a finite sum. Divide the weights "
            "by a constant."
        )
    return array


def check_period(period: ArrayLike | None, n_features: int) -> Floats | None:
    """Return one positive period per feature, or None if no feature is periodic.

    The period of a feature that is not periodic is infinite. The result is a copy, because it is
    kept after the call, and the caller may change the given array.
    """
    if period is None:
        return None
    try:
        array = np.array(period, dtype=np.float64, order="C", ndmin=1)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0)
    if array.shape != (n_features,):
        raise ValueError(
            f"period is {period!r}, expected one length for each of the {n_features} features "
            f"(numpy.inf for a feature that is not periodic)."
        )
    if not (array > 0).all():
        none = any(length is None for length in np.array(period, dtype=object))
        hint = " Use numpy.inf in place of None." if none else ""
        raise ValueError(
            f"period is {period!r}, expected positive lengths (numpy.inf for a feature that is not "
            f"periodic).{hint}"
        )
    return array if np.isfinite(array).any() else None


def check_rows(rows: ArrayLike, name: str, n_samples: int) -> Indices:
    """Return an array of row indices, of any shape, as int64."""
    array = as_array(rows)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{name} is of type {array.dtype}, expected row indices (whole numbers).")
    if array.size and not (array.min() >= 0 and array.max() < n_samples):
        raise IndexError(
            f"{name} ranges from {array.min()} to {array.max()}, expected rows from 0 to "
            f"{n_samples - 1}."
        )
    return array.astype(np.int64)


def check_density(density: ArrayLike, n_samples: int, ignored: Indices | None = None) -> Floats:
    """Return one density per sample, finite except in the ignored rows."""
    array = packed(check_numbers(density, "density", "(n_samples,)"), dtype=np.float64)
    if array.shape != (n_samples,):
        raise ValueError(
            f"density has shape {array.shape}, expected ({n_samples},): one value per sample."
        )
    outside = ~np.isfinite(array)
    if ignored is not None:
        outside[ignored] = False
    if outside.any():
        raise ValueError(
            "density has NaN or infinite entries, expected finite numbers. Drop those rows, or "
            "give them weight 0."
        )
    return array


def check_finite_density(
    density: ArrayLike, n_samples: int, ignored: Indices | None = None
) -> Floats:
    """Return one density per sample, finite and not negative except in the ignored rows."""
    array = check_density(density, n_samples, ignored)
    counted = np.ones(n_samples, dtype=bool)
    if ignored is not None:
        counted[ignored] = False
    if (array[counted] < 0).any():
        raise ValueError(
            "density has negative entries, expected densities of at least 0. Pass densities rather "
            "than their logarithms."
        )
    return array
