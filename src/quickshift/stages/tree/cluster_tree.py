"""Cluster trees: the level sets of the density at every level at once (Algorithm 2)."""

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickshift import _core
from quickshift.arrays import Floats, Indices
from quickshift.bundles import Bundle, counted, span
from quickshift.checks.clustering import check_taus
from quickshift.checks.numbers import check_length, check_nonnegative, n_axes
from quickshift.checks.points import check_finite_density, check_rows
from quickshift.checks.results import check_same_rows, require_result
from quickshift.memory import link_bytes, require_memory
from quickshift.progress import Progress, reporting
from quickshift.stages.forest import Forest
from quickshift.stages.samples import Samples, prepare
from quickshift.stages.tree.export import to_linkage, to_networkx, to_pandas
from quickshift.stages.tree.files import read_tree, write_tree
from quickshift.stages.tree.merges import joined_leaves, merges_of_leaves
from quickshift.stages.tree.pruning import contract, small_leaves
from quickshift.threads import resolve_threads

if TYPE_CHECKING:
    import networkx
    import pandas
    from matplotlib.axes import Axes

    from quickshift.plot import ClusterTreeDisplay

__all__ = ["ClusterTree", "link"]


_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, repr=False, eq=False)
class ClusterTree(Bundle):
    """The connected components of the level sets {density > level}, at every level.

    Leaves are the roots of the forest, numbered from the highest one down. A leaf is born at the
    density of its root. As the level decreases, components merge.

    Attributes
    ----------
    leaf_labels : ndarray of shape (n_samples,), int64
        Leaf of each sample; -1 at rows of weight zero, which are outside the tree.
    leaf_indices : ndarray of shape (n_leaves,), int64
        Row of each leaf's root.
    density : ndarray of shape (n_samples,)
        Density of each sample.
    merges : ndarray of shape (n_merges, 3)
        Surviving leaf, absorbed leaf and level of each merge, in descending order of level. The
        survivor is the highest leaf of its component. Leaves that never meet have no merge.
    tau : float or ndarray of shape (n_samples,)
        Samples closer than this are linked. If there is one length per sample, samples are linked
        that are no farther apart than the larger of their two lengths.
    sizes : ndarray of shape (n_leaves,)
        Total weight of each leaf's samples. With ``ties="strict"``, where equal rows may be in
        different leaves, they share their total weight equally.
    towards : ndarray of shape (n_leaves,), int64
        The higher leaf that takes over a leaf's samples if the leaf is pruned. If the leaf is
        absorbed, this is the leaf on the other side of the saddle where that happens. If it meets
        no other leaf, it is the leaf of its root's nearest higher sample, at any distance. -1 if no
        sample is higher.
    pieces : ndarray of shape (n_samples,), int64
        The leaf labels, except that a leaf is split into pieces wherever a parent has a lower
        density than its child. That happens only if the two differ in nothing but the last bits of
        their densities, which `climb` ignores, so the pieces are nearly always the leaves.
    piece_merges : ndarray of shape (n_piece_merges, 3)
        The merges of the pieces, in the form of ``merges``.
    significance : ndarray of shape (n_leaves,) or None
        Significance of each leaf in standard errors, see `assess`; None if the density estimate is
        not known.
    log_unit : float
        Logarithm of the unit of ``density`` and of all levels. It is 0 if they are densities. If
        densities would overflow or underflow, other numbers stand in their place: sums of kernel
        profiles, or with local scale 1/r. The logarithm of a density is then this number plus
        ``power`` times the logarithm of the number in its place.
    power : float
        See ``log_unit``: 1, or with 1/r in place of densities the number of features that are not
        constant.
    """

    leaf_labels: Indices
    leaf_indices: Indices
    density: Floats
    merges: Floats
    tau: float | Floats
    sizes: Floats
    towards: Indices
    pieces: Indices
    piece_merges: Floats
    significance: Floats | None = None
    log_unit: float = 0.0
    power: float = 1.0

    def __len__(self) -> int:
        """Return the number of leaves."""
        return len(self.leaf_indices)

    def _facts(self) -> Iterable[str]:
        merges = counted(len(self.merges), "merge")
        yield counted(len(self.leaf_labels), "sample")
        yield f"{counted(len(self), 'leaf', 'leaves')} born at {span(self.births)}"
        yield f"{merges} at {span(self.merges[:, 2])}" if len(self.merges) else merges
        yield f"tau {span(self.tau)}"

    @property
    def births(self) -> Floats:
        """Density at the root of each leaf."""
        return self.density[self.leaf_indices]

    def components_at(self, level: float) -> Indices:
        """Find the components of one level set.

        Parameters
        ----------
        level : float
            The paper's λ.

        Returns
        -------
        ndarray of shape (n_samples,), int64
            Component of each sample; component 0 holds the highest sample. -1 if the density of the
            sample is not above the level.

        Examples
        --------
        >>> from quickshift.stages import climb, cut
        >>> X, density = [[0.0], [1.0], [2.0], [3.0]], [3.0, 1.0, 2.0, 1.0]
        >>> tree = link(X, density, cut(climb(X, density), 1.5), 1.5)
        >>> tree.components_at(0.5), tree.components_at(1.5)
        (array([0, 0, 0, 0]), array([ 0, -1,  1, -1]))
        """
        threshold = check_nonnegative(level, "level", "a density of at least 0")
        inside = (self.pieces >= 0) & (self.density > threshold)
        top = _tops_above(self.piece_merges, self._n_pieces, threshold)[self.pieces[inside]]
        components = np.full(self.density.size, -1, dtype=np.int64)
        components[inside] = np.unique(top, return_inverse=True)[1]
        return components

    def merge_level(self, i: ArrayLike, j: ArrayLike) -> Any:
        """Return the level at which two samples meet.

        Parameters
        ----------
        i, j : int or array-like of int
            Rows of the samples; arrays are broadcast and compared pair by pair.

        Returns
        -------
        float or ndarray
            The supremum of the levels at which both samples are in the same component: they are
            together below it, but not at it. 0 if they never meet.

        Examples
        --------
        >>> from quickshift.stages import climb, cut
        >>> X, density = [[0.0], [1.0], [2.0], [3.0]], [3.0, 1.0, 2.0, 1.0]
        >>> tree = link(X, density, cut(climb(X, density), 1.5), 1.5)
        >>> tree.merge_level(0, [0, 2, 3])
        array([3., 1., 1.])
        """
        n = self.density.size
        first, second = np.broadcast_arrays(check_rows(i, "i", n), check_rows(j, "j", n))
        level = np.minimum(self.density[first], self.density[second])
        a, b = self.pieces[first], self.pieces[second]
        up, at = self._forest
        present = (a >= 0) & (b >= 0)
        level = np.where(present, level, 0.0)
        a, b = np.where(present, a, 0), np.where(present, b, 0)
        while (apart := a != b).any():
            # Replace the piece that is absorbed at the higher level by its survivor.
            step = np.maximum(at[a], at[b])
            level = np.where(apart, np.minimum(level, step), level)
            a, b = (
                np.where(apart & (at[a] == step), up[a], a),
                np.where(apart & (at[a] < step), up[b], b),
            )
            b = np.where(step == -np.inf, a, b)
        result = np.maximum(level, 0.0)
        return float(result) if result.ndim == 0 else result

    def labels(self) -> Indices:
        """Return flat labels: the leaf of each sample.

        Returns
        -------
        ndarray of shape (n_samples,), int64
            A copy of the leaf labels.

        Examples
        --------
        >>> from quickshift.stages import climb, cut
        >>> X, density = [[0.0], [1.0], [2.0], [3.0]], [3.0, 1.0, 2.0, 1.0]
        >>> link(X, density, cut(climb(X, density), 1.5), 1.5).labels()
        array([0, 0, 1, 1])
        """
        return self.leaf_labels.copy()

    def prune(
        self,
        *,
        significance: float | None = None,
        prominence: float | None = None,
        prominence_ratio: float | None = None,
        min_size: float | None = None,
    ) -> "ClusterTree":
        """Remove the leaves that do not meet all of the given conditions.

        The samples of a removed leaf go to the next higher leaf, see ``towards``. A stricter
        condition keeps a subset of the leaves that a weaker one keeps.

        Parameters
        ----------
        significance : float, optional
            Least significance of a leaf, in standard errors.
        prominence : float, optional
            Least difference between the birth of a leaf and the level at which it is absorbed.
        prominence_ratio : float, optional
            Least ratio of the birth of a leaf to the level at which it is absorbed; a leaf that
            meets no other leaf has an infinite ratio.
        min_size : float, optional
            Least total weight of the samples on each side of a merge, and of a leaf that meets no
            other leaf. The highest leaf always stays, because no leaf could take its samples.

        Returns
        -------
        ClusterTree
            A tree with a subset of the leaves, in the same order.

        Examples
        --------
        >>> from quickshift.stages import climb, cut
        >>> X, density = [[0.0], [1.0], [2.0], [3.0]], [3.0, 1.0, 2.0, 1.0]
        >>> tree = link(X, density, cut(climb(X, density), 1.5), 1.5)
        >>> tree.prune(prominence=0.5).labels(), tree.prune(prominence=1.5).labels()
        (array([0, 0, 1, 1]), array([0, 0, 0, 0]))
        """
        gone = np.zeros(self.leaf_indices.size, dtype=bool)
        birth, death = self.persistence().T
        if significance is not None:
            gone |= self.known_significance() < check_nonnegative(significance, "significance")
        if prominence is not None:
            gone |= birth - death < check_nonnegative(prominence, "prominence")
        if prominence_ratio is not None:
            least = check_nonnegative(prominence_ratio, "prominence_ratio")
            gone[death > 0] |= birth[death > 0] < least * death[death > 0]
        tree = contract(self, gone)
        if min_size is not None:
            tree = contract(tree, small_leaves(tree, check_nonnegative(min_size, "min_size")))
        return tree

    def known_significance(self) -> Floats:
        """Return the significance of each leaf, or raise if it is not known.

        Returns
        -------
        ndarray of shape (n_leaves,)
        """
        if self.significance is None:
            raise ValueError(
                "the significance of this tree's leaves is not known, expected a tree from "
                "QuickShift or `assess`: standard errors cannot be computed from densities "
                "alone. Call `assess` with the estimate first."
            )
        return self.significance

    def persistence(self) -> Floats:
        """Return the birth and the death of each leaf.

        Returns
        -------
        ndarray of shape (n_leaves, 2)
            Density at the root of the leaf, and level at which a higher leaf absorbs it; 0 if no
            leaf does.

        Examples
        --------
        >>> from quickshift.stages import climb, cut
        >>> X, density = [[0.0], [1.0], [2.0], [3.0]], [3.0, 1.0, 2.0, 1.0]
        >>> link(X, density, cut(climb(X, density), 1.5), 1.5).persistence()
        array([[3., 0.],
               [2., 1.]])
        """
        deaths = np.zeros(self.leaf_indices.size)
        deaths[joined_leaves(self.merges)[:, 1]] = self.merges[:, 2]
        return np.column_stack([self.births, deaths])

    def to_linkage(self) -> Floats:
        """Return the merges as a SciPy linkage matrix.

        Returns
        -------
        ndarray of shape (n_leaves - 1, 4)
            Observations are the leaves. The distance of a merge is the highest birth minus its
            level. Leaves that never meet are joined at level 0.

        Examples
        --------
        >>> from quickshift.stages import climb, cut
        >>> X, density = [[0.0], [1.0], [2.0], [3.0]], [3.0, 1.0, 2.0, 1.0]
        >>> link(X, density, cut(climb(X, density), 1.5), 1.5).to_linkage()
        array([[0., 1., 2., 2.]])
        """
        return to_linkage(self)

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the leaves as a table.

        Returns
        -------
        pandas.DataFrame
            One row per leaf: row of its root, birth, death, the leaf that absorbs it (-1 for none),
            the leaf that takes its samples if it is pruned, its size, and its significance (NaN if
            it is not known).
        """
        return to_pandas(self)

    def to_networkx(self) -> "networkx.DiGraph":
        """Return the merges as a directed graph.

        Returns
        -------
        networkx.DiGraph
            One node per leaf, with its row, birth and size. One edge from each absorbed leaf to the
            surviving one, with the level.
        """
        return to_networkx(self)

    def plot(
        self, ax: "Axes | None" = None, *, n_leaves: int | None = None, unit: str | None = None
    ) -> "ClusterTreeDisplay":
        """Draw the tree over density levels; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into; a new figure if not given.
        n_leaves : int, optional
            Number of leaves to draw, at most 250, which is the default: the most significant ones.
        unit : str, optional
            Unit of the features, for the label of the axis.

        Returns
        -------
        ClusterTreeDisplay
            With ``ax_``, ``figure_`` and everything that is drawn.

        Examples
        --------
        >>> from quickshift.stages import climb, cut
        >>> X, density = [[0.0], [1.0], [2.0], [3.0]], [3.0, 1.0, 2.0, 1.0]
        >>> link(X, density, cut(climb(X, density), 1.5), 1.5).plot()
        ClusterTreeDisplay(3 branches, 2 clusters, 0 leaves left out)
        """
        from quickshift.plot import ClusterTreeDisplay

        return ClusterTreeDisplay.from_tree(self, n_leaves=n_leaves, unit=unit).plot(ax)

    def save(self, path: str | Path) -> None:
        """Write the tree to a file of plain arrays (.npz) and JSON, without pickle.

        Parameters
        ----------
        path : str or Path
            The file to write; an existing file is overwritten.
        """
        write_tree(self, path)

    @classmethod
    def load(cls, path: str | Path) -> "ClusterTree":
        """Read a tree that was written by `save`.

        Parameters
        ----------
        path : str or Path
            The file to read. Nothing in it is executed. A file that is damaged, or that is no
            tree, is a ValueError.

        Returns
        -------
        ClusterTree
        """
        return cls(**read_tree(path))

    @cached_property
    def _n_pieces(self) -> int:
        return int(self.pieces.max()) + 1

    @cached_property
    def _forest(self) -> tuple[Indices, Floats]:
        levels = np.ascontiguousarray(self.piece_merges[:, 2])
        up, at = _core.merge_forest(joined_leaves(self.piece_merges), levels, self._n_pieces)
        return up.view(np.int64), at


def _tops_above(merges: Floats, n_leaves: int, level: float) -> Indices:
    """Return the highest leaf in the component of each leaf at a level."""
    up = np.arange(n_leaves)
    survivor, absorbed = joined_leaves(merges[merges[:, 2] > level]).T
    up[absorbed] = survivor
    return _core.find_roots(up, np.zeros(n_leaves), np.inf)[0].view(np.int64)


def link(
    X: ArrayLike | Samples,
    density: ArrayLike,
    forest: Forest,
    tau: float | ArrayLike,
    *,
    period: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> ClusterTree:
    """Build the cluster tree of a forest: Algorithm 2, for every level at once.

    At the level λ, the paper's G(λ) keeps the samples of density above λ and the edges between
    them. Components of G(λ) that are closer than tau to each other are joined. To know the
    components at every level, it is enough to find the highest saddle between any two trees of the
    forest. A saddle is a pair of samples closer than tau, one from each tree; the highest saddle is
    the pair whose lower density is highest.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or Samples
        The points.
    density : array-like of shape (n_samples,)
        Density of each sample, not negative. Rows of weight zero are ignored.
    forest : Forest
        From `cut`, of the same points.
    tau : float or array-like of shape (n_samples,)
        Samples closer than this are linked; the paper uses the tau of the cut. If there is one
        length per sample, samples are linked that are no farther apart than the larger of their two
        lengths; duplicates share the largest of theirs.
    period : array-like of shape (n_features,), optional
        Period of each feature, ``numpy.inf`` for a feature that is not periodic.
    n_jobs : int, optional
        Number of threads; None for all cores.
    progress : callable, optional
        Called as ``progress(stage, done)`` about ten times per second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation.

    Returns
    -------
    ClusterTree

    Examples
    --------
    >>> from quickshift.stages import climb, cut
    >>> X, density = [[0.0], [1.0], [2.0], [3.0]], [3.0, 1.0, 2.0, 1.0]
    >>> link(X, density, cut(climb(X, density), 1.5), 1.5).merges
    array([[0., 1., 1.]])
    """
    require_result(forest, Forest, "forest", "cut")
    samples = prepare(X, period=period, n_jobs=n_jobs, progress=progress)
    absent = samples.tree.absent_rows()
    if n_axes(tau) == 0:
        length: float | Floats = check_length(tau, "tau")
    else:
        length = check_taus(tau, samples.n_samples, ignored=absent)
    check_same_rows(forest.labels, samples.n_samples, absent)
    values = check_finite_density(density, samples.n_samples, absent)
    shape = samples.n_samples, samples.n_features
    require_memory(link_bytes(samples.n_samples), "link", shape)
    # The tree keeps both, and the caller may change the given arrays.
    values, length = values.copy(), deepcopy(length)
    return link_forest(samples, values, forest, length, n_jobs=n_jobs, progress=progress)


def link_forest(
    samples: Samples,
    values: Floats,
    forest: Forest,
    tau: float | Floats,
    *,
    near: NDArray[np.int32] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> ClusterTree:
    """Build the cluster tree of a forest as `link` does, from checked arguments.

    ``near`` is `LocalScale.near`, if ``tau`` is `LocalScale.tau`.
    """
    pieces, leaf_of_piece, dips = _split_at_dips(forest, values)
    with reporting(progress, "link") as report:
        joined, levels, _ = _core.saddles(
            samples.tree,
            values,
            pieces,
            leaf_of_piece.size,
            tau,
            dips,
            np.ascontiguousarray(forest.graph.parent[dips]),
            resolve_threads(n_jobs),
            report,
            near,
        )
    merges, beside = merges_of_leaves(joined, levels, forest.roots.size, leaf_of_piece)
    piece_merges = merges_of_leaves(joined, levels, leaf_of_piece.size)[0] if dips.size else merges
    return ClusterTree(
        leaf_labels=forest.labels,
        leaf_indices=forest.roots,
        density=values,
        merges=merges,
        tau=tau,
        sizes=_sizes(samples, forest),
        towards=_towards(forest, beside),
        pieces=pieces,
        piece_merges=piece_merges,
    )


def _towards(forest: Forest, beside: Indices) -> Indices:
    """Return `ClusterTree.towards`.

    ``beside`` is the leaf on the other side of the saddle, or the leaf itself if it meets no other;
    in that case the leaf of its root's parent is taken.
    """
    parent = forest.graph.parent[forest.roots]
    leaf_of_parent = np.where(parent == forest.roots, -1, forest.labels[parent])
    return np.where(beside == np.arange(beside.size), leaf_of_parent, beside)


def _sizes(samples: Samples, forest: Forest) -> Floats:
    """Return the weight of each tree.

    The rows at one location are in one tree, unless ties="strict" makes each of them a root. They
    then share the weight of the location equally.
    """
    rows, weights = samples.tree.first_rows()
    labels = forest.labels[rows]
    if len(rows) < samples.n_samples:
        slots = samples.tree.slots_of_rows()
        location_of_slot = np.empty(slots.max() + 1, dtype=np.int64)
        location_of_slot[slots[rows]] = np.arange(len(rows))
        counted = np.flatnonzero(slots >= 0)  # rows of weight zero have no slot
        location = location_of_slot[slots[counted]]
        if (forest.labels[counted] != labels[location]).any():
            labels = forest.labels[counted]
            weights = (weights / np.bincount(location))[location]
    return np.bincount(labels, weights, forest.roots.size).astype(np.float64, copy=False)


def _split_at_dips(forest: Forest, density: Floats) -> tuple[Indices, Indices, Indices]:
    """Split the trees at every edge whose parent has a lower density than its child.

    Returns
    -------
    pieces : (n,) piece of each row
    leaf_of_piece : (n_pieces,) tree that each piece is part of
    dips : rows whose parent has a lower density
    """
    parent = forest.graph.parent
    lower = density[parent] < density
    lower[forest.roots] = False
    dips = np.flatnonzero(lower & (forest.labels >= 0))
    if not dips.size:
        return forest.labels, np.arange(forest.roots.size), dips
    distance = forest.graph.distance.copy()
    distance[dips] = distance[forest.roots] = np.inf
    root, reached = _core.find_roots(parent, distance, _LARGEST)
    tops = forest.graph.highest_first(reached)
    pieces = _core.number_trees(root, tops).view(np.int64)
    return pieces, forest.labels[tops], dips
