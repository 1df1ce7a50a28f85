"""The mode estimators that the paper names, from their definitions, and scikit-learn's MeanShift.

Every function takes samples and returns modes, shape (k, d). Their parameters follow the theory of
each method, with constants of one:

- Mean shift has a flat kernel, which climbs the density of the Epanechnikov kernel. Its radius is
  √(d+4) times the bandwidth h of the Gaussian kernel, so that both kernels have the same variance.
- The three graph methods estimate f_k(x) = k / (n V_d r_k(x)^d) with k = n^(4/(4+d)) neighbors, the
  order for which Dasgupta and Kpotufe show the optimal rate.
- Density peaks takes the 2 % rule of its authors, and is told the number of modes, because it has
  no rule for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import cKDTree

from studies.limits import TooSlow

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_PAIRS = 30_000_000  # neighbors or distances that are held at once, about 1 GB


def mean_shift(X: Floats, bandwidth: float) -> Floats:
    """Return the modes of scikit-learn's MeanShift, started from occupied bins."""
    from sklearn.cluster import MeanShift

    radius = math.sqrt(X.shape[1] + 4) * bandwidth
    centers: Floats = (
        MeanShift(bandwidth=radius, bin_seeding=True, n_jobs=1).fit(X).cluster_centers_
    )
    return centers


def knn_modes(X: Floats) -> Floats:
    """Return the modes of Dasgupta and Kpotufe (2014), Optimal rates for k-NN density and modes.

    A sample is a mode if its component of the graph at a level lower by three standard errors,
    λ (1 - 3/√k), contains no mode yet.
    """
    k = neighbors(X)
    return X[[top for top, _ in cores(X, k, 3 / math.sqrt(k))]]


def modal_sets(X: Floats) -> Floats:
    """Return the centers of the modal sets of Jiang and Kpotufe (2017), Modal-set estimation.

    Components are taken at λ (1 - 9β), and their part above λ (1 - β) is the modal set; β is 1/√k,
    one standard error.
    """
    k = neighbors(X)
    beta = 1 / math.sqrt(k)
    density = knn_density(X, k)[0]
    found = cores(X, k, 9 * beta)
    return np.array([X[m[density[m] > (1 - beta) * density[top]]].mean(axis=0) for top, m in found])


def quick_shift_plus_plus(X: Floats) -> Floats:
    """Return the highest samples of the cores of Jiang, Jang and Kpotufe (2018), Quickshift++.

    A core is a component at λ (1 - β) with β = 0.3, the value of its authors.
    """
    return X[[top for top, _ in cores(X, neighbors(X), 0.3)]]


def density_peaks(X: Floats, n_modes: int) -> Floats:
    """Return the centers of Rodriguez and Laio (2014), given their number.

    The density is the number of samples within a cutoff, chosen so that it is 2 % of all samples on
    average. Centers have the largest products of density and distance to a higher sample.
    """
    n = len(X)
    if n * n > 30 * MOST_PAIRS:
        raise TooSlow("all distances take too much memory and time")
    some = np.random.default_rng(0).choice(n, size=min(n, 1000), replace=False)
    cutoff = float(np.quantile(np.linalg.norm(X[some, None] - X[some], axis=2), 0.02))
    tree = cKDTree(X)
    count = tree.query_ball_point(X, cutoff, return_length=True).astype(np.float64)
    order = np.lexsort((np.arange(n), -count))
    higher = np.full(n, math.inf)
    for place in range(1, n):
        rows = X[order[:place]] - X[order[place]]
        higher[order[place]] = math.sqrt(np.einsum("ij,ij->i", rows, rows).min())
    higher[order[0]] = higher[order[1:]].max()
    return X[np.argsort(-count * higher)[:n_modes]]


METHODS: dict[str, Callable[[Floats, float, int], Floats]] = {
    "MeanShift": lambda X, h, k: mean_shift(X, h),  # noqa: ARG005 (one signature for all)
    "k-NN modes": lambda X, h, k: knn_modes(X),  # noqa: ARG005
    "modal sets": lambda X, h, k: modal_sets(X),  # noqa: ARG005
    "Quickshift++": lambda X, h, k: quick_shift_plus_plus(X),  # noqa: ARG005
    "density peaks": lambda X, h, k: density_peaks(X, k),  # noqa: ARG005
}


def neighbors(X: Floats) -> int:
    """Return the number of neighbors n^(4/(4+d))."""
    n, d = X.shape
    return round(n ** (4 / (4 + d)))


def knn_density(X: Floats, k: int) -> tuple[Floats, Floats, Indices]:
    """Return f_k at every sample, the distances to the k nearest others, and their indices."""
    n, d = X.shape
    if n * k > MOST_PAIRS:
        raise TooSlow("the graph of neighbors takes too much memory")
    distance, index = cKDTree(X).query(X, k=k + 1)
    volume = math.pi ** (d / 2) / math.gamma(d / 2 + 1)
    return k / (n * volume * distance[:, -1] ** d), distance[:, 1:], index[:, 1:]


def cores(X: Floats, k: int, drop: float) -> list[tuple[int, Indices]]:
    """Return the highest sample and all members of each core of the mutual neighbor graph.

    From the highest sample on, a sample at level λ starts a core if its component at level
    λ (1 - drop) has no core yet. Two samples are neighbors if each is among the k nearest of the
    other. A maximum spanning tree has the same components at every level as the whole graph.
    """
    density, distance, index = knn_density(X, k)
    n = len(X)
    first = np.repeat(np.arange(n), k)
    second = index.ravel()
    mutual = (distance.ravel() <= distance[second, -1]) & (first < second)
    first, second = first[mutual], second[mutual]
    level = np.minimum(density[first], density[second])
    tree = minimum_spanning_tree(coo_matrix((1 / level, (first, second)), shape=(n, n))).tocoo()
    edges = sorted(zip(tree.data, tree.row, tree.col, strict=True))
    parent = np.arange(n)
    has_core = np.zeros(n, dtype=bool)
    found: list[tuple[int, Indices]] = []
    members = {i: [i] for i in range(n)}

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    used = 0
    for i in np.argsort(-density):
        while used < len(edges) and 1 / edges[used][0] >= density[i] * (1 - drop):
            a, b = root(edges[used][1]), root(edges[used][2])
            if len(members[a]) < len(members[b]):
                a, b = b, a
            parent[b], has_core[a] = a, has_core[a] | has_core[b]
            members[a] += members.pop(b)
            used += 1
        top = root(i)
        if not has_core[top]:
            has_core[top] = True
            found.append((int(i), np.array(members[top])))
    return found
