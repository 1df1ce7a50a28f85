"""Algorithms 1, 2 and 3 of the paper, line by line in NumPy: the oracle of the tests.

Nothing here is fast, nothing is shared with the code it checks, and every pair of points is
looked at. Lines of an algorithm are counted from its "Input", which is line 1. "Higher" is the
total order of the package: larger density (rounded, so that the last bits of a sum never decide),
then the lexicographically larger point, then the smaller row index.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "QuickShiftResult",
    "cluster_tree",
    "kernel_density",
    "log_kernel_density",
    "modal_regression",
    "predict",
    "quick_shift",
]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class QuickShiftResult(NamedTuple):
    """What Algorithm 1 found.

    Attributes
    ----------
    labels : (n,) int array
        Number of each point's tree; tree 0 has the highest root.
    roots : (k,) int array
        Row index of each tree's root, in the order of the labels.
    parent : (n,) int array
        Nearest higher point before the cut at `tau`; the point itself if there is none.
    parent_distance : (n,) float array
        Distance to the parent, inf without a higher point, NaN for a row of weight zero.
    density : (n,) float array
        The unrounded density: the caller's, or the normalised kernel density.
    """

    labels: Indices
    roots: Indices
    parent: Indices
    parent_distance: Floats
    density: Floats


def quick_shift(
    X: ArrayLike,
    bandwidth: float | None = None,
    tau: float = np.inf,
    *,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    ties: str = "total",
    rtol: float = 1e-9,
    density: ArrayLike | None = None,
    significant_bits: int | None = None,
) -> QuickShiftResult:
    """Run Algorithm 1 and read its graph as a forest.

    Parameters
    ----------
    X : (n, d) array
        The samples.
    bandwidth : float, optional
        The paper's h. May be left out if `density` is given.
    tau : float
        Longest edge kept.
    kernel : str
        One of the eight kernels of the paper, or the alias "tophat" or "linear".
    sample_weight : (n,) array, optional
        Frequencies. A row of weight zero is outside the forest and labelled as by `predict`.
    period : (d,) array, optional
        Length after which each feature repeats, inf for an open one.
    ties : {"total", "strict"}
        "strict" is the paper's >: points of equal density are never linked.
    rtol : float
        Every pair is summed whatever this is; it only sets how coarsely the sums of the gaussian
        and the exponential kernel are rounded before they are compared.
    density : (n,) array, optional
        Used in place of the kernel density.
    significant_bits : int, optional
        Bits left by that rounding, in place of the rule (36, or fewer because of `rtol`).

    Returns
    -------
    QuickShiftResult

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0]]
    >>> found = quick_shift(X, tau=3.0, density=[1, 3, 2, 1, 2])
    >>> found.labels
    array([0, 0, 0, 1, 1])
    >>> found.roots
    array([1, 4])
    >>> found.parent_distance
    array([ 1., inf,  1.,  1.,  7.])
    """
    options = _Options(kernel, sample_weight, period, ties, rtol, density, significant_bits)
    run = _run(X, bandwidth, tau, options)
    return _quick_shift(run)


def predict(
    X: ArrayLike,
    queries: ArrayLike,
    bandwidth: float | None = None,
    tau: float = np.inf,
    *,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    ties: str = "total",
    rtol: float = 1e-9,
    density: ArrayLike | None = None,
    query_density: ArrayLike | None = None,
    significant_bits: int | None = None,
) -> Indices:
    """Label new points by the forest of `quick_shift` on `X`.

    A query equal to a sample takes that sample's label. Any other takes the label of the nearest
    sample above it in the order if one lies within `tau`, else of the nearest sample; between
    equally near samples the highest counts.

    Parameters
    ----------
    X, bandwidth, tau, kernel, sample_weight, period, ties, rtol, density, significant_bits
        As in `quick_shift`.
    queries : (m, d) array
        The new points.
    query_density : (m,) array, optional
        Their densities. To be given if, and only if, `density` is.

    Returns
    -------
    (m,) int array

    Examples
    --------
    The first query lies nearer to 4.0, but the nearest sample above it is 1.0.

    >>> X, queries = [[0.0], [1.0], [4.0], [5.0]], [[2.75], [9.0]]
    >>> predict(X, queries, tau=2.0, density=[1, 4, 1, 3], query_density=[2, 0])
    array([0, 1])
    """
    if (density is None) != (query_density is None):
        raise ValueError("density and query_density must be given both or neither")
    options = _Options(kernel, sample_weight, period, ties, rtol, density, significant_bits)
    run = _run(X, bandwidth, tau, options)
    places = _checked_points(queries, period, "queries", like=run.points)
    if run.kde is not None:
        sums = run.kde.sums(places)
    else:
        sums = _checked_column(query_density, len(places), "query_density", low=0.0)
    labels = _quick_shift(run).labels
    return _labels_of_new(run, labels, places, _rounded(sums, run.bits))


def cluster_tree(
    X: ArrayLike,
    bandwidth: float | None = None,
    tau: float = np.inf,
    *,
    levels: ArrayLike,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    ties: str = "total",
    rtol: float = 1e-9,
    density: ArrayLike | None = None,
    significant_bits: int | None = None,
) -> Indices:
    """Run Algorithm 2 at given levels.

    Parameters
    ----------
    X, bandwidth, tau, kernel, sample_weight, period, ties, rtol, density, significant_bits
        As in `quick_shift`.
    levels : (m,) array
        The paper's λ. They are compared with the unrounded density.

    Returns
    -------
    (m, n) int array
        Component number of each point at each level, -1 outside the level set (density <= level,
        or weight zero). Component 0 of a level holds the highest point of that level, 1 the
        highest of what is left, and so on.

    Examples
    --------
    Two hills meet at the middle point once the level is below its density.

    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0]]
    >>> cluster_tree(X, tau=1.5, density=[3, 5, 1, 4, 2], levels=[0.5, 1, 4.5])
    array([[ 0,  0,  0,  0,  0],
           [ 0,  0, -1,  1,  1],
           [-1,  0, -1, -1, -1]])
    """
    options = _Options(kernel, sample_weight, period, ties, rtol, density, significant_bits)
    run = _run(X, bandwidth, tau, options)
    thresholds = np.atleast_1d(np.asarray(levels, dtype=np.float64))
    if thresholds.ndim != 1 or np.isnan(thresholds).any():
        raise ValueError(f"levels must be a list of numbers, got {levels!r}")
    # From here points go by their place in the order, 0 being the highest.
    parent = run.rank[_quick_shift(run).parent[run.order]]  # Algorithm 2, line 2
    density_of = run.density[run.order]
    distance = np.sqrt(run.squared_distances())
    delta = run.space.scaled(run.tau)
    components = np.full((len(thresholds), len(run.points)), -1, dtype=np.int64)
    for row, level in zip(components, thresholds, strict=True):  # Algorithm 2, line 3
        sets = _components(np.flatnonzero(density_of > level).tolist(), parent, distance, delta)
        for number, members in enumerate(_link(sets, distance, delta)):
            row[run.order[members]] = number
    return components


def modal_regression(
    X: ArrayLike,
    y: ArrayLike,
    x: ArrayLike,
    bandwidth: float | Sequence[float] | None = None,
    tau: float = np.inf,
    *,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    min_density_ratio: float = 0.0,
    ties: str = "total",
    rtol: float = 1e-9,
    density: ArrayLike | None = None,
    significant_bits: int | None = None,
) -> tuple[Floats, Floats]:
    """Run Algorithm 3 at one query.

    Parameters
    ----------
    X : (n, d) array
        Where the samples were taken.
    y : (n,) array
        Their responses.
    x : (d,) array
        The query.
    bandwidth : float or pair of floats, optional
        One h for the joint kernel, or (h_x, h_y). May be left out if `density` is given.
    tau : float
        Longest edge kept, in the units of `y`.
    period : (d,) array, optional
        Of the features of `X`; `y` is open.
    min_density_ratio : float
        Roots below this share of the highest root's density are dropped; 0 keeps all.
    density : (n,) array, optional
        Values of f̂(x, y_j), used in place of the kernel density.
    kernel, sample_weight, ties, rtol, significant_bits
        As in `quick_shift`.

    Returns
    -------
    values : (k,) float array
        The modes of f(y given x), highest first; empty where no response has positive density.
    densities : (k,) float array
        f̂(x, value) of each. May underflow to 0 far from the samples, where the modes still stand.

    Examples
    --------
    >>> X = [[0.0], [0.0], [0.0], [9.0]]
    >>> y = [1.0, 1.5, 6.0, 3.0]
    >>> values, densities = modal_regression(X, y, [0.0], 1.0, 2.0, kernel="triangular")
    >>> values
    array([1.5, 6. ])
    >>> densities.round(4)
    array([0.3581, 0.2387])
    """
    places = _checked_points(X, period, "X")
    responses = _checked_column(y, len(places), "y")
    weights = _checked_weights(sample_weight, len(places))
    if not 0 <= min_density_ratio <= 1:
        raise ValueError(f"min_density_ratio must lie in [0, 1], got {min_density_ratio!r}")
    kde = None
    if density is None:
        query = _checked_points(np.reshape(x, (1, -1)), period, "x", like=places)
        samples, at, divisor, h = _joint(places, responses, query, bandwidth)
        lengths = np.append(_checked_period(period, places.shape[1]), np.inf)
        kde = _kde(samples, weights, h, kernel, lengths / divisor)
        kde = replace(kde, log_volume=kde.log_volume + np.log(divisor).sum())
        origin = np.repeat(kde.nearest(at[:1, :-1]), len(at))
        sums = kde.sums(at, origin)  # line 2
        densities = _exp(kde.log_normalised(sums, origin))
    else:
        sums = densities = _checked_column(density, len(places), "density", low=0.0)
    # Line 3. A compact kernel leaves most responses at zero, and each of them would be a root.
    vertices = np.flatnonzero((weights > 0) & (sums > 0))
    if vertices.size == 0:
        return np.empty(0), np.empty(0)
    forest = quick_shift(  # Lines 4 to 8 are lines 3 to 7 of Algorithm 1 on the line of responses.
        responses[vertices, None],
        tau=tau,
        ties=ties,
        density=sums[vertices],
        significant_bits=_bits(significant_bits, kde, rtol),
    )
    roots = vertices[forest.roots]  # line 9
    roots = roots[sums[roots] >= min_density_ratio * sums[roots[0]]]
    return responses[roots], densities[roots]


def kernel_density(
    X: ArrayLike,
    bandwidth: float,
    *,
    queries: ArrayLike | None = None,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
) -> Floats:
    """Evaluate f̂_h over every pair.

    Parameters
    ----------
    X : (n, d) array
        The samples.
    bandwidth : float
        The paper's h.
    queries : (m, d) array, optional
        Where to evaluate; at the samples if left out.
    kernel, sample_weight, period
        As in `quick_shift`.

    Returns
    -------
    (m,) float array

    Examples
    --------
    >>> kernel_density([[0.0], [1.0]], 2.0, queries=[[0.0], [2.5]], kernel="uniform")
    array([0.25 , 0.125])
    """
    log_density = log_kernel_density(
        X, bandwidth, queries=queries, kernel=kernel, sample_weight=sample_weight, period=period
    )
    return _exp(log_density)


def log_kernel_density(
    X: ArrayLike,
    bandwidth: float,
    *,
    queries: ArrayLike | None = None,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
) -> Floats:
    """Evaluate log f̂_h over every pair, relative to the nearest sample so as not to underflow.

    Parameters
    ----------
    X, bandwidth, queries, kernel, sample_weight, period
        As in `kernel_density`.

    Returns
    -------
    (m,) float array
        -inf where no sample's kernel reaches.

    Examples
    --------
    >>> log_kernel_density([[0.0]], 1.0, queries=[[0.0], [40.0]]).round(3)
    array([  -0.919, -800.919])
    """
    samples = _checked_points(X, period, "X")
    places = samples
    if queries is not None:
        places = _checked_points(queries, period, "queries", like=samples)
    weights = _checked_weights(sample_weight, len(samples))
    return _kde(samples, weights, bandwidth, kernel, period).log_density(places)


# Distance


@dataclass(frozen=True)
class _Space:
    """Lengths of the data divided by 2**exponent, so that no square over- or underflows."""

    period: Floats
    exponent: int

    def scaled(self, length: float) -> float:
        with np.errstate(over="ignore", under="ignore"):
            return float(np.ldexp(length, -self.exponent))

    def unscaled(self, length: Floats) -> Floats:
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(length, self.exponent)

    def squared_distances(self, A: Floats, B: Floats) -> Floats:
        """Return the (m, n) squared distances of scaled points, summed in feature order.

        Features that A or B lacks are left out.
        """
        total = np.zeros((len(A), len(B)))
        with np.errstate(over="ignore", under="ignore"):
            for a, b, p in zip(
                np.ldexp(A, -self.exponent).T,
                np.ldexp(B, -self.exponent).T,
                np.ldexp(self.period, -self.exponent),
                strict=False,
            ):
                delta = a[:, None] - b[None, :]
                if np.isfinite(p):
                    delta = delta - p * np.rint(delta / p)
                total += delta * delta
        return total


def _space(samples: Floats, period: ArrayLike | None) -> _Space:
    """Scale by the power of two that takes the largest coordinate into [1, 2)."""
    largest = np.abs(samples).max()
    exponent = int(np.frexp(largest)[1]) - 1 if largest > 0 else 0
    return _Space(_checked_period(period, samples.shape[1]), exponent)


# Kernels and density


def _silverman(t: Floats) -> Floats:
    turn = t / math.sqrt(2)
    return np.exp(-turn) * np.sin(turn + math.pi / 4)


_ALIASES = {"tophat": "uniform", "linear": "triangular"}
_INFINITE = ("gaussian", "exponential")
_COMPACT: dict[str, tuple[float, Callable[[Floats], Floats]]] = {  # support, profile inside it
    "silverman": (3 * math.pi / (2 * math.sqrt(2)), _silverman),
    "uniform": (1.0, np.ones_like),
    "triangular": (1.0, lambda t: 1 - t),
    "tricube": (1.0, lambda t: (1 - t**3) ** 3),
    "cosine": (1.0, lambda t: np.cos(math.pi * t / 2)),
    "epanechnikov": (1.0, lambda t: 1 - t * t),
}


def _compact_profile(kernel: str, distance: Floats, h: float) -> Floats:
    support, profile = _COMPACT[kernel]
    t = distance / h
    inside = distance <= h if kernel == "uniform" else t < support
    # The last bits of silverman's sine may be negative beside its zero.
    return np.where(inside, np.maximum(profile(np.minimum(t, support)), 0.0), 0.0)


def _infinite_profile(kernel: str, distance: Floats, h: float, origin: Floats) -> Floats:
    """Return k(t) / k(origin) for origin <= t; origin 0 gives k(t) itself."""
    t = distance / h
    beyond = np.subtract(t, origin, out=np.full_like(t, np.inf), where=np.isfinite(t))
    if kernel == "gaussian":  # (t² - origin²) / 2 without cancellation
        return np.exp(-beyond * (0.5 * t + 0.5 * origin))
    return np.exp(-beyond)


def _log_normaliser(kernel: str, d: int) -> float:
    """Return log c with c ∫ k(|u|) du = 1 over R^d."""
    if kernel == "gaussian":
        return -0.5 * d * math.log(2 * math.pi)
    log_sphere = math.log(2) + 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d)
    if kernel == "exponential":
        return -(log_sphere + math.lgamma(d))
    # ∫ k(t) t^(d-1) dt with t = support exp(-s/d), by Gauss-Legendre on unit pieces of s.
    support = _COMPACT[kernel][0]
    nodes, weights = np.polynomial.legendre.leggauss(20)
    s = (np.arange(60)[:, None] + 0.5 * (nodes + 1)).ravel()
    terms = np.tile(0.5 * weights, 60) * np.exp(-s)
    radial = math.fsum(terms * _compact_profile(kernel, support * np.exp(-s / d), 1.0)) / d
    return -(log_sphere + math.log(radial) + d * math.log(support))


@dataclass(frozen=True)
class _Kde:
    """f̂_h of samples of positive weight; `log_volume` is log h^d in the caller's units."""

    samples: Floats
    weights: Floats
    bandwidth: float
    kernel: str
    space: _Space
    log_volume: float

    def sums(self, queries: Floats, origin: Floats | None = None) -> Floats:
        """Return Σ w_j k(t_ij), in units of k(origin) for an infinite kernel; shape (m,)."""
        h = self.space.scaled(self.bandwidth)
        distance = np.sqrt(self.space.squared_distances(queries, self.samples))
        origin = np.zeros(1) if origin is None else origin
        with np.errstate(over="ignore", under="ignore"):
            if self.kernel in _INFINITE:
                k = _infinite_profile(self.kernel, distance, h, origin[:, None])
            else:
                k = _compact_profile(self.kernel, distance, h)
            # fsum rounds once, so that the order of the rows cannot show.
            return np.array([math.fsum(terms) for terms in (self.weights * k).tolist()])

    def log_normalised(self, sums: Floats, origin: Floats) -> Floats:
        """Return log(sums k(origin) c / (W h^d)); shape (m,)."""
        log_c = _log_normaliser(self.kernel, self.samples.shape[1])
        constant = log_c - math.log(math.fsum(self.weights)) - self.log_volume
        with np.errstate(divide="ignore", over="ignore"):
            if self.kernel == "gaussian":
                return np.log(sums) - 0.5 * origin * origin + constant
            if self.kernel == "exponential":
                return np.log(sums) - origin + constant
            return np.log(sums) + constant

    def nearest(self, queries: Floats) -> Floats:
        """Return t of the nearest sample by the features given, which may be the leading ones."""
        squared: Floats = self.space.squared_distances(queries, self.samples).min(axis=1)
        with np.errstate(over="ignore"):
            return np.sqrt(squared) / self.space.scaled(self.bandwidth)

    def log_density(self, queries: Floats) -> Floats:
        """Return log f̂_h, with each query's nearest sample as origin; shape (m,)."""
        origin = self.nearest(queries)
        return self.log_normalised(self.sums(queries, origin), origin)


