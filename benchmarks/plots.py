"""Log-log plots of time against the number of points, for light pages and for dark ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib import patheffects
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

Result = dict[str, Any]


@dataclass(frozen=True)
class Theme:
    """Colors of the page, the text, the grid, our lines, and the lines of peers in order."""

    name: str
    page: str
    text: str
    grid: str
    ours: tuple[str, ...]
    peers: tuple[str, ...]


LIGHT = Theme(
    "light",
    "#ffffff",
    "#222832",
    "#d8dce2",
    ("#c2185b", "#e57300"),
    ("#0072b2", "#00795a", "#6b4fb3", "#8a6d00", "#3a8fb7", "#7a7f87", "#a0522d"),
)
DARK = Theme(
    "dark",
    "#14181e",
    "#ced6dd",
    "#3a424c",
    ("#ff6fa8", "#ffb04d"),
    ("#5cb8f0", "#4dcfa6", "#b6a0f5", "#d9bf4d", "#8fd0e6", "#a6adb8", "#e09a76"),
)
MARKERS = "osD^vPX"
LABEL_GAP = 0.048  # least distance between two labels, as a fraction of the height of the plot


class Label(NamedTuple):
    """Name, color and last point of a line."""

    name: str
    color: str
    x: float
    y: float


def is_ours(name: str) -> bool:
    """Return whether a line shows our code."""
    return name.startswith("quickshift")


def draw(curve: Result, theme: Theme, file: Path) -> None:
    """Write the plot of one curve as SVG; equal results give identical files."""
    settings = {
        "svg.hashsalt": curve["name"],
        "text.color": theme.text,
        "axes.edgecolor": theme.grid,
        "axes.labelcolor": theme.text,
        "xtick.color": theme.text,
        "ytick.color": theme.text,
        "font.size": 11,
    }
    with mpl.rc_context(settings):
        figure, axes = plt.subplots(figsize=(9.0, 4.6))
        figure.subplots_adjust(left=0.08, right=0.76, top=0.97, bottom=0.12)
        labels = _draw_lines(axes, curve, theme)
        _dress(axes, theme)
        _label(axes, labels, theme)
        figure.savefig(file, transparent=True, metadata={"Date": None})
        plt.close(figure)


def _draw_lines(axes: Axes, curve: Result, theme: Theme) -> list[Label]:
    """Draw every line; return the labels to write at their ends."""
    labels = []
    ours, peers = iter(theme.ours), iter(zip(theme.peers, MARKERS, strict=True))
    for name, line in curve["lines"].items():
        points = line["points"]
        if not points:
            continue
        mine = is_ours(name)
        color, marker = (next(ours), "o") if mine else next(peers)
        x = [p["n"] for p in points]
        y = [p["seconds"]["median"] for p in points]
        low, high = ([p["seconds"][end] for p in points] for end in ("low", "high"))
        axes.plot(x, y, color=color, marker=marker, ms=5, lw=3 if mine else 1.6, zorder=3 + mine)
        axes.fill_between(x, low, high, color=color, alpha=0.2, lw=0)
        labels.append(Label(name, color, x[-1], y[-1]))
    return labels


def _dress(axes: Axes, theme: Theme) -> None:
    axes.set(xscale="log", yscale="log", xlabel="points", ylabel="seconds")
    axes.grid(color=theme.grid, lw=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", length=0)
    axes.spines[["top", "right"]].set_visible(False)


def _label(axes: Axes, labels: list[Label], theme: Theme) -> None:
    """Write each name at the end of its line: right of the plot, or above an end inside it."""
    last = max(label.x for label in labels)
    outside = sorted((label for label in labels if label.x == last), key=lambda label: label.y)
    to_axes = axes.transData + axes.transAxes.inverted()
    wanted = [to_axes.transform((label.x, label.y))[1] for label in outside]
    for label, height in zip(outside, _apart(wanted), strict=True):
        axes.annotate(
            label.name,
            xy=(label.x, label.y),
            xytext=(1.0, height),
            textcoords="axes fraction",
            color=label.color,
            va="center",
            fontweight="bold" if is_ours(label.name) else "normal",
        )
    halo = [patheffects.withStroke(linewidth=3, foreground=theme.page)]
    for label in labels:
        if label.x < last:
            axes.annotate(
                label.name,
                xy=(label.x, label.y),
                xytext=(-3, 6),
                textcoords="offset points",
                color=label.color,
                ha="right",
                path_effects=halo,
                zorder=6,
            )


def _apart(heights: list[float]) -> list[float]:
    """Move sorted heights up until they keep their distance, then down if they left the plot."""
    moved: list[float] = []
    for height in heights:
        moved.append(max(height, moved[-1] + LABEL_GAP) if moved else height)
    too_high = max(0.0, moved[-1] - 1.0) if moved else 0.0
    for i in range(len(moved) - 1, -1, -1):
        ceiling = moved[i + 1] - LABEL_GAP if i + 1 < len(moved) else moved[i] - too_high
        moved[i] = min(moved[i], ceiling)
    return moved
