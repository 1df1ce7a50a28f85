"""Study "beyond": what Quick Shift does where the assumptions of the paper do not hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

import quickshift as qs
from quickshift.datasets import Ball, ShapeMixture
from studies.measures import median, share
from studies.peaks import Peaks, unequal
from studies.tables import Row, column, interval, markdown, select, spaced, values

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
Job = tuple[str, int, int]

TITLE = "Beyond the assumptions"
CLAIM = "none: flat regions, curves, heavy tails, rounding, outliers, many dimensions"
CONDITION = "every case breaks one assumption of Theorem 1"
SIZE = (9.0, 5.6)

ALGORITHM, STRICT, DEFAULT = "Algorithm 1", "Algorithm 1, strict ties", "QuickShift()"
METHODS = (ALGORITHM, STRICT, DEFAULT)
CENTERS = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
TAU_SHARE = 0.225  # of the distance between modes: 0.9 r_M / 2, where r_M is half of that distance


@dataclass(frozen=True)
class Form:
    """Draws of each size."""

    draws: dict[int, int]


FORMS = {
    "quick": Form({1000: 3}),
    "middle": Form({1000: 10, 10_000: 10}),
    "full": Form({1000: 30, 10_000: 12, 30_000: 6}),
}


def jobs(form: Form) -> list[Job]:
    """List one job per case, size and draw."""
    return [(c, n, s) for c in CASES for n, draws in form.draws.items() for s in range(draws)]


def within(n: int, seed: int) -> tuple[Floats, Labels, float]:
    """Draw from a density that meets all assumptions, for comparison."""
    known = unequal(2)
    X = known.sample(n, seed)
    return X, by_wall(X, known), 0.9 * known.r_m / 2


def by_wall(X: Floats, known: Peaks) -> Labels:
    """Return the basin of each sample of a density with walls."""
    return np.searchsorted(known.walls, X[:, 0])


def flat(n: int, seed: int) -> tuple[Floats, Labels, float]:
    """Draw from three discs of constant density."""
    discs = ShapeMixture([Ball(tuple(center), 2.0) for center in CENTERS])
    X, labels = discs.sample(n, seed=seed)
    return X, labels, TAU_SHARE * 6


def curve(n: int, seed: int) -> tuple[Floats, Labels, float]:
    """Draw from a curve in R³, along which the density has three modes."""
    known = unequal(1)
    t = known.sample(n, seed)
    angle = 2 * t[:, 0]
    X = np.column_stack([np.cos(angle), np.sin(angle), t[:, 0]])
    return X, by_wall(t, known), 0.9 * known.r_m / 2


def heavy_tails(n: int, seed: int) -> tuple[Floats, Labels, float]:
    """Draw from three Student distributions with two degrees of freedom."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    noise = rng.standard_normal((n, 2)) / np.sqrt(rng.chisquare(2, n) / 2)[:, None]
    return CENTERS[labels] + noise, labels, TAU_SHARE * 6


def rounded(n: int, seed: int) -> tuple[Floats, Labels, float]:
    """Draw as `within`, and round to multiples of 0.05."""
    X, labels, tau = within(n, seed)
    return np.round(X / 0.05) * 0.05, labels, tau


def outliers(n: int, seed: int) -> tuple[Floats, Labels, float]:
    """Draw as `within`, with one percent of the samples far away; they are not scored."""
    X, labels, tau = within(n, seed)
    rng = np.random.default_rng(seed + 1000)
    far = rng.random(n) < 0.01
    X[far] = rng.uniform(-20, 20, (int(far.sum()), 2))
    labels[far] = -1
    return X, labels, tau


def gaussians(d: int) -> Callable[[int, int], tuple[Floats, Labels, float]]:
    """Return a function that draws three Gaussians in d dimensions, six deviations apart."""

    def draw_them(n: int, seed: int) -> tuple[Floats, Labels, float]:
        rng = np.random.default_rng(seed)
        centers = np.zeros((3, d))
        centers[:, :2] = CENTERS
        labels = rng.integers(3, size=n)
        return centers[labels] + rng.standard_normal((n, d)), labels, TAU_SHARE * 6

    return draw_them