def _kde(
    samples: Floats,
    weights: Floats,
    bandwidth: float | None,
    kernel: str,
    period: ArrayLike | None,
) -> _Kde:
    """Check what only the density needs and leave out the samples of weight zero."""
    kernel = _ALIASES.get(kernel, kernel)
    if kernel not in _COMPACT and kernel not in _INFINITE:
        known = ", ".join([*_INFINITE, *_COMPACT])
        raise ValueError(f"kernel must be one of {known}, got {kernel!r}")
    bandwidth = _checked_bandwidth(bandwidth)
    samples = samples[weights > 0]
    space = _space(samples, period)
    reach = _COMPACT[kernel][0] * bandwidth if kernel in _COMPACT else 2 * bandwidth
    if (reach > space.period / 2).any():
        raise ValueError(
            f"bandwidth {bandwidth!r} is too large for period {space.period}: a compact support "
            "may reach period / 2, an infinite kernel's bandwidth period / 4"
        )
    if space.scaled(bandwidth) == 0:
        raise ValueError(f"bandwidth {bandwidth!r} vanishes beside the largest coordinate")
    log_volume = samples.shape[1] * math.log(bandwidth)
    return _Kde(samples, weights[weights > 0], bandwidth, kernel, space, log_volume)


def _joint(
    X: Floats, y: Floats, query: Floats, bandwidth: float | Sequence[float] | None
) -> tuple[Floats, Floats, Floats, float]:
    """Return the samples (x_j, y_j), the points (x, y_j), what both were divided by, and h."""
    if isinstance(bandwidth, Sequence):
        (h_x, h_y), h = map(_checked_bandwidth, bandwidth), 1.0
    else:
        h_x, h_y, h = 1.0, 1.0, _checked_bandwidth(bandwidth)
    divisor = np.append(np.full(X.shape[1], h_x), h_y)
    samples = np.column_stack([X, y]) / divisor
    at = np.column_stack([np.repeat(query, len(y), axis=0), y]) / divisor
    return samples, at, divisor, h


