"""Simulate the significance of modes that are due to chance: the tables of `chance_significance`.

    python benchmarks/calibrate.py --mode global --max-minutes 60
    python benchmarks/calibrate.py --mode local --max-minutes 150
    python benchmarks/calibrate.py --mode cube --max-minutes 30
    python benchmarks/calibrate.py --mode local --cells 10000x20 10000x50
    python benchmarks/calibrate.py --max-minutes 0       fits and writes the tables again

Writes src/quickshift/stages/tree/chance_tables.py.

Draws samples from one Gaussian, or from a uniform cube. Both have one mode or one plateau, so every
mode of the estimate except the highest is due to chance. A cell is a number of samples and of
features. Its draws, the largest significance of these other modes in each sample, are kept in
benchmarks/results/chance, so a run continues where the last one stopped, and cells may be added.
Delete that folder if the rule that is simulated has changed.

The mode "global" simulates `bandwidth="auto"`, the mode "local" `bandwidth="local"` with its scales
1, 2 and 4. The mode "cube" simulates the same as "local" for samples of a uniform cube, whose
plateau splits more easily than a Gaussian. The cheapest cells come first. A cell enters the table
once it has 200 draws (80 of the cube); entries of the present table for cells without draws stay as
they are.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from textwrap import fill

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import dense_draws
from quickshift import stages
from quickshift.stages.local_clusters import tree_by_scale
from quickshift.stages.local_scale import default_neighbors, measure_scales
from quickshift.stages.parent_graph import find_parents
from quickshift.stages.tree import chance_tables
from quickshift.stages.tree.chance import per_drop

ROOT = Path(__file__).resolve().parent.parent
DRAWS = ROOT / "benchmarks" / "results" / "chance"
MODULE = ROOT / "src" / "quickshift" / "stages" / "tree" / "chance_tables.py"

Cell = tuple[int, int]  # number of samples, number of features
Array = NDArray[np.float64]
Draws = list[tuple[float, ...]]  # one row per seed, one column per scale
Table = dict[int, dict[int, float]]  # by number of features, then of samples

SAMPLES = (8, 15, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
# Local scale depends on small numbers of samples irregularly, because K and g are whole numbers.
LOCAL_SAMPLES = (8, 10, 12, 15, 16, 20, 24, 30, 45, 60, 100, 300, 1000, 3000)
LOCAL_SAMPLES += (10_000, 100_000, 1_000_000)
REGULAR = 100  # from this many samples on, thresholds rise with their number
FEATURES = (1, 2, 3, 5, 7, 10, 14, 20, 30, 50, 70, 100, 200, 400, 1000)
FEWEST, MOST = 200, 1000  # draws per cell
FEWEST_CUBES = 80
SECONDS = 4.0  # of one core per cell, if that allows more than FEWEST draws
WORKERS = 2
EVERY = 20.0  # seconds between two writes of a cell's draws

# Share of one-Gaussian samples in which the threshold may be exceeded.
CHANCE = {"global": 0.01, "local": 0.01}
TAIL = 0.2  # share of the draws to which the upper tail is fitted
# A threshold is at least this many standard deviations above the mean.
LEAST_DEVIATIONS = {"global": 2.5, "local": 3.0}
CUBE_DEVIATIONS = 1.65  # the same for cubes, which may be split in about 5 % of the samples
MOST_FEATURES_OF_CUBES = 10  # with more features, a cube has no plateau to speak of
SCALES = (1, 2, 4)
# With more features, one matrix of the distances of all samples is faster than several searches, if
# it fits into memory.
MOST_FEATURES_OF_TREES = {"global": 100, "local": 10}
FEWEST_IN_MATRIX, MOST_IN_MATRIX = 64, 10_000


def cells(mode: str) -> list[Cell]:
    """Return the cells to simulate, the cheapest first."""

    def cost(cell: Cell) -> float:
        n, d = cell
        return n * min(n, 20 * 4.0 ** min(d, 20)) * d

    most = {d: 1_000_000 if d <= 3 else 100_000 if d <= 10 else 10_000 for d in FEATURES}
    features = [d for d in FEATURES if mode != "cube" or d <= MOST_FEATURES_OF_CUBES]
    samples = SAMPLES if mode == "global" else LOCAL_SAMPLES
    return sorted(((n, d) for d in features for n in samples if n <= most[d]), key=cost)


# One draw


def in_matrix(mode: str, cell: Cell) -> bool:
    """Return whether to compute a draw from the distances of all samples."""
    n, d = cell
    return d > MOST_FEATURES_OF_TREES[mode] and FEWEST_IN_MATRIX <= n <= MOST_IN_MATRIX


def largest_by_chance_global(X: Array) -> tuple[float, ...]:
    """Return the largest significance of the modes of a sample, except the highest mode."""
    if in_matrix("global", X.shape):
        with threadpool_limits(1):
            return (dense_draws.largest_of_bandwidth(X),)
    samples = stages.prepare(X, n_jobs=1)
    h = stages.choose_bandwidth(samples, n_jobs=1)
    estimate = stages.fit_estimate(samples, h, n_jobs=1)
    sums = estimate.sums()
    bits = estimate.significant_bits
    graph = stages.climb(samples, sums, significant_bits=bits, n_jobs=1)
    tau = stages.choose_tau(samples, h, n_jobs=1)
    tree = stages.link(samples, sums, stages.cut(graph, tau, n_jobs=1), tau, n_jobs=1)
    tree = stages.assess(replace(tree, log_unit=estimate.log_constant), estimate, graph)
    return (float(tree.known_significance()[1:].max(initial=0.0)),)


def largest_by_chance_local(X: Array) -> tuple[float, ...]:
    """Return the same for the local scale: three numbers, one per entry of SCALES."""
    neighbors = [default_neighbors(len(X), scale) for scale in SCALES]
    if in_matrix("local", X.shape):
        with threadpool_limits(1):
            return dense_draws.largest_of_scales(X, neighbors)
    samples = stages.prepare(X, n_jobs=1)
    found: dict[int, float] = {}  # by number of neighbors, which small samples limit
    for scale in measure_scales(samples, sorted(set(neighbors)), n_jobs=1):
        graph = find_parents(
            samples, scale.heights, "total", scale.significant_bits, near=scale.near, n_jobs=1
        )
        tree = tree_by_scale(scale, stages.cut(graph, scale.tau, n_jobs=1))
        found[scale.n_neighbors] = float(tree.known_significance()[1:].max(initial=0.0))
    return tuple(found[k] for k in neighbors)


MODES: dict[str, Callable[[Array], tuple[float, ...]]] = {
    "global": largest_by_chance_global,
    "local": largest_by_chance_local,
    "cube": largest_by_chance_local,
}


def sample(mode: str, cell: Cell, seed: int) -> Array:
    """Draw a sample."""
    rng = np.random.default_rng([*cell, seed])
    return rng.uniform(size=cell) if mode == "cube" else rng.normal(size=cell)


def draw(mode: str, cell: Cell, seeds: range) -> tuple[Draws, float]:
    """Return the statistic for some seeds, and the seconds per seed."""
    start = time.perf_counter()
    found = [MODES[mode](sample(mode, cell, seed)) for seed in seeds]
    return found, (time.perf_counter() - start) / len(seeds)


# The draws of a cell


def draws_file(mode: str, cell: Cell) -> Path:
    """Return the file of a cell's draws."""
    return DRAWS / f"{mode}-n{cell[0]}-d{cell[1]}.npz"


