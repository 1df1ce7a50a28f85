"""Checks of data before they are converted to arrays: what was passed, in the user's terms.

Afterwards the names of columns, the file name or the keys of a dict would be lost, and strings such
as "1.5" would have become numbers without notice.
"""

import reprlib
from collections.abc import Iterator, Mapping, Set
from pathlib import PurePath
from typing import Any

import numpy as np

from quickshift.arrays import Flags, Numbers

__all__ = ["check_axes", "check_finite_rows", "check_numeric", "index_columns"]

_TABLE = "an array or a data frame of shape (n_samples, n_features)"
_MOST_NAMED = 5  # largest number of columns that a message names


def check_numeric(values: Any, name: str, expected: str = _TABLE) -> Any:
    """Return lists as arrays, and arrays or data frames unchanged, unless they hold no numbers.

    ``expected`` describes the data that should be passed. Objects that are neither numbers nor
    strings are refused later, when they are converted.
    """
    if hasattr(values, "toarray"):  # sparse matrices are refused elsewhere
        return values
    _refuse_containers(values, name, expected)
    columns = _columns_of(values)
    if columns is not None:
        _refuse_columns(values, columns, name)
    else:
        array = _without_ragged_rows(values, name) if _has_no_type(values) else values
        # The types of other libraries have no kind, so these arrays are converted.
        if (getattr(array.dtype, "kind", "") or np.asarray(array).dtype.kind) in "OSTU":
            _refuse_strings(values, name)
        return array
    return values


def check_axes(values: Any, name: str, given: Any) -> None:
    """Raise unless the data have two axes, samples and features.

    ``given`` is the argument as the user passed it, from which ``values`` was converted.
    """
    shape = np.shape(values) if getattr(values, "shape", None) is None else tuple(values.shape)
    if len(shape) == 2:
        return
    if not shape:
        raise ValueError(
            f"{name} is {reprlib.repr(given)}, expected {_TABLE}. Use [[{name}]] for a single "
            f"sample with a single feature."
        )
    came = f"{name} has shape {shape}, expected (n_samples, n_features)"
    if 0 in shape:
        raise ValueError(f"{came} with at least one row and column.")
    if len(shape) > 2:
        raise ValueError(
            f"{came}. Reshape your data: {_reshaped(given, name, f'{shape[0]}, -1')} makes one row "
            f"of each sample."
        )
    column = f"{name}.to_frame()" if hasattr(given, "to_frame") else _reshaped(given, name, "-1, 1")
    raise ValueError(
        f"{came}. Reshape your data: use {column} for a single feature, or "
        f"{_reshaped(given, name, '1, -1')} for a single sample."
    )


def check_finite_rows(array: Numbers, name: str, given: Any) -> None:
    """Raise if numbers, converted from the given data, are missing or infinite in some rows."""
    finite = np.isfinite(array)
    if finite.all():
        return
    bad = np.flatnonzero(~finite.all(axis=1))
    rows = f"{bad.size} of {array.shape[0]} rows, the first at row {bad[0]}"
    wrong = np.flatnonzero(~finite.all(axis=0))
    columns = _columns_of(given)
    if columns is not None:
        names = _columns([repr(columns[i][0]) for i in wrong])
        raise ValueError(
            f"{name} has NaN, null or infinity in {rows}, in {names}; expected finite numbers. "
            f"Drop those rows or columns, or impute them."
        )
    what = "None" if _all_none(given, finite) else "NaN or infinity"
    first = np.flatnonzero(~finite[bad[0]])[0]
    raise ValueError(
        f"{name} has {what} in {rows}, column {first}; expected finite numbers. Drop those rows or "
        f"impute them."
    )


# Containers


def _refuse_containers(values: Any, name: str, expected: str) -> None:
    """Raise for objects that lead to data, but have to be read or converted first."""
    kind = type(values).__name__
    if values is None:
        raise TypeError(f"{name} is None, expected {expected}.")
    if isinstance(values, str | bytes | PurePath) or hasattr(values, "read"):
        raise TypeError(
            f"{name} is {reprlib.repr(values)}, expected {expected}. If this is a file, read it "
            f"first, for example with pandas.read_csv or numpy.load."
        )
    if isinstance(values, Mapping):
        keys = _listed([repr(key) for key in values])
        raise TypeError(
            f"{name} is a {kind} with the keys {keys}, expected {expected}. Use "
            f"pandas.DataFrame({name}) if it has one list per column."
        )
    if isinstance(values, Iterator | Set):
        raise TypeError(f"{name} is a {kind}, expected {expected}. Use list({name}).")
    if hasattr(values, "collect") and not hasattr(values, "__array__"):  # polars.LazyFrame
        raise TypeError(f"{name} is a {kind}, expected {expected}. Use {name}.collect().")
    if isinstance(values, list | tuple) and values and isinstance(values[0], Mapping):
        raise TypeError(
            f"{name} is a {kind} of {type(values[0]).__name__}, expected {expected}. Use "
            f"pandas.DataFrame({name}) if it has one {type(values[0]).__name__} per row."
        )


# Columns of data frames


def _columns_of(values: Any) -> list[tuple[Any, Any]] | None:
    """Return the name and the type of each column of a data frame, or None for other data."""
    if hasattr(values, "columns") and hasattr(values, "dtypes"):  # pandas, polars
        return list(zip(values.columns, values.dtypes, strict=True))
    if hasattr(values, "column_names") and hasattr(values, "schema"):  # pyarrow.Table
        return list(zip(values.column_names, values.schema.types, strict=True))
    return None