def _exp(log_density: Floats) -> Floats:
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(log_density)


# Who is higher


def _bits(significant_bits: int | None, kde: _Kde | None, rtol: float) -> int:
    """Return how many bits of a density count: the caller's wish, or the rule of the package."""
    if not 0 <= rtol < 1:
        raise ValueError(f"rtol must lie in [0, 1), got {rtol!r}")
    bits = 36
    if kde is not None and kde.kernel in _INFINITE and rtol > 0:
        bits = max(1, min(36, math.floor(-math.log2(4 * rtol))))
    if significant_bits is not None:
        bits = significant_bits
    if not 1 <= bits <= 53:
        raise ValueError(f"significant_bits must lie in 1..53, got {significant_bits!r}")
    return bits


def _rounded(sums: Floats, bits: int) -> Floats:
    """Round half to even at `bits` significant bits, on the IEEE pattern."""
    shift = 53 - bits
    if shift == 0:
        return sums
    u = sums.view(np.uint64)
    odd = (u >> np.uint64(shift)) & np.uint64(1)
    u = u + (np.uint64((1 << (shift - 1)) - 1) + odd)
    return (u & ~np.uint64((1 << shift) - 1)).view(np.float64)


def _falling_order(points: Floats, heights: Floats) -> Indices:
    """Sort rows from the highest: height, then lexicographically larger, then smaller index."""
    index = np.arange(len(points))
    return np.lexsort((index, *-points.T[::-1], -heights))  # the last key counts first


