"""The default rule: clusters under the local scale, one per significant mode."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from quickshift.reference.local_density import distinct_rows
from quickshift.reference.local_modes import find_modes, keep_most, keep_significant, merge
from quickshift.reference.order import assign, climb, cut, trees
from quickshift.reference.samples import checked_samples
from quickshift.reference.scaled_distances import Floats, Indices
from quickshift.reference.settings import Settings, prepare

__all__ = ["LocalClusters", "local_clusters"]

Threshold = Callable[[int], float] | float


class LocalClusters(NamedTuple):
    """The result of `local_clusters`.

    Attributes
    ----------
    labels : (n,) int array
        Cluster of each sample; cluster 0 has the highest mode.
    roots : (k,) int array
        Row of each cluster's mode, in the order of the labels.
    significance : (k,) float array
        Z of each cluster's mode.
    n_neighbors : int
        The K with which the clusters were found.
    all_roots : (l,) int array
        Rows of all modes before insignificant ones were merged, the highest first.
    all_significances : (l,) float array
        Z of these modes.
    """

    labels: Indices
    roots: Indices
    significance: Floats
    n_neighbors: int
    all_roots: Indices
    all_significances: Floats


def local_clusters(
    X: ArrayLike,
    threshold: Threshold,
    *,
    n_neighbors: int | None = None,
    n_clusters: int | None = None,
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    ties: str = "total",
    density: ArrayLike | None = None,
) -> LocalClusters:
    """Find clusters by the default rule, with a scale of its own for every sample.

    Algorithm 1 runs with -r of `local_scale` in place of the density, and a move is kept if it is
    no longer than tau(x). The modes that chance explains are merged into others. The samples of a
    merged mode go to the mode on the other side of the saddle where it meets a higher one or, if
    it meets none, to the mode of its nearest higher sample; and onwards from there until the mode
    is one that stays.

    K is tried at the scales 1, 2 and 4, until there is more than one cluster. If no scale gives two
    clusters, the result is that of scale 1.

    Parameters
    ----------
    X : (n, d) array
        The samples.
    threshold : callable or float
        The significance Z0 that chance rarely exceeds, as a positive function of the scale. A
        number is used at every scale and switches off the gap rule, which removes modes far less
        significant than the others: all modes of at least that significance stay.
    n_neighbors : int, optional
        K of the only scale. The threshold is then that of scale 1.
    n_clusters : int, optional
        Number of modes that stay, whatever the threshold is: the most significant ones at scale 1
        or at `n_neighbors`. If there are fewer modes, the moves that are longest relative to
        tau(x) are cut as well; of equally long ones, those of higher samples. The modes that this
        adds are linked by the same tau as all others. Rows of weight zero then move by their tau
        times the longest relative move that was kept.
    sample_weight, period
        As in `local_scale`.
    ties : {"total", "strict"}
        With "strict", samples of equal r are never linked by a move.
    density : (n,) array, optional
        Used in place of -r at the samples; only allowed with `n_neighbors`, because r depends on K.

    Returns
    -------
    LocalClusters

    Examples
    --------
    >>> X = np.array([0, 2, 3, 4, 6, 20, 22, 23, 24, 26], dtype=float)[:, None]
    >>> found = local_clusters(X, lambda scale: 1.0)
    >>> found.labels
    array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    >>> found.roots, found.significance.round(2), found.n_neighbors
    (array([8, 3]), array([ inf, 1.87]), 3)
    """
    given = Settings(X, None, np.inf, "gaussian", sample_weight, period, ties, 0.0, density, None)
    if density is not None and n_neighbors is None:
        raise ValueError("n_neighbors must be given if density is, because -r depends on it")
    several = n_neighbors is None and n_clusters is None
    found: list[LocalClusters] = []
    for scale in (1, 2, 4) if several else (1,):
        least = threshold(scale) if callable(threshold) else threshold
        gap = callable(threshold)
        if not (least > 0 if gap else least >= 0):
            raise ValueError(f"threshold must be positive, or a number >= 0, got {least!r}")
        found.append(_clusters_at(given, n_neighbors, scale, n_clusters, (least, gap)))
        if len(found[-1].roots) > 1:
            return found[-1]
    return found[0]


def _clusters_at(
    given: Settings,
    n_neighbors: int | None,
    scale: int,
    n_clusters: int | None,
    threshold: tuple[float, bool],
) -> LocalClusters:
    """Find the clusters at one scale, by a threshold and whether the gap rule applies."""
    samples = checked_samples(given.X, given.sample_weight, given.period)
    locations = distinct_rows(samples)
    K = locations.checked_neighbors(n_neighbors, scale)
    r, tau, _, _ = locations.local_scale(samples.points, K)
    run = prepare(replace(given, tau=tau, density=-r if given.density is None else given.density))
    rows, n = run.ordered.rows, len(run.density)
    up, distance = climb(run.ordered)
    graph, factor = cut(up, distance, run.tau[rows]), 1.0
    if n_clusters is not None:
        graph, factor = _cut_into(n_clusters, graph, distance, run.tau[rows])
    tree_of, roots = trees(graph)
    modes = find_modes(run, locations, up, (tree_of, roots), K)
    if n_clusters is None:
        kept = keep_significant(modes, *threshold)
    else:
        kept = keep_most(modes, n_clusters)
    label_of = merge(modes, kept)[tree_of]
    labels, outside = np.empty(n, dtype=np.int64), np.setdiff1d(np.arange(n), rows)
    labels[rows] = label_of
    points, heights = samples.points[outside], run.heights[outside]
    labels[outside] = assign(run.ordered, label_of, factor * run.tau[outside], points, heights)
    Z = modes.significance
    return LocalClusters(labels, rows[roots[kept]], Z[kept], K, rows[roots], Z)


def _cut_into(
    n_clusters: int, graph: Indices, distance: Floats, tau: Floats
) -> tuple[Indices, float]:
    """Cut more moves, the longest relative to tau first, if G has fewer than `n_clusters` trees.

    Returns the graph and the multiple of tau that the longest moves kept have; 1 if none are cut.
    """
    most = int((distance > 0).sum())
    if not 1 <= n_clusters <= most:
        raise ValueError(f"n_clusters must lie in 1..{most}, got {n_clusters!r}")
    places = np.arange(len(graph))
    if (graph == places).sum() >= n_clusters:
        return graph, 1.0
    relative = distance / tau
    order = np.argsort(-relative, kind="stable")
    removed, kept = order[:n_clusters], order[n_clusters:]
    return np.where(np.isin(places, removed), places, graph), float(relative[kept].max(initial=0.0))
