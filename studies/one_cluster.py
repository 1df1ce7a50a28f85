"""Study "one_cluster": how often samples of one group are one cluster.

Every distribution has one mode or one connected plateau, so one cluster is right. The threshold
is simulated for the Gaussian (benchmarks/calibrate.py); its samples here have other seeds. The
other distributions are flatter or have longer tails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickshift import QuickShift
from studies.measures import share
from studies.tables import Row, column, markdown, select, spaced, values

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], Array]
Job = tuple[str, str, str, int, int, int, int]

TITLE = "How often one group is one cluster"
CLAIM = "samples of one Gaussian are one cluster in 99 % of cases (not in the paper)"
CONDITION = "features of one Gaussian that are uncorrelated and equally spread"
SIZE = (9.0, 3.6)

DEFAULT, AUTO = "QuickShift()", 'QuickShift("auto")'
BANDWIDTHS = {DEFAULT: "local", AUTO: "auto"}
GAUSSIAN = "Gaussian"
FIRST_SEEDS = {"one Gaussian": 700, "distributions": 1000}  # not those of the calibration
CHUNK = 10  # draws of one job


def ball(rng: np.random.Generator, n: int, d: int) -> Array:
    """Draw from the uniform distribution on a ball."""
    direction = rng.normal(size=(n, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return direction * rng.uniform(size=(n, 1)) ** (1 / d)


def banana(rng: np.random.Generator, n: int, d: int) -> Array:
    """Draw from a Gaussian that is bent along a parabola."""
    X = rng.normal(size=(n, max(d, 2)))
    X[:, 1] = 0.5 * X[:, 1] + X[:, 0] ** 2
    return X


def ring(rng: np.random.Generator, n: int, d: int) -> Array:
    """Draw from a circle with noise."""
    angle = rng.uniform(0, 2 * np.pi, n)
    X = 0.1 * rng.normal(size=(n, max(d, 2)))
    X[:, :2] += np.column_stack([np.cos(angle), np.sin(angle)])
    return X


def correlated(rng: np.random.Generator, n: int, d: int) -> Array:
    """Draw from a Gaussian whose features all have the correlation 0.9."""
    return np.sqrt(0.9) * rng.normal(size=(n, 1)) + np.sqrt(0.1) * rng.normal(size=(n, d))


DISTRIBUTIONS: dict[str, Draw] = {
    GAUSSIAN: lambda rng, n, d: rng.normal(size=(n, d)),
    "Gaussian, correlations 0.9": correlated,
    "Gaussian, each column twice": lambda rng, n, d: np.repeat(rng.normal(size=(n, d)), 2, axis=1),
    "Student t, 3 degrees of freedom": lambda rng, n, d: rng.standard_t(3, size=(n, d)),
    "Laplace": lambda rng, n, d: rng.laplace(size=(n, d)),
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)),
    "lognormal": lambda rng, n, d: rng.lognormal(size=(n, d)),
    "uniform ball": ball,
    "uniform cube": lambda rng, n, d: rng.uniform(size=(n, d)),
    "banana": banana,
    "ring": ring,
}
NEED_TWO_FEATURES = {"banana", "ring", "Gaussian, correlations 0.9"}


@dataclass(frozen=True)
class Form:
    """Draws of each cell, and the largest number of values (samples times features) in a draw."""

    draws: int
    values: int


FORMS = {"quick": Form(10, 5000), "middle": Form(100, 30_000), "full": Form(100, 10_000 * 784)}


def gaussian_cells() -> list[tuple[int, int]]:
    """Return the numbers of features and of samples for which the thresholds are verified."""
    features = (1, 2, 3, 5, 10, 20, 30, 50, 100, 784)
    cells = [(d, n) for n in (30, 200, 1000, 10_000) for d in features]
    return cells + [(d, 100_000) for d in (1, 2, 3, 5)]


def jobs(form: Form) -> list[Job]:
    """List one job per ten draws of a cell, the small ones first."""
    cells = [
        ("distributions", name, DEFAULT, d, n)
        for name in DISTRIBUTIONS
        for d in (1, 2, 5)
        for n in (200, 1000, 5000)
        if d > 1 or name not in NEED_TWO_FEATURES
    ]
    for d, n in sorted(gaussian_cells(), key=lambda cell: cell[0] * cell[1]):
        cells += [("one Gaussian", GAUSSIAN, method, d, n) for method in BANDWIDTHS]
    return [
        (*cell, seed, CHUNK)
        for cell in cells
        if cell[3] * cell[4] <= form.values
        for seed in range(0, form.draws, CHUNK)
    ]


def measure(job: Job) -> list[Row]:
    """Count the draws that are one cluster."""
    part, name, method, d, n, first, draws = job
    ones = 0
    for seed in range(FIRST_SEEDS[part] + first, FIRST_SEEDS[part] + first + draws):
        entropy = [77, seed, n, d] if part == "one Gaussian" else [seed, n, d]
        X = DISTRIBUTIONS[name](np.random.default_rng(entropy), n, d)
        model = QuickShift(BANDWIDTHS[method], n_jobs=1).fit(X)
        ones += int(model.n_clusters_ == 1)
    cell = {"part": part, "distribution": name, "method": method, "d": d, "n": n}
    return [cell | {"draws": draws, "ones": ones}]


def percent(rows: list[Row]) -> str:
    """Return how many of 100 draws are one cluster; nothing without rows."""
    return f"{100 * rate(rows):.0f}" if rows else ""


def tables(rows: list[Row]) -> dict[str, str]:
    """Return both tables of the page."""
    return {
        "gaussian": markdown(gaussian_lines(select(rows, part="one Gaussian"))),
        "distributions": markdown(distribution_lines(select(rows, part="distributions"))),
    }


def gaussian_lines(rows: list[Row]) -> list[list[str]]:
    """Return a line per number of features, with the counts of both methods for each n."""
    sizes, features = (sorted(values(rows, name)) for name in ("n", "d"))
    lines = [["features", *(f"n = {spaced(n)}" for n in sizes)]]
    for d in features:
        line = [str(d)]
        for n in sizes:
            pair = [percent(select(rows, d=d, n=n, method=method)) for method in BANDWIDTHS]
            line.append(" / ".join(pair) if all(pair) else "")
        lines.append(line)
    return lines


def distribution_lines(rows: list[Row]) -> list[list[str]]:
    """Return a line per distribution, with the count of the default for each d and n."""
    cells = sorted({(row["d"], row["n"]) for row in rows})
    lines = [["distribution", *(f"d = {d}, n = {spaced(n)}" for d, n in cells)]]
    for name in values(rows, "distribution"):
        counts = [percent(select(rows, distribution=name, d=d, n=n)) for d, n in cells]
        lines.append([name, *counts])
    return lines


def summary(rows: list[Row]) -> str:
    """Return the measured figures in one sentence."""
    parts = []
    for method in BANDWIDTHS:
        some = select(rows, part="one Gaussian", method=method)
        cells = {(row["d"], row["n"]) for row in some}
        worst = min(cells, key=lambda cell: rate(select(some, d=cell[0], n=cell[1])))
        least = rate(select(some, d=worst[0], n=worst[1]))
        where = f"d = {worst[0]}, n = {spaced(worst[1])}"
        parts.append(f"{method}: {rate(some):.3f} over all sizes, at least {least:.2f} ({where})")
    return "share of samples of one Gaussian that are one cluster: " + "; ".join(parts)


def rate(rows: list[Row]) -> float:
    """Return the share of draws that are one cluster."""
    return float(column(rows, "ones").sum() / column(rows, "draws").sum())


def draw(rows: list[Row], figure: Any) -> None:
    """Draw the share against d for one Gaussian, and by distribution for the default."""
    left, right = figure.subplots(1, 2)
    draw_gaussian(rows, left)
    draw_distributions(rows, right)


def draw_gaussian(rows: list[Row], ax: Any) -> None:
    """Draw how often one Gaussian is one cluster by the default, against d for each n."""
    of_gaussian = select(rows, part="one Gaussian", method=DEFAULT)
    for color, n in enumerate(sorted(values(of_gaussian, "n"))):
        some = select(of_gaussian, n=n)
        features = sorted(values(some, "d"))
        three = np.array([interval_of(select(some, d=d)) for d in features])
        bars = np.abs(three[:, 1:] - three[:, :1]).T
        places = np.array(features) * 1.06 ** (color - 2)
        label = f"n = {spaced(n)}"
        ax.errorbar(places, three[:, 0], bars, fmt="o", ms=3, color=f"C{color}", label=label)
    ax.axhline(0.99, color="black", lw=0.8, ls="--")
    ax.set(xscale="log", xlabel="features", ylabel="share of samples that are one cluster")
    ax.minorticks_off()
    ax.set_xticks([1, 2, 5, 10, 30, 100, 784], ["1", "2", "5", "10", "30", "100", "784"])
    ax.set_title("One Gaussian, QuickShift(), with 95 % intervals; dashed: 0.99")
    ax.legend(frameon=False, loc="lower left")


def draw_distributions(rows: list[Row], ax: Any) -> None:
    """Draw how often samples of each distribution are one cluster, a dot per n."""
    others = select(rows, part="distributions")
    names = values(others, "distribution")
    for place, name in enumerate(names):
        for d, marker in ((1, "o"), (2, "s"), (5, "^")):
            some = select(others, distribution=name, d=d)
            found = [rate(select(some, n=n)) for n in values(some, "n")]
            style = {"ms": 4, "alpha": 0.6, "color": f"C{'125'.index(str(d))}"}
            label = f"d = {d}" if name == GAUSSIAN else None
            ax.plot(found, np.full(len(found), place), marker, label=label, **style)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set(xlabel="share of samples that are one cluster", xlim=(-0.03, 1.03))
    ax.set_title("Other distributions, a dot per n")
    ax.legend(frameon=False, loc="center")


def interval_of(rows: list[Row]) -> Array:
    """Return the share and the ends of its interval."""
    return share(column(rows, "ones").sum(), int(column(rows, "draws").sum()))