# Algorithm 1


@dataclass(frozen=True)
class _Run:
    """The checked input of Algorithm 1 with its order; arrays have all n rows but for `order`."""

    points: Floats
    space: _Space
    kde: _Kde | None
    tau: float
    strict: bool
    bits: int
    density: Floats
    heights: Floats  # the rounded sums, or the rounded given densities
    order: Indices  # rows of positive weight from the highest
    rank: Indices  # place in that order

    def squared_distances(self) -> Floats:
        """Return the scaled squares between the points of positive weight, in the order."""
        points = self.points[self.order]
        return self.space.squared_distances(points, points)


class _Options(NamedTuple):
    """The keyword arguments that the functions share."""

    kernel: str
    sample_weight: ArrayLike | None
    period: ArrayLike | None
    ties: str
    rtol: float
    density: ArrayLike | None
    significant_bits: int | None


def _run(X: ArrayLike, bandwidth: float | None, tau: float, options: _Options) -> _Run:
    """Check the input, evaluate the density if none is given, and put the points in order."""
    points = _checked_points(X, options.period, "X")
    weights = _checked_weights(options.sample_weight, len(points))
    if not tau >= 0:
        raise ValueError(f"tau must not be negative, got {tau!r}")
    if options.ties not in ("total", "strict"):
        raise ValueError(f'ties must be "total" or "strict", got {options.ties!r}')
    kde = None
    if options.density is None:
        kde = _kde(points, weights, bandwidth, options.kernel, options.period)
        sums, density = kde.sums(points), _exp(kde.log_density(points))
    else:
        sums = density = _checked_column(options.density, len(points), "density", low=0.0)
    bits = _bits(options.significant_bits, kde, options.rtol)
    heights = _rounded(sums, bits)
    kept = np.flatnonzero(weights > 0)
    order = kept[_falling_order(points[kept], heights[kept])]
    rank = np.full(len(points), len(points))
    rank[order] = np.arange(len(order))
    space, strict = _space(points[kept], options.period), options.ties == "strict"
    return _Run(points, space, kde, tau, strict, bits, density, heights, order, rank)


