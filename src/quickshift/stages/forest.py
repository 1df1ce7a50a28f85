"""Forests: the parent graph cut at tau. Its trees are the clusters and its roots the modes."""

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from quickshift import _core
from quickshift.arrays import Floats, Indices
from quickshift.bundles import Bundle, counted, span
from quickshift.checks.clustering import check_n_trees, check_relative_lengths, check_taus
from quickshift.checks.numbers import check_count, n_axes
from quickshift.checks.results import (
    check_heights_of_graph,
    check_parents_have_weight,
    require_result,
)
from quickshift.memory import cut_bytes, require_memory
from quickshift.progress import Progress, reporting
from quickshift.stages.parent_graph import ParentGraph
from quickshift.threads import resolve_threads

__all__ = ["Forest", "cut", "cut_into", "linkage"]

_LARGEST = float(np.finfo(np.float64).max)
_SMALLEST = float(np.finfo(np.float64).tiny)


class Edges(Protocol):
    """The part of a parent graph, of samples or of pixels, that a cut needs."""

    @property
    def parent(self) -> Indices: ...

    @property
    def distance(self) -> Floats: ...

    def highest_first(self, rows: Indices) -> Indices:
        """Sort rows in descending order of height."""
        ...


@dataclass(frozen=True, repr=False, eq=False)
class Forest(Bundle):
    """The parent graph after a cut.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,), int64
        Number of each sample's tree, 0 for the tree with the highest root; -1 at rows of weight
        zero, which are outside the forest.
    roots : ndarray of shape (n_clusters,), int64
        Row of each tree's root.
    tau : float or ndarray of shape (n_samples,)
        Longest edge kept, one length for all samples or one per sample.
    graph : ParentGraph
        The graph that was cut.
    """

    labels: Indices
    roots: Indices
    tau: float | Floats
    graph: ParentGraph

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.roots)

    def _facts(self) -> Iterable[str]:
        yield counted(len(self.labels), "sample")
        yield counted(len(self), "tree")
        yield f"tau {span(self.tau)}"


