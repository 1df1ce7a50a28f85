"""Ladders: the values that a slider of the page offers, and the number of clusters at each."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickshift.arrays import Floats, Indices
from quickshift.explorer.levels import Levels, between
from quickshift.explorer.packing import Section

__all__ = ["score_ladder", "tau_ladder"]

_FEW = 2000  # sliders begin where there are about this many clusters
_LARGEST = 1e308
_CLOSE = 0.05  # marks that are closer than this part of the slider have one text


def tau_ladder(
    levels: Levels, codes: Indices, *, relative: bool, mark: str
) -> tuple[dict[str, Any], dict[str, Section]]:
    """Return the ladder of cuts at tau.

    Parameters
    ----------
    levels : Levels
        The values of tau.
    codes : ndarray of shape (n,)
        The first level that keeps each move, of samples of positive weight only.
    relative : bool
        Whether moves are multiples of each sample's tau.
    mark : str
        What the chosen tau is called, if moves are not relative.

    Returns
    -------
    header : dict
        Name, title and symbol of the ladder, its chosen step (-1 if there is none), marked values,
        and the ends of the slider.
    sections : dict of str to Section
        Of each step: where it begins, its value and its number of clusters.

    Examples
    --------
    >>> from quickshift.explorer.levels import choose_levels, codes_of
    >>> moves = np.array([0.5, 0.51, 2.0, np.inf])
    >>> levels = choose_levels(moves, 1.0)
    >>> header, sections = tau_ladder(levels, codes_of(moves, levels), relative=False, mark="fit")
    >>> header["chosen"], header["marks"]
    (2, [{'at': 1.0, 'text': 'fit'}])
    >>> sections["tau_counts"].values.tolist()
    [4, 3, 2, 1]
    """
    counts = codes.size - np.searchsorted(np.sort(codes), np.arange(levels.values.size), "right")
    marks = {mark: float(levels.values[levels.chosen])} if levels.chosen >= 0 else {}
    if relative:
        marks = {"1": 1.0}
    shown = [float(levels.values[levels.chosen])] if levels.chosen >= 0 else []
    low, high = _ends(levels.starts, counts, shown)
    header = {
        "key": "tau",
        "title": "Longest move, in multiples of each point’s τ" if relative else "Longest move τ",
        "symbol": "move/τ" if relative else "τ",
        "chosen": levels.chosen,
        **_described(marks, low, high),
    }
    return header, _sections("tau", levels.starts, levels.values, counts)


def score_ladder(
    score: Floats, by: str, towards: Indices, *, chance: float = 0.0, least: float = 0.0
) -> tuple[dict[str, Any], dict[str, Section]]:
    """Return the ladder of cuts by the score of modes.

    Parameters
    ----------
    score : ndarray of shape (n_leaves,)
        A cut keeps the leaves of at least a score.
    by : {"significance", "prominence_ratio"}
        What the score is.
    towards : ndarray of shape (n_leaves,)
        The leaf that takes the samples of each, or a negative number if it always stays.
    chance : float, optional
        The score up to which modes may be due to chance; 0 if it is not known.
    least : float, optional
        The least score of the fit.

    Returns
    -------
    header : dict
        As of `tau_ladder`.
    sections : dict of str to Section
        As of `tau_ladder`.

    Examples
    --------
    >>> towards = np.array([-1, 0, 0])
    >>> score = np.array([np.inf, 5.0, 2.0])
    >>> header, sections = score_ladder(score, "significance", towards, least=4.0)
    >>> header["chosen"], sections["score_values"].values.tolist()
    (1, [0.0, 4.0, 6.1])
    >>> sections["score_counts"].values.tolist()
    [3, 2, 1]
    """
    removable = np.sort(score[np.isfinite(score) & (towards >= 0)])
    steps = np.unique(removable)  # leaves of equal scores go together
    starts = np.append(0.0, steps)
    counts = score.size - np.searchsorted(removable, steps, side="right")
    counts = np.append(score.size, counts)
    following = np.append(steps, np.inf)[1:]
    inside = [between(a, b) for a, b in zip(steps, following, strict=True)]
    values = np.append(0.0, np.where(inside > steps, inside, following))  # or no number is between
    chosen = max(int(np.searchsorted(starts, least, side="left")) - 1, 0)
    if 0 < least < np.inf:
        values[chosen] = least
    marks = {"chance": chance, "fit": float(values[chosen])}
    marks = {text: at for text, at in marks.items() if at > 0}
    low, high = _ends(starts, counts, list(marks.values()))
    low = max(low, chance / 20 if chance > 0 else high / 1000)
    ratio = by != "significance"
    header = {
        "key": "score",
        "title": f"Least {'prominence ratio' if ratio else 'significance'} of a mode",
        "symbol": "prominence ratio" if ratio else "significance",
        "chosen": chosen,
        **_described(marks, max(low, 1.0) if ratio else low, high),
    }
    return header, _sections("score", starts, values, counts)


def _ends(starts: Floats, counts: Indices, shown: list[float]) -> tuple[float, float]:
    """Return the ends of a slider that shows few clusters and some values."""
    few = starts[int(np.argmax(counts <= max(_FEW, counts[-1]))) :]
    inside = np.array([*few[few > 0][:1], starts[-1], *shown])
    inside = inside[(inside > 0) & np.isfinite(inside)]
    if not inside.size:
        return 0.1, 10.0
    low, high = float(inside.min()), float(inside.max())
    low = max(low / 1.4, float(np.finfo(np.float64).tiny))
    return low, max(low * 4, high * 1.25 if high < _LARGEST / 2 else _LARGEST)


def _described(marks: Mapping[str, float], low: float, high: float) -> dict[str, Any]:
    """Return marked values, where one text stands for two that are close, and the ends."""
    high = max(high, low * 1.01)
    listed: list[dict[str, Any]] = []
    for text, at in sorted(marks.items(), key=lambda mark: mark[1]):
        listed.append({"at": at, "text": text})
        if len(listed) > 1 and math.log(at / listed[-2]["at"]) < _CLOSE * math.log(high / low):
            listed[-2]["text"] += f", {text}"
            listed[-1]["text"] = ""
    return {"marks": listed, "low": low, "high": high}


def _sections(key: str, starts: Floats, values: Floats, counts: NDArray[Any]) -> dict[str, Section]:
    return {
        f"{key}_starts": Section(starts, "f64"),
        f"{key}_values": Section(values, "f64"),
        f"{key}_counts": Section(counts, "i32", delta=True),
    }
