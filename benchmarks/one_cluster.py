"""Count how often the default finds one cluster in samples of one group, for docs/local_scale.md.

    python benchmarks/one_cluster.py            a few minutes

Every distribution has one mode or one connected plateau, so one cluster is right. The Gaussian is
what the threshold is simulated for (benchmarks/calibrate.py); the others are flatter or have longer
tails. Each number is the share of 100 samples, in percent.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from quickshift import QuickShift

PAGE = Path(__file__).resolve().parent.parent / "docs" / "local_scale.md"
START, END = "<!-- one cluster -->", "<!-- end of one cluster -->"
FEATURES = (1, 2, 5)
SAMPLES = (200, 1000, 5000)
SEEDS = range(1000, 1100)  # not those of the calibration

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], Array]


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
    "Gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
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


def is_one_cluster(name: str, n: int, d: int, seed: int) -> bool:
    """Return whether the default finds one cluster in a sample."""
    X = DISTRIBUTIONS[name](np.random.default_rng([seed, n, d]), n, d)
    return QuickShift(n_jobs=1).fit(X).n_clusters_ == 1


def table() -> str:
    """Measure, and return a Markdown table with one row per distribution."""
    cells = [(d, n) for d in FEATURES for n in SAMPLES]
    lines = [["distribution", *(f"d = {d}, n = {n}" for d, n in cells)]]
    lines.append(["---"] * len(lines[0]))
    with ProcessPoolExecutor() as pool:
        for name in DISTRIBUTIONS:
            row = [name]
            for d, n in cells:
                if d == 1 and name in NEED_TWO_FEATURES:
                    row.append("")
                    continue
                found = list(pool.map(partial(is_one_cluster, name, n, d), SEEDS))
                row.append(f"{100 * np.mean(found):.0f}")
            print(*row, sep=" | ", flush=True)
            lines.append(row)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Put the table into the page."""
    before, rest = PAGE.read_text(encoding="utf-8").split(START)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{START}\n{table()}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
