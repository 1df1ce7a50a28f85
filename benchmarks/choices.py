"""Compare the method that the core chooses with every other one, on random workloads.

    python benchmarks/choices.py --seeds 1 2 --workloads 100

Kernel sums, parents, links, local scales and pictures can be computed by several methods that give
the same values, and the core estimates which is the fastest. Here workloads are drawn at random:
the number of points and of features, the shape of the data, the kernel, the bandwidth. The chosen
method and all others are timed on each. The regret of a choice is its time divided by that of the
fastest method. A method is stopped when it takes five times as long as the fastest so far.
Conditional modes have one method, so that there is nothing to regret.

From each seed, workloads are drawn until enough of them count, for sums and for parents: those on
which the choice takes more than 2 ms. Times are CPU times on one thread, so that other processes on
the machine disturb little. Results are appended to benchmarks/results/choices.jsonl, one line per
workload and stage. `make bench ARGS="--only choices"` runs the seeds listed in rows.py and writes
percentiles of the regret and the worst workloads into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quickshift as qs
from quickshift import _core, datasets, stages
from quickshift.kernels import get_kernel
from quickshift.stages.local_scale import default_neighbors, n_spacing, n_varying
from quickshift.stages.tree.cluster_tree import link_forest

Floats = NDArray[np.float64]
Report = Callable[[float], None]
Run = Callable[[Report | None], Any]
Times = dict[str, float | None]  # by method; None if it is impossible or was stopped

RESULTS = Path(__file__).resolve().parent / "results" / "choices.jsonl"
KERNELS = (
    "gaussian",
    "epanechnikov",
    "uniform",
    "triangular",
    "tricube",
    "cosine",
    "exponential",
    "silverman",
)
REACH = {"gaussian": 7.0, "exponential": 25.0, "silverman": 3.4}  # in bandwidths; others: 1
FEWEST, MOST = 1e3, 2e6  # points
MOST_COORDINATES = 4e6
MOST_FEATURES = 16
MOST_PAIRS = 1e9  # expected pairs of points in a kernel's reach; larger workloads are drawn again
SHORTEST = 2e-3  # seconds; faster workloads are not counted
PATIENCE = 5.0  # multiples of the fastest time so far, after which a method is stopped
EVERY = 8  # scales are timed for one workload in so many, pictures for one in twice as many
REPEAT_BELOW = 0.1  # seconds; the best of three runs counts for faster methods
RTOL = 1e-9
BITS = 36  # of a height that decide which point is higher
MARKS = {"median": 0.5, "90th percentile": 0.9, "99th percentile": 0.99, "worst": 1.0}


# Workloads


def uniform(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Draw from a cube."""
    return rng.uniform(size=(n, d))


