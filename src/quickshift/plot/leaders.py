"""Texts that stand away from their points, with thin lines to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quickshift.arrays import Floats
from quickshift.plot.axes import Theme, text_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["label_with_leaders"]

_RADII = (20.0, 30.0, 40.0, 52.0)  # from a point to the middle of its text, in points
_N_ANGLES = 16
_WIDER = 1.6  # stretches the circles around a point, because texts are wider than high
_ROOM = 4.0  # around texts and lines, in points; layouts may still shift what is drawn
_ON_LINE = np.array([0.3, 0.5, 0.7, 0.9])  # shares of a line at which it may cover points
_PER_POINT = 0.05  # covered cells that one point of distance is worth
_CELL = 2.0  # what is covered is counted in squares of this width, in points


def label_with_leaders(
    ax: Axes, theme: Theme, points: Floats, texts: list[str], others: Floats
) -> None:
    """Write texts away from their points, where they and their lines cover the fewest others.

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
    frame = np.array(ax.get_window_extent().extents) * to_points
    boxes = np.array([text.get_window_extent().extents for text in ax.texts]).reshape(-1, 4)
    boxes *= to_points
    used = np.unique(np.rint(ax.transData.transform(others) * to_points / _CELL), axis=0) * _CELL
    used = np.concatenate([used, *map(_filled, boxes)])
    middles = _around()
    for i, text in enumerate(texts):
        half = np.array(text_size(text)) / 2 + _ROOM
        places = np.hstack([at[i] + middles - half, at[i] + middles + half])
        apart = (boxes[:, None, :2] >= places[:, 2:]) | (boxes[:, None, 2:] <= places[:, :2])
        free = apart.any(axis=2).all(axis=0)
        free &= ((places[:, :2] >= frame[:2]) & (places[:, 2:] <= frame[2:])).all(axis=1)
        if free.any():
            best = int(np.argmin(np.where(free, _costs(at[i], middles, places, used), np.inf)))
            boxes = np.vstack([boxes, places[best]])
            line = at[i] + np.linspace(0.2, 1.0, 20)[:, None] * middles[best]
            used = np.concatenate([used, line, _filled(places[best])])
            _write(ax, theme, text, tuple(points[i].tolist()), middles[best])


def _costs(at: Floats, middles: Floats, places: Floats, used: Floats) -> Floats:
    """Return what speaks against each place: what it and its line cover, and its distance."""
    length = np.hypot(*middles.T)
    used = used[(np.abs(used - at) < 2 * length.max()).all(axis=1)]
    on_line = at + _ON_LINE[:, None, None] * middles
    lines = np.concatenate([on_line - _ROOM / 2, on_line + _ROOM / 2], axis=2)
    covered = np.sum([_n_covered(parts, used) for parts in [places, *lines]], axis=0)
    costs: Floats = covered + _PER_POINT * length
    return costs


def _filled(box: Floats) -> Floats:
    """Return the points of a grid that fills a box."""
    across, up = np.arange(box[0], box[2], _CELL), np.arange(box[1], box[3], _CELL)
    return np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)


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
