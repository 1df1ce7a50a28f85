"""Rows of a study, chosen and formatted for its page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = dict[str, Any]
Floats = NDArray[np.float64]


def select(rows: Iterable[Row], **where: Any) -> list[Row]:
    """Return the rows whose columns have the given values."""
    return [row for row in rows if all(row.get(key) == value for key, value in where.items())]


def column(rows: Iterable[Row], name: str) -> Floats:
    """Return one column as an array."""
    return np.array([row[name] for row in rows], dtype=np.float64)


def values(rows: Iterable[Row], name: str) -> list[Any]:
    """Return the distinct values of a column, in the order of their first appearance."""
    return list(dict.fromkeys(row[name] for row in rows if name in row))


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """Format a Markdown table whose first row is the header."""
    ruled = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
    return "\n".join("| " + " | ".join(line) + " |" for line in ruled)


def spaced(n: float) -> str:
    """Format a whole number with its digits in groups of three.

    Examples
    --------
    >>> spaced(100000)
    '100 000'
    """
    return f"{round(n):,}".replace(",", " ")


def interval(three: Floats, digits: int = 3) -> str:
    """Format an estimate and the ends of its interval.

    Examples
    --------
    >>> import numpy as np
    >>> interval(np.array([0.5, 0.41, 0.6]), digits=2)
    '0.50 (0.41 to 0.60)'
    """
    middle, low, high = (f"{value:.{digits}f}" for value in three)
    return f"{middle} ({low} to {high})"
