"""Draw a million samples with about a hundred thousand modes, for docs/plots.md.

    python benchmarks/large_plots.py    half a minute; writes table and plot of the page

The time of each display is compared with two fits of the same data. The script fails if the cluster
tree takes longer than that, or has more than 500 branches.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from quickshift import QuickShift
from quickshift.plot import (
    ClusterTreeDisplay,
    CutsDisplay,
    DecisionGraphDisplay,
    ForestDisplay,
    PersistenceDisplay,
)

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, PLOT = DOCS / "plots.md", DOCS / "_static" / "plots" / "large.png"
START, END = "<!-- large -->", "<!-- end of large -->"
N_SAMPLES, N_GROUPS = 1_000_000, 50
MOST_BRANCHES = 500
DISPLAYS = (
    ClusterTreeDisplay,
    PersistenceDisplay,
    DecisionGraphDisplay,
    CutsDisplay,
    ForestDisplay,
)


def samples() -> np.ndarray:
    """Return fifty groups in the plane, and as many samples of uniform noise."""
    rng = np.random.default_rng(0)
    noise = rng.uniform(0, 100, (N_SAMPLES // 2, 2))
    centers = rng.uniform(0, 100, (N_GROUPS, 1, 2))
    groups = centers + 0.7 * rng.normal(size=(N_GROUPS, N_SAMPLES // 2 // N_GROUPS, 2))
    return np.concatenate([noise, groups.reshape(-1, 2)])


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that a call takes, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def drawn(display: Any) -> None:
    """Draw a display and render it as a plot in memory."""
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    display.plot(figure.add_subplot())
    figure.savefig(BytesIO(), format="png", dpi=100)


def main() -> None:
    """Measure, then write the table and the plot."""
    X = samples()
    model = QuickShift(bandwidth=0.05)
    fit = min(timed(lambda: model.fit(X))[0] for _ in range(2))
    displays, rows = {}, []
    for kind in DISPLAYS:
        model = QuickShift(bandwidth=0.05).fit(X)  # nothing is kept from the display before
        compute, display = timed(lambda kind=kind, model=model: kind.from_estimator(model))
        draw, _ = timed(lambda display=display: drawn(display))
        displays[kind] = display
        rows.append((kind.__name__, compute, draw, (compute + draw) / (2 * fit)))
    n_leaves, n_branches = len(model.tree_), len(displays[ClusterTreeDisplay].centers)
    write_table(rows, fit, n_leaves, n_branches)
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    displays[ClusterTreeDisplay].plot(left)
    displays[PersistenceDisplay].plot(right)
    PLOT.parent.mkdir(exist_ok=True)
    figure.savefig(PLOT, dpi=90)
    if rows[0][3] > 1 or n_branches > MOST_BRANCHES:
        raise SystemExit(f"the cluster tree is too slow or too large: {rows[0]}, {n_branches}")


def write_table(
    rows: list[tuple[str, float, float, float]], fit: float, n_leaves: int, n_branches: int
) -> None:
    """Put the measurements into the page."""
    lines = [
        f"One fit of {N_SAMPLES:,} samples takes {fit:.1f} s and has {n_leaves:,} modes at tau. "
        f"The cluster tree has {n_branches} branches.",
        "",
        "| display | compute (s) | draw (s) | both, relative to two fits |",
        "|---|---|---|---|",
        *(f"| `{name}` | {a:.2f} | {b:.2f} | {share:.2f} |" for name, a, b, share in rows),
    ]
    before, rest = PAGE.read_text(encoding="utf-8").split(START)
    after = rest.split(END)[1]
    table = "\n".join(lines)
    PAGE.write_text(f"{before}{START}\n{table}\n{END}{after}", encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
