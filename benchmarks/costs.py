"""Measure the costs by which the core chooses between the tree and blocks, beside those it uses.

    python benchmarks/costs.py
    python benchmarks/costs.py --only parents --workloads 100

For kernel sums, parents and local scales, the core estimates the amounts of a few kinds of work
that each of two methods does, and multiplies them by constant times. Here both methods are timed on
random workloads, in CPU time on one thread. The times per kind of work that fit best, with the
least relative error, are printed beside the constants in the sources, which this script does not
change. The times of kinds of work that occur together are not well determined one by one, so the
last lines say how well both sets of constants predict the times.

The constants of the Gaussian grid are in cpp/density/grid/grid_costs.hpp.
"""

from __future__ import annotations

import argparse
import datetime
import math
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

import choices
from quickshift import _core, stages
from quickshift.config import get_config
from quickshift.kernels import get_kernel
from quickshift.stages.local_scale import default_neighbors, n_spacing

Floats = NDArray[np.float64]
Work = tuple[list[float], list[float], list[float], list[float]]
Sample = tuple[Work, float, float]  # the estimated work, and the seconds of both methods

FEWEST, MOST = 1.5e3, 2e4  # points
FEWEST_FEATURES, MOST_FEATURES = 5, 40
MOST_PAIRS = 1e8  # in a kernel's reach
PATIENCE = 20.0  # seconds for one method
ROUNDS = 20  # of the fit
KINDS = {
    "sums": (
        ("pair and feature", "pair", "pair of subtrees"),
        ("pair and feature", "pair"),
    ),
    "parents": (
        (
            "location",
            "sample and feature, four searches",
            "sample, one search",
            "box and feature",
            "leaf with equal heights",
            "leaf and doubling of the data",
        ),
        ("feature of a location", "pair and feature", "pair", "undecided pair", "block"),
    ),
    "scales": (
        ("point", "pair and feature", "pair"),
        (
            "point",
            "pair and feature",
            "pair",
            "undecided pair and feature",
            "undecided pair",
            "neighbor",
        ),
    ),
}


def workloads(seed: int, kernel: str) -> Iterator[tuple[stages.Samples, float]]:
    """Draw points and bandwidths without end."""
    rng = np.random.default_rng(seed)
    while True:
        n = int(math.exp(rng.uniform(math.log(FEWEST), math.log(MOST))))
        d = int(rng.integers(FEWEST_FEATURES, MOST_FEATURES + 1))
        shape = choices.SHAPES[rng.integers(len(choices.SHAPES))]
        X = shape(rng, n, d)
        width = float(np.median(np.std(X, axis=0)))
        h = width * math.exp(rng.uniform(math.log(0.03), math.log(10.0)))
        pairs = choices.expected_pairs(X, h * choices.REACH.get(kernel, 1.0), rng)
        if h > 0 and n < pairs < MOST_PAIRS:
            yield stages.prepare(X, n_jobs=1), h


def sample_of_sums(samples: stages.Samples, h: float, kernel: str) -> Sample:
    """Time sums pair by pair, and by blocks."""
    code, tree = get_kernel(kernel).code, samples.tree
    method = _core.DensityMethod
    times = [
        _seconds(_core.kernel_sums, tree, code, h, choices.RTOL, each, 1)
        for each in (method.direct, method.blocks)
    ]
    return _core.work_of_sums(tree, code, h, choices.RTOL), *times


def sample_of_parents(samples: stages.Samples, h: float, kernel: str) -> Sample:
    """Time both searches for parents."""
    tree, method = samples.tree, _core.ParentMethod
    code = get_kernel(kernel).code
    automatic = _core.DensityMethod.automatic
    heights = _core.kernel_sums(tree, code, h, choices.RTOL, automatic, 1, None)

    def run(each: _core.ParentMethod) -> float:
        def search(report: Any) -> Any:
            return _core.nearest_higher(tree, heights, choices.BITS, False, 1, report, each)

        return _seconds(search)

    work = _core.work_of_parents(tree, heights, choices.BITS, False)
    return work, run(method.tree), run(method.blocks)


def sample_of_scales(samples: stages.Samples, _h: float, _kernel: str) -> Sample:
    """Time both searches for local scales."""
    runs = choices.scales(samples)
    neighbors = float(default_neighbors(samples.total_weight))
    work = _core.work_of_scales(samples.tree, neighbors, n_spacing(samples))
    return work, *(_seconds(runs[each]) for each in ("tree", "blocks"))


SAMPLES = {"sums": sample_of_sums, "parents": sample_of_parents, "scales": sample_of_scales}


def _seconds(call: Any, *arguments: Any) -> float:
    """Return the CPU time of a call whose last argument is a report; NaN if it is too slow."""
    found = choices.seconds(lambda report: call(*arguments, report), PATIENCE)
    return math.nan if found is None else found


def fit(amounts: Floats, times: Floats) -> Floats:
    """Return the times per amount with the least relative errors; outliers count less."""
    relative, weights = amounts / times[:, None], np.ones(len(times))
    costs = np.zeros(amounts.shape[1])
    for _ in range(ROUNDS):
        costs = nnls(relative * weights[:, None], weights)[0]
        weights = 1 / np.sqrt(np.maximum(np.abs(relative @ costs - 1), 0.05))
    return costs


def lines(stage: str, samples: list[Sample], n_locations: list[int]) -> Iterator[str]:
    """Yield the constants of both methods, in use and measured."""
    for i, method in enumerate(("tree", "blocks")):
        amounts = np.array([work[2 * i] for work, *_ in samples])
        used = np.array(samples[0][0][2 * i + 1])
        times = 1e9 * np.array([s[1 + i] for s in samples]) / np.array(n_locations)
        some = np.isfinite([tree + blocks for _, tree, blocks in samples])
        costs = fit(amounts[some], times[some])
        for kind, before, now in zip(KINDS[stage][i], used, costs, strict=True):
            yield f"  {method:7} {kind:34} {before:10.3g} {now:10.3g}"
        for name, constants in (("those in use", used), ("those measured", costs)):
            errors = amounts[some] @ constants / times[some]
            low, middle, high = np.quantile(errors, [0.05, 0.5, 0.95])
            span = f"{middle:.2f} ({low:.2f} to {high:.2f})"
            yield f"  {method:7} estimate / time with {name}: {span}"


def processor() -> str:
    """Return the name of the processor, as far as the system tells it."""
    file = Path("/proc/cpuinfo")
    names = file.read_text().splitlines() if file.exists() else []
    models = [line.split(":")[1].strip() for line in names if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def main() -> None:
    """Time workloads, and print the constants."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--only", choices=list(KINDS), help="one of the stages")
    parser.add_argument("--workloads", type=int, default=40, help="per stage, and per kernel")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    today = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    print(f"{processor()}, instruction set {get_config()['instruction_set']}, {today}")
    print(f"{'nanoseconds per':44}{'in use':>10} {'measured':>10}")
    for stage in [given.only] if given.only else KINDS:
        for kernel in choices.KERNELS if stage == "sums" else ("gaussian",):
            drawn = workloads(given.seed, kernel)
            found, counts = [], []
            for _ in range(given.workloads):
                samples, h = next(drawn)
                found.append(SAMPLES[stage](samples, h, kernel))
                counts.append(samples.tree.n_locations)
            print(f"{stage}, {kernel}" if stage == "sums" else stage)
            print("\n".join(lines(stage, found, counts)), flush=True)


if __name__ == "__main__":
    main()
