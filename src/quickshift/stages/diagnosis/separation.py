"""Separation of two samples, by the paper's definitions.

The paper defines separation for the true density f. Here the definitions are applied to the
estimate f̂ at the samples: a ball B(x, r) is the set of samples of positive weight within distance r
of x.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats, Indices
from quickshift.checks.numbers import check_length, check_tau
from quickshift.checks.points import check_finite_density, check_rows
from quickshift.stages.diagnosis.neighborhoods import NeighborIndex, index_neighbors
from quickshift.stages.forest import cut
from quickshift.stages.parent_graph import climb
from quickshift.stages.samples import Samples, prepare
from quickshift.stages.tree.cluster_tree import link

__all__ = [
    "Separation",
    "separation",
]


_SHORTEST = float(np.finfo(np.float64).tiny)  # replaces a tau of 0: `link` needs a positive one


@dataclass(frozen=True)
class Separation:
    """How well an estimate separates two samples, see `separation`.

    Attributes
    ----------
    level : float
        Supremum of f̂ over S + B(0, r_s), for the separating set S that makes it smallest.
    delta : float
        The samples are (r_s, δ)-separated for every δ below this value, and for no δ if it is not
        positive.
    weak_delta : float
        The samples are (r_s, δ)-weakly-separated for every δ below this value. NaN if one of the
        two is within r_s of S, because weak separation cannot be certified then.
    r_s : float
        Radius.
    sentence : str
        The result in words, with its numbers.
    """

    level: float
    delta: float
    weak_delta: float
    r_s: float
    sentence: str


def separation(
    X: ArrayLike | Samples,
    density: ArrayLike,
    i: int,
    j: int,
    *,
    r_s: float,
    tau: float,
    n_jobs: int | None = None,
) -> Separation:
    """Compute for which δ the estimate separates two samples.

    A path is a sequence of samples whose steps are no longer than τ. Let g(x) and e(x) be the
    highest and the lowest f̂ within r_s of x. Let ℓ be the level at which the two samples meet in
    the cluster tree of g, or 0 if they never meet. Some path between them stays in {g ≥ ℓ}. Every
    separating set intersects this path, so f̂ reaches at least ℓ within r_s of the set. The set
    S = {g ≤ ℓ} separates the samples and f̂ exceeds ℓ nowhere within r_s of it, so it is the best.
    `delta` is the lowest f̂ within r_s of the two samples, minus ℓ.

    Weak separation is certified with the same S. The highest sample on a path, before the path
    reaches S, lies in the component of {g > ℓ} in which the path starts, and it is at least as high
    as the start. The lowest e of all such samples minus ℓ is therefore a valid δ for every path.
    The start is one of these samples, so the result is never larger than `delta`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or Samples
        The points.
    density : array-like of shape (n_samples,)
        f̂ at the samples, not negative.
    i, j : int
        Rows of the two samples.
    r_s : float
        Radius, positive.
    tau : float
        Longest step of a path.
    n_jobs : int, optional
        Number of threads; None for all cores.

    Returns
    -------
    Separation

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> found = separation(X, [4.0, 5.0, 2.0, 1.0, 2.0, 6.0, 3.0], 0, 6, r_s=0.5, tau=1.0)
    >>> found.level, found.delta, found.weak_delta
    (1.0, 2.0, 2.0)
    """
    samples = prepare(X, n_jobs=n_jobs)
    values = check_finite_density(density, samples.n_samples, samples.tree.absent_rows())
    ends = check_rows([i, j], "pair", samples.n_samples)
    radius, length = check_length(r_s, "r_s"), check_tau(tau)
    neighbors = index_neighbors(samples, values)
    centers = neighbors.positions_of(ends, "pair")
    highest, lowest = _extremes(neighbors, radius, samples.n_samples)
    # A step may be exactly as long as tau, but `link` joins only samples closer than its tau.
    beyond = max(float(np.nextafter(length, np.inf)), _SHORTEST)
    graph = climb(samples, highest, n_jobs=n_jobs, significant_bits=53)
    forest = cut(graph, length, n_jobs=n_jobs)
    tree = link(samples, highest, forest, beyond, n_jobs=n_jobs)
    level = tree.merge_level(ends[0], ends[1])
    delta = float(lowest[ends].min()) - level
    weak = math.nan
    around = np.concatenate([near for _, near, _ in neighbors.pairs_within(centers, radius)])
    if (highest[neighbors.rows[around]] > level).all():
        component = tree.components_at(level)
        weak = min(_lowest_above(values, lowest, component, end) for end in ends) - level
    return describe_separation((int(ends[0]), int(ends[1])), radius, level, delta, weak)


def _extremes(neighbors: NeighborIndex, r: float, n_samples: int) -> tuple[Floats, Floats]:
    """Return the highest and the lowest density within r of every row; NaN if its weight is 0."""
    order = neighbors.highest_first
    highest = neighbors.heights[neighbors.first_within(order, r)]
    lowest = neighbors.heights[neighbors.first_within(order[::-1], r)]
    by_row = np.full((2, n_samples), np.nan)
    by_row[:, neighbors.rows] = highest, lowest
    return by_row[0], by_row[1]


def _lowest_above(density: Floats, lowest: Floats, component: Indices, end: int) -> float:
    """Return the minimum of ``lowest`` over the samples in the component of row ``end``.

    Only samples that are at least as high as that row count.
    """
    counted = (component == component[end]) & (density >= density[end])
    return float(lowest[counted].min())


def describe_separation(
    pair: tuple[int, int], r_s: float, level: float, delta: float, weak_delta: float
) -> Separation:
    """Return the separation of two rows with its sentence."""
    sentence = _separation_sentence(pair, r_s, level, delta, weak_delta)
    return Separation(level, delta, weak_delta, r_s, sentence)


def _separation_sentence(
    ends: tuple[int, int], r_s: float, level: float, delta: float, weak: float
) -> str:
    rows = f"Rows {ends[0]} and {ends[1]}"
    if delta <= 0:
        return (
            f"{rows} are not ({r_s:.4g}, δ)-separated for any δ: every set that separates them is "
            f"within {r_s:.4g} of a sample of density {level:.4g} or more, but the lowest density "
            f"within {r_s:.4g} of the two rows is {abs(delta):.4g} less than that."
        )
    weakly = f"certified for every δ below {weak:.4g}" if weak > 0 else "not certified for any δ"
    return (
        f"{rows} are ({r_s:.4g}, δ)-separated for every δ below {delta:.4g}: a set that separates "
        f"them has no sample of density above {level:.4g} within {r_s:.4g}. Weak separation is "
        f"{weakly}."
    )
