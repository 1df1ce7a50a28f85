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
from matplotlib.figure import Figure

from quickshift import QuickShift
from quickshift.plot import ForestDisplay

DATA = Path(__file__).parent / "data" / "islands.csv"
BANDWIDTH = 0.45
TAU = 1.5


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
    draw(model).savefig(picture, dpi=130)
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


def draw(model: QuickShift) -> Figure:
    """Draw the moves on the left and the clusters on the right."""
    figure = Figure(figsize=(12, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    ForestDisplay.from_estimator(model.recut(tau=np.inf)).plot(left)
    ForestDisplay.from_estimator(model).plot(right)
    left.set_title("Each sample moves to its nearest higher neighbor")
    right.set_title(f"Cut the moves longer than τ = {model.tau_:g}: {model.n_clusters_} clusters")
    right.set_ylabel("")
    return figure


if __name__ == "__main__":
    main()
