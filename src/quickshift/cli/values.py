"""What is typed for an option, turned into the value that the library takes."""

import math
import re

from quickshift.cli.outcome import UsageError

__all__ = ["bytes_of", "lengths", "number_or_word", "whole_numbers", "whole_or_word"]

_UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}


def number_or_word(text: str) -> float | str:
    """Return a number, or the text if it is none: the name of a rule, which the library checks.

    Examples
    --------
    >>> number_or_word("0.5"), number_or_word("auto")
    (0.5, 'auto')
    """
    try:
        return float(text)
    except ValueError:
        return text


def whole_or_word(text: str) -> float | str:
    """Return a whole number, or what `number_or_word` returns if it is none.

    Examples
    --------
    >>> whole_or_word("12"), whole_or_word("auto")
    (12, 'auto')
    """
    try:
        return int(text)
    except ValueError:
        return number_or_word(text)


def lengths(text: str | None) -> list[float] | None:
    """Return the periods of the features, infinite for "inf".

    Examples
    --------
    >>> lengths("360,inf")
    [360.0, inf]
    """
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"{text!r} is not a list of lengths, expected one number per feature, such as 360,inf."
        ) from None


def whole_numbers(text: str | None) -> list[int] | None:
    """Return whole numbers that are separated by commas.

    Examples
    --------
    >>> whole_numbers("4,3,2")
    [4, 3, 2]
    """
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"{text!r} is not a list of whole numbers, expected one such as 4,3,2."
        ) from None


def bytes_of(text: str) -> int:
    """Return a number of bytes.

    Examples
    --------
    >>> bytes_of("2GB"), bytes_of("512 MiB"), bytes_of("1e9")
    (2000000000, 536870912, 1000000000)
    """
    match = re.fullmatch(r"(\d+\.?\d*(?:e\d+)?)\s*([kmgt]?i?)b?", text.strip().lower())
    size = float(match[1]) * _UNITS.get(match[2], 0) if match else 0.0
    if not 1 <= size < math.inf:
        raise UsageError(f"{text!r} is not a size in bytes, expected one such as 2GB or 512MiB.")
    if size < _UNITS["m"]:
        raise UsageError(f"{text!r} is too little memory for any part, expected 1MB or more.")
    return int(size)