CASES: dict[str, Callable[[int, int], tuple[Floats, Labels, float]]] = {
    "within the assumptions": within,
    "flat regions": flat,
    "curve in R³": curve,
    "heavy tails": heavy_tails,
    "rounded": rounded,
    "1 % outliers": outliers,
    "Gaussians, d = 2": gaussians(2),
    "Gaussians, d = 5": gaussians(5),
    "Gaussians, d = 10": gaussians(10),
    "Gaussians, d = 20": gaussians(20),
}


def measure(job: Job) -> list[Row]:
    """Fit one case by each method: how many clusters, and how well they fit the true basins."""
    case, n, seed = job
    X, labels, tau = CASES[case](n, seed)
    models = {
        ALGORITHM: qs.QuickShift(bandwidth="paper", tau=tau, n_jobs=1),
        STRICT: qs.QuickShift(bandwidth="paper", tau=tau, ties="strict", n_jobs=1),
        DEFAULT: qs.QuickShift(n_jobs=1),
    }
    scored = labels >= 0
    rows = []
    for method, model in models.items():
        found = model.fit(X).labels_
        sizes = np.bincount(found)
        row = {"case": case, "n": n, "seed": seed, "method": method, "clusters": len(sizes)}
        row["large"] = int((sizes >= n / 100).sum())
        row["rand"] = float(adjusted_rand_score(labels[scored], found[scored]))
        rows.append(row)
    return rows


def tables(rows: list[Row]) -> dict[str, str]:
    """Return the table of the page."""
    lines = [["case", "n", "method", "median number", "of at least 1 %", "exactly three", "ARI"]]
    for case in values(rows, "case"):
        for n in values(rows, "n"):
            for method in METHODS:
                some = select(rows, case=case, n=n, method=method)
                counts, large = column(some, "clusters"), column(some, "large")
                right = interval(share(int((counts == 3).sum()), len(some)), 2)
                number, many = f"{np.median(counts):g}", f"{np.median(large):g}"
                rand = interval(median(column(some, "rand")), 2)
                lines.append([case, spaced(n), method, number, many, right, rand])
    draws = [
        f"{len(values(select(rows, n=n), 'seed'))} draws of {spaced(n)} samples"
        for n in values(rows, "n")
    ]
    return {"cases": markdown(lines), "draws": ", ".join(draws)}


def summary(rows: list[Row]) -> str:
    """Return the measured figures in one sentence."""
    n = max(values(rows, "n"))
    parts = []
    for case in values(rows, "case"):
        both = [
            f"{np.median(column(select(rows, case=case, n=n, method=m), 'clusters')):g}"
            for m in (ALGORITHM, DEFAULT)
        ]
        parts.append(f"{case}: {both[0]} and {both[1]}")
    found = "; ".join(parts)
    return f"clusters at n = {spaced(n)}, true number 3, Algorithm 1 and `QuickShift()`: {found}"


def draw(rows: list[Row], figure: Any) -> None:
    """Draw the number of clusters and the adjusted Rand index of every case at the largest n."""
    n = max(values(rows, "n"))
    cases = values(rows, "case")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, what in zip(axes, ("clusters", "rand"), strict=True):
        for color, method in enumerate(METHODS):
            chosen = [select(rows, case=case, n=n, method=method) for case in cases]
            three = np.array([median(column(some, what)) for some in chosen])
            bars = np.abs(three[:, 1:] - three[:, :1]).T
            places = np.arange(len(cases)) + 0.2 * (color - 1)
            ax.errorbar(
                three[:, 0], places, xerr=bars, fmt="o", ms=4, color=f"C{color}", label=method
            )
        ax.set_yticks(range(len(cases)), cases)
    axes[0].invert_yaxis()
    axes[0].axvline(3, color="0.6", lw=0.8, zorder=0)
    axes[0].set(xscale="log", xlabel="clusters (line: 3, the truth)", title=f"n = {spaced(n)}")
    axes[1].set(xlabel="adjusted Rand index", xlim=(-0.05, 1.05))
    axes[0].legend(frameon=False)
