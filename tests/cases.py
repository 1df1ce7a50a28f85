"""Data for the tests: all kinds that have broken a density estimate or a tree before.

`make` builds one deterministic `Case`; the strategies below it draw cases for hypothesis.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from quickshift.bandwidth import period_limit
from quickshift.kernels import KERNELS as TABLE
from quickshift.kernels import get_kernel

Floats = NDArray[np.float64]

KERNELS = tuple(TABLE)
INFINITE = tuple(name for name in KERNELS if TABLE[name].infinite)
COMPACT = tuple(name for name in KERNELS if not TABLE[name].infinite)
# Kernels that end at h exactly and are 0 there.
ENDING_AT_H = tuple(name for name in COMPACT if TABLE[name].support == 1 and name != "uniform")
DIMENSIONS = (1, 2, 3, 5, 8)
SIZES = (1, 2, 15, 16, 17, 20, 21, 31, 32, 33, 40, 41, 64, 65, 200)  # around 1, 2 and 4 leaves


@dataclass(frozen=True)
class Case:
    """Points with a bandwidth that suits their scale, weights and periods."""

    name: str
    X: Floats
    h: float
    sample_weight: Floats | None = None
    period: Floats | None = None

    @property
    def n(self) -> int:
        return self.X.shape[0]

    @property
    def d(self) -> int:
        return self.X.shape[1]

    @property
    def present(self) -> NDArray[np.bool_]:
        if self.sample_weight is None:
            return np.ones(self.n, dtype=bool)
        return self.sample_weight > 0

    @property
    def given(self) -> dict[str, Floats | None]:
        """Keyword arguments for the stages and for the reference."""
        return {"sample_weight": self.sample_weight, "period": self.period}

    def bandwidth(self, kernel: str) -> float:
        """Return h, reduced to what the periods admit for this kernel."""
        return min(self.h, 0.9 * period_limit(get_kernel(kernel), self.period))

    def permuted(self, order: NDArray[np.int64]) -> "Case":
        weights = None if self.sample_weight is None else self.sample_weight[order]
        return replace(self, X=self.X[order], sample_weight=weights)


# Kinds of data: each function returns points and a bandwidth that suits their scale


def _random(rng: np.random.Generator, n: int, d: int) -> tuple[Floats, float]:
    return rng.normal(size=(n, d)), 0.5 * d**0.5


def _lattice(rng: np.random.Generator, n: int, d: int) -> tuple[Floats, float]:
    side = max(3, round(n ** (1 / d)))
    return rng.integers(0, side, size=(n, d)).astype(float), 2.0


def _duplicated(rng: np.random.Generator, n: int, d: int) -> tuple[Floats, float]:
    return rng.normal(size=(max(1, n // 3), d))[rng.integers(max(1, n // 3), size=n)], 0.5 * d**0.5


def _collinear(rng: np.random.Generator, n: int, d: int) -> tuple[Floats, float]:
    return np.outer(rng.integers(0, 2 * n, size=n), rng.integers(1, 4, size=d)).astype(float), 8.0


def _constant(_: np.random.Generator, n: int, d: int) -> tuple[Floats, float]:
    return np.full((n, d), 0.7), 1.0


def _constant_column(rng: np.random.Generator, n: int, d: int) -> tuple[Floats, float]:
    X, h = _random(rng, n, d)
    X[:, d // 2] = -3.7
    return X, h


def _clustered(rng: np.random.Generator, n: int, d: int) -> tuple[Floats, float]:
    return rng.normal(size=(n, d)) * 0.1 ** rng.integers(0, 5, size=(n, 1)), 0.1


def _scaled(factor: float) -> Callable[[np.random.Generator, int, int], tuple[Floats, float]]:
    def build(rng: np.random.Generator, n: int, d: int) -> tuple[Floats, float]:
        X, h = _random(rng, n, d)
        return X * factor, h * factor

    return build


def _offset(rng: np.random.Generator, n: int, d: int) -> tuple[Floats, float]:
    X, h = _random(rng, n, d)
    return X + 1e8, h


KINDS: dict[str, Callable[[np.random.Generator, int, int], tuple[Floats, float]]] = {
    "random": _random,
    "lattice": _lattice,
    "duplicated": _duplicated,
    "collinear": _collinear,
    "constant": _constant,
    "constant_column": _constant_column,
    "clustered": _clustered,
    "offset": _offset,
    "scaled_up": _scaled(2.0**300),
    "scaled_down": _scaled(2.0**-300),
}
ORDINARY = ("random", "lattice", "duplicated", "collinear", "constant", "constant_column")


# Weights and periods

WEIGHTS = ("none", "integer", "real", "heavy")
PERIODS = ("open", "all", "some")


def weights_of(kind: str, n: int, seed: int = 0) -> Floats | None:
    rng = np.random.default_rng([seed, n, 7])
    if kind == "none":
        return None
    if kind == "real":
        return rng.uniform(0.1, 3.0, size=n)
    weights = rng.integers(0, 4, size=n).astype(float)
    if kind == "heavy":
        weights = np.where(rng.uniform(size=n) < 0.1, 1e12, 1.0)
    weights[rng.integers(n)] = 1.0  # at least one is positive
    return weights


def period_of(kind: str, d: int, h: float) -> Floats | None:
    if kind == "open":
        return None
    lengths = h * (9.0 + np.arange(d))
    if kind == "some":
        lengths[1::2] = np.inf
        lengths[0] = np.inf if d > 2 else lengths[0]
    return lengths


def make(
    kind: str, n: int, d: int, *, weights: str = "none", period: str = "open", seed: int = 0
) -> Case:
    rng = np.random.default_rng([seed, n, d])
    X, h = KINDS[kind](rng, n, d)
    name = f"{kind} n={n} d={d} weights={weights} period={period} seed={seed}"
    return Case(name, X, h, weights_of(weights, n, seed), period_of(period, d, h))


def variations(kind: str, d: int) -> Iterator[Case]:
    """Yield one kind of data with all kinds of weights and periods, in sizes that alternate."""
    sizes = itertools.cycle((33, 64, 17, 65, 16, 2, 31, 1, 32, 15, 20, 40, 21))
    for weights, period in itertools.product(WEIGHTS, PERIODS):
        yield make(kind, next(sizes), d, weights=weights, period=period)


def sizes_of(kind: str, d: int) -> Iterator[Case]:
    for n in SIZES:
        yield make(kind, n, d)


# Strategies for hypothesis


@st.composite
def cases(
    draw: st.DrawFn,
    kinds: tuple[str, ...] = ORDINARY,
    weights: tuple[str, ...] = ("none",),
    periods: tuple[str, ...] = PERIODS,
    max_n: int = 70,
    dimensions: tuple[int, ...] = DIMENSIONS,
) -> Case:
    """Draw a case of `make`, or a few points with small integers, which shrink to readable ones."""
    d = draw(st.sampled_from(dimensions))
    period = draw(st.sampled_from(periods))
    kind = draw(st.sampled_from(("grid", *kinds)))
    if kind == "grid":
        n = draw(st.integers(1, 12))
        X = draw(
            arrays(np.float64, (n, d), elements=st.integers(-3, 3).map(float), fill=st.nothing())
        )
        return Case(
            f"grid {X.tolist()} period={period}",
            X,
            1.0,
            draw(st.none() | grid_weights(n)) if weights != ("none",) else None,
            None if period == "open" else period_of(period, d, 0.5),
        )
    return make(
        kind,
        draw(st.integers(1, max_n)),
        d,
        weights=draw(st.sampled_from(weights)),
        period=period,
        seed=draw(st.integers(0, 2**16)),
    )


@st.composite
def grid_weights(draw: st.DrawFn, n: int) -> Floats:
    weights = draw(arrays(np.float64, n, elements=st.integers(0, 3).map(float)))
    weights[draw(st.integers(0, n - 1))] = 1.0
    return weights


@st.composite
def densities(draw: st.DrawFn, n: int) -> Floats:
    """Draw densities: all distinct, tied in groups, different in the last bits only, or equal."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    kind = draw(st.sampled_from(("random", "few", "close", "constant", "zero", "wide")))
    if kind == "few":
        return rng.integers(0, 4, size=n).astype(float)
    if kind == "close":  # they differ in the bits that comparisons round away
        return 1.0 + rng.integers(0, 6, size=n) * 2.0**-38
    if kind == "constant":
        return np.full(n, 0.3)
    if kind == "zero":
        return np.zeros(n)
    if kind == "wide":
        return np.ldexp(rng.uniform(0.5, 1.0, size=n), rng.integers(-1070, 1000, size=n))
    return rng.uniform(size=n)