def _quick_shift(run: _Run) -> QuickShiftResult:
    parent, distance = _climb(run)
    linked = np.where(distance <= run.space.scaled(run.tau), parent, np.arange(len(parent)))
    roots = run.order[linked[run.order] == run.order]
    top = linked
    while (top != linked[top]).any():
        top = linked[top]
    label_of = np.full(len(parent), -1)
    label_of[roots] = np.arange(len(roots))
    labels = label_of[top]
    outside = np.setdiff1d(np.arange(len(parent)), run.order)
    labels[outside] = _labels_of_new(run, labels, run.points[outside], run.heights[outside])
    parent_distance = run.space.unscaled(distance)
    return QuickShiftResult(labels, roots, parent, parent_distance, run.density)


def _climb(run: _Run) -> tuple[Indices, Floats]:
    """Return each point's nearest higher point and its scaled distance, before the cut."""
    squared, heights = run.squared_distances(), run.heights[run.order]
    parent = np.arange(len(run.points))  # Algorithm 1, line 2: no edges
    parent_squared = np.full(len(run.points), np.nan)
    for rank, i in enumerate(run.order):  # line 3
        parent_squared[i] = np.inf
        higher = np.flatnonzero(heights > heights[rank]) if run.strict else np.arange(rank)
        if higher.size > 0:  # line 4 without its bound by tau, which is left to the cut
            # Line 5. The candidates fall in the order, so the first minimum is the highest.
            nearest = higher[np.argmin(squared[rank, higher])]
            parent[i] = run.order[nearest]
            parent_squared[i] = squared[rank, nearest]
    return parent, np.sqrt(parent_squared)


