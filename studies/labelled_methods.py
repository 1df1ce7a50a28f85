"""The clusterers of the study "labelled", each as a function from points to labels.

All run with their default settings, with two exceptions. *HDBSCAN, 1 %* sets the least size of a
cluster. ToMATo and density peaks have no default for the number of clusters: their authors let the
user read it off a diagram, at a gap. Here it is chosen at the largest gap, but is never 1, because
every set has several clusters. The methods in GIVEN_K are told the number of clusters.

A peer is imported only when it is used, so that ours can be measured without the others.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import DBSCAN, HDBSCAN, OPTICS, KMeans, MeanShift

from quickshift import QuickShift

__all__ = ["GIVEN_K", "LARGEST", "METHODS", "OURS"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


def _one_percent(X: Floats, _: int) -> Labels:
    """Run an HDBSCAN whose clusters have at least 1 % of the samples."""
    return HDBSCAN(min_cluster_size=max(2, len(X) // 100), copy=True).fit_predict(X)


def _fast_hdbscan(X: Floats, _: int) -> Labels:
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")  # each core has its process
    import fast_hdbscan

    return fast_hdbscan.HDBSCAN().fit_predict(X)


def _tomato(X: Floats, _: int) -> Labels:
    """Run ToMATo and merge the clusters below the largest gap between prominences.

    The prominences are differences of log densities. Clusters that are not connected to any other
    in the graph of neighbors have none and are always kept.
    """
    from gudhi.clustering.tomato import Tomato

    model = Tomato().fit(X)
    if not np.isfinite(model.weights_).all():
        raise ValueError("the density is infinite where ten samples coincide")
    born, died = model.diagram_.reshape(-1, 2).T
    if len(born):
        prominences = np.append(np.sort(born - died)[::-1], 0.0)
        kept = 1 + int(np.argmax(-np.diff(prominences)))
        model.n_clusters_ = len(model.max_weight_per_cc_) + kept
    return model.labels_


def _density_peaks(X: Floats, _: int) -> Labels:
    """Cluster by density peaks (Rodriguez and Laio 2014), computed by pydpc.

    The centers are the samples with the largest gamma = density * delta, down to the largest ratio
    of successive gammas among the first sqrt(n). Of the gaps that we tried (differences or ratios,
    with and without a single center), this one scored best on the first list.
    """
    from pydpc import Cluster

    peaks = Cluster(np.ascontiguousarray(X), autoplot=False)
    gamma = peaks.density * peaks.delta
    falling = np.argsort(-gamma, kind="stable")
    largest = gamma[falling[: int(np.sqrt(len(X))) + 1]]
    ratios = -np.diff(np.log(largest[largest > 0]))
    centers = falling[: 2 + int(np.argmax(ratios[1:]))]
    labels = np.full(len(X), -1)
    labels[centers] = np.arange(len(centers))
    for i in peaks.order:  # from high to low density, beginning at a center
        if labels[i] < 0:
            labels[i] = labels[peaks.neighbour[i]]
    return labels


# Column of the table -> function from points (n, d) and the number of clusters to labels (n,).
METHODS: dict[str, Callable[[Floats, int], Labels]] = {
    "QuickShift()": lambda X, _: QuickShift(n_jobs=1).fit_predict(X),
    'QuickShift("auto")': lambda X, _: QuickShift(bandwidth="auto", n_jobs=1).fit_predict(X),
    "HDBSCAN()": lambda X, _: HDBSCAN(copy=True).fit_predict(X),
    "HDBSCAN, 1 %": _one_percent,
    "fast_hdbscan": _fast_hdbscan,
    "MeanShift()": lambda X, _: MeanShift().fit_predict(X),
    "DBSCAN()": lambda X, _: DBSCAN().fit_predict(X),
    "OPTICS()": lambda X, _: OPTICS().fit_predict(X),
    "ToMATo": _tomato,
    "density peaks": _density_peaks,
    "QuickShift, k": lambda X, k: QuickShift(n_clusters=k, n_jobs=1).fit_predict(X),
    "KMeans, k": lambda X, k: KMeans(k, n_init=10, random_state=0).fit_predict(X),
}
OURS = "QuickShift()"
GIVEN_K = ("QuickShift, k", "KMeans, k")

# The largest number of samples on which a method is run. On 20 000 samples, MeanShift takes about
# three minutes of one core per draw. Density peaks keeps all pairwise distances, 5 GB in this case.
LARGEST = {"MeanShift()": 10_000, "density peaks": 20_000}
