"""What is measured: data, our call on it, and the peers that do comparable work.

``WORKLOADS`` are timed; ``GROWTH`` names pairs of them whose times give an exponent; ``MEMORY``
those whose peak is measured; ``IMPORTS`` what is imported. Names say size and dimension.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quickshift
from quickshift import datasets, stages

Points = NDArray[np.float64]
MILLION = 1_000_000


@dataclass(frozen=True)
class Workload:
    """Points and a call of ours.

    ``data(n)`` makes about n points, the same ones at every call.
    """

    name: str
    n: int
    data: Callable[[int], Points]
    ours: Callable[[Points], object]
    peers: tuple[str, ...] = ()


def fit(X: Points, **parameters: Any) -> object:
    """Fit our estimator, labels included."""
    return quickshift.QuickShift(**parameters).fit(X)


def densities(X: Points, **parameters: Any) -> object:
    """Estimate densities at the points themselves."""
    return stages.estimate_density(X, **parameters)


def blobs(n: int, d: int) -> Points:
    """Make the points that most rows use."""
    return datasets.blobs(n, d, seed=0)[0]


def spread_seeds(n: int, variant: Any) -> Points:
    """Make walks with restarts, in units of the smallest radius."""
    return datasets.seed_spreader(n, 3, variant=variant, seed=0)[0] / 100


# --- adversarial data: each has stopped or spoiled some tree ------------------------------------


def equal(n: int) -> Points:
    """All points in one place."""
    return np.ones((n, 2))


def few_distinct(n: int) -> Points:
    """One thousand places, taken again and again."""
    return blobs(1000, 2)[np.random.default_rng(1).integers(1000, size=n)]


def constant_column(n: int) -> Points:
    """Blobs with a coordinate that says nothing."""
    return np.column_stack([blobs(n, 2), np.full(n, 3.0)])


def square_lattice(n: int) -> Points:
    """Every density tied, every distance exactly one."""
    return datasets.lattice(round(n**0.5), 2)


def offset(n: int) -> Points:
    """Far from the origin: half of every coordinate's digits are the offset."""
    return blobs(n, 2) + 1e8


def far_outlier(n: int) -> Points:
    """One point stretches every bounding box."""
    X = blobs(n, 2)
    X[0] = 1e9
    return X


def collinear(n: int) -> Points:
    """One line in ten dimensions, askew to every axis."""
    rng = np.random.default_rng(2)
    return rng.uniform(0, 100, n)[:, None] * rng.standard_normal(10)


def exponential_spacing(n: int) -> Points:
    """Clusters at distances and of widths that grow by a factor of ten."""
    rng = np.random.default_rng(3)
    scale = 10.0 ** rng.integers(-6, 6, size=n)
    return scale[:, None] * (1 + 0.1 * rng.standard_normal((n, 2)))


def sparse_square(n: int) -> Points:
    """Few neighbours each: counts are nearly all 1, 2 or 3, a plateau everywhere."""
    return np.random.default_rng(4).uniform(0, n**0.5, size=(n, 2))


def _workloads() -> list[Workload]:
    flat: dict[str, Any] = {"bandwidth": 0.3, "tau": 1.0, "kernel": "epanechnikov"}
    fit_flat = partial(fit, **flat)
    million = Workload("epanechnikov 1e6x2", MILLION, partial(blobs, d=2), fit_flat, ("cKDTree",))
    wide = partial(fit, **{**flat, "bandwidth": 0.3 * 10**0.5})
    deep = partial(fit, bandwidth=2.0, tau=2.0, kernel="epanechnikov")
    lattice_fit = partial(fit, bandwidth=3.0, tau=1.0, kernel="epanechnikov")
    line_fit = partial(fit, bandwidth=0.3, tau=1.0, kernel="epanechnikov")
    seeds_fit = partial(fit, bandwidth=1.0, tau=3.0, kernel="epanechnikov")
    gaussian = partial(densities, bandwidth=0.3, kernel="gaussian")
    clusterers = ("MeanShift", "HDBSCAN", "ToMATo", "scikit-matter")
    usual = [
        million,
        replace(million, name="epanechnikov 1e5x2", n=MILLION // 10, ours=wide),
        Workload("epanechnikov 1e5x5", 100_000, partial(blobs, d=5), deep, ("cKDTree",)),
        replace(million, name="uniform 1e6x2", ours=partial(fit, **{**flat, "kernel": "uniform"})),
        Workload("gaussian densities 1e5x2", 100_000, partial(blobs, d=2), gaussian),
        Workload(
            "gaussian densities 2e4x2", 20_000, partial(blobs, d=2), gaussian, ("KernelDensity",)
        ),
        Workload("defaults 5e3x2", 5_000, partial(blobs, d=2), fit, clusterers),
        Workload("simden 1e6x3", MILLION, partial(spread_seeds, variant="simden"), seeds_fit),
        Workload("varden 1e6x3", MILLION, partial(spread_seeds, variant="varden"), seeds_fit),
    ]
    adversarial = [
        # The peer puts equal points into one leaf and compares each with each: hours.
        Workload("adversarial: all equal 1e6x2", MILLION, equal, fit_flat),
        replace(million, name="adversarial: 1e3 distinct 1e6x2", data=few_distinct),
        replace(million, name="adversarial: constant column 1e6x3", data=constant_column),
        replace(
            million, name="adversarial: lattice 1e6x2, tau 1", data=square_lattice, ours=lattice_fit
        ),
        replace(million, name="adversarial: offset 1e8 1e6x2", data=offset),
        replace(million, name="adversarial: far outlier 1e6x2", data=far_outlier),
        Workload("adversarial: collinear 1e5x10", 100_000, collinear, line_fit, ("cKDTree",)),
        replace(million, name="adversarial: exponential spacing 1e6x2", data=exponential_spacing),
        replace(
            million,
            name="adversarial: uniform plateau 1e6x2",
            data=sparse_square,
            ours=partial(fit, bandwidth=0.5, tau=1.0, kernel="uniform"),
        ),
    ]
    return usual + adversarial


WORKLOADS = {workload.name: workload for workload in _workloads()}

# The bandwidth at 1e5 points is √10 times that at 1e6, so both have as many neighbours a point.
GROWTH = {"growth 1e5 to 1e6, x2": ("epanechnikov 1e5x2", "epanechnikov 1e6x2")}
MEMORY = {"memory 1e6x2": "epanechnikov 1e6x2"}
IMPORTS = {"import": "quickshift", "import with estimator": "quickshift; quickshift.QuickShift"}
