"""What a command needs from a table: features, weights and responses as arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quickshift.arrays import Flags, Floats, Indices
from quickshift.checks.tables import index_columns
from quickshift.cli.outcome import CommandError

__all__ = [
    "Features",
    "check_finite",
    "choose_columns",
    "describe_columns",
    "is_numeric",
    "pick_features",
    "resolve_column",
    "split_columns",
    "text_columns",
]

_MOST_NAMED = 12  # columns that a message lists


@dataclass(frozen=True)
class Features:
    """The rows that take part, and their numbers.

    Attributes
    ----------
    schema : pyarrow.Schema
        All columns of the file.
    others : pyarrow.Table
        The columns that are not held by X.
    kept : ndarray of shape (n_rows,)
        Which rows of the file these are.
    names : list of str
        The columns of the features.
    X : ndarray of shape (n_samples, n_features)
        The features.
    weights : ndarray of shape (n_samples,) or None
        The weights.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs), or None
        The responses.
    n_dropped : int
        Number of rows with missing values that were dropped.
    remarks : list of str
        What the user should know about the choice.
    """

    schema: Any
    others: Any
    kept: Flags
    names: list[str]
    X: Floats
    weights: Floats | None
    y: Any
    n_dropped: int
    remarks: list[str]

    @property
    def rows(self) -> Indices:
        """Numbers of the rows in the file, counted from 0."""
        return np.flatnonzero(self.kept)

    @property
    def table(self) -> Any:
        """All columns, without the rows that were dropped."""
        return self.part(0, len(self.X))

    def part(self, start: int, stop: int) -> Any:
        """Return some rows of the table; the features that are floats come from X."""
        import pyarrow as pa

        X, others = self.X[start:stop], self.others.slice(start, stop - start)
        held = set(self.schema.names) - set(others.column_names)
        columns = [
            pa.array(X[:, self.names.index(name)]) if name in held else others[name]
            for name in self.schema.names
        ]
        return pa.Table.from_arrays(columns, schema=self.schema)


def pick_features(
    table: Any,
    *,
    columns: Sequence[str] | None = None,
    weights: str | None = None,
    others: Sequence[str] = (),
    responses: Sequence[str] | None = None,
    drop_missing: bool = False,
    exact: bool = False,
) -> Features:
    """Pick the columns that take part, after checking that they hold numbers in every row.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    columns : sequence of str, optional
        Names or numbers of the features; by default all columns of numbers that have no other role.
    weights : str, optional
        Name or number of the column of weights.
    others : sequence of str
        Names or numbers of columns that are no features, such as identifiers.
    responses : sequence of str, optional
        Names or numbers of the columns of responses.
    drop_missing : bool
        Whether rows with missing values are dropped; otherwise they are an error.
    exact : bool
        Whether `columns` are the names of features, and never numbers of columns.

    Returns
    -------
    Features
    """
    if exact:
        _check_queries(table.schema, columns or ())
    chosen = choose_columns(
        table.schema, columns, weights=weights, others=[*others, *(responses or ())]
    )
    weight = None if weights is None else resolve_column(table.schema, weights)
    outputs = None if responses is None else split_columns(table.schema, responses)
    known = [name for name in outputs or () if name in chosen]
    if known:
        raise CommandError(
            f"column {known[0]!r} is the response, expected other columns as features. Leave it "
            f"out of --columns."
        )
    used = list(dict.fromkeys([*chosen, *([] if weight is None else [weight]), *(outputs or [])]))
    values = np.empty((table.num_rows, len(used)))
    for i, name in enumerate(used):
        values[:, i] = _numbers(table, name)
    kept = np.ones(table.num_rows, dtype=bool)
    for column in values.T:
        kept &= ~np.isnan(column)
    for i, name in enumerate(used):
        check_finite(values[:, i], kept, name)
    n_missing = int(kept.size - np.count_nonzero(kept))
    if n_missing:
        _check_missing(used, values, kept, n_missing, drop_missing)
        table, values = table.filter(kept), values[kept]
    X = values if used == chosen else np.ascontiguousarray(values[:, : len(chosen)])
    y = None if outputs is None else values[:, [used.index(name) for name in outputs]]
    if y is not None and y.shape[1] == 1:
        y = y[:, 0]
    w = None if weight is None else np.ascontiguousarray(values[:, used.index(weight)])
    unused = [] if columns is not None else [f for f in table.schema if not is_numeric(f.type)]
    roles = {*split_columns(table.schema, others), *used}
    index = [] if columns is not None else index_columns(table.schema)
    index = [name for name in index if name not in roles]
    roles |= set(index)
    named = [f"{field.name} ({field.type})" for field in unused if field.name not in roles]
    remarks = [f"Not used: {', '.join(named)}; features are columns of numbers."] if named else []
    if index:
        remarks.append(f"Not used: {', '.join(index)}, the index of a pandas data frame.")
    if n_missing:
        remarks.append(f"Dropped: {n_missing} rows with missing values.")
    floats = [name for name in chosen if table.schema.field(name).type == "double"]
    others = table.drop_columns(floats)  # X holds them
    return Features(table.schema, others, kept, chosen, X, w, y, n_missing, remarks)


def choose_columns(
    schema: Any,
    columns: Sequence[str] | None,
    *,
    weights: str | None = None,
    others: Sequence[str] = (),
) -> list[str]:
    """Return the names of the features.

    Parameters
    ----------
    schema : pyarrow.Schema
        The columns of the table.
    columns : sequence of str or None
        What the user gave.
    weights : str, optional
        The column of weights, which is no feature.
    others : sequence of str
        Columns that are no features either.

    Returns
    -------
    list of str
    """
    _refuse_duplicates(schema)
    if columns is not None:
        named = split_columns(schema, columns)
        if not named:
            raise CommandError(
                f"--columns names no column, expected at least one of {_listed(schema.names)}. "
                f"Leave it out for all columns of numbers."
            )
        return named
    given = [*others, *([] if weights is None else [weights])]
    taken = split_columns(schema, given)
    taken += index_columns(schema)
    chosen = [f.name for f in schema if f.name not in taken and is_numeric(f.type)]
    if not chosen:
        raise CommandError(
            f"there is no column of numbers besides those of weights and identifiers, expected at "
            f"least one feature. The columns are {_listed(schema.names)}. If the cells are "
            f"separated by another character than a comma, use --delimiter."
        )
    return chosen


def split_columns(schema: Any, given: Sequence[str]) -> list[str]:
    """Return the names of columns, from names or numbers that may be separated by commas."""
    names = []
    for text in given:
        if text in schema.names:
            names.append(text)
        else:
            parts = (_known_part(schema, part) for part in text.split(",") if part.strip())
            names.extend(resolve_column(schema, part) for part in parts)
    return list(dict.fromkeys(names))


def _known_part(schema: Any, part: str) -> str:
    """Return a part of a list as it stands if a column has that name, otherwise without spaces."""
    return part if part in schema.names else part.strip()


def text_columns(schema: Any, rows: Mapping[str, Any]) -> list[str]:
    """Return the columns of a CSV file to be read as text, so that they are written unchanged.

    Parameters
    ----------
    schema : pyarrow.Schema
        The columns, with the types that the beginning of the file suggests.
    rows : mapping
        Some of the arguments of `pick_features`.

    Returns
    -------
    list of str
        Identifiers and times and, if the features were given, all columns without a role.
    """
    from pyarrow import types

    given = rows.get("columns")
    if rows.get("exact"):
        _check_queries(schema, given or ())
    weights = [] if rows.get("weights") is None else [resolve_column(schema, rows["weights"])]
    used = {*weights, *split_columns(schema, [*(given or ()), *(rows.get("responses") or ())])}
    others = split_columns(schema, rows.get("others", ()))
    return [
        field.name
        for field in schema
        if field.name not in used
        and (given is not None or field.name in others or types.is_temporal(field.type))
    ]


def resolve_column(schema: Any, given: str) -> str:
    """Return the name of a column from its name or its number, counted from 0."""
    if given in schema.names:
        return given
    try:
        number = int(given)
        if -len(schema.names) <= number < len(schema.names):
            return str(schema.names[number])
    except ValueError:
        pass
    raise CommandError(
        f"there is no column {given!r}, expected one of {_listed(schema.names)}, or a number from "
        f"0 to {len(schema.names) - 1}."
    )


def _check_queries(schema: Any, names: Sequence[str]) -> None:
    """Raise if queries lack features, before a name that is a number is taken for a position."""
    lacking = [name for name in names if name not in schema.names]
    if lacking:
        raise CommandError(
            f"the queries have no column {_listed(lacking)}, expected all features of the input. "
            f"Their columns are {_listed(schema.names)}. Rename those of the queries, or choose "
            f"other features by --columns."
        )


def is_numeric(kind: Any) -> bool:
    """Return whether a type of pyarrow is one of numbers or truth values."""
    from pyarrow import types

    tests = types.is_integer, types.is_floating, types.is_boolean, types.is_decimal
    return any(test(kind) for test in tests)


def describe_columns(table: Any) -> list[dict[str, Any]]:
    """Return what each column of a table contains.

    Parameters
    ----------
    table : pyarrow.Table
        The table.

    Returns
    -------
    list of dict
        Name, type and number of missing values of each column, and the least, the median and the
        largest of its numbers.
    """
    described = []
    for i, field in enumerate(table.schema):
        facts: dict[str, Any] = {"name": field.name, "type": str(field.type)}
        facts["missing"] = table.column(i).null_count
        if is_numeric(field.type):
            values = _floats(table.column(i))
            facts["missing"] = int(np.count_nonzero(np.isnan(values)))
            if facts["missing"] < values.size:
                least, median, largest = np.nanquantile(values, [0.0, 0.5, 1.0]).tolist()
                facts |= {"least": least, "median": median, "largest": largest}
        described.append(facts)
    return described


def _refuse_duplicates(schema: Any) -> None:
    names = schema.names
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise CommandError(
            f"there are several columns {_listed(twice)}, expected different names. Rename them, "
            f"or use --no-header if the first line holds numbers."
        )


def _numbers(table: Any, name: str) -> Floats:
    """Return a column as floats, with NaN for missing values."""
    import pyarrow as pa

    column = table[name]
    if not is_numeric(column.type):
        if pa.types.is_null(column.type):
            return np.full(table.num_rows, np.nan)
        raise CommandError(
            f"column {name!r} has the type {column.type}{_first_word(column)}, expected numbers. "
            f"Leave it out of --columns, or correct the file."
        )
    return _floats(column)


def _floats(column: Any) -> Floats:
    """Return a column of numbers as floats, with NaN for missing values."""
    import pyarrow as pa

    if column.null_count or pa.types.is_boolean(column.type) or pa.types.is_decimal(column.type):
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _first_word(column: Any) -> str:
    """Say which value of a column of text is not a number."""
    import pyarrow as pa

    if not pa.types.is_string(column.type):
        return ""
    for row, value in enumerate(column.to_pylist()):
        try:
            float(value)
        except ValueError:
            return f", with {value!r} in row {row}"
        except TypeError:  # a missing value
            continue
    return ""


def check_finite(values: Floats, kept: Flags, name: str, first: int = 0) -> None:
    """Raise if a column has infinite values in rows that are kept, counted from the first one."""
    infinite = np.isinf(values) & kept
    if infinite.any():
        row = int(infinite.argmax())
        raise CommandError(
            f"column {name!r} has {values[row]} in row {first + row}, expected finite numbers. "
            f"Remove such rows, or leave their cells empty and use --drop-missing."
        )


def _check_missing(
    names: list[str], values: Floats, kept: Flags, n_missing: int, drop: bool
) -> None:
    named = _listed([name for i, name in enumerate(names) if np.isnan(values[:, i]).any()])
    if not kept.any():
        raise CommandError(f"every row has missing values, in {named}. Choose other --columns.")
    if not drop:
        first = int(np.flatnonzero(~kept)[0])
        raise CommandError(
            f"{n_missing} of {kept.size} rows have missing values in {named}, the first is row "
            f"{first}. Use --drop-missing to leave them out."
        )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown
