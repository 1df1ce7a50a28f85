"""The packages that we compare with, each as one function from points to a result.

A peer is imported only when it is measured. A peer that is not installed, fails or crashes is left
out of the results, with the reason. ``largest`` is the number of points that it finishes in about a
minute on two cores. This module imports only NumPy, because some peers need an environment of their
own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Call = Callable[[Points], object]


@dataclass(frozen=True)
class Peer:
    """A named function to compare with.

    ``load`` imports the package and returns the function that is timed. ``does`` describes what
    that function computes. ``environment`` names the virtual environment of a peer that cannot be
    installed together with the others.
    """

    name: str
    package: str
    load: Callable[[], Call]
    largest: int
    does: str
    environment: str | None = None


# --- nearest neighbors ---------------------------------------------------------------------------


def _ckdtree() -> Call:
    from scipy.spatial import cKDTree

    return lambda X: cKDTree(X).query(X, k=10, workers=-1)


def _ckdtree_build() -> Call:
    from scipy.spatial import cKDTree

    return cKDTree


def _pykdtree() -> Call:
    from pykdtree.kdtree import KDTree

    return lambda X: KDTree(X).query(X, k=10)


def _pykdtree_build() -> Call:
    from pykdtree.kdtree import KDTree

    return KDTree


def _nearest_neighbors() -> Call:
    from sklearn.neighbors import NearestNeighbors

    return lambda X: NearestNeighbors(n_neighbors=10).fit(X).kneighbors()


def _brute_neighbors() -> Call:
    from sklearn.neighbors import NearestNeighbors

    return lambda X: (
        NearestNeighbors(algorithm="brute", n_jobs=-1).fit(X).kneighbors(n_neighbors=10)
    )


# --- densities -----------------------------------------------------------------------------------


def _kernel_density() -> Call:
    from sklearn.neighbors import KernelDensity

    return lambda X: KernelDensity(bandwidth=0.3, rtol=1e-4).fit(X).score_samples(X)


def _kernel_density_exact() -> Call:
    from sklearn.neighbors import KernelDensity

    return lambda X: KernelDensity(bandwidth=0.3).fit(X).score_samples(X)


def _mlpack() -> Call:
    import mlpack

    def call(X: Points) -> object:
        # Without copy_all_inputs it reorders the caller's points. Without a query it leaves each
        # point out of its own sum.
        return mlpack.kde(
            reference=X,
            query=X,
            bandwidth=0.3,
            kernel="gaussian",
            rel_error=1e-4,
            copy_all_inputs=True,
        )

    return call


def _tree_kde() -> Call:
    from KDEpy import TreeKDE

    return lambda X: TreeKDE(kernel="gaussian", bw=0.3).fit(X).evaluate(X, eps=1e-4)


def _fft_kde() -> Call:
    from KDEpy import FFTKDE

    return lambda X: FFTKDE(kernel="gaussian", bw=0.3).fit(X).evaluate(1024)


# --- modal regression ----------------------------------------------------------------------------


def _ball_counts() -> Call:
    from scipy.spatial import cKDTree

    import data

    trees: dict[int, cKDTree] = {}
    queries, radius = data.modal_queries(10_000), data.modal_radius()

    def call(rows: Points) -> object:
        if len(rows) not in trees:
            trees[len(rows)] = cKDTree(rows[:, :2])
        tree = trees[len(rows)]
        return tree.query_ball_point(queries, radius, workers=-1, return_length=True)

    return call


def _skimage(settings: dict[str, float]) -> Call:
    """Segment the first 512 x 512 pixels with scikit-image."""
    from skimage.segmentation import quickshift

    return lambda image: quickshift(image[:512, :512], **settings)


def _numpy_modes(kernel: str) -> Call:
    """Run Algorithm 3 at 100 queries, on the samples in the window of each, sorted by response."""
    from scipy.spatial import cKDTree

    import data

    trees: dict[int, cKDTree] = {}
    queries, radius = data.modal_queries(100), data.modal_radius()
    h_x, h_y, tau = (radius / 8.7, 0.2, 0.3) if kernel == "gaussian" else (radius, 0.53, 0.3)

    def modes_at(rows: Points, query: Points) -> Points:
        near = rows[trees[len(rows)].query_ball_point(query, radius)]
        near = near[np.argsort(near[:, 2])]
        y = near[:, 2]
        if not len(y):
            return y
        away_sq = (((near[:, :2] - query) / h_x) ** 2).sum(axis=1)
        gap = y[:, None] - y
        t_sq = away_sq + (gap / h_y) ** 2
        terms = np.exp(-0.5 * t_sq) if kernel == "gaussian" else np.maximum(1 - t_sq, 0)
        heights = terms.sum(axis=1)
        beaten = (np.abs(gap) <= tau) & (heights > heights[:, None])
        roots = np.flatnonzero(~beaten.any(axis=1))
        return y[roots[heights[roots] >= 0.01 * heights.max()]]

    def call(rows: Points) -> object:
        if len(rows) not in trees:
            trees[len(rows)] = cKDTree(rows[:, :2])
        return [modes_at(rows, query) for query in queries]

    return call


# --- clusterers ----------------------------------------------------------------------------------


def _mean_shift() -> Call:
    from sklearn.cluster import MeanShift

    # In one process: distributing the climbs over several costs more than it saves.
    return lambda X: MeanShift().fit(X)


def _hdbscan() -> Call:
    from sklearn.cluster import HDBSCAN

    return lambda X: HDBSCAN(n_jobs=-1, copy=True).fit(X)


def _fast_hdbscan() -> Call:
    from fast_hdbscan import HDBSCAN

    return lambda X: HDBSCAN().fit(X)


def _tomato() -> Call:
    from gudhi.clustering.tomato import Tomato

    return lambda X: Tomato(n_jobs=-1).fit(X)


def _scikit_matter() -> Call:
    os.environ.setdefault("TQDM_DISABLE", "1")
    from skmatter.clustering import QuickShift

    def call(X: Points) -> object:
        # It has no density estimate, and needs an array of one squared cutoff per point, which it
        # overwrites.
        densities = np.array([np.exp(-((X - x) ** 2).sum(axis=1)).sum() for x in X])
        return QuickShift(np.ones(len(X))).fit(X, samples_weight=densities)

    return call


def _pydpc() -> Call:
    from pydpc import Cluster

    def call(X: Points) -> object:
        peaks = Cluster(X, autoplot=False)
        peaks.assign(np.median(peaks.density), 3.0)  # a user would read both off a plot
        return peaks

    return call


def _dadapy() -> Call:
    from dadapy import Data

    def call(X: Points) -> object:
        data = Data(X, n_jobs=os.cpu_count())
        data.compute_distances(maxk=100)
        data.compute_id_2NN()
        data.compute_density_kstarNN()
        return data.compute_clustering_ADP()

    return call


PEERS = {
    peer.name: peer
    for peer in (
        Peer("cKDTree", "scipy", _ckdtree, 10_000_000, "tree, then 10 neighbors on all cores"),
        Peer("cKDTree tree", "scipy", _ckdtree_build, 10_000_000, "only the tree"),
        Peer("pykdtree", "pykdtree", _pykdtree, 10_000_000, "tree and 10 neighbors, defaults"),
        Peer("pykdtree tree", "pykdtree", _pykdtree_build, 10_000_000, "only the tree"),
        Peer(
            "NearestNeighbors",
            "scikit-learn",
            _nearest_neighbors,
            1_000_000,
            "tree and 10 neighbors, defaults",
        ),
        Peer(
            "brute NearestNeighbors",
            "scikit-learn",
            _brute_neighbors,
            50_000,
            "10 neighbors by comparing all pairs, all cores",
        ),
        Peer(
            "scikit-image",
            "scikit-image",
            partial(_skimage, {}),
            10_000_000,
            "`segmentation.quickshift` of 512 x 512 pixels, defaults",
        ),
        Peer(
            "scikit-image (3, 6, 0.5)",
            "scikit-image",
            partial(_skimage, {"kernel_size": 3, "max_dist": 6, "ratio": 0.5}),
            10_000_000,
            "the same with kernel_size 3, max_dist 6, ratio 0.5",
        ),
        Peer(
            "query_ball_point",
            "SciPy",
            _ball_counts,
            1_000_000,
            "cKDTree: number of samples in the windows of 10 000 queries",
        ),
        Peer(
            "NumPy, gaussian",
            "NumPy",
            partial(_numpy_modes, "gaussian"),
            100_000,
            "Algorithm 3 in the windows of 100 queries",
        ),
        Peer(
            "NumPy, epanechnikov",
            "NumPy",
            partial(_numpy_modes, "epanechnikov"),
            100_000,
            "Algorithm 3 in the windows of 100 queries",
        ),
        Peer(
            "KernelDensity",
            "scikit-learn",
            _kernel_density,
            100_000,
            "Gaussian densities at the points, rtol 1e-4",
        ),
        Peer(
            "exact KernelDensity",
            "scikit-learn",
            _kernel_density_exact,
            20_000,
            "the same with defaults, which sum every pair",
        ),
        Peer(
            "mlpack",
            "mlpack",
            _mlpack,
            300_000,
            "Gaussian densities at the points by two trees, relative error 1e-4",
        ),
        Peer(
            "TreeKDE",
            "KDEpy",
            _tree_kde,
            30_000,
            "Gaussian densities at the points, the kernel truncated at eps 1e-4",
        ),
        Peer(
            "FFTKDE",
            "KDEpy",
            _fft_kde,
            1_000_000,
            "not the same task: Gaussian densities on a grid of 1024 by 1024",
        ),
        Peer("MeanShift", "scikit-learn", _mean_shift, 3_000, "clusters, defaults, one process"),
        Peer("HDBSCAN", "scikit-learn", _hdbscan, 50_000, "clusters, defaults, all cores"),
        Peer(
            "fast_hdbscan",
            "fast_hdbscan",
            _fast_hdbscan,
            1_000_000,
            "clusters, defaults; compiled before the clock starts",
        ),
        Peer("ToMATo", "gudhi", _tomato, 1_000_000, "clusters, defaults, all cores"),
        Peer(
            "scikit-matter",
            "skmatter",
            _scikit_matter,
            5_000,
            "Quick Shift; densities summed by NumPy, because it computes none",
        ),
        Peer("pydpc", "pydpc", _pydpc, 10_000, "density peaks, all distances"),
        Peer(
            "DADApy",
            "dadapy",
            _dadapy,
            300_000,
            "density peaks: 100 neighbors, k*-NN densities, ADP",
            environment="bench-numpy1",
        ),
    )
}