def _refuse_columns(frame: Any, columns: list[tuple[Any, Any]], name: str) -> None:
    """Raise for columns that do not hold numbers; the message has their names and types."""
    wrong, dates, missing = [], [], []
    for i, (column, dtype) in enumerate(columns):
        kind, found = getattr(dtype, "kind", "O"), str(dtype)
        if kind == "O":  # some such types hold numbers, so the entries decide
            entries = np.asarray(_column(frame, i))
            kind, found = _kind_of_entries(entries, found)
        if kind in "mM":
            dates.append(f"{column!r} ({found})")
        elif kind == "NA":
            missing.append(repr(column))
        elif kind not in "biufc":
            wrong.append(f"{column!r} ({found})")
    if wrong:
        listed = _listed(wrong + dates)
        raise ValueError(
            f"{name} has columns that are not numeric: {listed}; expected numbers. Encode or drop "
            f"them, or convert numbers that were read as text."
        )
    if dates:
        raise ValueError(
            f"{name} has dates or durations in {_columns(dates)}, expected numbers. Choose a unit "
            f"and divide durations by it, for example by numpy.timedelta64(1, 's'), or drop them."
        )
    if missing:
        raise ValueError(
            f"{name} has NA in {_columns(missing)}, expected finite numbers. Drop those rows or "
            f"columns, or impute them."
        )


def _column(frame: Any, i: int) -> Any:
    if hasattr(frame, "iloc"):  # pandas
        return frame.iloc[:, i]
    return frame.to_series(i) if hasattr(frame, "to_series") else frame.column(i)


def _kind_of_entries(entries: Any, dtype: str) -> tuple[str, str]:
    """Return the kind of a column by NumPy's letters, and the type that a message names.

    Objects that are numbers have the kind "f", and pandas.NA has the kind "NA".
    """
    if entries.ndim > 1:  # lists of equal length
        return "O", dtype
    if entries.dtype.kind != "O":
        return entries.dtype.kind, dtype
    types = {type(entry) for entry in entries.flat} - {type(None)}
    for kind in types:
        is_number = hasattr(kind, "__float__") and not issubclass(kind, np.ndarray)
        if not is_number and kind.__name__ != "NAType":
            return "O", kind.__name__ if dtype.lower() == "object" else dtype
    return ("NA" if any(kind.__name__ == "NAType" for kind in types) else "f"), dtype


# Lists and arrays


def _has_no_type(values: Any) -> bool:
    return isinstance(values, list | tuple) or not hasattr(values, "dtype")


def _without_ragged_rows(values: Any, name: str) -> Numbers:
    """Convert lists to an array, and raise if their rows have different lengths."""
    try:
        return np.asarray(values)
    except ValueError as error:
        lengths = [len(row) if hasattr(row, "__len__") else None for row in values]
        other = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        what = str(error)
        if other is not None:
            first, second = (
                "is a single value" if length is None else f"has length {length}"
                for length in (lengths[0], lengths[other])
            )
            what = f"row 0 {first}, row {other} {second}"
        raise ValueError(
            f"{name} has rows of different lengths ({what}), expected the same number of entries "
            f"in every row. Drop or complete the rows that differ."
        ) from error


def _refuse_strings(values: Any, name: str) -> None:
    """Raise for the first string; NumPy would convert "1.5" without notice."""
    entries = np.array(values, dtype=object)
    for i, entry in enumerate(entries.flat):
        if isinstance(entry, str | bytes):
            where = (int(position) for position in np.unravel_index(i, entries.shape))
            at = ", ".join(f"{axis} {k}" for axis, k in zip(("row", "column"), where, strict=False))
            raise ValueError(
                f"{name} has entries that are not numbers, the first is the string "
                f"{reprlib.repr(entry)} at {at}; expected real numbers. Convert numbers that were "
                f"read as text, for example with numpy.asarray({name}, dtype=float), and encode or "
                f"drop other strings."
            )


def _all_none(given: Any, finite: Flags) -> bool:
    """Return whether all entries that are not finite were None in a list or an array of objects."""
    if not (_has_no_type(given) or given.dtype.kind == "O"):
        return False
    entries = np.array(given, dtype=object)
    return entries.shape == finite.shape and all(entry is None for entry in entries[~finite])


# Words of messages


def _reshaped(given: Any, name: str, shape: str) -> str:
    """Return an expression that reshapes the data."""
    if isinstance(given, np.ndarray):
        return f"{name}.reshape({shape})"
    return f"numpy.reshape({name}, ({shape}))"


def _listed(words: list[str]) -> str:
    """Join words by commas; beyond the first few they are only counted."""
    more = len(words) - _MOST_NAMED
    return ", ".join(words[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _columns(words: list[str]) -> str:
    return f"the column{'s' if len(words) > 1 else ''} {_listed(words)}"


def index_columns(schema: Any) -> list[str]:
    """Return the columns of a file that hold the index of a pandas data frame: no features.

    ``schema`` is one of pyarrow. What pandas has noted in it is ignored if it is damaged.
    """
    try:
        noted = (schema.pandas_metadata or {}).get("index_columns")
    except (ValueError, AttributeError):  # no JSON, or no object
        return []
    return [name for name in noted if isinstance(name, str)] if isinstance(noted, list) else []