def load(mode: str, cell: Cell) -> tuple[Draws, float | None]:
    """Return the draws of a cell so far, one row per seed, and the seconds that one draw takes."""
    file = draws_file(mode, cell)
    if not file.exists():
        return [], None
    with np.load(file) as saved:
        return [tuple(row) for row in saved["draws"]], float(saved["seconds"])


def save(mode: str, cell: Cell, draws: Draws, seconds: float) -> None:
    """Write the draws of a cell, so that an interruption leaves the old file or the new one."""
    file = draws_file(mode, cell)
    new = file.with_suffix(".new.npz")
    np.savez(new, draws=np.array(draws), seconds=seconds)
    os.replace(new, file)


def simulate(mode: str, chosen: list[Cell], minutes: float) -> None:
    """Draw until every chosen cell is complete or the time is over."""
    DRAWS.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + 60 * minutes
    draw(mode, (8, 1), range(10))  # loads code, so that the first cell is timed correctly
    with ProcessPoolExecutor(WORKERS) as pool:
        for cell in chosen:
            if time.monotonic() < deadline:
                complete(pool, mode, cell, deadline)


def complete(pool: ProcessPoolExecutor, mode: str, cell: Cell, deadline: float) -> None:
    """Draw until a cell is complete or the deadline has passed."""
    draws, seconds = load(mode, cell)
    if seconds is None:
        draws, seconds = draw(mode, cell, range(1))
    fewest = FEWEST_CUBES if mode == "cube" else FEWEST
    wanted = int(np.clip(SECONDS / seconds, fewest, MOST))
    if len(draws) >= wanted:
        return
    each = int(np.clip(1.0 / seconds, 1, 100))  # seeds per task
    saved = time.monotonic()
    while len(draws) < wanted and time.monotonic() < deadline:
        first = range(len(draws), wanted, each)[: 2 * WORKERS]
        tasks = [range(seed, min(seed + each, wanted)) for seed in first]
        for found, _ in pool.map(partial(draw, mode, cell), tasks):
            draws += found
        if time.monotonic() - saved > EVERY:
            save(mode, cell, draws, seconds)
            saved = time.monotonic()
    save(mode, cell, draws, seconds)
    print(f"{mode} {cell}: {len(draws)} of {wanted} draws, {seconds:.3f} s each", flush=True)