def _labels_of_new(run: _Run, labels: Indices, queries: Floats, heights: Floats) -> Indices:
    """Label (m, d) queries of given rounded densities by the labelled points of the run."""
    points, levels, known = run.points[run.order], run.heights[run.order], labels[run.order]
    squared = run.space.squared_distances(queries, points)
    tau = run.space.scaled(run.tau)
    found = np.empty(len(queries), dtype=np.int64)
    for i, query in enumerate(queries):
        allowed = (points == query).all(axis=1)
        if not allowed.any():
            allowed = levels > heights[i]
            if not run.strict:
                larger = np.array([point > query.tolist() for point in points.tolist()])
                allowed |= (levels == heights[i]) & larger
            allowed &= np.sqrt(squared[i]) <= tau
        if not allowed.any():
            allowed[:] = True
        choice = np.flatnonzero(allowed)  # falls in the order: the first minimum is the highest
        found[i] = known[choice[np.argmin(squared[i, choice])]]
    return found


# Algorithm 2


def _components(
    vertices: list[int], parent: Indices, distance: Floats, tau: float
) -> list[list[int]]:
    """Return the connected components of G(λ), each named by the vertex where a climb ends.

    The climb stays inside G(λ): a parent is higher in the order, which is rounded, and may still
    be at or below the level, which is not.
    """
    inside = set(vertices)
    members: dict[int, list[int]] = {}
    for i in vertices:
        top = i
        while (up := int(parent[top])) != top and up in inside and distance[top, up] <= tau:
            top = up
        members.setdefault(top, []).append(i)
    return list(members.values())


