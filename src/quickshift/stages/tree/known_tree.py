"""The cluster tree of a known density, with which estimated trees are compared."""

import math
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats
from quickshift.checks.numbers import check_count
from quickshift.checks.points import check_n_features, check_points
from quickshift.checks.results import check_known_density, check_known_features
from quickshift.stages.forest import cut
from quickshift.stages.parent_graph import climb
from quickshift.stages.tree.cluster_tree import ClusterTree, link
from quickshift.stages.tree.merges import joined_leaves, merges_of_leaves

__all__ = ["KnownDensity", "known_tree"]


_CELLS = {1: 20_000, 2: 600}  # default number of cells along the longest side, per n_features
_MOST_POINTS = 1 << 24  # largest number of grid points
_MARGIN = 0.05  # width of the grid beyond the points, as a share of their range


class KnownDensity(Protocol):
    """A density in one or two dimensions, as in `quickshift.datasets`."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    def density(self, X: Floats, /) -> Floats:
        """Return the density at each row of ``X``."""


def known_tree(
    X: ArrayLike, known: KnownDensity, *, n_cells: int | None = None, n_jobs: int | None = None
) -> ClusterTree:
    """Compute the cluster tree of a known density over samples.

    The components of the level sets are found on a grid that covers the samples. Each grid point is
    connected to its neighbors along the axes and the diagonals. The error of a merge level is at
    most the change of the density over 1.5 cells. At a saddle, where the gradient vanishes, this is
    proportional to the square of a cell's side: in the plane about 1e-4 of the highest density.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples, with one or two features.
    known : KnownDensity
        The density, as from `quickshift.datasets`.
    n_cells : int, optional
        Number of cells along the longest side of the grid; by default 20 000 on a line and 600 in a
        plane.
    n_jobs : int, optional
        Number of threads; None for all cores.

    Returns
    -------
    ClusterTree
        Its leaves are the modes that have samples; ``leaf_indices`` has the row of the highest
        sample of each.

    Examples
    --------
    >>> from quickshift.datasets import GaussianMixture
    >>> tree = known_tree([[-2.0], [-1.5], [2.0]], GaussianMixture([-2.0, 2.0]))
    >>> tree.labels(), tree.merge_level(0, [1, 2]).round(3)
    (array([1, 1, 0]), array([0.176, 0.054]))
    """
    check_known_density(known, "known")
    points = check_points(X).astype(np.float64)
    check_n_features(points, known.n_features, "X")
    check_known_features(known.n_features, X)
    default = _CELLS[known.n_features]
    most = _MOST_POINTS if known.n_features == 1 else math.isqrt(_MOST_POINTS)
    cells = default if n_cells is None else check_count(n_cells, "n_cells", most, "a limit")
    grid, side = _grid_around(points, cells)
    everywhere = np.concatenate([points, grid])
    density = known.density(everywhere)
    tau = 1.5 * side
    forest = cut(climb(everywhere, density, n_jobs=n_jobs), tau, n_jobs=n_jobs)
    return _first_rows(link(everywhere, density, forest, tau, n_jobs=n_jobs), len(points))


def _grid_around(points: Floats, cells: int) -> tuple[Floats, float]:
    low, high = points.min(axis=0), points.max(axis=0)
    width = float((high - low).max()) or 1.0
    low, high = low - _MARGIN * width, high + _MARGIN * width
    side = (1 + 2 * _MARGIN) * width / cells
    axes = [np.arange(a, b + side, side) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, low.size), side


def _first_rows(tree: ClusterTree, n_samples: int) -> ClusterTree:
    """Restrict a tree to its first rows, which are the samples, and to the leaves with samples.

    Leaves are renumbered by the density of their highest sample. A leaf that is absorbed at a level
    above its highest sample is now absorbed at the density of that sample.
    """
    density = tree.density[:n_samples]
    ascending = np.argsort(density, kind="stable")
    highest = np.full(tree.leaf_indices.size, -1, dtype=np.int64)
    highest[tree.leaf_labels[:n_samples][ascending]] = ascending
    held = np.flatnonzero(highest >= 0)
    held = held[np.argsort(-density[highest[held]], kind="stable")]
    empty = np.flatnonzero(highest < 0)
    number = np.empty(highest.size, dtype=np.int64)
    number[np.concatenate([held, empty])] = np.arange(highest.size)
    joined = number[joined_leaves(tree.merges)]
    merges, _ = merges_of_leaves(joined, tree.merges[:, 2], highest.size)
    merges = merges[merges[:, 1] < held.size]
    births = density[highest[held]]
    levels = np.minimum(merges[:, 2], births[joined_leaves(merges)[:, 1]])
    order = np.argsort(-levels, kind="stable")
    merges, towards = merges_of_leaves(joined_leaves(merges[order]), levels[order], held.size)
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
