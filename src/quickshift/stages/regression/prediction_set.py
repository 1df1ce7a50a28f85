"""Prediction sets around conditional modes, by split conformal prediction.

A set contains a given share of new responses. The method is that of Vovk, Gammerman & Shafer
(2005), Algorithmic Learning in a Random World, applied to conditional modes as in Chen, Genovese,
Tibshirani & Wasserman (2016), Nonparametric modal regression, Annals of Statistics 44(2), 489-514.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Flags, Floats
from quickshift.bundles import counted, number, span
from quickshift.checks.numbers import check_nonnegative
from quickshift.checks.points import check_responses
from quickshift.checks.regression import (
    check_coverage,
    check_queried_responses,
    check_response_shape,
    check_scores,
)
from quickshift.checks.results import require_result
from quickshift.stages.regression.conditional_modes import ConditionalModes
from quickshift.stages.regression.ragged import Ragged

__all__ = [
    "PredictionSet",
    "conformal_radius",
    "nonconformity_scores",
    "set_around",
]


@dataclass(frozen=True, repr=False, eq=False)
class PredictionSet(Ragged):
    """Intervals of responses at each of m queries, k intervals in total.

    ``intervals[i]`` are the intervals of query i, in increasing order and disjoint. With several
    outputs they are boxes, which may overlap.

    Attributes
    ----------
    offsets : ndarray of shape (m + 1,)
        CSR offsets: the intervals of query i are the elements from ``offsets[i]`` to before
        ``offsets[i + 1]`` of `lower` and `upper`.
    lower, upper : ndarray of shape (k,) or (k, n_outputs)
        Ends of the intervals, which are closed.

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

    def _facts(self) -> Iterable[str]:
        flat = self.lower.ndim == 1
        yield counted(len(self), "query", "queries")
        yield counted(len(self.lower), *(("interval",) if flat else ("box", "boxes")))
        yield f"{span(self.counts)} per query"
        if flat and len(self):
            yield f"mean length {number(self.lengths.mean())}"

    def __getitem__(self, query: int) -> Floats:
        """Return the lower and upper ends at one query, one row per interval."""
        at = self._slice_of(query)
        return np.stack([self.lower[at], self.upper[at]], axis=1)

    def __iter__(self) -> Iterator[Floats]:
        """Iterate over the intervals of each query in turn."""
        return (self[i] for i in range(len(self)))

    @property
    def lengths(self) -> Floats:
        """Total length of the intervals at each query; shape (m,). For one output only."""
        if self.lower.ndim > 1:
            raise ValueError(
                f"lengths are defined for intervals of one output, but this set has boxes of "
                f"{self.lower.shape[1]} outputs, which may overlap. Use lower and upper."
            )
        lengths = np.zeros(len(self))
        np.add.at(lengths, self.queries, self.upper - self.lower)
        return lengths

    def contains(self, y: ArrayLike) -> Flags:
        """Return whether the set of each query contains its response.

        Parameters
        ----------
        y : array-like of shape (m,) or (m, n_outputs)
            One response per query.

        Returns
        -------
        ndarray of shape (m,)
        """
        responses = check_responses(y, len(self))
        check_response_shape(responses, (len(self), *self.lower.shape[1:]))
        responses = responses[self.queries]
        inside = (self.lower <= responses) & (responses <= self.upper)
        hit = inside if inside.ndim == 1 else np.logical_and.reduce(inside, axis=1)
        contained = np.zeros(len(self), dtype=bool)
        contained[self.queries[hit]] = True
        return contained


def nonconformity_scores(modes: ConditionalModes, y: Floats) -> Floats:
    """Return the distance from each query's response to the nearest mode.

    It is infinite for a query without modes. With several outputs the distance is the largest
    difference over the outputs.

    Examples
    --------
    >>> none, two = np.empty(0), np.array([1.0, 4.0])
    >>> modes = ConditionalModes(np.array([0, 2, 2]), two, two, two, np.zeros(2), two, two)
    >>> nonconformity_scores(modes, np.array([3.5, 0.0]))
    array([0.5, inf])
    """
    require_result(modes, ConditionalModes, "modes", "conditional_modes")
    values, responses = modes.values, check_queried_responses(y, len(modes))[modes.queries]
    gaps = np.abs(values - responses)
    # Enlarge a score if the interval of that radius around the mode would miss the response because
    # its ends are rounded.
    short = (values - gaps > responses) | (values + gaps < responses)
    gaps[short] += np.spacing(np.maximum(np.abs(values), gaps)[short])
    if gaps.ndim > 1:
        gaps = gaps.max(axis=1)
    least = np.full(len(modes), np.inf)
    np.minimum.at(least, modes.queries, gaps)
    return least


def conformal_radius(scores: Floats, weights: Floats, coverage: float) -> float:
    """Return the least radius around the modes that covers a new response with given probability.

    The coverage is guaranteed if the scored samples and the new one are exchangeable.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Nonconformity scores of samples that the modes were not computed from.
    weights : ndarray of shape (n,)
        Frequencies.
    coverage : float
        The probability wanted.

    Returns
    -------
    float
        The score of rank coverage · (n + 1), n being the total weight; infinite if there are fewer
        scores than that.

    Examples
    --------
    >>> conformal_radius(np.array([3.0, 1.0, 2.0, 4.0]), np.ones(4), 0.8)
    4.0
    >>> conformal_radius(np.array([3.0, 1.0, 2.0, 4.0]), np.ones(4), 0.9)
    inf
    """
    scores, weights = check_scores(scores, weights)
    return radius_of_scores(scores, weights, check_coverage(coverage))


def radius_of_scores(scores: Floats, weights: Floats, coverage: float) -> float:
    """Return the radius as `conformal_radius` does, from checked arguments."""
    order = np.argsort(scores, kind="stable")
    reached = np.cumsum(weights[order])
    total = float(reached[-1]) if len(reached) else 0.0
    wanted = coverage * (total + 1.0) * (1.0 - 1e-12)  # 0.9 * 10 must not round to above 9
    place = int(np.searchsorted(reached, wanted))
    return float(scores[order[place]]) if place < len(scores) else float("inf")


def set_around(modes: ConditionalModes, radius: float) -> PredictionSet:
    """Return the union of the intervals of the given radius around the modes of each query.

    With several outputs the result has one box per mode instead. An infinite radius gives one
    unbounded interval per query.

    Examples
    --------
    >>> two = np.array([4.0, 1.0])
    >>> modes = ConditionalModes(np.array([0, 2, 2]), two, two, two, np.zeros(2), two, two)
    >>> set_around(modes, 1.0)[0]
    array([[0., 2.],
           [3., 5.]])
    >>> set_around(modes, 1.5)[0]
    array([[-0.5,  5.5]])
    """
    require_result(modes, ConditionalModes, "modes", "conditional_modes")
    check_nonnegative(radius, "radius")
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
