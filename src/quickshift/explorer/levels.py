"""The values of tau that the page offers, and the first of them that keeps each move.

The page compares whole numbers: level j keeps the moves whose code is at most j. Each level is a
number between two lengths of moves, so that ``labels_at`` of that number is exactly the cut that
the page shows. If there are more lengths than codes, the longest are told apart one by one, because
they decide between few clusters, and the others in groups of equal size.
"""

import math
from dataclasses import dataclass

import numpy as np

from quickshift.arrays import Flags, Floats, Indices

__all__ = ["Levels", "between", "choose_levels", "codes_of"]

_NEVER = 65535  # the code of a move that no level keeps
_MOST = 60_000  # levels that tell every length apart
_LONGEST = 20_000  # lengths that are told apart if there are more
_GROUPS = 4_000  # groups of the shorter lengths in that case
_SAME = 1 + 1e-9  # lengths whose ratio is less than this have the same code


@dataclass(frozen=True)
class Levels:
    """Values of tau.

    Attributes
    ----------
    values : ndarray of shape (n_levels,)
        The values, ascending, with few digits.
    starts : ndarray of shape (n_levels,)
        The longest move that each level keeps: the cut is the same from there on.
    chosen : int
        The level of the tau that was given; -1 if none was.
    """

    values: Floats
    starts: Floats
    chosen: int


def choose_levels(moves: Floats, chosen: float | None = None) -> Levels:
    """Choose values of tau at which every move is clearly kept or clearly removed.

    Parameters
    ----------
    moves : ndarray of shape (n,)
        Lengths of the moves of samples of positive weight; infinite if there is no parent.
    chosen : float, optional
        A value that becomes a level itself.

    Returns
    -------
    Levels

    Examples
    --------
    >>> found = choose_levels(np.array([0.0, 0.5, 0.51, 2.0, np.inf]), 1.0)
    >>> found.values.tolist(), found.chosen
    ([0.25, 0.505, 1.0, 2.4], 2)
    """
    finite = np.unique(moves[np.isfinite(moves)])
    lengths = np.unique(np.append(finite, 0.0))
    following = np.append(lengths[1:], np.inf)
    with np.errstate(over="ignore"):
        apart = following > lengths * _SAME
    apart[0] |= lengths[0] == 0
    if chosen is not None:
        apart |= (lengths <= chosen) & (chosen < following)
    ends = _thinned(apart, lengths, chosen)
    starts, following = lengths[ends], following[ends]
    values = np.array([between(a, b) for a, b in zip(starts, following, strict=True)])
    at = -1
    if chosen is not None:
        at = int(np.searchsorted(starts, chosen, side="right")) - 1
        values[at] = chosen if math.isfinite(chosen) else values[at]
    return Levels(values, starts, at)


def _thinned(apart: Flags, lengths: Floats, chosen: float | None) -> Indices:
    """Return the positions of the lengths after which a level begins."""
    ends = np.flatnonzero(apart)
    if ends.size <= _MOST:
        return ends
    few = np.linspace(0, ends.size - _LONGEST, _GROUPS, endpoint=False).astype(np.int64)
    kept = np.concatenate([ends[few], ends[-_LONGEST:]])
    if chosen is not None:
        kept = np.append(kept, np.searchsorted(lengths, chosen, side="right") - 1)
    return np.unique(kept)


def between(low: float, high: float) -> float:
    """Return a number with few digits above one number and below another.

    Parameters
    ----------
    low, high : float
        At least 0; ``high`` may be infinite.

    Returns
    -------
    float

    Examples
    --------
    >>> between(1.0, 1.1), between(2.0, float("inf"))
    (1.05, 2.4)
    """
    if low == 0 and math.isinf(high):
        return 1.0
    if math.isinf(high):
        high = low * 1.5 if low < 1e308 else math.inf
    middle = high / 2 if low == 0 else math.sqrt(low) * math.sqrt(min(high, 1.7e308))
    for digits in range(2, 17):
        value = float(f"{middle:.{digits}g}")
        if low < value < high:
            return value
    return middle


def codes_of(moves: Floats, levels: Levels) -> Indices:
    """Return the first level that keeps each move, or 65535 if none does.

    Parameters
    ----------
    moves : ndarray of shape (n,)
        Lengths of the moves; NaN counts as infinite.
    levels : Levels
        From `choose_levels`.

    Returns
    -------
    ndarray of shape (n,), int64

    Examples
    --------
    >>> moves = np.array([0.0, 0.5, 0.51, 2.0, np.inf])
    >>> codes_of(moves, choose_levels(moves)).tolist()
    [0, 1, 2, 3, 65535]
    """
    codes = np.searchsorted(levels.values, moves, side="left")
    return np.where(codes < levels.values.size, codes, _NEVER)
