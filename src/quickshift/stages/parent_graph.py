"""Parents: every sample's nearest higher sample (Algorithm 1 before the cut at tau)."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickshift import _core
from quickshift.arrays import Floats, Indices, Numbers
from quickshift.bundles import Bundle, counted, span
from quickshift.checks.clustering import check_taus, check_ties
from quickshift.checks.numbers import check_count
from quickshift.checks.points import check_density, check_n_features, check_points
from quickshift.checks.results import require_result
from quickshift.memory import climb_bytes, require_memory
from quickshift.progress import Progress, reporting
from quickshift.stages.density import SIGNIFICANT_BITS
from quickshift.stages.samples import Samples, prepare
from quickshift.threads import resolve_threads

__all__ = ["ParentGraph", "assign", "climb", "rounded"]

_FEW = 8  # fewer than this share of all rows are sorted by themselves


@dataclass(frozen=True, repr=False, eq=False)
class ParentGraph(Bundle):
    """The parent of every sample, before any cut. For every tau, `cut` makes a forest of it.

    Attributes
    ----------
    parent : ndarray of shape (n_samples,), int64
        Row of each sample's nearest higher sample; the sample's own row if none is higher.
    distance : ndarray of shape (n_samples,)
        Distance to that sample; infinite if none is higher, NaN at rows of weight zero.
    samples : Samples
        The points.
    heights : ndarray of shape (n_samples,)
        The heights that were given: sums of kernel profiles in a fit, but any numbers that can be
        compared will do.
    ties : {"total", "strict"}
        Which of two samples of equal height is higher, see `climb`.
    significant_bits : int
        Heights were compared after rounding to this many bits.
    """

    parent: Indices
    distance: Floats
    samples: Samples
    heights: Floats
    ties: str = "total"
    significant_bits: int = SIGNIFICANT_BITS

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.parent)

    def _facts(self) -> Iterable[str]:
        yield counted(len(self), "sample")
        yield f"{int(np.isinf(self.distance).sum())} without a parent"
        yield f"distances {span(self.distance[np.isfinite(self.distance)])}"
        yield f"ties {self.ties!r}"

    def highest_first(self, rows: Indices) -> Indices:
        """Sort different rows of positive weight in descending order of height."""
        if rows.size <= len(self) // _FEW:
            return self._sorted(rows)
        chosen = np.zeros(len(self), dtype=bool)
        chosen[rows] = True
        return self._all_highest_first[chosen[self._all_highest_first]]

    @cached_property
    def _all_highest_first(self) -> Indices:
        """All rows of positive weight; kept for further cuts with many roots."""
        return self._sorted(np.flatnonzero(~np.isnan(self.distance)))

    def _sorted(self, rows: Indices) -> Indices:
        tree, bits = self.samples.tree, self.significant_bits
        return _core.sort_by_height(tree, self.heights, bits, rows).view(np.int64)


def climb(
    X: ArrayLike | Samples,
    density: ArrayLike,
    *,
    ties: str = "total",
    period: ArrayLike | None = None,
    n_jobs: int | None = None,
    significant_bits: int = SIGNIFICANT_BITS,
    progress: Progress | None = None,
) -> ParentGraph:
    """Find every sample's parent: the nearest sample that is higher, however far away.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or Samples
        The points.
    density : array-like of shape (n_samples,)
        Height of each point. Any numbers that can be compared will do. The entries of rows of
        weight zero are ignored.
    ties : {"total", "strict"}
        Which of two points of equal height is higher. "total": the one with the lexicographically
        larger coordinates; among exact duplicates, the first row. "strict": neither.
    period : array-like of shape (n_features,), optional
        Length of each feature's period, ``numpy.inf`` for a feature that is not periodic.
    n_jobs : int, optional
        Number of threads; None for all cores.
    significant_bits : int
        Heights are compared after rounding to this many bits, because the last bits of a sum
        depend on the order of summation. If heights are only known to a tolerance, use fewer bits.
    progress : callable, optional
        Called as ``progress(stage, done)`` about ten times per second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

    Returns
    -------
    ParentGraph

    Examples
    --------
    >>> graph = climb([[0.0], [1.0], [3.0]], [1.0, 2.0, 3.0])
    >>> graph.parent
    array([1, 2, 2])
    >>> graph.distance
    array([ 1.,  2., inf])
    """
    check_ties(ties)
    bits = check_count(significant_bits, "significant_bits", 53, "the bits of a double")
    samples = prepare(X, period=period, n_jobs=n_jobs, progress=progress)
    heights = check_density(density, samples.n_samples, ignored=samples.tree.absent_rows())
    shape = samples.n_samples, samples.n_features
    require_memory(climb_bytes(*shape), "climb", shape)
    heights = heights.copy()  # the graph keeps them, and the caller may change the given array
    return find_parents(samples, heights, ties, bits, n_jobs=n_jobs, progress=progress)


def find_parents(
    samples: Samples,
    heights: Floats,
    ties: str,
    significant_bits: int,
    *,
    near: NDArray[np.int32] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> ParentGraph:
    """Find every sample's parent as `climb` does, from checked arguments.

    ``near`` is `LocalScale.near`, among which most parents are.
    """
    with reporting(progress, "climb") as report:
        parent, distance = _core.nearest_higher(
            samples.tree,
            heights,
            significant_bits,
            ties == "strict",
            resolve_threads(n_jobs),
            report,
            near=near,
        )
    # The core returns C's long long, which NumPy treats as a type of its own; the view is int64.
    return ParentGraph(parent.view(np.int64), distance, samples, heights, ties, significant_bits)


def assign(
    graph: ParentGraph,
    queries: ArrayLike,
    density: ArrayLike,
    *,
    tau: float | ArrayLike,
    n_jobs: int | None = None,
) -> Indices:
    """Find the sample whose label each new point takes.

    Parameters
    ----------
    graph : ParentGraph
        From `climb`.
    queries : array-like of shape (n_queries, n_features)
        The new points.
    density : array-like of shape (n_queries,)
        Height of each new point, in the units of ``graph.heights``.
    tau : float or array-like of shape (n_queries,)
        Largest distance to a higher sample whose label is taken, for all queries or for each.
    n_jobs : int, optional
        Number of threads; None for all cores.

    Returns
    -------
    ndarray of shape (n_queries,), int64
        Row of the sample that equals the query, if there is one; otherwise of the nearest higher
        sample, if it is within tau of the query; otherwise of the nearest sample. Of equally near
        samples, the highest is taken.

    Examples
    --------
    >>> import numpy as np
    >>> graph = climb([[0.0], [1.0], [3.0]], [1.0, 2.0, 3.0])
    >>> assign(graph, np.array([[1.8]]), np.array([2.5]), tau=2.0)
    array([2])
    """
    require_result(graph, ParentGraph, "graph", "climb")
    points = check_points(queries, "queries")
    check_n_features(points, graph.samples.n_features, "queries")
    heights = check_density(density, points.shape[0])
    return assign_points(
        graph, points, heights, check_taus(tau, len(points), "query"), n_jobs=n_jobs
    )


def assign_points(
    graph: ParentGraph,
    points: Numbers,
    heights: Floats,
    tau: float | Floats,
    *,
    n_jobs: int | None = None,
) -> Indices:
    """Find the sample whose label each point takes as `assign` does, from checked arguments."""
    rows = _core.assign(
        graph.samples.tree,
        graph.heights,
        graph.significant_bits,
        graph.ties == "strict",
        np.full(len(points), tau) if isinstance(tau, float) else tau,
        points,
        heights,
        resolve_threads(n_jobs),
    )
    return rows.view(np.int64)


def rounded(heights: Floats, bits: int) -> Floats:
    """Round heights as `climb` does before it compares them.

    Parameters
    ----------
    heights : ndarray of shape (n_samples,)
        Any numbers.
    bits : int
        Number of significant bits to keep.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> rounded(np.array([1.0, 1.3, 5.1]), 3)
    array([1.  , 1.25, 5.  ])
    """
    return _core.round_to_bits(np.ascontiguousarray(heights, dtype=np.float64), bits)
