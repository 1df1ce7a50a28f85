"""The columns that the page draws and names: features, the user's own, principal components."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quickshift.arrays import Floats, Indices, Numbers
from quickshift.checks.exploring import check_column_names, check_drawn_table
from quickshift.explorer.packing import Section, morton_order, offsets

__all__ = ["Columns", "Table", "choose_columns", "pack_columns", "read_table"]

FINE = 100_000  # up to this many rows, numbers are written as float32
_MOST_COLUMNS = 30


@dataclass(frozen=True)
class Table:
    """The user's table of what is drawn.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        The numbers.
    names : list of str
        Names of the columns.
    ids : list of str or None
        Names of the rows, if they have any beside their numbers.
    """

    points: Numbers
    names: list[str]
    ids: list[str] | None


@dataclass(frozen=True)
class Columns:
    """Columns of numbers, the two that are drawn first, and names of the rows.

    Attributes
    ----------
    values : list of ndarray of shape (n,)
    names : list of str
    axes : (int, int)
        Columns that are drawn when the page opens.
    ids : list of str or None
    note : str
        Says which columns were left out; empty if none were.
    """

    values: list[Floats]
    names: list[str]
    axes: tuple[int, int]
    ids: list[str] | None
    note: str = ""


def read_table(X: Any, n_rows: int) -> Table:
    """Return a table of one row per sample; a data frame also has names of columns and rows."""
    points = check_drawn_table(X, n_rows)
    columns = getattr(X, "columns", None)
    if columns is None:
        return Table(points, [f"x{i}" for i in range(points.shape[1])], None)
    index: Any = getattr(X, "index", None)  # of pandas; polars has none
    plain = index is None or type(index).__name__ == "RangeIndex"
    ids = None if plain else [str(name) for name in index]
    return Table(points, [str(name) for name in columns], ids)


def choose_columns(
    table: Table,
    names: Sequence[str] | None,
    log10_density: Floats,
    units: Floats | None = None,
) -> Columns:
    """Choose what is drawn: two columns, or the principal components of more.

    Parameters
    ----------
    table : Table
        The samples.
    names : sequence of str, optional
        Names of the columns, in place of those of the table.
    log10_density : ndarray of shape (n,)
        Drawn against a single column.
    units : ndarray of shape (n_columns,), optional
        Numbers by which the columns are divided before principal components are taken.

    Returns
    -------
    Columns
    """
    points = np.asarray(table.points, dtype=np.float64)
    n_columns = points.shape[1]
    named = table.names if names is None else check_column_names(names, n_columns, "one per column")
    note = ""
    if n_columns > _MOST_COLUMNS:
        note = f"The first {_MOST_COLUMNS} of {n_columns} columns can be chosen as axes."
    values = list(points.T[:_MOST_COLUMNS])
    shown = named[:_MOST_COLUMNS]
    if n_columns == 1:
        return Columns([*values, log10_density], [*shown, "log₁₀ density"], (0, 1), table.ids)
    if n_columns == 2:
        return Columns(values, shown, (0, 1), table.ids)
    scaled = points if units is None else points / units
    first, second, shares = _principal_components(scaled)
    components = [f"PC {i + 1} ({share:.0%} of variance)" for i, share in enumerate(shares)]
    axes = len(values), len(values) + 1
    return Columns([*values, first, second], [*shown, *components], axes, table.ids, note)


def _principal_components(points: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the first two principal components, and their shares of the variance."""
    largest = float(np.abs(points).max()) or 1.0
    centered = points / largest  # squares of large numbers would overflow
    centered -= centered.mean(axis=0)
    tall = centered.shape[0] > centered.shape[1]
    spread, directions = np.linalg.eigh(centered.T @ centered if tall else centered @ centered.T)
    if spread.size == 1:  # one row, of which all components are 0
        return np.zeros(1), np.zeros(1), np.zeros(2)
    spread = np.maximum(spread, 0.0)
    two = directions[:, [-1, -2]]
    scores = centered @ two if tall else two * np.sqrt(spread[[-1, -2]])
    total = float(spread.sum()) or 1.0
    return scores[:, 0] * largest, scores[:, 1] * largest, spread[:-3:-1] / total


def pack_columns(
    columns: Columns,
) -> tuple[Indices, list[dict[str, Any]], dict[str, Section]]:
    """Sort the rows along a Morton curve, and write the columns in that order.

    Returns
    -------
    rows : ndarray of shape (n,)
        Row at each position of the curve.
    described : list of dict
        Name and range of each column, for the header.
    sections : dict of str to Section
        The offsets, named c0, c1 and so on, the names of rows, and the rows.
    """
    fine = columns.values[0].size <= FINE
    shares = [offsets(columns.values[i], fine=True)[0].values for i in columns.axes]
    rows = morton_order(*shares)
    described, sections = [], {}
    for i, (name, values) in enumerate(zip(columns.names, columns.values, strict=True)):
        sections[f"c{i}"], low, high = offsets(values[rows], fine=fine)
        described.append({"name": name, "low": low, "high": high})
    sections["rows"] = Section(rows, "i32")
    return rows, described, sections
