"""The cluster tree of a density that is known, to compare estimates with."""

import math
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats
from quickshift.checks import check_count, check_n_features, check_points
from quickshift.stages.forest import cut
from quickshift.stages.parent_graph import climb
from quickshift.stages.tree.cluster_tree import ClusterTree, link
from quickshift.stages.tree.merges import joined_leaves, name_merges

__all__ = ["KnownDensity", "known_tree"]


_CELLS = {1: 20_000, 2: 600}  # along each side, by the number of features
_MOST_POINTS = 1 << 24  # of a grid
_MARGIN = 0.05  # of the grid beyond the points, as a share of their range


class KnownDensity(Protocol):
    """A density in one or two dimensions, as in `quickshift.datasets`."""

    @property
    def n_features(self) -> int:
        """Number of columns of its points."""

    def density(self, X: Floats, /) -> Floats:
        """Density at points."""


def known_tree(
    X: ArrayLike, known: KnownDensity, *, n_cells: int | None = None, n_jobs: int | None = None
) -> ClusterTree:
    """Cluster tree of a known density over samples.

    The level sets are joined on a grid of cells around the samples, through neighbours along the
    sides and the diagonals. A level at which two samples meet is off by at most the change of the
    density over 1.5 cells. At a saddle, where the density is flat, that is a multiple of the square
    of a cell's side: in the plane about 1e-4 of the highest density.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples, one or two features.
    known : KnownDensity
        The density, as from `quickshift.datasets`.
    n_cells : int, optional
        Cells along the longest side of the grid: by default 20 000 on a line, 600 in a plane.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    ClusterTree
        Its leaves are the modes that have samples, `leaf_indices` their highest samples.

    Examples
    --------
    >>> from quickshift.datasets import GaussianMixture
    >>> tree = known_tree([[-2.0], [-1.5], [2.0]], GaussianMixture([-2.0, 2.0]))
    >>> tree.labels(), tree.merge_level(0, [1, 2]).round(3)
    (array([1, 1, 0]), array([0.176, 0.054]))
    """
    points = check_points(X).astype(np.float64)
    check_n_features(points, known.n_features, "X")
    if known.n_features not in _CELLS:
        raise ValueError(
            f"the density has {known.n_features} features, expected 1 or 2: a grid over more is "
            f"too large."
        )
    default = _CELLS[known.n_features]
    most = _MOST_POINTS if known.n_features == 1 else math.isqrt(_MOST_POINTS)
    cells = default if n_cells is None else check_count(n_cells, "n_cells", most, "a limit")
    grid, side = _grid_around(points, cells)
    everywhere = np.concatenate([points, grid])
    density = known.density(everywhere)
    tau = 1.5 * side
    forest = cut(climb(everywhere, density, n_jobs=n_jobs), tau, n_jobs=n_jobs)
    return _over(link(everywhere, density, forest, tau, n_jobs=n_jobs), len(points))


def _grid_around(points: Floats, cells: int) -> tuple[Floats, float]:
    low, high = points.min(axis=0), points.max(axis=0)
    width = float((high - low).max()) or 1.0
    low, high = low - _MARGIN * width, high + _MARGIN * width
    side = (1 + 2 * _MARGIN) * width / cells
    axes = [np.arange(a, b + side, side) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, low.size), side


def _over(tree: ClusterTree, n_samples: int) -> ClusterTree:
    """Restrict a tree to its first rows, and to the leaves that have some of them.

    Leaves are numbered anew by their highest samples; one that is absorbed above its highest sample
    is so at that sample.
    """
    density = tree.density[:n_samples]
    rising = np.argsort(density, kind="stable")
    highest = np.full(tree.leaf_indices.size, -1, dtype=np.int64)
    highest[tree.leaf_labels[:n_samples][rising]] = rising
    held = np.flatnonzero(highest >= 0)
    held = held[np.argsort(-density[highest[held]], kind="stable")]
    empty = np.flatnonzero(highest < 0)
    number = np.empty(highest.size, dtype=np.int64)
    number[np.concatenate([held, empty])] = np.arange(highest.size)
    merges, _ = name_merges(number[joined_leaves(tree.merges)], tree.merges[:, 2], highest.size)
    merges = merges[merges[:, 1] < held.size]
    births = density[highest[held]]
    levels = np.minimum(merges[:, 2], births[joined_leaves(merges)[:, 1]])
    falling = np.argsort(-levels, kind="stable")
    merges, towards = name_merges(joined_leaves(merges[falling]), levels[falling], held.size)
    labels = number[tree.leaf_labels[:n_samples]]
    return ClusterTree(
        leaf_labels=labels,
        leaf_indices=highest[held],
        density=density,
        merges=merges,
        tau=tree.tau,
        sizes=np.bincount(labels, minlength=held.size).astype(np.float64),
        towards=np.where(towards == np.arange(held.size), -1, towards),
        pieces=labels,
        piece_merges=merges,
    )
