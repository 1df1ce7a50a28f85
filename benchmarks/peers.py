"""What users have today, each as one function from points to a result.

A peer is imported only when it is asked for; one that is not installed is left out with the
reason. ``largest`` is the number of points that it finishes in about a minute on two cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Call = Callable[[Points], object]


@dataclass(frozen=True)
class Peer:
    """A named function to compare with.

    ``load`` imports the package and returns the function that is timed.
    """

    name: str
    load: Callable[[], Call]
    largest: int


def _ckdtree() -> Call:
    from scipy.spatial import cKDTree

    return lambda X: cKDTree(X).query(X, k=10, workers=-1)


def _kernel_density() -> Call:
    from sklearn.neighbors import KernelDensity

    # The tolerance is the one that our densities keep; without one it takes ten times as long.
    return lambda X: KernelDensity(bandwidth=0.3, rtol=1e-9).fit(X).score_samples(X)


def _mean_shift() -> Call:
    from sklearn.cluster import MeanShift

    # One process: sending each climb to another one costs more than it saves.
    return lambda X: MeanShift().fit(X)


def _hdbscan() -> Call:
    from sklearn.cluster import HDBSCAN

    return lambda X: HDBSCAN(n_jobs=-1, copy=True).fit(X)


def _tomato() -> Call:
    from gudhi.clustering.tomato import Tomato

    return lambda X: Tomato(n_jobs=-1).fit(X)


def _scikit_matter() -> Call:
    os.environ.setdefault("TQDM_DISABLE", "1")
    from skmatter.clustering import QuickShift

    def call(X: Points) -> object:
        # It brings no density and wants one squared cutoff a point, which it writes into.
        densities = np.array([np.exp(-((X - x) ** 2).sum(axis=1)).sum() for x in X])
        return QuickShift(np.ones(len(X))).fit(X, samples_weight=densities)

    return call


PEERS = {
    peer.name: peer
    for peer in (
        Peer("cKDTree", _ckdtree, 10_000_000),
        Peer("KernelDensity", _kernel_density, 20_000),
        Peer("MeanShift", _mean_shift, 5_000),
        Peer("HDBSCAN", _hdbscan, 50_000),
        Peer("ToMATo", _tomato, 1_000_000),
        Peer("scikit-matter", _scikit_matter, 5_000),
    )
}
