"""Forests: the parent graph cut at tau, whose trees are the clusters and whose roots the modes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quickshift import _core
from quickshift.memory import cut_bytes, require_memory
from quickshift.progress import Progress, reporting
from quickshift.stages.checks import check_count, check_tau
from quickshift.stages.parent_graph import ParentGraph
from quickshift.threads import resolve_threads

__all__ = ["Forest", "cut", "cut_into", "linkage"]


@dataclass(frozen=True)
class Forest:
    """The parent graph after a cut.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,), int64
        Number of each sample's tree, 0 for the one with the highest root; -1 at rows of weight
        zero, which are outside the forest.
    roots : ndarray of shape (n_clusters,), int64
        Row of each tree's root.
    tau : float
        Longest edge kept.
    graph : ParentGraph
        What was cut.
    """

    labels: NDArray[np.int64]
    roots: NDArray[np.int64]
    tau: float
    graph: ParentGraph


def cut(
    graph: ParentGraph,
    tau: float,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Forest:
    """Keep the edges no longer than tau.

    Parameters
    ----------
    graph : ParentGraph
        From `climb`.
    tau : float
        Longest edge kept; infinity keeps all.
    n_jobs : int, optional
        Threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)``, about ten times a second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

    Returns
    -------
    Forest

    Examples
    --------
    >>> from quickshift.stages import climb
    >>> cut(climb([[0.0], [1.0], [3.0]], [1.0, 2.0, 3.0]), 1.5).labels
    array([1, 1, 0])
    """
    with reporting(progress, "cut"):
        return _forest(graph, graph.distance, check_tau(tau), n_jobs)


def cut_into(
    graph: ParentGraph,
    n_clusters: int,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Forest:
    """Remove the longest edges until there are ``n_clusters`` trees.

    Between edges of the same length the one below the higher sample goes first, so that the number
    is met; no single tau gives that cut. Under the total order equal samples are never parted.

    Parameters
    ----------
    graph : ParentGraph
        From `climb`.
    n_clusters : int
        Number of trees wanted.
    n_jobs : int, optional
        Threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)``, about ten times a second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

    Returns
    -------
    Forest
        Its tau is the length of the longest edge kept.

    Examples
    --------
    >>> from quickshift.stages import climb
    >>> forest = cut_into(climb([[0.0], [1.0], [3.0]], [1.0, 2.0, 3.0]), 2)
    >>> forest.labels, forest.tau
    (array([1, 1, 0]), 1.0)
    """
    present = np.flatnonzero(~np.isnan(graph.distance))
    lengths = graph.distance[present]
    what = "the number of distinct samples of positive weight"
    wanted = check_count(n_clusters, "n_clusters", int((lengths > 0).sum()), what)
    n_trees = int(np.isinf(lengths).sum())
    if wanted < n_trees:
        raise too_few(wanted, n_trees)
    shortest_removed = float(np.partition(lengths, lengths.size - wanted)[lengths.size - wanted])
    longer = present[lengths > shortest_removed]
    equal = graph.highest_first(present[lengths == shortest_removed])
    distance = graph.distance.copy()
    distance[longer] = np.inf
    distance[equal[: wanted - longer.size]] = np.inf
    kept = distance[present]
    tau = float(np.max(kept, where=np.isfinite(kept), initial=0.0))
    with reporting(progress, "cut_into"):
        return _forest(graph, distance, tau, n_jobs)


def too_few(n_clusters: int, n_trees: int) -> ValueError:
    """Error for fewer clusters than there are trees without an edge between them."""
    return ValueError(
        f"n_clusters is {n_clusters}, expected at least {n_trees}: with ties='strict' that many "
        f"samples have none above them. Use ties='total'."
    )


def _forest(
    graph: ParentGraph, distance: NDArray[np.float64], tau: float, n_jobs: int | None
) -> Forest:
    require_memory(cut_bytes(distance.size), "cut", distance.shape)
    threads = resolve_threads(n_jobs)
    root, reached = _core.find_roots(graph.parent, distance, tau, threads)
    roots = graph.highest_first(reached)
    labels = _core.number_trees(root, roots, threads)
    return Forest(labels.view(np.int64), roots, tau, graph)


def linkage(graph: ParentGraph) -> NDArray[np.float64]:
    """Write the cuts at every tau as one SciPy linkage matrix.

    Rows of weight zero are absent, so observation i of the linkage is the i-th row of positive
    weight. Trees that ``ties="strict"`` leaves unconnected are joined at an infinite distance.

    Parameters
    ----------
    graph : ParentGraph
        From `climb`.

    Returns
    -------
    ndarray of shape (n - 1, 4)
        ``scipy.cluster.hierarchy.fcluster(linkage, tau, "distance")`` is the cut at tau.

    Examples
    --------
    >>> from quickshift.stages import climb
    >>> linkage(climb([[0.0], [1.0], [3.0]], [1.0, 2.0, 3.0]))
    array([[0., 1., 1., 2.],
           [2., 3., 2., 3.]])
    """
    _core.find_roots(graph.parent, graph.distance, np.inf)  # raises where there is no forest
    present = np.flatnonzero(~np.isnan(graph.distance))
    position = np.full(graph.parent.size, -1, dtype=np.int64)
    position[present] = np.arange(present.size)
    parent = position[graph.parent[present]]
    if (parent < 0).any():
        raise ValueError(
            "parent must name rows of positive weight: the others are outside the forest. "
            "Use `climb`."
        )
    distance = graph.distance[present]
    tops = np.flatnonzero(parent == np.arange(parent.size))
    parent[tops[1:]] = tops[0]  # unconnected trees hang on the first, at their infinite distance
    children = np.argsort(distance, kind="stable")
    return _core.linkage(parent, distance, children[children != tops[0]])
