"""Log-log plots of time against the number of points, one for light pages and one for dark ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

Result = dict[str, Any]


@dataclass(frozen=True)
class Theme:
    """Colours on the page's background: text, grid, ours, and the peers in order."""

    name: str
    text: str
    grid: str
    ours: tuple[str, ...]
    peers: tuple[str, ...]


LIGHT = Theme(
    "light",
    "#222832",
    "#d8dce2",
    ("#c2185b", "#e57300"),
    ("#0072b2", "#00795a", "#6b4fb3", "#8a6d00", "#3a8fb7", "#7a7f87", "#a0522d"),
)
DARK = Theme(
    "dark",
    "#ced6dd",
    "#3a424c",
    ("#ff6fa8", "#ffb04d"),
    ("#5cb8f0", "#4dcfa6", "#b6a0f5", "#d9bf4d", "#8fd0e6", "#a6adb8", "#e09a76"),
)
MARKERS = "osD^vPX"
LABEL_GAP = 0.048  # least distance of two labels, as a part of the plot's height


def draw(curve: Result, theme: Theme, file: Path) -> None:
    """Write the plot of one curve as SVG; the same results give the same bytes."""
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
        figure, axes = plt.subplots(figsize=(8.4, 5.0))
        labels = _draw_lines(axes, curve, theme)
        _dress(axes, theme)
        _label(axes, labels)
        figure.savefig(file, transparent=True, bbox_inches="tight", metadata={"Date": None})
        plt.close(figure)


def _draw_lines(axes: Axes, curve: Result, theme: Theme) -> list[tuple[str, str, float, float]]:
    """Draw every line; return name, colour and last point of each."""
    labels = []
    ours, peers = iter(theme.ours), iter(zip(theme.peers, MARKERS, strict=True))
    for name, line in curve["lines"].items():
        points = line["points"]
        if not points:
            continue
        mine = name.startswith("quickshift")
        color, marker = (next(ours), "o") if mine else next(peers)
        x = [p["n"] for p in points]
        y = [p["seconds"]["median"] for p in points]
        low, high = ([p["seconds"][end] for p in points] for end in ("low", "high"))
        axes.plot(x, y, color=color, marker=marker, ms=5, lw=3 if mine else 1.6, zorder=4 - mine)
        axes.fill_between(x, low, high, color=color, alpha=0.2, lw=0)
        labels.append((name, color, x[-1], y[-1]))
    return labels


def _dress(axes: Axes, theme: Theme) -> None:
    axes.set(xscale="log", yscale="log", xlabel="points", ylabel="seconds")
    axes.grid(color=theme.grid, lw=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", length=0)
    axes.spines[["top", "right"]].set_visible(False)


def _label(axes: Axes, labels: list[tuple[str, str, float, float]]) -> None:
    """Write names at the right, in the order of the lines' heights, none upon another."""
    to_axes = axes.transData + axes.transAxes.inverted()
    wanted = sorted(((*to_axes.transform((x, y)), name, color) for name, color, x, y in labels))
    wanted.sort(key=lambda label: label[1])
    heights = _apart([y for _, y, _, _ in wanted])
    for (x, y, name, color), height in zip(wanted, heights, strict=True):
        axes.annotate(
            name,
            xy=(x, y),
            xytext=(1.03, height),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=color,
            va="center",
            fontweight="bold" if name.startswith("quickshift") else "normal",
            arrowprops={"arrowstyle": "-", "color": color, "lw": 0.6, "ls": ":", "shrinkB": 4},
        )


def _apart(heights: list[float]) -> list[float]:
    """Move sorted heights up until they keep their distance, then the whole down to its middle."""
    moved: list[float] = []
    for height in heights:
        moved.append(max(height, moved[-1] + LABEL_GAP) if moved else height)
    too_high = max(0.0, moved[-1] - 1.0) if moved else 0.0
    for i in range(len(moved) - 1, -1, -1):
        ceiling = moved[i + 1] - LABEL_GAP if i + 1 < len(moved) else moved[i] - too_high
        moved[i] = min(moved[i], ceiling)
    return moved