# From draws to thresholds


def thresholds(mode: str, draws: Array) -> Array:
    """Return one threshold per scale, such that few samples exceed at least one of them.

    Each is a mean plus c standard deviations; c is the same for all scales.
    """
    mean, deviation = draws.mean(axis=0), draws.std(axis=0)
    largest = ((draws - mean) / np.where(deviation > 0, deviation, 1.0)).max(axis=1)
    c = max(upper_quantile(largest, CHANCE[mode]), LEAST_DEVIATIONS[mode])
    return mean + c * deviation


def upper_quantile(values: Array, chance: float) -> float:
    """Return the value that a new one exceeds with a given probability, rather too large.

    In 200 draws the empirical quantile depends on two of them. Therefore an exponential
    distribution, the upper tail of a Gumbel distribution, is fitted to the largest fifth. The
    empirical quantile is used if it is larger: with many features, most draws may be 0, and the
    others far from 0.
    """
    base = float(np.quantile(values, 1 - TAIL))
    excess = values[values > base] - base
    share = max(excess.size / values.size, chance)
    fitted = base + (float(excess.mean()) * math.log(share / chance) if excess.size else 0.0)
    return max(fitted, float(np.quantile(values, 1 - chance)))


def fit_global() -> Table:
    """Return the table of a global bandwidth: the present one with the cells that have draws.

    The thresholds are divided by 2^(d/4) and do not fall with the number of samples. See
    docs/decisions/23-significance.md for the reasons.
    """
    table = {d: dict(row) for d, row in chance_tables.GLOBAL.items()}
    for n, d in cells("global"):
        draws, _ = load("global", (n, d))
        if len(draws) >= FEWEST:
            (threshold,) = thresholds("global", np.array(draws))
            table.setdefault(d, {})[n] = float(threshold) / per_drop(-0.5 * d * math.log(2.0))
    for d, row in table.items():
        numbers = sorted(row)
        highest = itertools.accumulate((row[n] for n in numbers), max)
        table[d] = dict(zip(numbers, highest, strict=True))
    return table


