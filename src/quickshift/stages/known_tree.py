"""The cluster tree of a density that is known, to compare estimates with."""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickshift.stages.checks import check_count, check_n_features, check_points
from quickshift.stages.cluster_tree import ClusterTree, link
from quickshift.stages.forest import cut
from quickshift.stages.parent_graph import climb
from quickshift.stages.tree_merges import joined_leaves, name_merges

__all__ = ["KnownDensity", "known_tree"]

Floats = NDArray[np.float64]

_CELLS = {1: 20_000, 2: 600}  # along each side, by the number of features
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
    cells = default if n_cells is None else check_count(n_cells, "n_cells", 1 << 20, "a limit")
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
    """Restrict a tree to its first rows, and to the leaves that have some of them."""
    held = np.bincount(tree.leaf_labels[:n_samples], minlength=tree.leaf_indices.size) > 0
    number = np.empty(held.size, dtype=np.int64)
    number[np.argsort(~held, kind="stable")] = np.arange(held.size)  # the empty ones come last
    n_leaves = int(held.sum())
    joined = number[joined_leaves(tree.merges)]
    merges, towards = name_merges(joined, tree.merges[:, 2], held.size)
    merges, towards = merges[merges[:, 1] < n_leaves], towards[:n_leaves]
    labels = number[tree.leaf_labels[:n_samples]]
    density = tree.density[:n_samples]
    rising = np.argsort(density, kind="stable")
    highest = np.empty(n_leaves, dtype=np.int64)
    highest[labels[rising]] = rising
    return ClusterTree(
        leaf_labels=labels,
        leaf_indices=highest,
        density=density,
        merges=merges,
        tau=tree.tau,
        sizes=np.bincount(labels, minlength=n_leaves).astype(np.float64),
        towards=np.where(towards == np.arange(n_leaves), -1, towards),
        pieces=labels,
        piece_merges=merges,
    )
