"""Bundles of arrays: a base class that gives results a short repr and an equality of values."""

import math
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Bundle", "counted", "grouped", "number", "shortened", "span"]


@dataclass(frozen=True, repr=False, eq=False)
class Bundle:  # noqa: PLW1641 (without a __hash__, Python sets it to None)
    """Base of frozen dataclasses whose fields are arrays.

    The ``repr`` of a bundle is one line of facts. Two bundles are equal if they are of the same
    class and all their fields are equal, where NaN equals NaN. Bundles have no hash, because their
    arrays can be changed; a bundle of read-only arrays may define one.

    Subclasses are decorated with ``@dataclass(frozen=True, repr=False, eq=False)``, because
    otherwise the decorator would replace both methods.
    """

    def _facts(self) -> Iterable[str]:
        """Return the facts that the ``repr`` shows, most important first."""
        raise NotImplementedError

    def _compared(self) -> tuple[Any, ...]:
        """Return the values that ``==`` compares."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._facts())})"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, Bundle)
        return _same(self._compared(), other._compared())


def _same(a: Any, b: Any) -> bool:
    """Return whether two values are equal, arrays and tuples by their elements."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b, equal_nan=True)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return False
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return bool(a == b)


def grouped(count: float) -> str:
    """Return a count or a total weight, with commas and all digits of a whole number.

    Examples
    --------
    >>> grouped(1962345), grouped(1e6), grouped(0.25)
    ('1,962,345', '1,000,000', '0.25')
    """
    return f"{count:,.0f}" if count == round(count) else f"{count:,g}"


def counted(count: float, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "merge"), counted(2000, "merge"), counted(0, "leaf", "leaves")
    ('1 merge', '2,000 merges', '0 leaves')
    """
    return f"{grouped(count)} {one if count == 1 else many or one + 's'}"


def number(value: float) -> str:
    """Return a number with four significant digits.

    Examples
    --------
    >>> number(1000.0), number(0.123456), number(1000000.0)
    ('1000', '0.1235', '1e+06')
    """
    return f"{value:.4g}"


def span(values: ArrayLike) -> str:
    """Return the least and the largest of some numbers that are not NaN.

    Examples
    --------
    >>> span(0.5), span([3.0, float("nan"), 1.0]), span([2.0, 2.0]), span([])
    ('0.5', '1 to 3', '2', 'none')
    """
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if known.size == 0:
        return "none"
    least, most = number(known.min()), number(known.max())
    return least if least == most else f"{least} to {most}"


def shortened(bundle: Any) -> str:
    """Return the ``repr`` of a dataclass, with at most six elements of each tuple.

    Examples
    --------
    >>> from quickshift.datasets import Ball
    >>> shortened(Ball(range(9)))
    'Ball(center=(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, ...), radius=1.0)'
    """
    shown = [
        f"{field.name}={reprlib.repr(getattr(bundle, field.name))}" for field in fields(bundle)
    ]
    return f"{type(bundle).__name__}({', '.join(shown)})"
