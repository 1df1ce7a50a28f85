"""Count how often the default finds one cluster in samples of one group, for docs/local_scale.md.

    python benchmarks/one_cluster.py               a few minutes; writes the table of distributions
    python benchmarks/one_cluster.py --gaussian    writes that of one Gaussian with up to 784
                                                   features and 100 000 samples: an hour
    python benchmarks/one_cluster.py --gaussian 10000x784    only prints these counts

Every distribution has one mode or one connected plateau, so one cluster is right. The Gaussian is
what the threshold is simulated for (benchmarks/calibrate.py); the others are flatter or have longer
tails. Each number is the share of 100 samples, in percent.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from quickshift import QuickShift

PAGE = Path(__file__).resolve().parent.parent / "docs" / "local_scale.md"
FEATURES = (1, 2, 5)
SAMPLES = (200, 1000, 5000)
SEEDS = range(1000, 1100)  # not those of the calibration
GAUSSIAN_SEEDS = range(700, 800)
RULES = ("local", "auto")

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], Array]
Cell = tuple[int, int]  # number of samples, number of features
Counts = dict[tuple[int, int, str], int]  # by cell and rule


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


def gaussian_cells() -> list[Cell]:
    """Return the numbers of samples and of features for which the thresholds are verified."""
    features = (1, 2, 3, 5, 10, 20, 30, 50, 100, 784)
    cells = [(n, d) for n in (30, 200, 1000, 10_000) for d in features]
    return sorted(
        [*cells, *((100_000, d) for d in (1, 2, 3, 5))], key=lambda cell: cell[0] * cell[1]
    )


def is_one_gaussian(bandwidth: str, n: int, d: int, seed: int) -> bool:
    """Return whether one Gaussian is one cluster, by local scale or with one bandwidth."""
    X = np.random.default_rng([77, seed, n, d]).normal(size=(n, d))
    return QuickShift(bandwidth, n_jobs=1).fit(X).n_clusters_ == 1


def count_gaussians(cells: list[Cell]) -> Counts:
    """Count how many of 100 samples of one Gaussian are one cluster, for each cell and rule."""
    counts = {}
    with ProcessPoolExecutor() as pool:
        for (n, d), bandwidth in itertools.product(cells, RULES):
            start = time.perf_counter()
            ones = sum(pool.map(partial(is_one_gaussian, bandwidth, n, d), GAUSSIAN_SEEDS))
            seconds = time.perf_counter() - start
            print(f"{bandwidth} {n} x {d}: {ones} of 100, {seconds:.0f} s", flush=True)
            counts[n, d, bandwidth] = ones
    return counts


def table_of_gaussians(counts: Counts) -> str:
    """Return a Markdown table with one row per number of features, and one column per size."""
    sizes, features = (sorted({cell[i] for cell in counts}) for i in (0, 1))
    lines = [["features", *(f"n = {n:,}".replace(",", " ") for n in sizes)]]
    lines.append(["---"] * len(lines[0]))
    for d in features:
        pairs = [[str(counts.get((n, d, rule), "")) for rule in RULES] for n in sizes]
        lines.append([str(d), *(" / ".join(pair) if all(pair) else "" for pair in pairs)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def replace_table(name: str, text: str) -> None:
    """Put a table into the page, between the comments of this name."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, rest = PAGE.read_text(encoding="utf-8").split(start)
    after = rest.split(end)[1]
    PAGE.write_text(f"{before}{start}\n{text}\n{end}{after}", encoding="utf-8")


def cell_from(text: str) -> Cell:
    """Read "10000x20" as 10 000 samples of 20 features."""
    n, d = text.split("x")
    return int(n), int(d)


def main() -> None:
    """Measure one of the tables, and put it into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gaussian", nargs="*", type=cell_from, metavar="SAMPLESxFEATURES")
    given = parser.parse_args()
    if given.gaussian:
        count_gaussians(given.gaussian)
    elif given.gaussian is not None:
        replace_table("one Gaussian", table_of_gaussians(count_gaussians(gaussian_cells())))
    else:
        replace_table("one cluster", table())


if __name__ == "__main__":
    main()
