"""What separates two samples by the paper's definitions.

The paper states its definitions of the true density f; here they are read for the estimate f̂ at
the samples. A ball B(x, r) holds the samples no further than r, rows of weight zero left out.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats, Indices
from quickshift.checks import check_heights, check_length, check_rows, check_tau
from quickshift.stages.diagnosis.neighborhoods import Space, space_of
from quickshift.stages.forest import cut
from quickshift.stages.parent_graph import climb
from quickshift.stages.samples import Samples, prepare
from quickshift.stages.tree.cluster_tree import link

__all__ = [
    "Separation",
    "separation",
]


_SHORTEST = float(np.finfo(np.float64).tiny)  # what `link` takes for a tau of 0


@dataclass(frozen=True)
class Separation:
    """How far an estimate separates two samples, see `separation`.

    Attributes
    ----------
    level : float
        Least possible sup of f̂ over S + B(0, r_s).
    delta : float
        They are (r_s, δ)-separated for every δ below this, and for none if it is not positive.
    weak_delta : float
        They are (r_s, δ)-weakly-separated for every δ below this; NaN where a sample of S is within
        r_s of one of them, so that nothing is certified.
    r_s : float
        Radius.
    sentence : str
        The numbers in words.
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
    """Say by how much the estimate separates two samples.

    A path is one of steps no longer than τ between samples. Let g(x) and e(x) be the highest and
    the lowest f̂ within r_s of x. The best S is {g ≤ ℓ}, where ℓ is the level at which the two meet
    in the cluster tree of g, 0 if never: a path of g ≥ ℓ meets every S.

    Weak separation is certified with the same S. Of a path before S, the highest sample is in the
    component of {g > ℓ} where the path starts, and at least as high as its start; so the lowest
    e of all such samples, less ℓ, is safe for every path. As the start is one of them, this is
    never more than `delta`: it is the part of it that holds at the paths' highest samples too.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or Samples
        The points.
    density : array-like of shape (n_samples,)
        f̂, not negative.
    i, j : int
        Rows of the two.
    r_s : float
        Radius, positive.
    tau : float
        Longest step of a path.
    n_jobs : int, optional
        Threads; None for all cores.

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
    heights = check_heights(density, samples.n_samples, samples.tree.absent_rows())
    ends = check_rows([i, j], "pair", samples.n_samples)
    radius, length = check_length(r_s, "r_s"), check_tau(tau)
    space = space_of(samples, heights)
    places = space.places(ends, "pair")
    highest, lowest = _extremes(space, radius, samples.n_samples)
    # `link` takes what is nearer than its tau, but edges of Algorithm 1 may be as long as tau.
    beyond = max(float(np.nextafter(length, np.inf)), _SHORTEST)
    graph = climb(samples, highest, n_jobs=n_jobs, significant_bits=53)
    forest = cut(graph, length, n_jobs=n_jobs)
    tree = link(samples, highest, forest, beyond, n_jobs=n_jobs)
    level = tree.merge_level(ends[0], ends[1])
    delta = float(lowest[ends].min()) - level
    weak = math.nan
    around = np.concatenate([near for _, near, _ in space.pairs_within(places, radius)])
    if (highest[space.rows[around]] > level).all():
        component = tree.components_at(level)
        weak = min(_lowest_above(heights, lowest, component, end) for end in ends) - level
    sentence = _separation_sentence(ends, radius, level, delta, weak)
    return Separation(level, delta, weak, radius, sentence)


def _extremes(space: Space, r: float, n_samples: int) -> tuple[Floats, Floats]:
    """Highest and lowest density within r of every row, NaN at rows of weight zero."""
    highest, lowest = space.density.copy(), space.density.copy()
    for i, j, _ in space.pairs_within(np.arange(space.rows.size), r):
        np.maximum.at(highest, i, space.density[j])
        np.minimum.at(lowest, i, space.density[j])
    by_row = np.full((2, n_samples), np.nan)
    by_row[:, space.rows] = highest, lowest
    return by_row[0], by_row[1]


def _lowest_above(heights: Floats, lowest: Floats, component: Indices, end: int) -> float:
    """Least ``lowest`` of the samples in a row's component that are at least as high."""
    safe = (component == component[end]) & (heights >= heights[end])
    return float(lowest[safe].min())


def _separation_sentence(ends: Indices, r_s: float, level: float, delta: float, weak: float) -> str:
    rows = f"Rows {ends[0]} and {ends[1]}"
    if delta <= 0:
        return (
            f"{rows} are not ({r_s:.4g}, δ)-separated: every set between them comes within "
            f"{r_s:.4g} of a density of {level:.4g}, which is {-delta:.4g} above the lowest around "
            f"the two."
        )
    certified = f"also weakly below {weak:.4g}" if weak > 0 else "weakly for no certified δ"
    return (
        f"{rows} are ({r_s:.4g}, δ)-separated for every δ below {delta:.4g}, {certified}: a set "
        f"between them has no density above {level:.4g} within {r_s:.4g}."
    )