def blobs(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Draw from twenty Gaussians."""
    return datasets.blobs(n, d, seed=int(rng.integers(2**31)))[0]


def heavy_tails(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Draw from a Student t distribution with 2 to 4 degrees of freedom."""
    return rng.standard_t(rng.uniform(2, 4), size=(n, d))


def curve(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Draw from a curve with noise."""
    t = rng.uniform(0, 4 * np.pi, size=(n, 1))
    return np.sin(t * rng.uniform(0.5, 2, size=d)) + 0.02 * rng.normal(size=(n, d))


def lattice(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Draw from a lattice with about three points per location, at most."""
    side = max(2, round((n / 3) ** (1 / d)))
    return rng.integers(side, size=(n, d)).astype(np.float64)


def duplicates(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Draw n points from n/50 distinct ones."""
    return rng.normal(size=(n // 50 + 1, d))[rng.integers(n // 50 + 1, size=n)]


def seed_spreader(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Draw from a random walk with restarts."""
    return datasets.seed_spreader(n, d, seed=int(rng.integers(2**31)))[0]


def needle(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Draw from a Gaussian whose deviations span four orders of magnitude."""
    return rng.normal(size=(n, d)) * np.logspace(0, -4, d)


SHAPES: tuple[Callable[[np.random.Generator, int, int], Floats], ...] = (
    uniform,
    blobs,
    heavy_tails,
    curve,
    lattice,
    duplicates,
    seed_spreader,
    needle,
)


@dataclass(frozen=True)
class Workload:
    """What is computed; the points follow from the seed."""

    seed: int
    n: int
    d: int
    shape: str
    kernel: str
    bandwidth: float  # in units of the data


def draw(seed: int) -> tuple[Workload, Floats]:
    """Draw a workload and its points."""
    rng = np.random.default_rng(seed)
    while True:
        few = rng.uniform() < 0.6
        d = int(rng.integers(1, 4)) if few else int(rng.integers(4, MOST_FEATURES + 1))
        most = min(MOST, MOST_COORDINATES / d)
        n = int(math.exp(rng.uniform(math.log(FEWEST), math.log(most))))
        shape = SHAPES[rng.integers(len(SHAPES))]
        kernel = "gaussian" if rng.uniform() < 0.5 else str(rng.choice(KERNELS[1:]))
        relative = math.exp(rng.uniform(math.log(1e-3), math.log(10.0)))
        X = shape(rng, n, d)
        h = relative * float(np.median(np.std(X[: 10**5], axis=0)))
        pairs = expected_pairs(X, h * REACH.get(kernel, 1.0), rng) if h > 0 else math.inf
        if pairs < MOST_PAIRS:
            return Workload(seed, n, d, shape.__name__, kernel, h), X


def expected_pairs(X: Floats, reach: float, rng: np.random.Generator) -> float:
    """Estimate the number of pairs of points within reach of each other, from a few of them."""
    some = rng.integers(len(X), size=(2, 20_000))
    share = np.mean(np.linalg.norm(X[some[0]] - X[some[1]], axis=1) < reach)
    return float(share) * len(X) ** 2


# Timing


class StoppedError(Exception):
    """A method took too long."""


def seconds(run: Run, limit: float) -> float | None:
    """Time a method: the best of three runs if it is fast. None if it is stopped or impossible."""
    best = math.inf
    for _ in range(3):
        start = time.process_time()

        def report(_: float, start: float = start) -> None:
            if time.process_time() - start > limit:
                raise StoppedError

        try:
            run(report)
        except (StoppedError, ValueError):
            return None
        best = min(best, time.process_time() - start)
        if best > REPEAT_BELOW:
            break
    return best


def compare(methods: dict[str, Run]) -> Times:
    """Time all methods, the automatic one first and, if it was not the best, once more.

    If the automatic method is so fast that the workload does not count, the others are left out.
    """
    found: Times = {"automatic": seconds(methods["automatic"], math.inf)}
    if counts(found):
        for name, run in methods.items():
            if name != "automatic":
                found[name] = seconds(run, max(PATIENCE * fastest(found), 0.05))
    if regret(found) > 1.0:
        again = seconds(methods["automatic"], math.inf)
        found["automatic"] = min(t for t in (found["automatic"], again) if t is not None)
    return found


def fastest(found: Times) -> float:
    """Return the time of the fastest method."""
    return min(t for t in found.values() if t is not None)


def regret(found: Times) -> float:
    """Return the time of the choice divided by that of the fastest method."""
    automatic = found["automatic"]
    assert automatic is not None
    return automatic / fastest(found)


def counts(found: Times) -> bool:
    """Return whether the choice takes long enough to be timed reliably."""
    automatic = found["automatic"]
    assert automatic is not None
    return automatic >= SHORTEST


# Stages: each yields its name and the times of its methods


def stages_of(workload: Workload, samples: stages.Samples) -> Iterator[tuple[str, Times]]:
    """Time each stage of a workload on its points."""
    tree, kernel, h = samples.tree, get_kernel(workload.kernel), workload.bandwidth

    def sums(method: _core.DensityMethod) -> Run:
        return lambda report: _core.kernel_sums(tree, kernel.code, h, RTOL, method, 1, report)

    yield "sums", compare({each.name: sums(each) for each in _core.DensityMethod})
    heights = sums(_core.DensityMethod.automatic)(None)

    def parents(method: _core.ParentMethod) -> Run:
        return lambda report: _core.nearest_higher(tree, heights, BITS, False, 1, report, method)

    yield "parents", compare({each.name: parents(each) for each in _core.ParentMethod})
    yield "link", compare(links(samples, heights, h))
    if workload.seed % EVERY == 0:
        yield "scales", compare(scales(samples))


def scales(samples: stages.Samples) -> dict[str, Run]:
    """Return the methods that find local scales."""
    k, g, d = default_neighbors(samples.total_weight), n_spacing(samples), n_varying(samples)

    def run(method: _core.ScaleMethod) -> Run:
        tree = samples.tree
        return lambda report: _core.local_scales(tree, [float(k)], g, d, 1, report, method)

    return {each.name: run(each) for each in _core.ScaleMethod}


def links(samples: stages.Samples, heights: Floats, tau: float) -> dict[str, Run]:
    """Return the search from coarse to fine, which one tau for all gets, and that per sample."""
    forest = stages.cut(stages.climb(samples, heights, n_jobs=1), tau)

    def search(length: float | Floats) -> Run:
        def run(report: Report | None) -> Any:
            progress = as_progress(report)
            return link_forest(samples, heights, forest, length, n_jobs=1, progress=progress)

        return run

    return {"automatic": search(tau), "per sample": search(np.full(samples.n_samples, tau))}


def as_progress(report: Report | None) -> Callable[[str, float], None] | None:
    """Return a report as the stages call it."""
    return None if report is None else lambda _, done: report(done)


def picture_stages(seed: int) -> Iterator[tuple[Workload, str, Times]]:
    """Time the parents of a picture's pixels, on their grid and as points of a tree."""
    rng = np.random.default_rng(seed)
    side = int(math.exp(rng.uniform(math.log(40), math.log(400))))
    h = math.exp(rng.uniform(math.log(1.0), math.log(12.0)))
    ratio = rng.uniform(0.2, 1.0)
    smooth = rng.uniform(size=(side // 8 + 2, side // 8 + 2, 3)).repeat(8, 0).repeat(8, 1)
    image = smooth[:side, :side] + 0.1 * rng.normal(size=(side, side, 3))
    where = np.stack(np.mgrid[:side, :side], axis=-1)
    points = np.concatenate([where, 20 * ratio * image], axis=-1).reshape(-1, 5)

    def by_tree(report: Report | None) -> Any:
        samples, progress = stages.prepare(points, n_jobs=1), as_progress(report)
        found = stages.estimate_density(samples, h, n_jobs=1, progress=progress)
        return stages.climb(samples, found, n_jobs=1, progress=progress)

    def by_grid(_: Report | None) -> Any:
        settings: dict[str, Any] = {"bandwidth": h, "ratio": 20 * ratio, "window": None}
        return qs.segment_forest(image, convert2lab=False, n_jobs=1, **settings)

    work = Workload(seed, side * side, 5, "picture", "gaussian", h)
    yield work, "pictures", compare({"automatic": by_grid, "tree": by_tree})


def modes_stages(seed: int) -> Iterator[tuple[Workload, str, Times]]:
    """Time the conditional modes at 200 queries; there is one method."""
    rng = np.random.default_rng(seed)
    n = int(math.exp(rng.uniform(math.log(1e3), math.log(2e5))))
    x = rng.uniform(-3, 3, size=(n, 1))
    y = np.sin(x[:, 0]) * rng.choice([-1.0, 1.0], size=n) + 0.2 * rng.normal(size=n)
    model = qs.ModalRegressor(n_jobs=1).fit(x, y)
    queries = np.linspace(-3, 3, 200)[:, None]
    work = Workload(seed, n, 1, "two curves", "gaussian", math.nan)
    yield work, "conditional modes", compare({"automatic": lambda _: model.predict_modes(queries)})


# Results


def timed_workloads(seed: int) -> Iterator[dict[str, Any]]:
    """Draw one workload on points and time it; with some, a picture and a regression."""
    workload, X = draw(seed)
    samples = stages.prepare(X, n_jobs=1)
    code = get_kernel(workload.kernel).code
    refused = _core.grid_choice(samples.tree, code, workload.bandwidth, RTOL)[3]
    for stage, found in stages_of(workload, samples):
        yield {"workload": asdict(workload), "stage": stage, "seconds": found, "refused": refused}
    if seed % (2 * EVERY) == 0:
        for make in (picture_stages, modes_stages):
            for work, stage, found in make(seed):
                yield {"workload": asdict(work), "stage": stage, "seconds": found, "refused": 0.0}


def lines_of(seed: int, workloads: int) -> list[dict[str, Any]]:
    """Time workloads of a seed until so many count for sums, and for parents; keep all results."""
    lines: list[dict[str, Any]] = []
    for i in range(100 * workloads):
        for line in timed_workloads(1_000_000 * seed + i):
            lines.append(line)
            RESULTS.parent.mkdir(exist_ok=True)
            with RESULTS.open("a", encoding="utf-8") as file:
                print(json.dumps(line), file=file)
        found = regrets(lines)
        if min(len(found.get(stage, [])) for stage in ("sums", "parents")) >= workloads:
            break
    return lines


def regrets(lines: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Return the regrets of the workloads that count, by stage, for stages with a choice."""
    found: dict[str, list[float]] = {}
    for line in lines:
        if len(line["seconds"]) > 1 and counts(line["seconds"]):
            found.setdefault(line["stage"], []).append(regret(line["seconds"]))
    return found


def percentiles(found: list[float]) -> dict[str, float]:
    """Return the marks of the distribution of regrets."""
    return {what: float(np.quantile(found, q)) for what, q in MARKS.items()}


def refusals(lines: list[dict[str, Any]]) -> int:
    """Count the workloads whose sums had a faster grid that needs too much memory."""
    return sum(line["stage"] == "sums" and line["refused"] > 0 for line in lines)


@dataclass(frozen=True)
class Worst:
    """One of the workloads with the largest regrets, in words."""

    regret: float
    stage: str
    workload: str
    times: str  # of all methods that ended
    refused: str  # the memory of the smallest faster grid that was refused, or nothing


def worst(lines: list[dict[str, Any]], most: int = 12) -> list[Worst]:
    """Describe the workloads on which the choice was worst, whatever the stage."""
    counted = [line for line in lines if counts(line["seconds"])]
    return [described(line) for line in sorted(counted, key=lambda line: -regret(line["seconds"]))][
        :most
    ]


def described(line: dict[str, Any]) -> Worst:
    """Describe the times of one stage of a workload."""
    work, refused = line["workload"], line["refused"]
    ended = {name: t for name, t in line["seconds"].items() if t is not None}
    return Worst(
        regret(line["seconds"]),
        line["stage"],
        f"{work['n']} x {work['d']} {work['shape']}, {work['kernel']}, h {work['bandwidth']:.3g} "
        f"(seed {work['seed']})",
        ", ".join(f"{name} {1e3 * t:.3g} ms" for name, t in ended.items()),
        f"{refused / 1e6:.0f} MB" if line["stage"] == "sums" and refused else "",
    )


def table(lines: list[dict[str, Any]]) -> str:
    """Return percentiles of the regret per stage, and the worst workloads."""
    rows = ["stage              workloads" + "".join(f"{what:>17}" for what in MARKS)]
    for stage, found in regrets(lines).items():
        marks = percentiles(found).values()
        rows.append(f"{stage:19}{len(found):9}" + "".join(f"{mark:17.2f}" for mark in marks))
    rows.append(
        f"\nA faster grid was refused because of its memory for {refusals(lines)} workloads."
    )
    rows.append("\nThe worst:")
    for each in worst(lines):
        refused = f", refused: {each.refused}" if each.refused else ""
        rows.append(f"{each.regret:6.2f} {each.stage}: {each.workload}: {each.times}{refused}")
    return "\n".join(rows)


def main() -> None:
    """Draw workloads, time them, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--workloads", type=int, default=100, help="per seed that count")
    given = parser.parse_args()
    lines = [line for seed in given.seeds for line in lines_of(seed, given.workloads)]
    print(table(lines))
    print(f"\n{time.process_time() / 60:.1f} minutes of CPU time")


if __name__ == "__main__":
    main()
