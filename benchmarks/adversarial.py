"""Search for data on which a call takes far longer than on random data of the same size.

    python benchmarks/adversarial.py --seconds 600             shared between all calls
    python benchmarks/adversarial.py --only "fit, local"       one call
    python benchmarks/adversarial.py --seed 7 --points 50000

A data set is described by a dozen numbers, its genes: the base shape, how many rows are copies, how
unequal the axes are, how the coordinates are rounded, how heavy the tails are, and so on. The
search starts from random genes. It changes one or two of them at a time and keeps a change that
makes the call slower (a hill climb); after a few changes in vain it starts again. The slowness is
the CPU time on one thread, divided by that of the same call on a Gaussian sample with as many rows
and features.

Only calls with automatic parameters are searched. With a given bandwidth, whoever chooses it also
chooses how many pairs of points have to be visited. The table of docs/testing.md states the largest
slowness that was found; data that deserve a bound become rows of benchmarks/rows.py.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quickshift as qs
from quickshift import datasets, stages

Floats = NDArray[np.float64]
Call = Callable[[Floats], object]

IN_VAIN = 12  # changes without success after which the search starts again
ROUNDS = 2  # the faster of two runs counts
FEATURES = (1, 2, 3, 5, 10)
ORDERS = ("random", "sorted", "reversed", "zigzag")


@dataclass(frozen=True)
class Genes:
    """What describes a data set. Shares are between 0 and 1."""

    d: int
    shape: str
    order: str  # of the rows
    tails: float  # coordinates are raised to this power, with their sign
    aspect: float  # decades between the longest and the shortest axis
    copies: float  # share of the rows that repeat one of a few others
    distinct: float  # decimal logarithm of how many rows are repeated
    tight: float  # share of the rows in a small group
    width: float  # decimal logarithm of the width of that group
    far: float  # share of outliers
    distance: float  # decimal logarithm of how far outliers are
    step: float  # decimal logarithm of the step to which coordinates are rounded; below -6: none


def random_genes(rng: np.random.Generator) -> Genes:
    """Draw genes; each of the optional features of a data set is absent half of the time."""

    def share(most: float) -> float:
        return float(rng.choice([0.0, rng.uniform(0, most)]))

    return Genes(
        d=int(rng.choice(FEATURES)),
        shape=str(rng.choice(list(SHAPES))),
        order=str(rng.choice(ORDERS)),
        tails=float(rng.choice([1.0, rng.uniform(0.2, 8.0)])),
        aspect=float(rng.choice([0.0, rng.uniform(0, 8)])),
        copies=share(1.0),
        distinct=float(rng.uniform(0, 4)),
        tight=share(0.9),
        width=float(rng.uniform(-12, 0)),
        far=share(0.1),
        distance=float(rng.uniform(0, 12)),
        step=float(rng.uniform(-10, 0.5)),
    )


def changed(genes: Genes, rng: np.random.Generator) -> Genes:
    """Replace one or two genes by new ones; the number of features stays."""
    new = random_genes(rng)
    names = [field.name for field in fields(Genes) if field.name != "d"]
    chosen = rng.choice(names, size=int(rng.integers(1, 3)), replace=False)
    return replace(genes, **{str(name): getattr(new, str(name)) for name in chosen})


# From genes to data


def lattice(n: int, d: int, rng: np.random.Generator) -> Floats:
    """Draw from a lattice with about two points per location."""
    return rng.integers(max(2, round((n / 2) ** (1 / d))), size=(n, d)).astype(np.float64)


def shells(n: int, d: int, rng: np.random.Generator) -> Floats:
    """Draw from ten nested spheres, the outer ones sparser."""
    normal = rng.normal(size=(n, d))
    return normal / np.linalg.norm(normal, axis=1)[:, None] * rng.integers(1, 11, (n, 1))


def walk(n: int, d: int, rng: np.random.Generator) -> Floats:
    """Draw from a random walk, with restarts unless it is on a line."""
    if d == 1:
        return rng.normal(size=(n, d)).cumsum(axis=0)
    return datasets.seed_spreader(n, d, seed=int(rng.integers(2**31)))[0]


SHAPES: dict[str, Callable[[int, int, np.random.Generator], Floats]] = {
    "gaussian": lambda n, d, rng: rng.normal(size=(n, d)),
    "uniform": lambda n, d, rng: rng.uniform(size=(n, d)),
    "blobs": lambda n, d, rng: datasets.blobs(n, d, seed=int(rng.integers(2**31)))[0],
    "shells": shells,
    "curve": lambda n, d, rng: np.sin(rng.uniform(0, 12, (n, 1)) * rng.uniform(0.5, 2, d)),
    "lattice": lattice,
    "walk": walk,
    # groups whose widths and distances grow by factors of ten
    "geometric": lambda n, d, rng: (
        10.0 ** rng.integers(-6, 6, size=(n, 1)) * (1 + 0.1 * rng.normal(size=(n, d)))
    ),
}


def data_of(genes: Genes, n: int) -> Floats:
    """Make the data set; the same genes always give the same."""
    rng = np.random.default_rng(0)
    X = SHAPES[genes.shape](n, genes.d, rng)
    X = X / max(float(X.std()), 1e-300)
    X = np.sign(X) * np.abs(X) ** genes.tails
    X = X * np.logspace(0, -genes.aspect, genes.d)
    rows = rng.permutation(n)
    tight, far, copied = np.split(
        rows, np.cumsum([int(n * genes.tight), int(n * genes.far)]).clip(max=n)
    )
    X[tight] = X[0] + 10.0**genes.width * rng.normal(size=(len(tight), genes.d))
    X[far] *= 10.0**genes.distance
    if genes.step > -6:
        X = np.round(X / 10.0**genes.step) * 10.0**genes.step
    copied = copied[: int(n * genes.copies)]
    X[copied] = X[rows[rng.integers(min(n, max(1, int(10.0**genes.distinct))), size=len(copied))]]
    return in_order(X, genes.order)


def in_order(X: Floats, order: str) -> Floats:
    """Sort the rows by their coordinates, or leave them."""
    if order == "random":
        return X
    X = X[np.lexsort(X.T)]
    if order == "reversed":
        return X[::-1].copy()
    return np.concatenate([X[::2], X[1::2][::-1]]) if order == "zigzag" else X


# Calls


def tree_of(X: Floats) -> object:
    """Fit with a bandwidth, and link the cluster tree."""
    return qs.QuickShift("auto", tau="auto", n_jobs=1).fit(X).tree_


def predicted(X: Floats) -> object:
    """Fit half of the rows, and predict the others."""
    return qs.QuickShift(n_jobs=1).fit(X[::2]).predict(X[1::2])


def regressed(X: Floats) -> object:
    """Predict the last feature from the others, or from the number of the row."""
    inputs = X[:, :-1] if X.shape[1] > 1 else np.arange(len(X), dtype=np.float64)[:, None]
    return qs.ModalRegressor(n_jobs=1).fit(inputs, X[:, -1]).predict_modes(inputs[:200])


CALLS: dict[str, Call] = {
    "prepare": lambda X: stages.prepare(X, n_jobs=1),
    "fit, local": lambda X: qs.QuickShift(n_jobs=1).fit(X),
    "fit, auto": lambda X: qs.QuickShift("auto", n_jobs=1).fit(X),
    "fit, auto, epanechnikov": lambda X: qs.QuickShift("auto", kernel="epanechnikov", n_jobs=1).fit(
        X
    ),
    "fit, auto, exponential": lambda X: qs.QuickShift("auto", kernel="exponential", n_jobs=1).fit(
        X
    ),
    "cluster tree": tree_of,
    "predict": predicted,
    "conditional modes": regressed,
}


def seconds(call: Call, X: Floats) -> float:
    """Return the CPU time of a call; data that are refused take no time."""
    best = np.inf
    for _ in range(ROUNDS):
        start = time.process_time()
        try:
            call(X)
        except ValueError:
            return 0.0
        best = min(best, time.process_time() - start)
    return float(best)


# The search


@dataclass(frozen=True)
class Found:
    """The slowest data set of one call."""

    slowness: float
    seconds: float
    genes: Genes | None
    tried: int


def search(call: Call, n: int, limit: float, rng: np.random.Generator) -> Found:
    """Look for slow data for some seconds."""
    usual: dict[int, float] = {}  # seconds for a Gaussian sample, by number of features
    worst, tried = Found(0.0, 0.0, None, 0), 0
    end = time.monotonic() + limit
    while time.monotonic() < end:
        genes, slowest, in_vain = random_genes(rng), 0.0, 0
        new = genes
        while in_vain < IN_VAIN and time.monotonic() < end:
            if new.d not in usual:
                usual[new.d] = seconds(call, np.random.default_rng(1).normal(size=(n, new.d)))
            taken = seconds(call, data_of(new, n))
            tried += 1
            slowness = taken / usual[new.d]
            in_vain += 1
            if slowness > slowest:
                genes, slowest, in_vain = new, slowness, 0
            if slowness > worst.slowness:
                worst = Found(slowness, taken, new, tried)
            new = changed(genes, rng)
    return replace(worst, tried=tried)


def main() -> None:
    """Search for each call, and print the slowest data."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=CALLS)
    given: Any = parser.parse_args()
    calls = {name: call for name, call in CALLS.items() if given.only in (None, name)}
    print(f"seed {given.seed}, {given.points} points")
    for name, call in calls.items():
        rng = np.random.default_rng(given.seed)
        found = search(call, given.points, given.seconds / len(calls), rng)
        print(
            f"{name}: {found.slowness:.1f} times a Gaussian sample ({found.seconds:.2f} s) "
            f"in {found.tried} data sets\n    {found.genes}",
            flush=True,
        )


if __name__ == "__main__":
    main()
