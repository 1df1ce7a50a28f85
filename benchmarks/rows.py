"""The benchmarks as data: points, our call on them, the peers, and the bounds to keep.

A bound is a limit for a measured number; the table says whether it is met. The name of a row states
the number of points and of features: 1e6x2 means a million points in the plane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

import data
import made_up_data
import ours
from measure import Bound

MILLION = 1_000_000
Call = Callable[..., object]


@dataclass(frozen=True)
class TimeRow:
    """Our time divided by that of each peer, timed alternately; below one is faster.

    ``make(n)`` returns about n points, the same ones at every call. Our call uses the fastest
    instruction set of the machine unless one is named.
    """

    name: str
    n: int
    make: Callable[[int], Any]
    call: Call
    peers: dict[str, Bound | None] = field(default_factory=dict)
    instruction_set: str | None = None


@dataclass(frozen=True)
class GrowthRow:
    """Exponent of the growth from the first size to the second; 1 is linear. One call per size."""

    name: str
    sizes: tuple[int, int]
    make: Callable[[int], Any]
    calls: tuple[Call, Call]
    bound: Bound | None = None


@dataclass(frozen=True)
class ThreadRow:
    """Time on one thread divided by the time on two; ``call`` takes ``n_jobs``."""

    name: str
    n: int
    make: Callable[[int], Any]
    call: Call
    bound: Bound
    instruction_set: str | None = None


@dataclass(frozen=True)
class LinkRow:
    """Time of linking divided by the time of the fit before it; ``call`` takes ``part``."""

    name: str
    n: int
    make: Callable[[int], Any]
    call: Call
    bound: Bound


@dataclass(frozen=True)
class ToleranceRow:
    """Largest time with rtol 1e-9 relative to rtol 0, over bandwidths from 0.01 to the diameter."""

    name: str
    n: int
    dimensions: tuple[int, ...]
    kernels: tuple[str, ...]
    bandwidths: int
    bound: Bound


@dataclass(frozen=True)
class HardRow:
    """Our time on data made up against an algorithm, divided by that on a Gaussian sample."""

    name: str
    n: int
    d: int
    make: Callable[[int], Any]
    call: Call
    bound: Bound


@dataclass(frozen=True)
class WorstRow:
    """The largest ratio over data sets: our time divided by that of a peer or of another call.

    ``sets`` has a function of n per data set. ``other`` is the name of a peer, or a call of ours,
    which ``against`` names.
    """

    name: str
    n: int
    sets: dict[str, Callable[[int], Any]]
    call: Call
    other: str | Call
    against: str
    bound: Bound


@dataclass(frozen=True)
class MethodRow:
    """Time of the automatic method of kernel sums divided by that of the best other method.

    The largest ratio over data sets counts. ``bandwidth`` is a function of the points.
    """

    name: str
    n: int
    sets: dict[str, Callable[[int], Any]]
    bandwidth: Callable[[Any], float]
    bound: Bound


@dataclass(frozen=True)
class MemoryRow:
    """Bytes per point by which a fit raises the peak memory of a fresh process."""

    name: str
    n: int
    make: Callable[[int], Any]
    call: Call
    bound: Bound | None = None


@dataclass(frozen=True)
class StartRow:
    """Seconds that the code ``run`` takes in a fresh process, after the code ``setup``."""

    name: str
    setup: str
    run: str


@dataclass(frozen=True)
class ChoiceRow:
    """Time of the method that the core chooses, divided by that of the fastest method.

    From each seed, random workloads are drawn until ``workloads`` of them count. ``bounds`` has two
    per stage: that of the 99th percentile and that of the worst workload.
    """

    name: str
    seeds: tuple[int, ...]
    workloads: int
    bounds: dict[str, tuple[Bound, Bound]]


Row = (
    TimeRow
    | GrowthRow
    | ThreadRow
    | LinkRow
    | ToleranceRow
    | HardRow
    | WorstRow
    | MethodRow
    | MemoryRow
    | StartRow
    | ChoiceRow
)

blobs2, blobs3, blobs5, blobs8, blobs64 = (partial(data.blobs, d=d) for d in (2, 3, 5, 8, 64))
blobs10, blobs50 = (partial(data.blobs, d=d) for d in (10, 50))
epanechnikov: dict[str, Any] = {"bandwidth": 0.3, "tau": 1.0, "kernel": "epanechnikov"}
gaussian: dict[str, Any] = {"bandwidth": 0.3, "tau": 1.0, "kernel": "gaussian"}
fit_epanechnikov = partial(ours.fit, **epanechnikov)
fit_gaussian = partial(ours.fit, **gaussian)
gaussian_sums = partial(ours.densities, bandwidth=0.3, kernel="gaussian", rtol=1e-4)
NEIGHBORS = 500
CLUSTERERS = (
    "HDBSCAN",
    "fast_hdbscan",
    "MeanShift",
    "ToMATo",
    "pydpc",
    "DADApy",
    "scikit-matter",
)


def _same_neighbors(n: int) -> Call:
    """Return a fit whose bandwidth gives a point of the blobs about 500 neighbors in the plane.

    In a Gaussian of m points, a point has m h² / 4 neighbors within h on average, and n = 20 m.
    """
    h = (80 * NEIGHBORS / n) ** 0.5
    return partial(ours.fit, bandwidth=h, tau=1.0, kernel="epanechnikov")


def _wide(h: float) -> Call:
    return partial(ours.fit, bandwidth=h, tau=2 * h, kernel="gaussian")


FITS: tuple[Row, ...] = (
    TimeRow(
        "epanechnikov 1e6x2", MILLION, blobs2, fit_epanechnikov, {"cKDTree": Bound(0.13, aim=0.08)}
    ),
    TimeRow("gaussian 1e6x2", MILLION, blobs2, fit_gaussian, {"cKDTree": Bound(0.2)}),
    TimeRow("gaussian 1e6x3", MILLION, blobs3, _wide(0.5), {"cKDTree": Bound(0.6)}),
    TimeRow("gaussian 1e5x5", 100_000, blobs5, _wide(1.0), {"cKDTree": Bound(0.6)}),
    TimeRow("gaussian 1e5x8", 100_000, blobs8, _wide(1.0), {"cKDTree": Bound(0.25)}),
    TimeRow(
        "gaussian 2e4x64, rtol 0",
        20_000,
        blobs64,
        partial(ours.fit, bandwidth=5.0, tau=10.0, rtol=0.0),
        {"brute NearestNeighbors": Bound(1.2)},
    ),
    TimeRow("gaussian 1e3x2", 1000, blobs2, fit_gaussian, {"NearestNeighbors": Bound(1.5)}),
    TimeRow(
        "uniform 1e6x2",
        MILLION,
        blobs2,
        partial(fit_epanechnikov, kernel="uniform"),
        {"cKDTree": None},
    ),
    TimeRow("defaults 2e3x2", 2000, blobs2, ours.fit, dict.fromkeys(CLUSTERERS)),
)

# Without parameters. In one Gaussian, three numbers of neighbors are tried.
DEFAULTS: tuple[Row, ...] = (
    TimeRow("defaults 1e6x2", MILLION, blobs2, ours.fit, {"cKDTree": Bound(0.6, aim=0.4)}),
    TimeRow("defaults 1e5x10", 100_000, blobs10, ours.fit, {"cKDTree": Bound(1.0)}),
    TimeRow("defaults 1e4x50", 10_000, blobs50, ours.fit, {"brute NearestNeighbors": Bound(1.5)}),
    TimeRow(
        "one Gaussian 1e6x2, defaults",
        MILLION,
        partial(data.one_gaussian, d=2),
        ours.fit,
        {"cKDTree": Bound(2.5)},
    ),
    TimeRow(
        "one Gaussian 1e4x50, defaults",
        10_000,
        partial(data.one_gaussian, d=50),
        ours.fit,
        {"brute NearestNeighbors": None},
    ),
    MemoryRow("memory 1e7x2, defaults", 10 * MILLION, blobs2, ours.fit, Bound(200.0)),
)

DENSITIES: tuple[Row, ...] = (
    TimeRow(
        "densities 1e5x2",
        100_000,
        blobs2,
        gaussian_sums,
        {"mlpack": Bound(0.02), "KernelDensity": Bound(0.01)},
    ),
    TimeRow(
        "densities 1e4x2",
        10_000,
        blobs2,
        gaussian_sums,
        dict.fromkeys(("exact KernelDensity", "TreeKDE", "FFTKDE")),
    ),
    ToleranceRow(
        "tolerance 2e4, any bandwidth",
        20_000,
        (2, 3, 5),
        ("gaussian", "exponential"),
        6,
        Bound(1.0),
    ),
)

SCALE: tuple[Row, ...] = (
    TimeRow("tree 1e7x2", 10 * MILLION, blobs2, ours.build, {"pykdtree tree": Bound(1.0)}),
    GrowthRow(
        "growth 1e6 to 1e7, x2",
        (MILLION, 10 * MILLION),
        blobs2,
        (_same_neighbors(MILLION), _same_neighbors(10 * MILLION)),
        Bound(1.12),
    ),
    ThreadRow(
        "threads epanechnikov 1e6x2",
        MILLION,
        blobs2,
        partial(ours.all_stages, **epanechnikov),
        Bound(1.8, at_least=True),
    ),
    ThreadRow(
        "threads gaussian 1e6x2",
        MILLION,
        blobs2,
        partial(ours.all_stages, **gaussian),
        Bound(1.8, at_least=True),
    ),
    MemoryRow("memory 1e7x2", 10 * MILLION, blobs2, _same_neighbors(10 * MILLION), Bound(120.0)),
)

MEDIAN_NEAREST = 0.0075  # distance to the nearest neighbor in blobs of a million points

LINKS: tuple[Row, ...] = tuple(
    LinkRow(
        f"link 1e6x2 {kernel}, tau {words}",
        MILLION,
        blobs2,
        partial(ours.fit_or_link, bandwidth=0.3, tau=tau, kernel=kernel),
        Bound(limit),
    )
    for kernel in ("epanechnikov", "gaussian")
    for words, tau, limit in (
        ("the median nearest distance", MEDIAN_NEAREST, 2.0),
        ("h/2", 0.15, 0.5),
        ("2h", 0.6, 0.5),
        ("10h", 3.0, 0.5),
    )
)

MODAL: tuple[Row, ...] = tuple(
    TimeRow(
        f"{queries} queries of 1e5x2, {kernel}",
        100_000,
        data.branches,
        partial(ours.conditional_modes, kernel=kernel, queries=queries),
        {peer: Bound(limit)},
    )
    for kernel in ("gaussian", "epanechnikov")
    for queries, peer, limit in (
        (10_000, "query_ball_point", 5.0),
        (100, f"NumPy, {kernel}", 0.05),
    )
)

PICTURE = 512 * 512
SCREEN = 3840 * 2160

IMAGES: tuple[Row, ...] = (
    *(
        TimeRow(f"{name} 512x512{words}", PICTURE, data.photo, call, {peer: bound})
        for words, peer, bound, segment, compat in (
            ("", "scikit-image", Bound(1 / 25, 1 / 50), {}, {}),
            (
                " (3, 6, 0.5)",
                "scikit-image (3, 6, 0.5)",
                Bound(1 / 15),
                {"bandwidth": 3, "tau": 6, "ratio": 0.5},
                {"kernel_size": 3, "max_dist": 6, "ratio": 0.5},
            ),
        )
        for name, call in (
            ("segment", partial(ours.segment, **segment)),
            ("compat", partial(ours.segment_as_skimage, **compat)),
        )
    ),
    TimeRow(
        "compat 512x512, float32",
        PICTURE,
        data.photo_single,
        ours.segment_as_skimage,
        {"scikit-image": None},
    ),
    *(
        TimeRow(f"{name} 3840x2160", SCREEN, data.photo, call, {"scikit-image": Bound(1.25)})
        for name, call in (("segment", ours.segment), ("compat", ours.segment_as_skimage))
    ),
    GrowthRow(
        "segment, growth with pixels",
        (PICTURE, SCREEN),
        data.photo,
        (ours.segment, ours.segment),
        Bound(1.05),
    ),
)

SLOWER = 1.25  # with AVX2, a bound may be missed by this factor


def _with_avx2(row: Row) -> Row:
    """Return a row that measures our code as on a machine without AVX-512."""
    name = f"{row.name}, AVX2"
    if isinstance(row, ThreadRow):
        bound = Bound(row.bound.limit / SLOWER, at_least=True)
        return replace(row, name=name, bound=bound, instruction_set="v3")
    assert isinstance(row, TimeRow)
    peers = {peer: bound and Bound(SLOWER * bound.limit) for peer, bound in row.peers.items()}
    return replace(row, name=name, peers=peers, instruction_set="v3")


# Rows whose bounds were met only with AVX-512 at some time, and those next to them.
AVX2: tuple[Row, ...] = tuple(
    _with_avx2(row)
    for row in (*SCALE, *MODAL, *IMAGES)
    if row.name.startswith(("threads", "10000 queries", "segment 512", "compat 512"))
)

STARTS: tuple[Row, ...] = (
    StartRow("import", "import numpy", "import quickshift"),
    StartRow("import the estimator", "import numpy", "import quickshift; quickshift.QuickShift"),
    StartRow(
        "first fit 1e3x2",
        "import quickshift; X = quickshift.datasets.blobs(1000)[0]; quickshift.QuickShift",
        "quickshift.QuickShift().fit(X)",
    ),
)


def _against_tree(name: str, make: Callable[[int], Any], call: Call, n: int = MILLION) -> TimeRow:
    return TimeRow(name, n, make, call, {"cKDTree": None})


seeds = partial(ours.fit, bandwidth=1.0, tau=3.0, kernel="epanechnikov")
fine = partial(ours.fit, bandwidth=0.02, tau=0.1, kernel="gaussian")
unit = partial(ours.fit, bandwidth=3.0, tau=1.0, kernel="epanechnikov")
SHAPES: tuple[Row, ...] = (
    _against_tree("simden 1e6x3", partial(data.spread_seeds, variant="simden"), seeds),
    _against_tree("varden 1e6x3", partial(data.spread_seeds, variant="varden"), seeds),
    _against_tree("square 1e6x2", data.square, unit),
    _against_tree("moons 1e5x2", data.moons, fine, 100_000),
    _against_tree("circles 1e5x2", data.circles, fine, 100_000),
)

ADVERSARIAL: tuple[Row, ...] = (
    # No peer: cKDTree puts equal points into one leaf and compares all pairs, which takes hours.
    TimeRow("all equal 1e6x2", MILLION, data.equal, fit_epanechnikov),
    _against_tree("1e3 distinct 1e6x2", data.few_distinct, fit_epanechnikov),
    _against_tree("constant column 1e6x3", data.constant_column, fit_epanechnikov),
    _against_tree("lattice 1e6x2, tau 1", data.square_lattice, unit),
    _against_tree("offset 1e8 1e6x2", data.offset, fit_epanechnikov),
    _against_tree("far outlier 1e6x2", data.far_outlier, fit_epanechnikov),
    _against_tree("collinear 1e5x10", data.collinear, fit_epanechnikov, 100_000),
    _against_tree("exponential spacing 1e6x2", data.exponential_spacing, fit_epanechnikov),
    _against_tree(
        "uniform plateau 1e6x2",
        data.square,
        partial(ours.fit, bandwidth=0.5, tau=1.0, kernel="uniform"),
    ),
    _against_tree("nested shells 1e5x3", data.nested_shells, fit_epanechnikov, 100_000),
    _against_tree("tied plateaus 1e6x2", data.tied_plateaus, unit),
)

# What benchmarks/adversarial.py and attacks have found.
MADE_UP: tuple[Row, ...] = (
    HardRow("colliding hashes 2e4x1", 20_000, 1, made_up_data.colliding, ours.build, Bound(5.0)),
    HardRow(
        "order against the median 2e4x1",
        20_000,
        1,
        lambda n: made_up_data.against_median(n)[:, None],
        ours.build,
        Bound(3.0),
    ),
    *(
        HardRow(
            f"narrow group {name}",
            n,
            d,
            partial(made_up_data.narrow_group, d=d),
            call,
            Bound(limit),
        )
        for name, n, d, call, limit in (
            ("2e4x10, local scale", 20_000, 10, ours.scales, 3.0),
            ("1e4x50, local scale", 10_000, 50, ours.scales, 4.0),
            ("1e4x50, defaults", 10_000, 50, ours.fit, 8.0),
        )
    ),
    HardRow(
        "long tails 2e4x5, gaussian",
        20_000,
        5,
        partial(made_up_data.long_tails, d=5, power=5.0),
        partial(ours.fit, bandwidth="auto"),
        Bound(12.0),
    ),
    HardRow(
        "long tails 2e4x5, epanechnikov",
        20_000,
        5,
        partial(made_up_data.long_tails, d=5, power=7.5),
        partial(ours.fit, bandwidth="auto", kernel="epanechnikov"),
        Bound(25.0),
    ),
)

TINY: tuple[Row, ...] = tuple(
    TimeRow(f"n = {n}", n, blobs2, fit_gaussian) for n in (1, 2, 31, 32, 33)
)


def _by_seed(make: Callable[..., Any], seeds: Iterable[int]) -> dict[str, Callable[[int], Any]]:
    return {f"seed {seed}": partial(make, seed=seed) for seed in seeds}


def _automatic(kernel: str) -> Call:
    return partial(ours.fit, bandwidth="auto", kernel=kernel)


THREE: tuple[Row, ...] = (
    *(
        WorstRow(
            f"gaussian 1e6x3, h = {h}",
            MILLION,
            _by_seed(data.boxed_blobs, range(10)),
            _wide(h),
            "cKDTree",
            "cKDTree",
            Bound(limit),
        )
        for h, limit in ((0.25, 1.0), (0.5, 0.45))
    ),
    TimeRow("auto 1e6x5", MILLION, blobs5, _automatic("gaussian"), {"cKDTree": Bound(1.5)}),
)

# Cosine has an expansion of a few terms; the others are sums of expansions and of pairs.
KERNEL_LIMITS = {
    "cosine": 3.0,
    "silverman": 6.0,
    "triangular": 6.0,
    "tricube": 6.0,
    "exponential": 10.0,
}
KERNELS: tuple[Row, ...] = (
    *(
        WorstRow(
            f"{kernel} 1e6x2, auto",
            MILLION,
            _by_seed(data.seeded_blobs, range(4)),
            _automatic(kernel),
            _automatic("gaussian"),
            "the Gaussian",
            Bound(limit),
        )
        for kernel, limit in KERNEL_LIMITS.items()
    ),
    *(
        GrowthRow(
            f"{kernel}, growth 1e5 to 1e6, x2, auto",
            (100_000, MILLION),
            blobs2,
            (_automatic(kernel), _automatic(kernel)),
            Bound(1.15),
        )
        for kernel in KERNEL_LIMITS
    ),
)


def _in_deviations(X: Any, share: float) -> float:
    """Return a bandwidth, given as a share of the median standard deviation of the features."""
    return share * float(np.median(np.std(X, axis=0)))


METHODS: tuple[Row, ...] = tuple(
    MethodRow(name, n, _by_seed(make, seeds), bandwidth, Bound(1.3))
    for name, n, make, seeds, bandwidth in (
        ("boxed blobs 1e6x3, h = 0.5", MILLION, data.boxed_blobs, range(3), lambda _: 0.5),
        ("boxed blobs 1e6x3, h = 0.25", MILLION, data.boxed_blobs, range(3), lambda _: 0.25),
        (
            "Student t 241287x3, h = 0.4 deviations",
            241_287,
            partial(data.student, d=3),
            range(4),
            partial(_in_deviations, share=0.4),
        ),
        (
            "Student t 443862x2, h = 0.007 deviations",
            443_862,
            partial(data.student, d=2),
            range(4),
            partial(_in_deviations, share=0.007),
        ),
        (
            "curve 19358x3, h = 0.13 deviations",
            19_358,
            data.curve,
            range(4),
            partial(_in_deviations, share=0.13),
        ),
    )
)

# The seeds are fresh ones, which were not used when the cost models were adjusted.
CHOICES: tuple[Row, ...] = (
    ChoiceRow(
        "regret",
        seeds=(7001, 7002, 7003),
        workloads=100,
        bounds=dict.fromkeys(("sums", "parents"), (Bound(1.5), Bound(2.5))),
    ),
)

SECTIONS: dict[str, tuple[Row, ...]] = {
    "fits": FITS,
    "defaults": DEFAULTS,
    "densities": DENSITIES,
    "three": THREE,
    "kernels": KERNELS,
    "scale": SCALE,
    "links": LINKS,
    "modal": MODAL,
    "images": IMAGES,
    "AVX2": AVX2,
    "shapes": SHAPES,
    "adversarial": ADVERSARIAL,
    "made up": MADE_UP,
    "tiny": TINY,
    "choices": CHOICES,
    "methods": METHODS,
    "starts": STARTS,
}


@dataclass(frozen=True)
class Curve:
    """Time as a function of the number of points: our lines and those of peers in one plot."""

    name: str
    title: str
    sizes: tuple[int, ...]
    make: Callable[[int], Any]
    calls: dict[str, Call]
    peers: tuple[str, ...]


_decades = (1000, 3000, 10_000, 30_000, 100_000, 300_000, MILLION)
CURVES: tuple[Curve, ...] = (
    Curve(
        "curve clusterers",
        "Clusters with default settings",
        _decades,
        blobs2,
        {"quickshift": ours.fit},
        CLUSTERERS,
    ),
    Curve(
        "curve densities",
        "Gaussian densities, h = 0.3, relative error 1e-4",
        _decades,
        blobs2,
        {"quickshift": gaussian_sums},
        ("KernelDensity", "exact KernelDensity", "mlpack", "TreeKDE", "FFTKDE"),
    ),
    Curve(
        "curve neighbours",
        "Fit to labels, h = 0.3, against a search for ten neighbors",
        _decades,
        blobs2,
        {"quickshift, epanechnikov": fit_epanechnikov, "quickshift, gaussian": fit_gaussian},
        ("cKDTree", "pykdtree", "NearestNeighbors"),
    ),
    Curve(
        "curve trees",
        "Building the tree",
        (*_decades, 3 * MILLION, 10 * MILLION),
        blobs2,
        {"quickshift": ours.build},
        ("pykdtree tree", "cKDTree tree"),
    ),
)