@st.composite
def taus(draw: st.DrawFn, distance: Floats) -> float:
    """Draw a tau: the length of an edge, slightly less, any length, zero or infinity."""
    lengths = distance[np.isfinite(distance)]
    choices = [st.just(0.0), st.just(np.inf)]
    if lengths.size:
        edge = st.sampled_from(lengths.tolist())
        choices += [edge, edge.map(lambda x: float(np.nextafter(x, 0.0)))]
        choices.append(st.floats(0.0, 1.0).map(lambda x: x * float(lengths.max())))
    return draw(st.one_of(choices))


def distances(A: Floats, B: Floats, period: Floats | None = None) -> Floats:
    """Compute all pairwise distances, of shape (m, n), as simply as possible without overflow."""
    delta = A[:, None, :] - B[None, :, :]
    if period is not None:
        lengths = np.where(np.isfinite(period), period, 1.0)
        images = np.where(np.isfinite(period), np.rint(delta / lengths), 0.0)
        delta = delta - lengths * images
    largest = np.abs(delta).max(initial=0.0) or 1.0
    return largest * np.sqrt(((delta / largest) ** 2).sum(axis=2))


def same_partition(a: NDArray[np.int64], b: NDArray[np.int64]) -> bool:
    """Return whether two arrays of labels describe the same clusters, in any numbering."""
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))
