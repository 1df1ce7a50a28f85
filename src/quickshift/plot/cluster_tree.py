"""ClusterTreeDisplay: the components of all density levels, as wide as the samples in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from quickshift.arrays import Flags, Floats, Indices
from quickshift.bundles import counted
from quickshift.checks.numbers import check_count
from quickshift.plot.axes import (
    Theme,
    drawn_density,
    set_counts,
    set_log_scale,
    set_title,
    spread_labels,
    with_unit,
)
from quickshift.plot.display import Display
from quickshift.plot.fitted import dimension_of, log10_levels, quick_shift_of, require_tree
from quickshift.plot.tree_layout import Branches, branches_of, outlines, place
from quickshift.stages.tree.cluster_tree import ClusterTree
from quickshift.stages.tree.pruning import contract

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.pipeline import Pipeline

    from quickshift.estimators.quick_shift import QuickShift

__all__ = ["ClusterTreeDisplay"]

_MOST_LEAVES = 250  # have at most 499 branches
_LOWEST_SHARE = 0.005  # samples of the lowest densities that are not drawn
_LEAST_SPAN = 0.3  # powers of ten that the axis of the density spans at least


@dataclass(eq=False, repr=False, kw_only=True)
class ClusterTreeDisplay(Display):
    """The cluster tree over density levels.

    Every branch is a component of the level sets between two merges. It is as wide at a level as
    the number of its samples above that level. Branches within a cluster have the color of that
    cluster's label; branches of several clusters are gray.

    Attributes
    ----------
    levels : list of ndarray
        Decimal logarithm of the density along the outline of each branch, from top to bottom. The
        first branches are the leaves, in the order of the tree.
    widths : list of ndarray
        Number of samples (total weight) at these levels.
    centers : ndarray of shape (n_branches,)
        Horizontal position of the middle of each branch.
    below : ndarray of shape (n_branches,), int64
        The branch that each branch merges into; -1 if it merges into none.
    branch_labels : ndarray of shape (n_branches,), int64
        Label of the cluster that each branch is part of; -1 if it contains several clusters.
    leaf_indices : ndarray of shape (n_leaves,), int64
        Row of the mode of each leaf that is drawn.
    floor : float
        Decimal logarithm of the lowest level that is drawn.
    n_clusters : int
        Number of clusters.
    n_left_out : int
        Number of leaves that are not drawn. Their samples count in the branches that took them
        over.
    n_below : int
        Number of samples whose density is below the floor.
    n_features : int
        Number of features, for the unit of the density; 0 if it is not known.
    unit : str or None
        Unit of the features.
    ax_, figure_
        Set by `plot`.
    """

    levels: list[Floats]
    widths: list[Floats]
    centers: Floats
    below: Indices
    branch_labels: Indices
    leaf_indices: Indices
    floor: float
    n_clusters: int
    n_left_out: int
    n_below: int
    n_features: int
    unit: str | None

    def _facts(self) -> Iterable[str]:
        yield counted(len(self.centers), "branch", "branches")
        yield counted(self.n_clusters, "cluster")
        yield f"{counted(self.n_left_out, 'leaf', 'leaves')} left out"

    @classmethod
    def from_estimator(
        cls,
        fitted: QuickShift | Pipeline,
        *,
        n_leaves: int | None = None,
        unit: str | None = None,
    ) -> Self:
        """Compute the branches of a fit.

        Parameters
        ----------
        fitted : QuickShift or Pipeline
            After `fit`; of a pipeline, the last step.
        n_leaves : int, optional
            Number of leaves to draw, at most 250: the most significant ones. If it is not given,
            the leaves are the modes of the clusters. With more leaves than clusters, the plot
            shows modes that were not kept, in the color of the cluster that took their samples.
        unit : str, optional
            Unit of the features, for the label of the axis.

        Returns
        -------
        ClusterTreeDisplay

        Examples
        --------
        >>> from quickshift import QuickShift
        >>> from quickshift.datasets import blobs
        >>> from quickshift.plot import ClusterTreeDisplay
        >>> model = QuickShift().fit(blobs(600, centers=4, seed=0)[0])
        >>> display = ClusterTreeDisplay.from_estimator(model).plot()
        >>> display.leaf_indices.tolist() == model.mode_indices_.tolist()
        True
        >>> display.branch_labels
        array([0, 1, 2, 3])
        """
        model = quick_shift_of(fitted)
        tree = model.tree_
        chosen = np.isin(tree.leaf_indices, model.mode_indices_)
        kept = chosen
        if n_leaves is not None or chosen.sum() > _MOST_LEAVES:
            kept = _strongest(tree, n_leaves, first=chosen)
        labels = model.labels_[tree.leaf_indices]
        return cls._of(tree, kept, labels, dimension_of(model), unit)

    @classmethod
    def from_tree(
        cls, tree: ClusterTree, *, n_leaves: int | None = None, unit: str | None = None
    ) -> Self:
        """Compute the branches of a cluster tree, in which every leaf is a cluster.

        Parameters
        ----------
        tree : ClusterTree
            The tree; ``tree.prune(...)`` removes leaves that should not be drawn.
        n_leaves : int, optional
            Number of leaves to draw, at most 250, which is the default: the most significant ones,
            or if significances are not known, those with the largest ratio of birth to death.
        unit : str, optional
            Unit of the features, for the label of the axis.

        Returns
        -------
        ClusterTreeDisplay

        Examples
        --------
        >>> from quickshift.plot import ClusterTreeDisplay
        >>> from quickshift.stages import climb, cut, link
        >>> X, density = [[0.0], [1.0], [2.0], [3.0]], [3.0, 1.0, 2.0, 1.0]
        >>> tree = link(X, density, cut(climb(X, density), 1.5), 1.5)
        >>> display = ClusterTreeDisplay.from_tree(tree)
        >>> display.below, display.branch_labels
        (array([ 2,  2, -1]), array([ 0,  1, -1]))
        """
        require_tree(tree)
        kept = np.ones(len(tree), dtype=bool)
        if n_leaves is not None or len(tree) > _MOST_LEAVES:
            kept = _strongest(tree, n_leaves)
        return cls._of(tree, kept, np.arange(len(tree)), 0, unit)

    @classmethod
    def _of(
        cls, tree: ClusterTree, kept: Flags, labels: Indices, n_features: int, unit: str | None
    ) -> Self:
        # Of several highest leaves, which only strict ties give, the first takes over the others.
        drawn = contract(replace(tree, towards=np.maximum(tree.towards, 0)), ~kept)
        # A density of 0 has no logarithm, and is drawn at the lowest density above 0.
        positive = drawn.density[drawn.density > 0]
        least = positive.min() if positive.size else 1.0
        drawn = replace(drawn, density=np.maximum(drawn.density, least))
        present = np.flatnonzero(drawn.leaf_labels >= 0)
        leaves, log10 = drawn.leaf_labels[present], log10_levels(drawn, drawn.density[present])
        # A tree has the total weight of each leaf, but not that of each sample.
        weights = (drawn.sizes / np.bincount(leaves, minlength=len(drawn)))[leaves]
        branches = branches_of(drawn)
        floor = _floor(log10, branches)
        levels, widths = outlines(branches, leaves, log10, weights, floor)
        n_clusters = int(labels.max()) + 1
        labels = labels[np.isin(tree.leaf_indices, drawn.leaf_indices)]
        return cls(
            levels=levels,
            widths=widths,
            centers=place(branches, widths),
            below=branches.below,
            branch_labels=_common_labels(branches, labels),
            leaf_indices=drawn.leaf_indices,
            floor=floor,
            n_clusters=n_clusters,
            n_left_out=len(tree) - len(drawn),
            n_below=int((log10 <= floor).sum()),
            n_features=n_features,
            unit=unit,
        )

    def _draw(self, ax: Axes, theme: Theme) -> None:
        """Draw the branches."""
        from matplotlib.collections import PolyCollection

        ends, logarithmic = drawn_density(np.array([self.floor, *(y[0] for y in self.levels)]))
        heights = [drawn_density(y)[0] if logarithmic else y for y in self.levels]
        colors = np.where(
            self.branch_labels < 0, theme.faint, theme.colors(self.branch_labels)
        ).tolist()
        shapes = [
            np.column_stack([np.append(x - w / 2, (x + w / 2)[::-1]), np.append(y, y[::-1])])
            for x, w, y in zip(self.centers, self.widths, heights, strict=True)
        ]
        polygons = PolyCollection(shapes, facecolors=colors, edgecolors=colors, linewidths=0.4)
        ax.add_collection(polygons, autolim=False)
        total = float(sum(self.widths[i][-1] for i in np.flatnonzero(self.below < 0)))
        ax.set_xlim(-0.01 * total, 1.01 * total)
        self._set_levels(ax, ends, logarithmic=logarithmic)
        # Of the leaves of a cluster, the highest, which comes first, has the label.
        leaves = np.unique(self.branch_labels[: len(self.leaf_indices)], return_index=True)[1]
        leaves = leaves[np.argsort([-self.widths[i][-1] for i in leaves], kind="stable")]
        tops = np.array([heights[i][0] for i in leaves])
        texts = [str(self.branch_labels[i]) for i in leaves]
        spread_labels(ax, theme, self.centers[leaves], tops, texts)
        set_counts(ax, "x")
        ax.set_xlabel("number of samples above the level")
        left_out = f"{counted(self.n_left_out, 'weaker mode')} not drawn" if self.n_left_out else ""
        set_title(ax, f"Cluster tree: {counted(self.n_clusters, 'cluster')}", left_out)

    def _set_levels(self, ax: Axes, ends: Floats, *, logarithmic: bool) -> None:
        low, high = float(ends.min()), float(ends.max())
        unit = self.unit if self.n_features else None
        if logarithmic:
            room = max(high / low, 1.001) ** 0.12
            ax.set_ylim(low, high * room)
            set_log_scale(ax, "y")
            ax.set_ylabel(with_unit("density", unit, -self.n_features))
        else:
            ax.set_ylim(low, high + 0.12 * max(high - low, 1.0))
            ax.set_ylabel("log₁₀ of the density")


def _strongest(tree: ClusterTree, n_leaves: int | None, first: Flags | None = None) -> Flags:
    """Flag the leaves to draw: those flagged first, then the most significant ones."""
    most = min(_MOST_LEAVES, len(tree))
    count = most
    if n_leaves is not None:
        count = check_count(n_leaves, "n_leaves", most, "the number of leaves, but at most 250")
    birth, death = tree.persistence().T
    with np.errstate(divide="ignore"):
        strength = birth / death if tree.significance is None else tree.significance
    later = np.zeros(len(tree), dtype=bool) if first is None else ~first
    kept = np.zeros(len(tree), dtype=bool)
    kept[np.lexsort((-strength, later))[:count]] = True
    return kept


def _floor(log10: Floats, branches: Branches) -> float:
    """Return the lowest level to draw: nearly all samples and all merges are above it."""
    nearly_all = np.quantile(log10, _LOWEST_SHARE)
    merges = branches.bottom[np.isfinite(branches.bottom)]
    lowest = float(min(nearly_all, branches.top.min(), merges.min(initial=np.inf)))
    span = max(float(branches.top.max()) - lowest, _LEAST_SPAN)
    return float(branches.top.max()) - 1.03 * span


def _common_labels(branches: Branches, labels: Indices) -> Indices:
    """Return the label that all leaves of a branch share, or -1."""
    common = np.full(branches.top.size, -1)
    common[: labels.size] = labels
    for i in range(labels.size, common.size):
        left, right = common[branches.above[i]]
        common[i] = left if left == right else -1
    return common
