"""The forest of a picture: its segments for every tau, and the strength of their boundaries."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from quickshift import _core
from quickshift.arrays import Floats, Indices
from quickshift.bundles import Bundle, number
from quickshift.checks.images import check_n_segments, check_start_label, check_tau_within
from quickshift.image.graph import PixelGraph
from quickshift.memory import cut_bytes, require_memory
from quickshift.progress import Progress, reporting
from quickshift.stages.forest import number_trees, numbers_of_trees, without_longest
from quickshift.threads import resolve_threads

__all__ = ["SegmentForest", "boundary_strength", "cut_forest", "cut_forest_into"]


@dataclass(frozen=True, repr=False, eq=False)
class SegmentForest(Bundle):
    """The parents of a picture's pixels, from which the segments of every tau follow quickly.

    Attributes
    ----------
    parent : ndarray of the picture's shape, int64
        Index of each pixel's nearest higher pixel in the flattened picture (C order); the pixel's
        own index if no pixel within `max_tau` is higher.
    parent_distance : ndarray of the picture's shape
        Distance to the parent: infinite if there is none, NaN outside the mask.
    density : ndarray of the picture's shape
        Sum of kernels at each pixel, including its own: roughly the number of similar pixels
        nearby. NaN outside the mask.
    max_tau : float
        Largest distance at which parents were searched.
    """

    parent: Indices
    parent_distance: Floats
    density: Floats
    max_tau: float = math.inf

    def _facts(self) -> Iterable[str]:
        yield f"shape {self.parent.shape}"
        yield f"{int(np.isinf(self.parent_distance).sum())} without a parent"
        yield f"max_tau {number(self.max_tau)}"

    def labels_at(self, tau: float, *, start_label: int = 0, n_jobs: int | None = None) -> Indices:
        """Label the segments that remain when all moves longer than tau are cut.

        Parameters
        ----------
        tau : float
            Longest move that is kept, at most `max_tau`.
        start_label : int
            First label; pixels outside the mask get ``start_label - 1``.
        n_jobs : int, optional
            Threads; None for all cores.

        Returns
        -------
        ndarray of the picture's shape, int64
            Labels, numbered in descending order of the density at the segments' modes.
        """
        length = check_tau_within(tau, self.max_tau)
        require_memory(cut_bytes(self.parent.size), "labels_at", self.parent.shape)
        return cut_forest(self, length, check_start_label(start_label), n_jobs)

    def labels_for(
        self, n_segments: int, *, start_label: int = 0, n_jobs: int | None = None
    ) -> Indices:
        """Label a given number of segments, obtained by cutting the longest moves.

        Parameters
        ----------
        n_segments : int
            Number of segments.
        start_label : int
            First label; pixels outside the mask get ``start_label - 1``.
        n_jobs : int, optional
            Threads; None for all cores.

        Returns
        -------
        ndarray of the picture's shape, int64
            Labels, numbered in descending order of the density at the segments' modes.
        """
        require_memory(cut_bytes(self.parent.size), "labels_for", self.parent.shape)
        return cut_forest_into(self, n_segments, check_start_label(start_label), n_jobs)


def cut_forest(
    forest: SegmentForest,
    tau: float,
    first: int,
    n_jobs: int | None,
    progress: Progress | None = None,
) -> Indices:
    """Label the segments at a tau; `SegmentForest.labels_at` for arguments that were checked."""
    with reporting(progress, "cut"):
        graph = _graph_of(forest)
        labels = _labels(graph, graph.distance, tau, first, n_jobs)
    return labels.reshape(forest.parent.shape)


def cut_forest_into(
    forest: SegmentForest,
    n_segments: int,
    first: int,
    n_jobs: int | None,
    progress: Progress | None = None,
) -> Indices:
    """Label a given number of segments; `SegmentForest.labels_for` for checked arguments.

    Only ``n_segments`` is checked here, because its range depends on the forest.
    """
    with reporting(progress, "cut"):
        graph = _graph_of(forest)
        least, most = numbers_of_trees(graph)
        wanted = check_n_segments(n_segments, least, most, forest.max_tau)
        distance, tau = without_longest(graph, wanted)
        labels = _labels(graph, distance, tau, first, n_jobs)
    return labels.reshape(forest.parent.shape)


def _graph_of(forest: SegmentForest) -> PixelGraph:
    return PixelGraph(
        forest.parent.reshape(-1), forest.parent_distance.reshape(-1), forest.density.reshape(-1)
    )


def _labels(
    graph: PixelGraph, distance: Floats, tau: float, first: int, n_jobs: int | None
) -> Indices:
    labels, _ = number_trees(graph, distance, tau, n_jobs)
    if first != 0:
        labels += first
    return labels


def boundary_strength(forest: SegmentForest, *, n_jobs: int | None = None) -> Floats:
    """Return, for every pixel, the tau up to which it lies on a boundary between segments.

    Two neighboring pixels belong to the same segment as soon as tau reaches the longest move on the
    path between them in the forest. The strength of a pixel is the largest such length over its
    neighbors along the axes. The pixels whose strength exceeds a given tau are therefore those that
    have a neighbor in another segment at that tau.

    Parameters
    ----------
    forest : SegmentForest
        From `segment_forest`.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    ndarray of the picture's shape
        Strengths in the units of tau; infinite at boundaries that remain for every tau up to
        ``max_tau``, NaN outside the mask.

    Examples
    --------
    >>> from quickshift.image import segment_forest
    >>> forest = segment_forest([[0.0, 0.0, 0.5, 0.5]], convert2lab=False, ratio=10.0)
    >>> boundary_strength(forest).round(2)
    array([[1.  , 5.1, 5.1, 1.  ]])
    """
    if not isinstance(forest, SegmentForest):
        raise TypeError(
            f"forest is of type {type(forest).__name__}, expected a SegmentForest. Pass "
            f"segment_forest(image)."
        )
    outside = np.isnan(forest.parent_distance.reshape(-1))
    strength = _core.boundary_strength(
        np.array(forest.parent.shape, dtype=np.int64),
        ~outside if outside.any() else None,
        forest.parent.reshape(-1),
        forest.parent_distance.reshape(-1),
        threads=resolve_threads(n_jobs),
    )
    return strength.reshape(forest.parent.shape)
