"""Checks of single values: numbers, lengths, counts and choices."""

import math
import reprlib
from numbers import Real
from pathlib import Path, PurePath
from typing import Any, Literal

import numpy as np

from quickshift.arrays import Floats, Numbers
from quickshift.bandwidth import period_limit
from quickshift.kernels import Kernel

__all__ = [
    "as_array",
    "check_bandwidth",
    "check_bandwidth_or_rule",
    "check_choice",
    "check_count",
    "check_length",
    "check_nonnegative",
    "check_not_none",
    "check_path",
    "check_position",
    "check_positive",
    "check_real",
    "check_tau",
    "check_verbose",
    "check_whole",
    "described",
    "n_axes",
    "shown",
]

_LARGEST = (1 << 63) - 1  # of 64-bit integers
_AUTOMATIC = {  # what is accepted besides 'auto'
    "bandwidth": "a positive number",
    "tau": "a length of at least 0",
    "n_neighbors": "a whole number",
    "min_significance": "a number of at least 0",
}


def shown(value: Any) -> str:
    """Return a value as messages show it: an array by its shape, a long list shortened."""
    if getattr(value, "shape", ()):
        return f"an array of shape {tuple(value.shape)}"
    return reprlib.repr(value) if isinstance(value, list | tuple) else repr(value)


def described(value: Any) -> str:
    """Return what an object is, for messages about objects whose contents would not help."""
    return "None" if value is None else f"of type {type(value).__name__}"


def as_array(values: Any) -> Numbers:
    """Return an argument as an array; rows of unequal lengths become an array of objects."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.asarray(values, dtype=object)


def n_axes(values: Any) -> int:
    """Return the number of axes of an argument: 0 for a number, 1 for rows of unequal lengths."""
    return as_array(values).ndim


def check_path(path: Any, name: str = "path") -> Path:
    """Return the path of a file or of a folder."""
    if not isinstance(path, str | PurePath):
        raise TypeError(
            f"{name} is {described(path)}, expected a path: a string or a pathlib.Path."
        )
    return Path(path)


def check_real(
    value: Any,
    name: str,
    expected: str,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    closed: Literal["both", "left", "right", "neither"] = "both",
) -> float:
    """Return a real number from an interval as a float. NaN and booleans are refused.

    ``closed`` names the ends of the interval that belong to it. ``expected`` completes the error
    message "... is ..., expected ...".
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} is {shown(value)}, expected {expected}.")
    try:
        number = float(value)
    except OverflowError:
        message = f"{name} is beyond the range of floats, expected {expected}."
        raise ValueError(message) from None
    if math.isnan(number):
        raise ValueError(f"{name} is NaN, expected {expected}.")
    above = low <= number if closed in {"both", "left"} else low < number
    below = number <= high if closed in {"both", "right"} else number < high
    if not (above and below):
        raise ValueError(f"{name} is {value!r}, expected {expected}.")
    return number


def check_nonnegative(value: Any, name: str, expected: str = "a number of at least 0") -> float:
    """Return a number of at least 0, which may be infinite."""
    return check_real(value, name, expected, 0)


def check_positive(value: Any, name: str, *, below: float = math.inf) -> float:
    """Return a positive, finite number below the given limit."""
    expected = "a positive, finite number"
    if below < math.inf:
        expected = f"a positive number below {below:g}"
    return check_real(value, name, expected, 0, below, closed="neither")


def check_whole(
    value: Any, name: str, least: int | None = None, *, expected: str | None = None
) -> int:
    """Return a whole number as an int. If ``least`` is given, smaller numbers are refused."""
    if expected is None:
        expected = "a whole number" if least is None else f"a whole number of at least {least}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} is {shown(value)}, expected {expected}.")
    if (least is not None and value < least) or abs(int(value)) > _LARGEST:
        raise ValueError(f"{name} is {_short(value)}, expected {expected}.")
    return int(value)


def _short(number: int | np.integer[Any]) -> str:
    return repr(number) if abs(int(number)) <= _LARGEST else "beyond the range of 64-bit integers"


