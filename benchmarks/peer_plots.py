"""Draw the same data with hdbscan, GUDHI and quickshift side by side, for docs/plots_compared.md.

    python benchmarks/peer_plots.py    half a minute; writes table and plot of the page

The times are those of a fit and its plot together, because every plot needs a fit.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

import hdbscan
from gudhi.clustering.tomato import Tomato
from matplotlib import pyplot as plt

from quickshift import QuickShift
from quickshift.plot import ClusterTreeDisplay, PersistenceDisplay

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, PLOT = DOCS / "plots_compared.md", DOCS / "_static" / "plots" / "peers.png"
START, END = "<!-- peers -->", "<!-- end of peers -->"
SIZES = (1700, 20_000)
GROUPS = (([0, 0], 0.5), ([5, 0], 1.2), ([0.5, 5], 0.7), ([3.3, 5], 0.7))


def samples(n: int) -> np.ndarray:
    """Return four groups in the plane, of which two touch, and 6 % uniform noise."""
    rng = np.random.default_rng(3)
    each = int(0.235 * n)
    groups = [rng.normal(center, scale, (each, 2)) for center, scale in GROUPS]
    return np.concatenate([*groups, rng.uniform(-3, 9, (n - 4 * each, 2))])


def draw_condensed_tree(X: np.ndarray, ax: Any) -> None:
    """Draw the condensed tree of hdbscan, with the selected clusters."""
    fitted = hdbscan.HDBSCAN(min_cluster_size=max(15, len(X) // 1000)).fit(X)
    fitted.condensed_tree_.plot(select_clusters=True, axis=ax)


def draw_linkage(X: np.ndarray, ax: Any) -> None:
    """Draw the single-linkage tree of hdbscan."""
    fitted = hdbscan.HDBSCAN(min_cluster_size=max(15, len(X) // 1000)).fit(X)
    fitted.single_linkage_tree_.plot(axis=ax)


def draw_diagram(X: np.ndarray, ax: Any) -> None:
    """Draw the persistence diagram of GUDHI's ToMATo, which takes the current axes."""
    fitted = Tomato(density_type="logDTM", k=10).fit(X)
    plt.sca(ax)
    fitted.plot_diagram()


def draw_tree(X: np.ndarray, ax: Any) -> None:
    """Draw our cluster tree."""
    ClusterTreeDisplay.from_estimator(QuickShift().fit(X)).plot(ax)


def draw_persistence(X: np.ndarray, ax: Any) -> None:
    """Draw our persistence diagram."""
    PersistenceDisplay.from_estimator(QuickShift().fit(X)).plot(ax)


SHOWN = (
    ("hdbscan: condensed_tree_.plot", draw_condensed_tree),
    ("GUDHI: Tomato.plot_diagram", draw_diagram),
    ("quickshift: ClusterTreeDisplay", draw_tree),
    ("quickshift: PersistenceDisplay", draw_persistence),
)
TIMED = (*SHOWN, ("hdbscan: single_linkage_tree_.plot", draw_linkage))


def seconds(draw: Callable[[np.ndarray, Any], None], n: int) -> str:
    """Return the time of a fit and its plot, or the error that it ends with."""
    X = samples(n)
    figure, ax = plt.subplots()
    start = time.perf_counter()
    try:
        draw(X, ax)
        figure.canvas.draw()
    except RecursionError:
        return "RecursionError"
    finally:
        plt.close(figure)
    return f"{time.perf_counter() - start:.2f}"


def main() -> None:
    """Draw, measure, and write both into the docs."""
    warnings.simplefilter("ignore")  # of the peers
    figure, axes = plt.subplots(len(SIZES), len(SHOWN), figsize=(16, 7.4), layout="constrained")
    for row, n in zip(axes, SIZES, strict=True):
        for ax, (name, draw) in zip(row, SHOWN, strict=True):
            draw(samples(n), ax)
            ax.set_title(f"{name}\n{ax.get_title()}".strip(), fontsize="medium")
        row[0].annotate(f"{n:,} samples", (0, 1.25), xycoords="axes fraction", fontsize="large")
    PLOT.parent.mkdir(exist_ok=True)
    figure.savefig(PLOT, dpi=70)
    plt.close(figure)
    lines = [
        "| plot | " + " | ".join(f"{n:,} samples" for n in SIZES) + " |",
        "|---" * (len(SIZES) + 1) + "|",
    ]
    for name, draw in TIMED:
        lines.append(f"| {name} | " + " | ".join(seconds(draw, n) for n in SIZES) + " |")
    before, rest = PAGE.read_text(encoding="utf-8").split(START)
    after = rest.split(END)[1]
    table = "\n".join(lines)
    PAGE.write_text(f"{before}{START}\n{table}\n{END}{after}", encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
