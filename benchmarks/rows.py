"""What is measured, as data: points, our call on them, the peers, and the bounds to keep.

A bound is what a number should be; the table says whether it is. Names say size and dimension.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import data
import ours
from measure import Bound

MILLION = 1_000_000
Call = Callable[..., object]


@dataclass(frozen=True)
class TimeRow:
    """A call of ours in turn with every peer: ratios, below one is faster.

    ``make(n)`` makes about n points, the same ones at every call.
    """

    name: str
    n: int
    make: Callable[[int], Any]
    call: Call
    peers: dict[str, Bound | None] = field(default_factory=dict)


@dataclass(frozen=True)
class GrowthRow:
    """Two sizes in turn; the exponent of one is linear growth. ``calls`` go with ``sizes``."""

    name: str
    sizes: tuple[int, int]
    make: Callable[[int], Any]
    calls: tuple[Call, Call]
    bound: Bound | None = None


@dataclass(frozen=True)
class ThreadRow:
    """One thread over two threads; ``call`` takes ``n_jobs``."""

    name: str
    n: int
    make: Callable[[int], Any]
    call: Call
    bound: Bound


@dataclass(frozen=True)
class LinkRow:
    """The cluster tree over the fit that it follows; ``call`` takes ``part``."""

    name: str
    n: int
    make: Callable[[int], Any]
    call: Call
    bound: Bound


@dataclass(frozen=True)
class ToleranceRow:
    """The worst ratio of a tolerance over none, for bandwidths from tiny to the diameter."""

    name: str
    n: int
    dimensions: tuple[int, ...]
    kernels: tuple[str, ...]
    bandwidths: int
    bound: Bound


@dataclass(frozen=True)
class MemoryRow:
    """Bytes a point by which a fit raises the peak of a fresh process."""

    name: str
    n: int
    make: Callable[[int], Any]
    call: Call
    bound: Bound | None = None


@dataclass(frozen=True)
class StartRow:
    """Seconds of some source in a fresh process, after other source."""

    name: str
    setup: str
    run: str


Row = TimeRow | GrowthRow | ThreadRow | LinkRow | ToleranceRow | MemoryRow | StartRow

blobs2, blobs3, blobs5, blobs8, blobs64 = (partial(data.blobs, d=d) for d in (2, 3, 5, 8, 64))
flat: dict[str, Any] = {"bandwidth": 0.3, "tau": 1.0, "kernel": "epanechnikov"}
round_: dict[str, Any] = {"bandwidth": 0.3, "tau": 1.0, "kernel": "gaussian"}
fit_flat = partial(ours.fit, **flat)
fit_round = partial(ours.fit, **round_)
gaussian_sums = partial(ours.densities, bandwidth=0.3, kernel="gaussian", rtol=1e-4)
NEIGHBOURS = 500
CLUSTERERS = (
    "HDBSCAN",
    "fast_hdbscan",
    "MeanShift",
    "ToMATo",
    "pydpc",
    "DADApy",
    "scikit-matter",
)


def _same_neighbours(n: int) -> Call:
    """Fit with the bandwidth that has about 500 neighbours in blobs of the plane.

    A Gaussian of m points has m h² / 4 neighbours within h on average, and n = 20 m.
    """
    h = (80 * NEIGHBOURS / n) ** 0.5
    return partial(ours.fit, bandwidth=h, tau=1.0, kernel="epanechnikov")


def _wide(h: float) -> Call:
    return partial(ours.fit, bandwidth=h, tau=2 * h, kernel="gaussian")


FITS: tuple[Row, ...] = (
    TimeRow("epanechnikov 1e6x2", MILLION, blobs2, fit_flat, {"cKDTree": Bound(0.13, aim=0.08)}),
    TimeRow("gaussian 1e6x2", MILLION, blobs2, fit_round, {"cKDTree": Bound(0.2)}),
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
    TimeRow("gaussian 1e3x2", 1000, blobs2, fit_round, {"NearestNeighbors": Bound(1.5)}),
    TimeRow(
        "uniform 1e6x2", MILLION, blobs2, partial(fit_flat, kernel="uniform"), {"cKDTree": None}
    ),
    TimeRow("defaults 2e3x2", 2000, blobs2, ours.fit, dict.fromkeys(CLUSTERERS)),
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
        (_same_neighbours(MILLION), _same_neighbours(10 * MILLION)),
        Bound(1.12),
    ),
    ThreadRow(
        "threads epanechnikov 1e6x2",
        MILLION,
        blobs2,
        partial(ours.all_stages, **flat),
        Bound(1.8, at_least=True),
    ),
    ThreadRow(
        "threads gaussian 1e6x2",
        MILLION,
        blobs2,
        partial(ours.all_stages, **round_),
        Bound(1.8, at_least=True),
    ),
    MemoryRow("memory 1e7x2", 10 * MILLION, blobs2, _same_neighbours(10 * MILLION), Bound(120.0)),
)

MEDIAN_NEAREST = 0.0075  # distance in a million blobs of the plane

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
    # cKDTree puts equal points into one leaf and compares each with each: hours.
    TimeRow("all equal 1e6x2", MILLION, data.equal, fit_flat),
    _against_tree("1e3 distinct 1e6x2", data.few_distinct, fit_flat),
    _against_tree("constant column 1e6x3", data.constant_column, fit_flat),
    _against_tree("lattice 1e6x2, tau 1", data.square_lattice, unit),
    _against_tree("offset 1e8 1e6x2", data.offset, fit_flat),
    _against_tree("far outlier 1e6x2", data.far_outlier, fit_flat),
    _against_tree("collinear 1e5x10", data.collinear, fit_flat, 100_000),
    _against_tree("exponential spacing 1e6x2", data.exponential_spacing, fit_flat),
    _against_tree(
        "uniform plateau 1e6x2",
        data.square,
        partial(ours.fit, bandwidth=0.5, tau=1.0, kernel="uniform"),
    ),
    _against_tree("nested shells 1e5x3", data.nested_shells, fit_flat, 100_000),
    _against_tree("tied plateaus 1e6x2", data.tied_plateaus, unit),
)

TINY: tuple[Row, ...] = tuple(TimeRow(f"n = {n}", n, blobs2, fit_round) for n in (1, 2, 31, 32, 33))

SECTIONS: dict[str, tuple[Row, ...]] = {
    "fits": FITS,
    "densities": DENSITIES,
    "scale": SCALE,
    "links": LINKS,
    "modal": MODAL,
    "images": IMAGES,
    "shapes": SHAPES,
    "adversarial": ADVERSARIAL,
    "tiny": TINY,
    "starts": STARTS,
}


@dataclass(frozen=True)
class Curve:
    """Time against the number of points: lines of ours and of peers in one plot."""

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
        "Fit to labels, h = 0.3, against a search for ten neighbours",
        _decades,
        blobs2,
        {"quickshift, epanechnikov": fit_flat, "quickshift, gaussian": fit_round},
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
