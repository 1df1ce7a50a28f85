"""Sets of responses around modes that hold a given share of new ones: split conformal prediction.

Vovk, Gammerman & Shafer (2005), Algorithmic Learning in a Random World; around conditional modes as
in Chen, Genovese, Tibshirani & Wasserman (2016), Nonparametric modal regression, Annals of
Statistics 44(2), 489-514.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Flags, Floats
from quickshift.checks import check_real, check_responses
from quickshift.stages.regression.conditional_modes import ConditionalModes
from quickshift.stages.regression.ragged import Ragged

__all__ = [
    "PredictionSet",
    "check_coverage",
    "conformal_radius",
    "nonconformity_scores",
    "set_around",
]


@dataclass(frozen=True)
class PredictionSet(Ragged):
    """Intervals of responses at each of m queries, k in all, those of one query side by side.

    ``intervals[i]`` are those of query i, rising and disjoint. With several outputs they are boxes,
    which may overlap.

    Attributes
    ----------
    offsets : ndarray of shape (m + 1,)
        Those of query i are the elements from ``offsets[i]`` to before ``offsets[i + 1]``.
    lower, upper : ndarray of shape (k,) or (k, n_outputs)
        Their ends, which belong to them.

    Examples
    --------
    >>> found = PredictionSet(np.array([0, 2, 2]), np.array([0.0, 4.0]), np.array([1.0, 4.5]))
    >>> found[0]
    array([[0. , 1. ],
           [4. , 4.5]])
    >>> found.lengths
    array([1.5, 0. ])
    >>> found.contains([4.2, 4.2])
    array([ True, False])
    """

    lower: Floats
    upper: Floats

    def __getitem__(self, query: int) -> Floats:
        """Return lower and upper ends at one query, a row for each interval."""
        own = self._own(query)
        return np.stack([self.lower[own], self.upper[own]], axis=1)

    def __iter__(self) -> Iterator[Floats]:
        """Return the intervals of query after query."""
        return (self[i] for i in range(len(self)))

    @property
    def lengths(self) -> Floats:
        """Total length of the intervals at each query, for one output; shape (m,)."""
        if self.lower.ndim > 1:
            raise ValueError(
                f"lengths are those of intervals, but there are boxes of {self.lower.shape[1]} "
                f"outputs, which may overlap. Use lower and upper."
            )
        lengths = np.zeros(len(self))
        np.add.at(lengths, self.queries, self.upper - self.lower)
        return lengths

    def contains(self, y: ArrayLike) -> Flags:
        """Tell whether each query's response is in its set.

        Parameters
        ----------
        y : array-like of shape (m,) or (m, n_outputs)
            A response for each query.

        Returns
        -------
        ndarray of shape (m,)
        """
        responses = check_responses(y, len(self))
        if responses.shape[1:] != self.lower.shape[1:]:
            raise ValueError(
                f"y has shape {np.shape(y)}, expected {(len(self), *self.lower.shape[1:])}: the "
                f"outputs that the set is of."
            )
        responses = responses[self.queries]
        inside = (self.lower <= responses) & (responses <= self.upper)
        every = inside if inside.ndim == 1 else np.logical_and.reduce(inside, axis=1)
        found = np.zeros(len(self), dtype=bool)
        found[self.queries[every]] = True
        return found


def nonconformity_scores(modes: ConditionalModes, y: Floats) -> Floats:
    """Distance from each query's response to the nearest mode; infinite where there is none.

    Of several outputs the largest difference counts.

    Examples
    --------
    >>> none, two = np.empty(0), np.array([1.0, 4.0])
    >>> modes = ConditionalModes(np.array([0, 2, 2]), two, two, two, np.zeros(2))
    >>> nonconformity_scores(modes, np.array([3.5, 0.0]))
    array([0.5, inf])
    """
    values, responses = modes.values, y[modes.queries]
    gaps = np.abs(values - responses)
    # With this radius the ends of the interval, which are rounded, hold the response.
    short = (values - gaps > responses) | (values + gaps < responses)
    gaps[short] += np.spacing(np.maximum(np.abs(values), gaps)[short])
    if gaps.ndim > 1:
        gaps = gaps.max(axis=1)
    least = np.full(len(modes), np.inf)
    np.minimum.at(least, modes.queries, gaps)
    return least


def conformal_radius(scores: Floats, weights: Floats, coverage: float) -> float:
    """Least radius that holds a new response with a given probability, under exchangeability.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        How far responses that the modes were not made from are away from them.
    weights : ndarray of shape (n,)
        Frequencies.
    coverage : float
        The share wanted.

    Returns
    -------
    float
        The score at rank coverage · (n + 1); infinite where there are too few.

    Examples
    --------
    >>> conformal_radius(np.array([3.0, 1.0, 2.0, 4.0]), np.ones(4), 0.8)
    4.0
    >>> conformal_radius(np.array([3.0, 1.0, 2.0, 4.0]), np.ones(4), 0.9)
    inf
    """
    order = np.argsort(scores, kind="stable")
    reached = np.cumsum(weights[order])
    total = float(reached[-1]) if len(reached) else 0.0
    wanted = coverage * (total + 1.0) * (1.0 - 1e-12)  # 0.9 * 10 is not above 9
    place = int(np.searchsorted(reached, wanted))
    return float(scores[order[place]]) if place < len(scores) else float("inf")


def set_around(modes: ConditionalModes, radius: float) -> PredictionSet:
    """Join what lies within a radius of the modes; everything if it is infinite.

    Examples
    --------
    >>> two = np.array([4.0, 1.0])
    >>> modes = ConditionalModes(np.array([0, 2, 2]), two, two, two, np.zeros(2))
    >>> set_around(modes, 1.0)[0]
    array([[0., 2.],
           [3., 5.]])
    >>> set_around(modes, 1.5)[0]
    array([[-0.5,  5.5]])
    """
    if np.isinf(radius):
        everything = np.full((len(modes), *modes.values.shape[1:]), np.inf)
        return PredictionSet(np.arange(len(modes) + 1), -everything, everything)
    if modes.values.ndim > 1:
        return PredictionSet(modes.offsets, modes.values - radius, modes.values + radius)
    queries = modes.queries
    values = modes.values[np.lexsort((modes.values, queries))]
    lower, upper = values - radius, values + radius
    apart = (np.diff(queries, prepend=-1) > 0) | (lower > np.roll(upper, 1))
    first = np.flatnonzero(apart)
    last = np.append(first[1:], len(values)) - 1 if len(first) else first
    counts = np.bincount(queries[first], minlength=len(modes))
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return PredictionSet(offsets, lower[first], upper[last])


def check_coverage(coverage: float) -> float:
    """Return a share between 0 and 1."""
    expected = "a share of new responses, above 0 and below 1"
    share = check_real(coverage, "coverage", expected)
    if not 0 < share < 1:
        raise ValueError(f"coverage is {coverage!r}, expected {expected}.")
    return share
