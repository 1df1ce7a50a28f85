"""Measure how close ModalRegressor comes to the true conditional modes, and write docs/modal.md.

    python benchmarks/modal.py                about seven minutes
    python benchmarks/modal.py --constant     only the table that chooses the "auto" bandwidth

The data have known conditional modes. For samples of increasing size, the Hausdorff distance
between the modes found and the true ones is averaged over x, and the median over several samples
is compared with that of partial mean shift. Then the coverage and the length of prediction sets are
compared with those of an interval around the conditional mean.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import quickshift as qs
from partial_mean_shift import partial_mean_shift
from quickshift.datasets import circle, heteroscedastic, three_branches_merging, two_branches
from quickshift.datasets.conditional import ConditionalMixture

PAGE = Path(__file__).resolve().parent.parent / "docs" / "modal.md"
DATA: dict[str, ConditionalMixture] = {
    "two_branches": two_branches(),
    "three_branches_merging": three_branches_merging(),
    "heteroscedastic": heteroscedastic(),
    "circle": circle(),
}
SIZES = (1000, 3000, 10_000, 30_000, 100_000)
DRAWINGS = 41
PEER_DRAWINGS = 11  # fewer for partial mean shift, which is slow
QUERIES = 60
THINNED_FROM = 30_000  # from this size on, partial mean shift runs at every third query only
MIN_DENSITY_RATIO = 0.01

COVERED = ("two_branches", "heteroscedastic")
COVERAGES = (0.8, 0.9, 0.95)
COVERAGE_SEEDS = 200
TRAINING_ROWS = 1000
TEST_ROWS = 200

CONSTANTS = (0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2)
CONSTANT_SIZES = (1000, 10_000)

Floats = NDArray[np.float64]

TEXT = """\
<!-- Written by benchmarks/modal.py: run it again to change it. -->
# How close the conditional modes are to the truth

This page compares the modes that `ModalRegressor` finds with the true modes of f(y given x), and
the prediction sets with intervals around the mean. The data are from `quickshift.datasets`, where
the true modes are known. `make modal` repeats the measurements.

## Distance to the true modes

The distance at an x is the Hausdorff distance between the modes found and the true ones: the
largest distance from a mode of either set to the nearest mode of the other. So a spurious mode
counts as much as a missing one. The tables show the mean over {queries} values of x, which leave
out 5 % of the interval at either end. Of these means they show the median over {drawings} draws,
for the peer over the first {peer_drawings}. The values of x where two true modes merge into one are
included, although finding one mode instead of two makes a large difference there.

`ModalRegressor()` has its default settings. The peer is partial mean shift (Einbeck and Tutz 2006;
Chen, Genovese, Tibshirani and Wasserman 2016) with the same bandwidths and the same threshold on
the density; from {thinned} samples on it is evaluated at every third x only. The ratio is our
distance divided by the peer's, at the same x of the same draws. Our modes are
always responses of the sample, so our distance cannot fall below the last column, the mean distance
from a true mode to the nearest response. The rules behind the defaults, σ·n^(-1/6) for the
bandwidths and 0.3 h_y for tau, were chosen while looking at results on these data.

{nearness}

{verdict}

## Coverage

`ModalRegressor().fit(X, y).predict_set(X_test, coverage)` is fitted to {training} rows, a quarter
of which it holds out for calibration. It is compared with the split conformal interval around the
kernel mean (Nadaraya–Watson) with the same h_x, calibrated on the same quarter. The numbers are
means over {seeds} seeds with {tests} test rows each; the standard deviation between seeds follows
after ±. The length is the total length of all intervals at one x. The last column is the length of
the prediction set divided by that of the interval.