def cut(
    graph: ParentGraph,
    tau: float | ArrayLike,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Forest:
    """Cut the parent graph into a forest: keep the edges no longer than tau.

    Parameters
    ----------
    graph : ParentGraph
        From `climb`.
    tau : float or array-like of shape (n_samples,)
        Longest edge kept; infinity keeps all. If there is one length per sample, the edge from a
        sample to its parent is kept if it is no longer than that sample's length.
    n_jobs : int, optional
        Number of threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)`` about ten times per second and when a stage is complete;
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
    _check_graph(graph)
    absent = np.flatnonzero(np.isnan(graph.distance)) if n_axes(tau) else None
    length = check_taus(tau, graph.distance.size, ignored=absent)
    require_memory(cut_bytes(graph.distance.size), "cut", graph.distance.shape)
    length = deepcopy(length)  # the forest keeps it, and the caller may change a given array
    return cut_at(graph, length, n_jobs=n_jobs, progress=progress)


def _check_graph(graph: ParentGraph) -> None:
    require_result(graph, ParentGraph, "graph", "climb")
    check_heights_of_graph(graph.heights, graph.distance)


def cut_at(
    graph: ParentGraph,
    tau: float | Floats,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Forest:
    """Cut the parent graph as `cut` does, from checked arguments."""
    with reporting(progress, "cut"):
        if isinstance(tau, float):
            return Forest(*number_trees(graph, graph.distance, tau, n_jobs), tau, graph)
        distance = np.where(graph.distance > tau, np.inf, graph.distance)
        return Forest(*number_trees(graph, distance, _LARGEST, n_jobs), tau, graph)


def cut_into(
    graph: ParentGraph,
    n_clusters: int,
    *,
    relative_to: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Forest:
    """Remove the longest edges until there are ``n_clusters`` trees.

    Of edges of the same length, those of higher samples are removed first, so that the number of
    trees is met exactly. If only some of the edges of one length are removed, no tau gives the same
    cut. With ties="total", duplicate samples always stay together.

    Parameters
    ----------
    graph : ParentGraph
        From `climb`.
    n_clusters : int
        Number of trees wanted.
    relative_to : array-like of shape (n_samples,), optional
        Edges are compared by their length divided by this length of their sample, which is finite
        and not negative.
    n_jobs : int, optional
        Number of threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)`` about ten times per second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

    Returns
    -------
    Forest
        Its tau is the length of the longest edge kept. With ``relative_to``, it is an array: the
        longest relative length kept, times the length of each sample.

    Examples
    --------
    >>> from quickshift.stages import climb
    >>> forest = cut_into(climb([[0.0], [1.0], [3.0]], [1.0, 2.0, 3.0]), 2)
    >>> forest.labels, forest.tau
    (array([1, 1, 0]), 1.0)
    """
    _check_graph(graph)
    least, most = numbers_of_trees(graph)
    what = "the number of distinct samples of positive weight"
    wanted = check_count(n_clusters, "n_clusters", most, what)
    check_n_trees(wanted, least)
    require_memory(cut_bytes(graph.distance.size), "cut", graph.distance.shape)
    compared, lengths = graph, None
    if relative_to is not None:
        absent = np.flatnonzero(np.isnan(graph.distance))
        lengths = check_relative_lengths(relative_to, graph.distance.size, absent)
        compared = replace(graph, distance=_relative(graph.distance, lengths))
    distance, tau = without_longest(compared, wanted)
    with reporting(progress, "cut_into"):
        labels, roots = number_trees(compared, distance, tau, n_jobs)
    if lengths is None:
        return Forest(labels, roots, tau, graph)
    kept = np.isfinite(distance)  # rounding must not change on which side of its length an edge is
    removed = np.isinf(distance) & np.isfinite(graph.distance)
    with np.errstate(over="ignore", under="ignore"):
        lengths = tau * lengths
        np.maximum(lengths, graph.distance, out=lengths, where=kept)
        np.minimum(lengths, np.nextafter(graph.distance, 0.0), out=lengths, where=removed)
    return Forest(labels, roots, lengths, graph)


def _relative(distance: Floats, lengths: Floats) -> Floats:
    """Divide distances by lengths; only those of roots, which are infinite, become infinite."""
    with np.errstate(over="ignore"):
        quotients = np.minimum(distance / np.maximum(lengths, _SMALLEST), _LARGEST)
    return np.where(np.isinf(distance), np.inf, quotients)


def numbers_of_trees(graph: Edges) -> tuple[int, int]:
    """Return the least and the largest number of trees that removing edges can give.

    There are fewest if no edge is removed, and most if only edges between duplicates are kept.
    """
    return int(np.isinf(graph.distance).sum()), int((graph.distance > 0).sum())


def without_longest(graph: Edges, n_trees: int) -> tuple[Floats, float]:
    """Remove the longest edges until a number of trees is left.

    Parameters
    ----------
    graph : Edges
        The parent graph.
    n_trees : int
        Number of trees wanted, between the two numbers that `numbers_of_trees` returns.

    Returns
    -------
    distance : ndarray of shape (n_samples,)
        Lengths of the edges, infinite for those that were removed.
    tau : float
        Length of the longest edge kept.
    """
    given = graph.distance
    present = given.size - int(np.isnan(given).sum())  # np.partition moves NaN to the end
    shortest_removed = float(np.partition(given, present - n_trees)[present - n_trees])
    longer = given > shortest_removed
    equal = graph.highest_first(np.flatnonzero(given == shortest_removed))
    removed = equal[: n_trees - int(longer.sum())]
    distance = given.copy()
    distance[longer] = np.inf
    distance[removed] = np.inf
    if removed.size < equal.size:
        return distance, shortest_removed
    return distance, float(np.max(given, where=given < shortest_removed, initial=0.0))


def number_trees(
    graph: Edges, distance: Floats, tau: float, n_jobs: int | None
) -> tuple[Indices, Indices]:
    """Find the trees that the edges up to tau form, and number them by the height of their roots.

    Parameters
    ----------
    graph : Edges
        The parent graph.
    distance : ndarray of shape (n_samples,)
        Lengths of the edges, used in place of ``graph.distance``.
    tau : float
        Longest edge kept.
    n_jobs : int, optional
        Number of threads; None for all cores.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Number of each row's tree, 0 for the tree with the highest root.
    roots : ndarray of shape (n_trees,)
        Row of each tree's root.
    """
    threads = resolve_threads(n_jobs)
    root, reached = _core.find_roots(graph.parent, distance, tau, threads)
    roots = graph.highest_first(reached)
    return _core.number_trees(root, roots, threads).view(np.int64), roots


def linkage(graph: ParentGraph) -> Floats:
    """Write the cuts at every tau as one SciPy linkage matrix.

    Rows of weight zero are absent, so observation i of the linkage is the i-th row of positive
    weight. Trees that stay unconnected with ``ties="strict"`` are joined at an infinite distance.

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
    _check_graph(graph)
    _core.find_roots(graph.parent, graph.distance, np.inf)  # raises if there is a cycle
    present = np.flatnonzero(~np.isnan(graph.distance))
    position = np.full(graph.parent.size, -1, dtype=np.int64)
    position[present] = np.arange(present.size)
    parent = position[graph.parent[present]]
    check_parents_have_weight(parent)
    distance = graph.distance[present]
    tops = np.flatnonzero(parent == np.arange(parent.size))
    parent[tops[1:]] = tops[0]  # join unconnected trees to the first, at an infinite distance
    children = np.argsort(distance, kind="stable")
    return _core.linkage(parent, distance, children[children != tops[0]])