def fit_local() -> dict[int, Table]:
    """Return one table per scale, divided by the square root of the number of features.

    Thresholds do not fall with the scale: a larger scale only decides if a smaller one found
    nothing, so that a lower threshold would give chance more occasions. From 100 samples on, they
    do not fall with the number of samples either; with fewer samples, they are irregular.
    """
    present = chance_tables.LOCAL
    tables = [{d: dict(row) for d, row in present.get(s, {}).items()} for s in SCALES]
    for n, d in cells("local"):
        draws, cubes = (np.array(load(mode, (n, d))[0]) for mode in ("local", "cube"))
        if len(draws) < FEWEST:
            continue
        found = thresholds("local", draws)
        if len(cubes) >= FEWEST_CUBES and d <= MOST_FEATURES_OF_CUBES:
            found = np.maximum(found, cubes.mean(axis=0) + CUBE_DEVIATIONS * cubes.std(axis=0))
        for table, threshold in zip(tables, np.maximum.accumulate(found), strict=True):
            table.setdefault(d, {})[n] = float(threshold) / math.sqrt(d)
    for row in (row for table in tables for row in table.values()):
        numbers = [n for n in sorted(row) if n >= REGULAR]
        highest = itertools.accumulate((row[n] for n in numbers), max)
        row.update(zip(numbers, highest, strict=True))
    return dict(zip(SCALES, tables, strict=True))


# The module of tables

HEADER = '''"""Tables of `chance_significance`, by number of features and then of samples.

Written by benchmarks/calibrate.py on {date}, from at least {fewest} samples of one Gaussian per
entry. The entries of GLOBAL are divided by 2^(d/4), where d is the number of features. LOCAL has
one table per scale, for which uniform cubes were simulated, too, with up to ten features; its
entries are divided by the square root of d. Do not edit.
"""

__all__ = ["GLOBAL", "LOCAL"]

Table = dict[int, dict[int, float]]

# fmt: off
'''


def write() -> None:
    """Write the module of tables."""
    text = HEADER.format(date=datetime.now(UTC).date(), fewest=FEWEST)
    text += f"GLOBAL: Table = {listing(fit_global())}\n\nLOCAL: dict[int, Table] = {{\n"
    text += "".join(f"{scale}: {listing(table)},\n" for scale, table in fit_local().items())
    MODULE.write_text(text + "}\n", encoding="utf-8")


def listing(table: Table) -> str:
    """Return a table as source text."""
    together = "~"  # stands for a space at which no line is broken
    rows = (
        f"{d}:{together}{{" + ", ".join(f"{n}:{together}{row[n]:.3g}" for n in sorted(row)) + "},"
        for d, row in sorted(table.items())
    )
    lines = (fill(row, 99, initial_indent="    ", subsequent_indent="        ") for row in rows)
    return "\n".join(["{", *lines, "}"]).replace(together, " ")


def cell_from(text: str) -> Cell:
    """Read "10000x20" as 10 000 samples of 20 features."""
    n, d = (int(part) for part in text.split("x"))
    if d not in FEATURES or n not in {*SAMPLES, *LOCAL_SAMPLES}:
        raise argparse.ArgumentTypeError(f"{text} is no cell of the tables")
    return n, d


def main() -> None:
    """Simulate, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--mode", choices=MODES, default="global")
    parser.add_argument("--max-minutes", type=float, default=75.0)
    parser.add_argument("--cells", type=cell_from, nargs="+", metavar="SAMPLESxFEATURES")
    given = parser.parse_args()
    simulate(given.mode, given.cells or cells(given.mode), given.max_minutes)
    write()


if __name__ == "__main__":
    main()