def _link(sets: list[list[int]], distance: Floats, delta: float) -> list[list[int]]:
    """Unite sets nearer than delta until no two of them are; keeps the order of first sets."""
    pending, linked = list(sets), []
    while pending:
        union, size = pending.pop(0), 0
        while len(union) > size:
            size = len(union)
            near = [bool(distance[np.ix_(union, s)].min() < delta) for s in pending]
            union = union + [i for s, joins in zip(pending, near, strict=True) if joins for i in s]
            pending = [s for s, joins in zip(pending, near, strict=True) if not joins]
        linked.append(union)
    return linked


# Checks


def _checked_points(
    X: ArrayLike, period: ArrayLike | None, name: str, like: Floats | None = None
) -> Floats:
    """Return a float64 copy without -0.0, periodic features wrapped to [0, period)."""
    points = np.asarray(X, dtype=np.float64) + 0.0
    if points.ndim != 2 or points.size == 0 or not np.isfinite(points).all():
        raise ValueError(f"{name} must be finite and of shape (n, d), got shape {points.shape}")
    if like is not None and points.shape[1] != like.shape[1]:
        raise ValueError(f"{name} must have {like.shape[1]} features, got {points.shape[1]}")
    lengths = _checked_period(period, points.shape[1])
    for column, p in zip(points.T, lengths, strict=True):
        if np.isfinite(p):
            column -= p * np.floor(column / p)  # noqa: PLW2901
            column[(column >= p) | (column < 0)] = 0.0  # the product may round past x
    return points


def _checked_period(period: ArrayLike | None, d: int) -> Floats:
    lengths = np.full(d, np.inf) if period is None else np.asarray(period, dtype=np.float64)
    if lengths.shape != (d,) or not (lengths > 0).all():
        raise ValueError(f"period must hold {d} positive lengths (inf: open), got {period!r}")
    return lengths


def _checked_bandwidth(bandwidth: float | None) -> float:
    if bandwidth is None or not 0 < bandwidth < np.inf:
        raise ValueError(f"bandwidth must be a positive number, got {bandwidth!r}")
    return float(bandwidth)


def _checked_column(values: ArrayLike | None, n: int, name: str, low: float = -np.inf) -> Floats:
    column = np.asarray(values, dtype=np.float64) + 0.0
    if column.shape != (n,) or not np.isfinite(column).all() or (column < low).any():
        raise ValueError(f"{name} must hold {n} finite numbers >= {low}, got {values!r}")
    return column


def _checked_weights(sample_weight: ArrayLike | None, n: int) -> Floats:
    given = np.ones(n) if sample_weight is None else sample_weight
    weights = _checked_column(given, n, "sample_weight", low=0.0)
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not 0 < total < np.inf:
        raise ValueError(f"sample_weight must have a positive, finite sum, got {total}")
    return weights
