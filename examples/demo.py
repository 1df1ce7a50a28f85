"""Cluster a small data set with Quick Shift, print a summary and draw ``demo.png``.

    python examples/demo.py [picture]

The picture follows Figure 1 of the paper. The left panel shows the moves of all points to their
nearest neighbor of higher density, the right panel the clusters that remain after cutting the moves
longer than tau.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from quickshift import QuickShift

DATA = Path(__file__).parent / "data" / "islands.csv"
BANDWIDTH = 0.45
TAU = 1.5

# The palette of Okabe and Ito, which people with any color vision can distinguish, without yellow,
# which is too pale on white.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555"]
INK = "#333333"


def main() -> None:
    """Load the data, fit, print the summary and draw."""
    parser = argparse.ArgumentParser(description="Cluster a small data set with Quick Shift.")
    parser.add_argument("picture", nargs="?", default="demo.png", help="default: demo.png")
    picture = parser.parse_args().picture

    X = np.loadtxt(DATA, delimiter=",", skiprows=1)
    start = time.perf_counter()
    model = QuickShift(bandwidth=BANDWIDTH, tau=TAU).fit(X)
    seconds = time.perf_counter() - start

    print(summary(model, len(X), seconds))
    default = QuickShift().fit(X)
    print(f"\nWithout parameters: {default.n_clusters_} clusters")
    draw(model, X).savefig(picture, dpi=160)
    print(f"\nPicture: {picture}")


def summary(model: QuickShift, n: int, seconds: float) -> str:
    """Summarize the fit in a few lines."""
    sizes = np.bincount(model.labels_)
    longest = np.sort(model.parent_distance_[np.isfinite(model.parent_distance_)])[:-9:-1]
    modes = zip(sizes, model.modes_, model.density_[model.mode_indices_], strict=True)
    rows = [
        f"{label:7}  {size:6}    ({x:6.2f}, {y:6.2f})   {density:.4f}"
        for label, (size, (x, y), density) in enumerate(modes)
    ]
    return "\n".join(
        [
            f"Quick Shift on {n} points of {DATA.name}: {1e3 * seconds:.0f} ms",
            f"bandwidth {model.bandwidth_:g}, tau {model.tau_:g}, {model.n_clusters_} clusters",
            f"longest moves: {'  '.join(f'{move:.2f}' for move in longest)}",
            "",
            "cluster  points         mode          density",
            *rows,
        ]
    )


def draw(model: QuickShift, X: np.ndarray) -> Figure:
    """Draw the moves on the left and the clusters on the right."""
    figure = Figure(figsize=(12, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    moves = np.stack([X, X[model.parent_]], axis=1)
    kept = model.parent_distance_ <= model.tau_
    cut = ~kept & np.isfinite(model.parent_distance_)
    colors = np.array(COLORS)[model.labels_ % len(COLORS)]

    long = LineCollection(moves[cut], colors="#A0A0A0", linewidths=1.3, linestyles="--", zorder=1)
    left.add_collection(long)
    left.add_collection(LineCollection(moves[kept], colors=INK, linewidths=0.6, zorder=1))
    left.scatter(*X.T, s=8, c=model.density_, cmap="cividis_r", linewidths=0, zorder=2)
    caption(
        left,
        "Each point moves to its nearest higher neighbor",
        "darker: higher · dashed: longer than τ",
    )

    right.add_collection(LineCollection(moves[kept], colors=colors[kept], linewidths=0.6, zorder=1))
    right.scatter(*X.T, s=8, c=colors, linewidths=0, zorder=2)
    right.scatter(*model.modes_.T, s=200, marker="*", c="white", edgecolors=INK, zorder=3)
    title = f"Cut the moves longer than τ = {model.tau_:g}: {model.n_clusters_} clusters"
    caption(right, title, "stars: modes")
    return figure


def caption(axes: Axes, title: str, note: str) -> None:
    """Set the title of a panel and a note below it, and hide the axes."""
    axes.set_title(title, color=INK, fontsize=13, pad=10)
    axes.text(0.5, -0.04, note, color="#666666", ha="center", transform=axes.transAxes)
    axes.set_aspect("equal")
    axes.set_axis_off()


if __name__ == "__main__":
    main()
