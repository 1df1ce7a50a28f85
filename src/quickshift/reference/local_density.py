"""The local scale: r(x), the mean distance to the K nearest samples; tau(x); log f̂(x)."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from quickshift.reference.samples import Samples, checked_samples
from quickshift.reference.scaled_distances import Flags, Floats, ScaledDistances

__all__ = ["LocalScale", "Locations", "distinct_rows", "local_scale"]


class LocalScale(NamedTuple):
    """The local scale at some points.

    Attributes
    ----------
    r : (m,) float array
        Mean distance to the K nearest samples. A point of smaller r is higher.
    tau : (m,) float array
        Longest move, and reach of Link: the distance to the g-th nearest distinct row.
    log_density : (m,) float array
        Logarithm of the density, which is proportional to r to the power of -d.
    n_neighbors : int
        K.
    """

    r: Floats
    tau: Floats
    log_density: Floats
    n_neighbors: int


def local_scale(
    X: ArrayLike,
    n_neighbors: int | None = None,
    *,
    queries: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    scale: int = 1,
) -> LocalScale:
    """Evaluate the local scale at the samples, or at queries.

    At a sample, r is the mean distance to its K nearest other samples. A row of weight w counts as
    w samples; if the last of the nearest rows has more weight than K needs, only that part of it
    counts. The j-th of the w - 1 other samples at x itself counts as if its distance were
    ρ (j / w)^(1/d), where ρ is half the distance to the nearest distinct row, and d is the number
    of features that are not constant. If the others weigh less than K, the mean is over all.

    tau is the distance to the g-th nearest distinct row other than x, where g is m / 8, rounded up,
    but at least 2 and at most 8 (16 if d is 1), and m is the number of distinct rows. If there are
    fewer than g others, it is the distance to the farthest. If there is only one distinct row, its
    r and tau are 1.

    A query equal to a row of positive weight has the values of that row. At any other query, no
    sample is left out. Rows of weight zero are queries.

    Parameters
    ----------
    X : (n, d) array
        The samples.
    n_neighbors : int, optional
        K, from 1 to the total weight W minus 1. By default it is the scale times 1.6 W^(1/3)
        (rounded, and at least 4), but not above W / 3.
    queries : (m, d) array, optional
        Where to evaluate; at the samples if left out.
    sample_weight, period
        As in `quick_shift`. Weights are frequencies; more than eight rows that weigh less than 8 in
        total are an error.
    scale : int
        Multiplies the default of `n_neighbors`.

    Returns
    -------
    LocalScale

    Examples
    --------
    >>> X = [[0.0], [1.0], [3.0], [7.0]]
    >>> found = local_scale(X, 2)
    >>> found.r, found.tau
    (array([2. , 1.5, 2.5, 5. ]), array([3., 2., 3., 6.]))
    >>> local_scale(X, 2, queries=[[1.0], [1.5]]).r
    array([1.5, 1. ])
    """
    samples = checked_samples(X, sample_weight, period)
    at = samples.points if queries is None else samples.checked_queries(queries, "queries")
    locations = distinct_rows(samples)
    return locations.local_scale(at, locations.checked_neighbors(n_neighbors, scale))


@dataclass(frozen=True)
class Locations:
    """The distinct rows of positive weight."""

    points: Floats  # (m, d)
    weights: Floats  # (m,), total weight at each point
    scale: ScaledDistances

    @property
    def total_weight(self) -> float:
        """W."""
        return math.fsum(self.weights)

    @property
    def dimension(self) -> int:
        """The d of all formulas: the number of features that are not constant, at least 1."""
        return max(1, int((self.points != self.points[0]).any(axis=0).sum()))

    @property
    def n_reached(self) -> int:
        """The g of tau: the g-th nearest row is within reach."""
        g = max(2, math.ceil(len(self.points) / 8))
        return min(g, 16 if self.dimension == 1 else 8)

    def checked_neighbors(self, n_neighbors: int | None, scale: int) -> int:
        """Return K: the caller's number, or the default for a scale."""
        W = self.total_weight
        if not scale >= 1:
            raise ValueError(f"scale must be at least 1, got {scale!r}")
        if n_neighbors is None:
            return int(min(scale * max(4, round(1.6 * W ** (1 / 3))), max(1, W // 3)))
        if not 1 <= n_neighbors <= W - 1 or n_neighbors != int(n_neighbors):
            raise ValueError(
                f"n_neighbors must be an integer from 1 to {W:g} - 1, the total weight minus one, "
                f"got {n_neighbors!r}"
            )
        return int(n_neighbors)

    def local_scale(self, at: Floats, n_neighbors: int) -> LocalScale:
        """Evaluate r, tau and log f̂ at wrapped points, shape (m, d)."""
        r, tau = np.ones(len(at)), np.ones(len(at))
        distance = np.sqrt(self.scale.distances_sq(at, self.points))
        for i, point in enumerate(at):
            own = (self.points == point).all(axis=1)
            if own.all():  # the only distinct row has r = tau = 1
                continue
            others = np.sort(distance[i, ~own])
            tau[i] = self.scale.unscaled(others[min(self.n_reached, len(others)) - 1])
            r[i] = self.scale.unscaled(self._mean_distance(distance[i], own, n_neighbors))
        # Over- and underflow must not make a logarithm infinite.
        r = np.clip(r, np.finfo(np.float64).tiny, np.finfo(np.float64).max)
        log_density = self._log_constant(n_neighbors) - self.dimension * np.log(r)
        return LocalScale(r, tau, log_density, n_neighbors)

    def _mean_distance(self, distance: Floats, own: Flags, n_neighbors: int) -> float:
        """Return the mean scaled distance to the K nearest samples, without one at `own`."""
        samples = sorted(zip(distance[~own].tolist(), self.weights[~own].tolist(), strict=True))
        if own.any():
            rho, w = samples[0][0] / 2, float(self.weights[own][0])
            copies = range(1, min(math.ceil(w), n_neighbors + 1))  # more are never needed
            at = [(rho * (j / w) ** (1 / self.dimension), min(1.0, w - j)) for j in copies]
            samples = at + samples
        shares: list[float] = []
        for _, weight in samples:  # the nearest first; K in total, the last one in part
            missing = n_neighbors - math.fsum(shares)
            shares.append(min(weight, missing))
            if weight >= missing:
                break
        terms = [share * length for share, (length, _) in zip(shares, samples, strict=False)]
        return math.fsum(terms) / math.fsum(shares)

    def _log_constant(self, n_neighbors: int) -> float:
        """Return log c - log W, the logarithm of the density where r is 1."""
        K, d = n_neighbors, self.dimension
        log_ball = 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1)
        moment = math.lgamma(K + 1 + 1 / d) - math.lgamma(K + 1) - math.log(1 + 1 / d)
        return d * moment - log_ball - math.log(self.total_weight)


def distinct_rows(samples: Samples) -> Locations:
    """Gather the weight of equal rows."""
    kept = samples.kept
    weights: dict[tuple[float, ...], list[float]] = {}
    for point, weight in zip(samples.points[kept], samples.weights[kept], strict=True):
        weights.setdefault(tuple(point.tolist()), []).append(float(weight))
    points = np.array(list(weights))
    totals = np.array([math.fsum(parts) for parts in weights.values()])
    if len(kept) > 8 and math.fsum(totals) < 8:
        raise ValueError(
            f"sample_weight must be frequencies that sum to 8 or more for more than eight rows, "
            f"got a sum of {math.fsum(totals):g} over {len(kept)} rows of positive weight"
        )
    return Locations(points, totals, samples.scale)
