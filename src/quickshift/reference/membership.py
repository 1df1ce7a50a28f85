"""The share of each cluster in the density at a point, or in the K nearest samples of a point."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickshift.reference.density import fit
from quickshift.reference.samples import Samples, checked_samples
from quickshift.reference.scaled_distances import Floats

__all__ = ["kernel_shares", "neighbor_shares"]


def kernel_shares(
    X: ArrayLike,
    labels: ArrayLike,
    queries: ArrayLike,
    bandwidth: float,
    *,
    kernel: str = "gaussian",
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
) -> Floats:
    """Return the share of f̂_h at each query that the samples of each cluster contribute.

    Parameters
    ----------
    X : (n, d) array
        The samples.
    labels : (n,) int array
        The cluster of each sample, from 0.
    queries : (m, d) array
        Where to evaluate.
    bandwidth, kernel, sample_weight, period
        As in `quick_shift`.

    Returns
    -------
    (m, k) float array
        The shares of a query sum to 1. They are all 0 if the mean kernel, Σ w_j k(t_j) / W, is
        zero or below the smallest normal double.

    Examples
    --------
    >>> kernel_shares([[0.0], [1.0], [4.0]], [0, 0, 1], [[2.0], [9.0]], 2.5, kernel="uniform")
    array([[0.6666..., 0.3333...],
           [0.       , 0.       ]])
    """
    samples = checked_samples(X, sample_weight, period)
    at = samples.checked_queries(queries, "queries")
    of_sample = _checked_labels(labels, len(samples.points))[samples.kept]
    kde = fit(samples, bandwidth, kernel)
    terms = kde.terms(at, np.zeros(len(at))) / math.fsum(kde.weights)
    return _shares(terms, of_sample, n_clusters=int(np.max(labels)) + 1)


def neighbor_shares(
    X: ArrayLike,
    labels: ArrayLike,
    queries: ArrayLike,
    n_neighbors: int,
    *,
    sample_weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
) -> Floats:
    """Return the share of each cluster in the K nearest samples of each query.

    A row of weight w counts as w samples. Samples at the query itself count as well. The samples at
    the distance of the last one share what is left of K in proportion to their weights, so that
    their order does not matter. If all samples together weigh less than K, all of them count.

    Parameters
    ----------
    X : (n, d) array
        The samples.
    labels : (n,) int array
        The cluster of each sample, from 0.
    queries : (m, d) array
        Where to evaluate.
    n_neighbors : int
        K.
    sample_weight, period
        As in `quick_shift`.

    Returns
    -------
    (m, k) float array
        The shares of a query sum to 1.

    Examples
    --------
    >>> neighbor_shares([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], [[0.0], [1.0]], 2)
    array([[1.  , 0.  ],
           [0.75, 0.25]])
    """
    samples = checked_samples(X, sample_weight, period)
    at = samples.checked_queries(queries, "queries")
    of_sample = _checked_labels(labels, len(samples.points))[samples.kept]
    return _shares(_counted(samples, at, n_neighbors), of_sample, int(np.max(labels)) + 1)


def _counted(samples: Samples, at: Floats, n_neighbors: int) -> Floats:
    """Return how much of each sample's weight is among the K nearest of each query."""
    weights = samples.weights[samples.kept]
    squares = samples.scale.distances_sq(at, samples.points[samples.kept])
    counted = np.zeros(squares.shape)
    for i, row in enumerate(squares):
        left = float(n_neighbors)
        for square in np.unique(row):  # the nearest first
            tied = row == square
            weight = math.fsum(weights[tied])
            counted[i, tied] = weights[tied] * min(1.0, left / weight)
            left -= weight
            if left <= 0:
                break
    return counted


def _shares(parts: Floats, labels: NDArray[np.int64], n_clusters: int) -> Floats:
    """Add up the parts of each cluster, and divide by the total; shape (m, k)."""
    shares = np.zeros((len(parts), n_clusters))
    for i, row in enumerate(parts):
        total = math.fsum(row)
        if total >= np.finfo(np.float64).tiny:
            for label in range(n_clusters):
                shares[i, label] = math.fsum(row[labels == label]) / total
    return shares


def _checked_labels(labels: ArrayLike, n: int) -> NDArray[np.int64]:
    given = np.asarray(labels)
    if given.shape != (n,) or given.dtype.kind not in "iu" or (given < 0).any():
        raise ValueError(f"labels must hold {n} integers >= 0, got {labels!r}")
    return given.astype(np.int64)
