"""Membership: which share of the density at a point the samples of each cluster contribute."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from quickshift import _core
from quickshift.arrays import Floats, Indices, Numbers
from quickshift.stages.density import Estimate
from quickshift.stages.local_scale import LocalScale, n_varying
from quickshift.threads import resolve_threads

__all__ = ["TopShares"]


class TopShares(NamedTuple):
    """The clusters that have the largest shares at each point.

    Attributes
    ----------
    labels : ndarray of shape (n_queries, k)
        Labels of the clusters, that of the largest share first; of equal shares, the lower label
        first.
    shares : ndarray of shape (n_queries, k)
        The shares of these clusters.
    """

    labels: Indices
    shares: Floats


@dataclass(frozen=True)
class LabeledSamples:
    """Samples with the labels of a clustering, in the form that the core takes.

    Equal rows are one location. Their labels may differ only with ``ties="strict"``. Such a
    location is divided between clusters; its own label is ``n_clusters`` plus its number.

    Attributes
    ----------
    estimate : Estimate or LocalScale
        The density.
    n_clusters : int
        Number of clusters.
    label_of_slot : ndarray of shape (n_slots,)
        Label of each location.
    part_offsets : ndarray of shape (n_divided + 1,)
        CSR offsets of the divided locations in the other two arrays.
    part_clusters, part_shares : ndarray of shape (n_parts,)
        The clusters of a divided location, and their shares in its weight.
    """

    estimate: Estimate | LocalScale
    n_clusters: int
    label_of_slot: Indices
    part_offsets: Indices
    part_clusters: Indices
    part_shares: Floats

    def table(self, points: Numbers, top: int) -> tuple[Indices, Floats, Indices]:
        """Return the labels of the largest shares at each point, and these shares.

        With ``top=0`` there are no labels, and the shares are those of all clusters in turn. The
        third array holds the points at which the density vanishes and all shares are 0.
        """
        estimate, tree = self.estimate, self.estimate.samples.tree
        threads = resolve_threads(estimate.n_jobs)
        queries = tree.query_tree(np.ascontiguousarray(points), threads)
        given: dict[str, Any] = {
            "label_of_slot": self.label_of_slot,
            "clusters": self.n_clusters,
            "part_offsets": self.part_offsets,
            "part_clusters": self.part_clusters,
            "part_shares": self.part_shares,
            "top": top,
            "threads": threads,
        }
        if isinstance(estimate, LocalScale):
            k, d = float(estimate.n_neighbors), n_varying(estimate.samples)
            return _core.nearest_shares(queries, tree, neighbors=k, dimension=d, **given)
        return _core.kernel_shares(
            queries,
            tree,
            kernel=estimate.kernel.code,
            bandwidth=estimate.bandwidth,
            rtol=estimate.rtol,
            **given,
        )


def label_samples(
    estimate: Estimate | LocalScale,
    labels: Indices,
    n_clusters: int,
    row_weights: Floats | None = None,
) -> LabeledSamples:
    """Prepare samples and their labels for `shares_at_points`.

    Parameters
    ----------
    estimate : Estimate or LocalScale
        The density.
    labels : ndarray of shape (n_samples,)
        Labels from 0 to ``n_clusters - 1``; those of rows of weight zero are ignored.
    n_clusters : int
        Number of clusters.
    row_weights : ndarray of shape (n_samples,), optional
        Weights of the rows; they matter only if equal rows have different labels.

    Returns
    -------
    LabeledSamples

    Examples
    --------
    >>> from quickshift.stages import fit_estimate, prepare
    >>> estimate = fit_estimate(prepare([[0.0], [0.0], [0.0], [1.0]]), 1.0)
    >>> labeled = label_samples(estimate, np.array([0, 1, 1, 1]), 2)
    >>> labeled.part_clusters, labeled.part_shares
    (array([0, 1]), array([0.333..., 0.666...]))
    """
    tree = estimate.samples.tree
    slots = tree.slots_of_rows()
    rows = np.flatnonzero(slots >= 0)
    label_of_slot = np.zeros(tree.slots, dtype=np.int64)
    label_of_slot[slots[rows]] = labels[rows]
    divided = np.unique(slots[rows[label_of_slot[slots[rows]] != labels[rows]]])
    if divided.size:
        rows = rows[np.isin(slots[rows], divided)]
        weights = np.ones(len(rows)) if row_weights is None else row_weights[rows]
        parts = _parts(np.searchsorted(divided, slots[rows]), labels[rows], weights, n_clusters)
        label_of_slot[divided] = n_clusters + np.arange(len(divided))
    else:
        parts = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
    return LabeledSamples(estimate, n_clusters, label_of_slot, *parts)


def shares_at_points(
    samples: LabeledSamples,
    points: Numbers,
    assign: Callable[[Numbers], Indices],
    top: int | None = None,
) -> Floats | TopShares:
    """Return the share of every cluster at each point, or the largest shares.

    Parameters
    ----------
    samples : LabeledSamples
        From `label_samples`.
    points : ndarray of shape (n_queries, n_features)
        Checked points.
    assign : callable
        Labels points at which the density vanishes; the cluster has the share 1 there.
    top : int, optional
        Number of clusters per point, at most ``samples.n_clusters``; all if it is None.

    Returns
    -------
    ndarray of shape (n_queries, n_clusters) or TopShares
    """
    labels, shares, vanished = samples.table(points, top or 0)
    assigned = assign(points[vanished]) if vanished.size else vanished
    if top is None:
        shares[vanished, assigned] = 1.0
        return shares
    shares[vanished, 0] = 1.0
    others = np.arange(top - 1)
    labels[vanished, 0] = assigned
    labels[vanished, 1:] = others + (others >= assigned[:, None])  # the lowest other labels
    return TopShares(labels, shares)


def _parts(
    place: Indices, labels: Indices, weights: Floats, n_clusters: int
) -> tuple[Indices, Indices, Floats]:
    """Return the clusters of the rows at each place, and their shares in its weight, as CSR."""
    parts, position = np.unique(place * n_clusters + labels, return_inverse=True)
    totals = np.bincount(place, weights=weights)
    sums = np.bincount(position.reshape(-1), weights=weights)
    offsets = np.searchsorted(parts, np.arange(len(totals) + 1) * n_clusters)
    return offsets, parts % n_clusters, sums / totals[parts // n_clusters]