{coverage}
"""


def queries_of(data: ConditionalMixture) -> Floats:
    """Return equally spaced queries without 5 % of the interval at each end; shape (m, 1)."""
    margin = 0.05 * (data.high - data.low)
    return np.linspace(data.low + margin, data.high - margin, QUERIES)[:, None]


def hausdorff(a: Floats, b: Floats) -> float:
    """Return the longest distance from an element of either array to the nearest of the other."""
    if not (a.size and b.size):
        return math.inf
    apart = np.abs(a[:, None] - b)
    return float(max(apart.min(axis=0).max(), apart.min(axis=1).max()))


def distances(found: Iterable[Floats], true: Iterable[Floats]) -> Floats:
    """Return the Hausdorff distance at each query."""
    return np.array([hausdorff(a, b) for a, b in zip(found, true, strict=True)])


def modes_of(model: qs.ModalRegressor, queries: Floats) -> list[Floats]:
    """Return the conditional modes that a fitted model finds at each query."""
    modes = model.predict_modes(queries)
    return [modes[i] for i in range(len(queries))]


def true_modes(data: ConditionalMixture, queries: Floats) -> list[Floats]:
    """Return the conditional modes of the distribution at each query."""
    return [data.conditional_modes(float(x)) for x in queries[:, 0]]


def nearness(job: tuple[str, int, int]) -> list[float]:
    """Return mean distances for one sample, as the columns of the table need them.

    These are our distance, the peer's, ours at the queries of the peer, and the distance from a
    true mode to the nearest response. The peer's are NaN for samples that it is not run on.
    """
    name, n, seed = job
    data = DATA[name]
    X, y = data.sample(n, seed=seed)
    queries = queries_of(data)
    true = true_modes(data, queries)
    model = qs.ModalRegressor(min_density_ratio=MIN_DENSITY_RATIO, n_jobs=1).fit(X, y)
    ours = distances(modes_of(model, queries), true)
    gaps = [np.abs(y - mode).min() for modes in true for mode in modes]
    if seed >= PEER_DRAWINGS:
        return [float(ours.mean()), math.nan, math.nan, float(np.mean(gaps))]
    some = slice(1, None, 3) if n >= THINNED_FROM else slice(None)
    with threadpool_limits(1):  # one process per core
        found = partial_mean_shift(X, y, queries[some], model.bandwidth_, MIN_DENSITY_RATIO)
    theirs = distances(found, true[some])
    return [float(np.mean(values)) for values in (ours, theirs, ours[some], gaps)]


def study_nearness(pool: ProcessPoolExecutor) -> dict[str, Floats]:
    """Return the medians of `nearness` over the samples per data set, one row per size."""
    study = {}
    for name in DATA:
        rows = []
        for n in SIZES:
            jobs = [(name, n, seed) for seed in range(DRAWINGS)]
            rows.append(np.nanmedian(list(pool.map(nearness, jobs)), axis=0))
            print(name, n, *(f"{value:.4f}" for value in rows[-1]), flush=True)
        study[name] = np.array(rows)
    return study


def nearness_table(study: dict[str, Floats]) -> str:
    """Return a Markdown table with one row per data set and size."""
    lines = [["data", "n", "ModalRegressor", "partial mean shift", "ratio", "nearest response"]]
    for name, rows in study.items():
        for n, (ours, theirs, same, gap) in zip(SIZES, rows, strict=True):
            ratio = f"{same / theirs:.2f}"
            lines.append([name, spaced(n), f"{ours:.3f}", f"{theirs:.3f}", ratio, f"{gap:.1e}"])
    return markdown(lines)


def verdict(study: dict[str, Floats]) -> str:
    """Describe how fast the distance decreases with n, and how ours compares with the peer."""
    sentences = []
    for name, rows in study.items():
        ours = rows[:, 0]
        rate = np.polyfit(np.log(SIZES), np.log(ours), 1)[0]
        falls = "falls" if (np.diff(ours) < 0).all() else "does not fall"
        sentences.append(
            f"- {name}: the distance of ModalRegressor {falls} with every increase of n, from "
            f"{ours[0]:.3f} to {ours[-1]:.3f}, roughly as n^{rate:.2f}."
        )
    ratios = np.concatenate([rows[:, 2] / rows[:, 1] for rows in study.values()])
    sentences.append(
        f"- The median over the rows of the ratio to partial mean shift is "
        f"{np.median(ratios):.2f}; the ratio ranges from {ratios.min():.2f} to {ratios.max():.2f}."
    )
    return "\n".join(sentences)


def covered(name: str, seed: int) -> Floats:
    """Return coverage and length of our sets and of the interval for a sample, (levels, 4)."""
    data = DATA[name]
    X, y = data.sample(TRAINING_ROWS, seed=2 * seed)
    X_test, y_test = data.sample(TEST_ROWS, seed=2 * seed + 1)
    model = qs.ModalRegressor(min_density_ratio=MIN_DENSITY_RATIO, n_jobs=1).fit(X, y)
    held_out = np.arange(len(y)) % 4 == 3
    h_x = model.bandwidth_[0]
    mean = partial(kernel_mean, X[~held_out], y[~held_out], h_x=h_x)
    errors = np.abs(y[held_out] - mean(X[held_out]))
    test_errors = np.abs(y_test - mean(X_test))
    rows = []
    for coverage in COVERAGES:
        half = conformal_quantile(errors, coverage)
        ours = score_sets(model.predict_set(X_test, coverage), y_test)
        rows.append([*ours, np.mean(test_errors <= half), 2 * half])
    return np.array(rows)


def kernel_mean(X: Floats, y: Floats, queries: Floats, *, h_x: float) -> Floats:
    """Return the Nadaraya–Watson mean of `y` at each query with a Gaussian kernel."""
    exponents = -0.5 * (((queries[:, None] - X) / h_x) ** 2).sum(axis=2)
    weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    return (weights * y).sum(axis=1) / weights.sum(axis=1)


def conformal_quantile(scores: Floats, coverage: float) -> float:
    """Return the bound that a new score does not exceed with probability at least `coverage`."""
    rank = math.ceil((len(scores) + 1) * coverage)
    return float(np.sort(scores)[rank - 1]) if rank <= len(scores) else math.inf


def score_sets(sets: Any, y: Floats) -> tuple[float, float]:
    """Return the share of the responses inside their set, and the mean length of the sets."""
    query = np.repeat(np.arange(len(y)), np.diff(sets.offsets))
    inside = (sets.lower <= y[query]) & (y[query] <= sets.upper)
    hit = np.bincount(query, inside, minlength=len(y)) > 0
    return float(hit.mean()), float((sets.upper - sets.lower).sum() / len(y))


def study_coverage(pool: ProcessPoolExecutor) -> dict[str, Floats]:
    """Return `covered` for every seed, per data set; shape (seeds, levels, 4)."""
    study = {}
    for name in COVERED:
        jobs = pool.map(partial(covered, name), range(COVERAGE_SEEDS), chunksize=5)
        study[name] = np.array(list(jobs))
        print(name, *study[name].mean(axis=0).round(3).tolist(), flush=True)
    return study


def coverage_table(study: dict[str, Floats]) -> str:
    """Return a Markdown table with one row per data set and nominal coverage."""
    ours, interval = "prediction set", "interval"
    columns = [f"{name}: {what}" for name in (ours, interval) for what in ("coverage", "length")]
    lines = [["data", "nominal coverage", *columns, "ratio of lengths"]]
    for name, values in study.items():
        means, spreads = values.mean(axis=0), values.std(axis=0)
        for coverage, mean, spread in zip(COVERAGES, means, spreads, strict=True):
            cells = [f"{m:.3f} ± {s:.3f}" for m, s in zip(mean, spread, strict=True)]
            lines.append([name, f"{coverage:g}", *cells, f"{mean[1] / mean[3]:.2f}"])
    return markdown(lines)


def calibrate_constant() -> None:
    """Print our distance for several constants c of the bandwidths c·σ·n^(-1/6).

    There is one row per data set and one column per c; the numbers are medians over the samples.
    σ is the smaller of the standard deviation and the interquartile range divided by 1.349. The
    last two rows are means over the data sets: of the distances, and of the distances divided by
    the smallest of their row.
    """
    with pool_of_cores() as pool:
        for n in CONSTANT_SIZES:
            print(f"n = {n}; columns are c")
            print(f"{'':24}", *(f"{c:7g}" for c in CONSTANTS))
            table = []
            for name in DATA:
                jobs = [(name, n, seed) for seed in range(PEER_DRAWINGS)]
                table.append(np.median(list(pool.map(distances_by_constant, jobs)), axis=0))
                print(f"{name:24}", *(f"{value:7.4f}" for value in table[-1]), flush=True)
            everything = np.array(table)
            to_least = everything / everything.min(axis=1, keepdims=True)
            for label, values in (("mean", everything), ("mean ratio to smallest", to_least)):
                print(f"{label:24}", *(f"{value:7.4f}" for value in values.mean(axis=0)))
            print(flush=True)


def distances_by_constant(job: tuple[str, int, int]) -> list[float]:
    """Return our mean distance for each of CONSTANTS, on one sample."""
    name, n, seed = job
    data = DATA[name]
    X, y = data.sample(n, seed=seed)
    queries = queries_of(data)
    true = true_modes(data, queries)
    unit_x, unit_y = (scale(values) * n ** (-1 / 6) for values in (X[:, 0], y))
    found = []
    for c in CONSTANTS:
        bandwidth = (c * unit_x, c * unit_y)
        model = qs.ModalRegressor(bandwidth, min_density_ratio=MIN_DENSITY_RATIO, n_jobs=1)
        model.fit(X, y)
        found.append(float(distances(modes_of(model, queries), true).mean()))
    return found


def scale(values: Floats) -> float:
    """Return the smaller of the standard deviation and the interquartile range / 1.349."""
    low, high = np.percentile(values, [25, 75])
    return float(min(values.std(), (high - low) / 1.349))


def pool_of_cores() -> ProcessPoolExecutor:
    """Return a pool with one process per core."""
    return ProcessPoolExecutor(os.cpu_count())


def spaced(n: int) -> str:
    """Format a number with its digits in groups of three."""
    return f"{n:,}".replace(",", " ")


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """Format a Markdown table whose first row is the header."""
    ruled = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
    return "\n".join("| " + " | ".join(line) + " |" for line in ruled)


def main() -> None:
    """Measure nearness and coverage and write the page, or only print the table of constants."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--constant", action="store_true", help="only choose the bandwidth's c")
    if parser.parse_args().constant:
        calibrate_constant()
        return
    with pool_of_cores() as pool:
        near, cover = study_nearness(pool), study_coverage(pool)
    page = TEXT.format(
        queries=QUERIES,
        drawings=DRAWINGS,
        peer_drawings=PEER_DRAWINGS,
        thinned=spaced(THINNED_FROM),
        nearness=nearness_table(near),
        verdict=verdict(near),
        training=spaced(TRAINING_ROWS),
        seeds=COVERAGE_SEEDS,
        tests=TEST_ROWS,
        coverage=coverage_table(cover),
    )
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
