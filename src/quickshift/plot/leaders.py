"""Texts that stand away from their points, with thin lines to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quickshift.arrays import Floats
from quickshift.plot.axes import Theme, text_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["label_with_leaders"]

_RADII = (22.0, 32.0, 44.0)  # from a point to the middle of its text, in points
_N_ANGLES = 16
_WIDER = 1.6  # stretches the circles around a point, because texts are wider than high


def label_with_leaders(
    ax: Axes, theme: Theme, points: Floats, texts: list[str], others: Floats
) -> None:
    """Write texts away from their points, where they cover the fewest other points.

    They do not cover each other or the texts that are already in the axes. The limits and the
    scales of the axes have to be final.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to write.
    theme : Theme
        The colors.
    points : ndarray of shape (n_texts, 2)
        The points that are named.
    texts : list of str
        Their names, most important first; those for which there is no room are left out.
    others : ndarray of shape (n_others, 2)
        The points that should not be covered.
    """
    to_points = 72 / float(ax.figure.dpi)
    at = ax.transData.transform(points) * to_points
    others = ax.transData.transform(others) * to_points
    frame = np.array(ax.get_window_extent().extents) * to_points
    boxes = np.array([text.get_window_extent().extents for text in ax.texts]).reshape(-1, 4)
    boxes *= to_points
    for i, text in enumerate(texts):
        width, height = text_size(text)
        half = np.array([width / 2 + 2, height / 2 + 2])
        middles = _around()
        places = np.hstack([at[i] + middles - half, at[i] + middles + half])
        apart = (boxes[:, None, :2] >= places[:, 2:]) | (boxes[:, None, 2:] <= places[:, :2])
        free = apart.any(axis=2).all(axis=0)
        free &= ((places[:, :2] >= frame[:2]) & (places[:, 2:] <= frame[2:])).all(axis=1)
        if free.any():
            best = int(np.argmin(np.where(free, _n_covered(places, others), np.inf)))
            boxes = np.vstack([boxes, places[best]])
            _write(ax, theme, text, tuple(points[i].tolist()), middles[best])


def _around() -> Floats:
    """Return offsets from a point to middles of texts, the nearest first and to the right first."""
    angles = 2 * np.pi * np.arange(_N_ANGLES) / _N_ANGLES
    circle = np.column_stack([_WIDER * np.cos(angles), np.sin(angles)])
    offsets: Floats = np.array(_RADII)[:, None, None] * circle
    return offsets.reshape(-1, 2)


def _n_covered(places: Floats, others: Floats) -> Floats:
    """Return the number of points within each place."""
    inside = [((others >= place[:2]) & (others <= place[2:])).all(axis=1).sum() for place in places]
    return np.array(inside, dtype=np.float64)


def _write(ax: Axes, theme: Theme, text: str, at: tuple[float, float], middle: Floats) -> None:
    ax.annotate(
        text,
        at,
        tuple(middle),
        textcoords="offset points",
        ha="center",
        va="center_baseline",
        fontsize="small",
        color=theme.ink,
        zorder=5,
        arrowprops={
            "arrowstyle": "-",
            "color": theme.ink,
            "linewidth": 0.6,
            "shrinkA": 0,
            "shrinkB": 3.0,
        },
    )
