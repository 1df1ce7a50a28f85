"""The segments of a picture for every tau, and where one ends and another begins."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from quickshift import _core
from quickshift.arrays import Floats, Indices
from quickshift.checks import check_count, check_tau, check_whole
from quickshift.image.graph import PixelGraph
from quickshift.stages.forest import number_trees, numbers_of_trees, without_longest
from quickshift.threads import resolve_threads

__all__ = ["SegmentForest", "boundary_strength"]


@dataclass(frozen=True, repr=False, eq=False)
class SegmentForest:
    """A picture's parents, from which segments of every tau follow without computing them again.

    Attributes
    ----------
    parent : ndarray of the picture's shape, int64
        Number in C order of each pixel's nearest higher pixel; its own where there is none within
        `max_tau`.
    parent_distance : ndarray of the picture's shape
        Length of that move: infinite where there is none, NaN outside the mask.
    density : ndarray of the picture's shape
        Sum of kernels at each pixel, itself included: about how many pixels around are like it.
        NaN outside the mask.
    max_tau : float
        How far parents were looked for.
    """

    parent: Indices
    parent_distance: Floats
    density: Floats
    max_tau: float = math.inf

    def __repr__(self) -> str:
        return f"SegmentForest(shape={self.parent.shape}, max_tau={self.max_tau})"

    def labels_at(self, tau: float, *, start_label: int = 0, n_jobs: int | None = None) -> Indices:
        """Label the segments of a tau.

        Parameters
        ----------
        tau : float
            Longest move, at most `max_tau`.
        start_label : int
            First label; pixels outside the mask get one less.
        n_jobs : int, optional
            Threads; None for all cores.

        Returns
        -------
        ndarray of the picture's shape, int64
            Labels by falling density of the segments' modes.
        """
        length = check_tau(tau)
        if length > self.max_tau:
            raise ValueError(
                f"tau is {tau!r}, expected at most max_tau, which is {self.max_tau!r}. Compute the "
                f"forest with a larger max_tau."
            )
        return self._labels(self.parent_distance.reshape(-1), length, start_label, n_jobs)

    def labels_for(
        self, n_segments: int, *, start_label: int = 0, n_jobs: int | None = None
    ) -> Indices:
        """Label a number of segments: the longest moves are given up, one after another.

        Parameters
        ----------
        n_segments : int
            Number of segments.
        start_label : int
            First label; pixels outside the mask get one less.
        n_jobs : int, optional
            Threads; None for all cores.

        Returns
        -------
        ndarray of the picture's shape, int64
            Labels by falling density of the segments' modes.
        """
        least, most = numbers_of_trees(self._graph)
        wanted = check_count(n_segments, "n_segments", most, "the number of pixels")
        if wanted < least:
            raise ValueError(
                f"n_segments is {n_segments}, expected at least {least}: the modes that have none "
                f"higher within max_tau={self.max_tau!r}. Compute the forest with a larger one."
            )
        distance, tau = without_longest(self._graph, wanted)
        return self._labels(distance, tau, start_label, n_jobs)

    @property
    def _graph(self) -> PixelGraph:
        flat = self.parent.reshape(-1), self.parent_distance.reshape(-1), self.density.reshape(-1)
        return PixelGraph(*flat)

    def _labels(
        self, distance: Floats, tau: float, start_label: int, n_jobs: int | None
    ) -> Indices:
        first = check_start(start_label)
        labels, _ = number_trees(self._graph, distance, tau, n_jobs)
        if first != 0:
            labels += first
        return labels.reshape(self.parent.shape)


def check_start(start_label: Any) -> int:
    """Return a first label."""
    first = check_whole(start_label, "start_label")
    if abs(first) > 1 << 62:
        raise ValueError(f"start_label is {first}, expected one that leaves room in int64.")
    return first


def boundary_strength(forest: SegmentForest, *, n_jobs: int | None = None) -> Floats:
    """Say for every pixel up to which tau a boundary passes it.

    Two neighbours are in one segment from some tau on: the longest move on the way from one to the
    other in the forest. A pixel's strength is the largest of these over its neighbours along the
    axes, so the pixels with a strength above tau are those beside a boundary of the segments of
    tau.

    Parameters
    ----------
    forest : SegmentForest
        From `segment_forest`.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    ndarray of the picture's shape
        In the units of tau; infinite at boundaries that do not disappear up to ``max_tau``, NaN
        outside the mask.

    Examples
    --------
    >>> from quickshift.image import segment_forest
    >>> forest = segment_forest([[0.0, 0.0, 0.5, 0.5]], convert2lab=False, ratio=10.0)
    >>> boundary_strength(forest).round(2)
    array([[1.  , 5.1, 5.1, 1.  ]])
    """
    if not isinstance(forest, SegmentForest):
        raise TypeError(
            f"forest is of type {type(forest).__name__}, expected what segment_forest returns."
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