def check_count(value: Any, name: str, most: int, what: str = "the number of samples") -> int:
    """Return a whole number from 1 to ``most``; ``what`` names that limit in the error message."""
    expected = f"a whole number from 1 to {most}"
    number = check_whole(value, name, expected=expected)
    if not 1 <= number <= most:
        raise ValueError(f"{name} is {value!r}, expected {expected}, {what}.")
    return number


def check_position(value: Any, name: str, n: int) -> int:
    """Return a position in a sequence of ``n``, of which negative ones count from the end.

    It ends a loop over the sequence by an IndexError, as sequences do.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise TypeError(
            f"{name} is {shown(value)}, expected a whole number, the position of one {name}. Index "
            f"several of them one after the other."
        )
    if not -n <= value < n:
        raise IndexError(
            f"{name} is {_short(value)}, expected a whole number from {-n} to {n - 1}."
        )
    return int(value) % n


def check_choice(value: Any, name: str, choices: tuple[str, ...], otherwise: str = "") -> str:
    """Return a string that is one of the choices.

    If the argument may also be something other than a string, ``otherwise`` describes it. The error
    message puts this text before the choices, so it ends with "or ": for example "a number or ".
    """
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        known = known if len(choices) == 1 else f"one of {known}"
        raise ValueError(f"{name} is {shown(value)}, expected {otherwise}{known}.")
    return value


def check_not_none(**parameters: Any) -> None:
    """Raise for None, which some libraries use for parameters that are chosen from the data."""
    for name, value in parameters.items():
        if value is None:
            raise TypeError(
                f"{name} is None, expected {_AUTOMATIC[name]} or 'auto'. Use {name}='auto' to have "
                f"it chosen from the data."
            )


def check_length(value: Any, name: str) -> float:
    """Return a positive length, which may be infinite."""
    return check_real(value, name, "a positive length", 0, closed="right")


def check_tau(tau: Any, otherwise: str = "") -> float:
    """Return a length of at least 0; infinity keeps every edge.

    If the argument may also be something else, ``otherwise`` says so: for example " or 'auto'".
    """
    expected = f"a length of at least 0 (numpy.inf keeps every edge){otherwise}"
    if isinstance(tau, list | tuple) or getattr(tau, "ndim", 0) > 0:
        raise TypeError(
            f"tau is {shown(tau)}, expected {expected}. One length per sample is possible in "
            f"QuickShift.labels_at."
        )
    return check_real(tau, "tau", expected, 0)


def check_verbose(verbose: Any) -> bool:
    """Return whether progress is to be shown; numbers above 1 mean the same as 1."""
    expected = "0 for no output or 1 for a progress bar"
    if isinstance(verbose, bool | np.bool_):
        return bool(verbose)
    if check_whole(verbose, "verbose", expected=expected) < 0:
        raise ValueError(f"verbose is {verbose!r}, expected {expected}.")
    return bool(verbose)


def check_bandwidth_or_rule(bandwidth: Any, rules: tuple[str, ...]) -> float | str:
    """Return a positive, finite number or the name of a rule; the first rule is the default."""
    default, *others = (repr(rule) for rule in rules)
    expected = (
        f"a positive, finite number in the units of distances, {default} (the default), or one of "
        f"the rules {', '.join(others)}"
    )
    if not isinstance(bandwidth, str):
        return check_real(bandwidth, "bandwidth", expected, 0, closed="neither")
    if bandwidth not in rules:
        raise ValueError(f"bandwidth is {bandwidth!r}, expected {expected}.")
    return bandwidth


def check_bandwidth(bandwidth: Any, kernel: Kernel, period: Floats | None) -> float:
    """Return a positive, finite bandwidth that is small enough for every period."""
    expected = (
        "a positive, finite number: the scale h that divides distances, in the units of the data"
    )
    h = check_real(bandwidth, "bandwidth", expected, 0, closed="neither")
    limit = period_limit(kernel, period)
    if h > limit:
        raise ValueError(
            f"bandwidth is {h!r}, expected at most {limit!r} for the {kernel.name} kernel and the "
            f"period {period!r}: beyond that, the kernel would cover two periodic images of one "
            f"point. Use a smaller bandwidth."
        )
    return h
