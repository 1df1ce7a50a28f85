"""The kernel of every sample in x alone, at given x: how much each response counts there."""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.kernels import Kernel
from quickshift.stages.density import Estimate

if TYPE_CHECKING:
    from scipy.spatial import KDTree

__all__ = ["KernelWeights", "weigh_responses"]

# Largest coordinate, in units of the samples' largest one, up to which squares stay finite. The
# core moves queries beyond it to it.
_LARGEST_COORDINATE = 2.0**500


@dataclass(frozen=True)
class KernelWeights:
    """Distinct samples (x, y) sorted by y, from which `at` computes their weights at a query.

    Lengths are divided by a power of two that brings the largest coordinate close to 1.

    Attributes
    ----------
    responses : ndarray of shape (k,) or (k, n_outputs)
        The distinct responses of the samples of positive weight, sorted.
    response_of_sample : ndarray of shape (n,)
        Position in `responses` of each sample's response, not decreasing.
    coordinates : ndarray of shape (n_features, n)
        The features of the samples.
    weights : ndarray of shape (n,)
        Frequencies, divided by a power of two as well.
    period : ndarray of shape (n_features,)
        Infinite for a feature that is not periodic.
    kernel : Kernel
        The kernel.
    bandwidth : float
        Its bandwidth in x.
    exponent : int
        The power of two.
    """

    responses: Floats
    response_of_sample: Indices
    coordinates: Floats
    weights: Floats
    period: Floats
    kernel: Kernel
    bandwidth: float
    exponent: int

    def at(self, queries: Floats) -> Floats:
        """Return w_j k(‖x - x_j‖ / h) of every sample j at every query x; shape (m, n).

        Those of an infinite kernel are divided by the kernel at the nearest sample, so that they
        do not all underflow.
        """
        scaled = self._scaled(queries)
        squares = np.zeros((len(queries), len(self.weights)))
        for x, of_samples, period in zip(scaled.T, self.coordinates, self.period, strict=True):
            squares += _squares(x[:, None] - of_samples, period)
        return self._weigh(squares, squares.min(axis=1, keepdims=True), self.weights)

    def count_near(self, queries: Floats) -> Indices:
        """Return how many samples `near` finds at each query; shape (m,)."""
        scaled = self._scaled(queries)
        return self._tree.query_ball_point(scaled, self._reach(scaled), return_length=True)

    def near(self, queries: Floats) -> tuple[Indices, Indices, Floats]:
        """Return the samples that have a part in the sums at each query, and their weights.

        Returns
        -------
        offsets : ndarray of shape (m + 1,)
            CSR offsets of the queries in the other two arrays.
        samples : ndarray of shape (k,)
            The samples of each query, increasing.
        weights : ndarray of shape (k,)
            Their weights as in `at`.
        """
        scaled = self._scaled(queries)
        found = self._tree.query_ball_point(scaled, self._reach(scaled), return_sorted=True)
        offsets = np.concatenate([[0], np.cumsum([len(samples) for samples in found])])
        samples = np.fromiter(chain.from_iterable(found), dtype=np.int64, count=offsets[-1])
        of_query = np.repeat(np.arange(len(queries)), np.diff(offsets))
        squares = np.zeros(len(samples))
        for x, of_samples, period in zip(scaled.T, self.coordinates, self.period, strict=True):
            squares += _squares(x[of_query] - of_samples[samples], period)
        nearest = np.full(len(queries), np.inf)
        np.minimum.at(nearest, of_query, squares)
        return offsets, samples, self._weigh(squares, nearest[of_query], self.weights[samples])

    @cached_property
    def _tree(self) -> "KDTree":
        from scipy.spatial import KDTree

        box = np.where(np.isfinite(self.period), self.period, 0.0)  # 0: not periodic
        return KDTree(self.coordinates.T, boxsize=box if box.any() else None)

    def _scaled(self, queries: Floats) -> Floats:
        """Return queries in the units of the samples, with periodic features in [0, period)."""
        with np.errstate(over="ignore"):
            scaled = np.ldexp(queries, -self.exponent)
        scaled = np.clip(scaled, -_LARGEST_COORDINATE, _LARGEST_COORDINATE)
        for column, period in zip(scaled.T, self.period, strict=True):
            if np.isfinite(period):
                column -= period * np.floor(column / period)  # noqa: PLW2901
                column[(column >= period) | (column < 0)] = 0.0
        return scaled

    def _reach(self, scaled: Floats) -> Floats:
        """Return a distance from each query beyond which weights are zero or negligible.

        All samples beyond the reach of an infinite kernel together have less than 2⁻⁴⁰ of the
        weight of the nearest sample.
        """
        if not self.kernel.infinite:
            reach = np.full(len(scaled), self.kernel.support)
        else:
            decay = np.log(self.weights.sum() / self.weights.min()) + 40.0 * np.log(2.0)
            nearest = self._tree.query(scaled)[0] / self.bandwidth
            gaussian = self.kernel.name == "gaussian"
            reach = np.hypot(nearest, np.sqrt(2.0 * decay)) if gaussian else nearest + decay
        return reach * self.bandwidth * (1.0 + 1e-9)  # for rounding

    def _weigh(self, squares: Floats, nearest: Floats, weights: Floats) -> Floats:
        """Return weights times kernels at squared distances, an array that is overwritten."""
        with np.errstate(over="ignore", under="ignore"):
            if self.kernel.name == "gaussian":
                squares -= nearest
                squares /= -2.0 * min(self.bandwidth, _LARGEST_COORDINATE) ** 2
                kernels = np.exp(squares, out=squares)
            else:
                distances = np.sqrt(squares, out=squares)
                if self.kernel.infinite:  # exp(-t) / exp(-s) = exp(-(t - s))
                    distances -= np.sqrt(nearest)
                distances /= self.bandwidth
                kernels = self.kernel.profile(distances)
            return np.multiply(kernels, weights, out=kernels)


def _squares(gaps: Floats, period: float) -> Floats:
    """Return the squares of differences, an array that is overwritten, to the nearest image."""
    if np.isfinite(period):
        gaps -= period * np.rint(gaps / period)
    return np.square(gaps, out=gaps)


def weigh_responses(features: Estimate, y: Floats, weights: Floats) -> KernelWeights:
    """Sort the samples of positive weight by response and merge equal ones.

    The result does not depend on the order of the rows.
    """
    tree, period = features.samples.tree, features.samples.period
    slots = tree.slots_of_rows()
    rows = np.flatnonzero(slots >= 0)
    axis = None if y.ndim == 1 else 0
    responses, ranks = np.unique(y[rows] + 0.0, axis=axis, return_inverse=True)
    ranks, slots, weights = ranks.reshape(-1), slots[rows], weights[rows]
    order = np.lexsort((weights, slots, ranks))
    ranks, slots = ranks[order], slots[order]
    first = np.flatnonzero(np.diff(ranks, prepend=-1) | np.diff(slots, prepend=-1))
    coordinates = tree.coordinates(rows[order[first]])
    exponent = tree.exponent
    lengths = np.full(tree.features, np.inf) if period is None else period
    return KernelWeights(
        responses,
        ranks[first],
        np.ldexp(np.ascontiguousarray(coordinates.T), -exponent),
        np.ldexp(np.add.reduceat(weights[order], first), -tree.weight_exponent),
        np.ldexp(lengths, -exponent),
        features.kernel,
        float(np.ldexp(features.bandwidth, -exponent)),
        exponent,
    )
