"""PersistenceDisplay: at which densities modes are born and absorbed, compared with chance."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from quickshift.arrays import Flags, Floats, Indices
from quickshift.bundles import counted
from quickshift.plot.axes import (
    Theme,
    drawn_density,
    set_log_scale,
    set_title,
    spread_labels,
    with_unit,
)
from quickshift.plot.display import Display
from quickshift.plot.fitted import log10_levels, quick_shift_of
from quickshift.plot.thinning import RASTERIZED, drawn_rows, thinning_note
from quickshift.stages.local_scale import LocalScale
from quickshift.stages.tree.cluster_tree import ClusterTree
from quickshift.stages.tree.significance import standard_errors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.pipeline import Pipeline

    from quickshift.estimators.quick_shift import QuickShift

__all__ = ["PersistenceDisplay"]

_LINE_POINTS = 60
_MOST_NUMBERED = 40
_HALVINGS = 60


@dataclass(eq=False, repr=False, kw_only=True)
class PersistenceDisplay(Display):
    """The density at which each mode is born against the one at which a higher mode absorbs it.

    Modes on the diagonal vanish as soon as they appear. Modes above the line of chance are more
    significant than spurious modes usually are. Mode i of a cluster has the color and the number
    of label i.

    Attributes
    ----------
    birth, death : ndarray of shape (n_leaves,)
        Decimal logarithm of the densities. ``death`` is minus infinity if a mode meets no higher
        one; such modes are drawn as triangles on the left.
    labels : ndarray of shape (n_leaves,)
        Label of the cluster whose mode each leaf is; -1 if it is not the mode of a cluster.
    leaf_indices : ndarray of shape (n_leaves,), int64
        Row of each mode.
    drawn : ndarray of shape (n_drawn,)
        The modes that are drawn: all, or the modes of clusters and 50 000
        others.
    chance_line : ndarray of shape (n_points, 2)
        Death and birth, as decimal logarithms, of modes that are as significant as chance rarely
        exceeds; empty if it is not known.
    chance : float
        That significance; NaN if it is not known.
    n_features : int
        Number of features, for the unit of the density; 0 if it is not known.
    unit : str or None
        Unit of the features.
    ax_, figure_
        Set by `plot`.
    """

    birth: Floats
    death: Floats
    labels: Indices
    leaf_indices: Indices
    drawn: Indices
    chance_line: Floats
    chance: float
    n_features: int
    unit: str | None

    def _facts(self) -> Iterable[str]:
        yield counted(len(self.birth), "mode")
        yield counted(int((self.labels >= 0).sum()), "cluster")
        yield f"chance {self.chance:.3g}"

    @classmethod
    def from_estimator(cls, fitted: QuickShift | Pipeline, *, unit: str | None = None) -> Self:
        """Compute births, deaths and the line of chance of a fit.

        Parameters
        ----------
        fitted : QuickShift or Pipeline
            After `fit`; of a pipeline, the last step.
        unit : str, optional
            Unit of the features, for the labels of the axes.

        Returns
        -------
        PersistenceDisplay

        Examples
        --------
        >>> from quickshift import QuickShift
        >>> from quickshift.datasets import blobs
        >>> from quickshift.plot import PersistenceDisplay
        >>> model = QuickShift().fit(blobs(600, centers=4, seed=0)[0])
        >>> display = PersistenceDisplay.from_estimator(model).plot()
        >>> display.labels[:5]
        array([ 0,  1, -1,  2,  3])
        """
        model = quick_shift_of(fitted)
        tree = model.tree_
        labels = np.full(len(tree), -1)
        labels[tree.leaf_labels[model.mode_indices_]] = np.arange(model.n_clusters_)
        display = cls._of(tree, labels, model.n_features_in_, unit)
        display.chance = model._chance()
        display.chance_line = _chance_line(model, display.birth, display.death)
        return display

    @classmethod
    def from_tree(cls, tree: ClusterTree, *, unit: str | None = None) -> Self:
        """Compute births and deaths of a tree; every leaf is a cluster, and chance is not known.

        Parameters
        ----------
        tree : ClusterTree
            The tree.
        unit : str, optional
            Unit of the features, for the labels of the axes.

        Returns
        -------
        PersistenceDisplay

        Examples
        --------
        >>> from quickshift.plot import PersistenceDisplay
        >>> from quickshift.stages import climb, cut, link
        >>> X, density = [[0.0], [1.0], [2.0], [3.0]], [10.0, 1.0, 10.0, 1.0]
        >>> tree = link(X, density, cut(climb(X, density), 1.5), 1.5)
        >>> PersistenceDisplay.from_tree(tree).death
        array([-inf,   0.])
        """
        if not isinstance(tree, ClusterTree):
            raise TypeError(
                f"tree is of type {type(tree).__name__}, expected a ClusterTree. Pass tree_ of a "
                f"fitted QuickShift, or use from_estimator."
            )
        return cls._of(tree, np.arange(len(tree)), 0, unit)

    @classmethod
    def _of(cls, tree: ClusterTree, labels: Indices, n_features: int, unit: str | None) -> Self:
        birth, death = log10_levels(tree, tree.persistence()).T
        return cls(
            birth=birth,
            death=death,
            labels=labels,
            leaf_indices=tree.leaf_indices,
            drawn=drawn_rows(len(tree), np.flatnonzero(labels >= 0)),
            chance_line=np.empty((0, 2)),
            chance=math.nan,
            n_features=n_features,
            unit=unit,
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the modes, the diagonal and the line of chance.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into; a new figure if not given.

        Returns
        -------
        PersistenceDisplay
            The display, with ``ax_`` and ``figure_``.
        """
        ax, theme = self._begin(ax)
        low, high = _ends(self.birth, self.death)
        edge = low - 0.06 * (high - low)
        alone = np.isneginf(self.death)
        stacked = np.array([self.birth, np.where(alone, edge, self.death)])
        (y, x), logarithmic = drawn_density(stacked)
        ends = drawn_density(np.array([low, high]))[0] if logarithmic else np.array([low, high])
        ax.plot(ends, ends, color=theme.faint, linewidth=1.0, zorder=1)
        if len(self.chance_line):
            line = drawn_density(self.chance_line)[0] if logarithmic else self.chance_line
            ax.plot(*line.T, color=theme.ink, linewidth=1.2, linestyle="--", zorder=1)
        self._draw_modes(ax, theme, x, y, alone)
        limits = np.array([edge - 0.04 * (high - low), high + 0.10 * (high - low)])
        shown = drawn_density(limits)[0] if logarithmic else limits
        ax.set(xlim=shown, ylim=shown)
        name, unit = "log₁₀ of the density", None
        if logarithmic:
            set_log_scale(ax, "x")
            set_log_scale(ax, "y")
            name, unit = "density", self.unit if self.n_features else None
        ax.set_xlabel(with_unit(f"{name} where absorbed", unit, -self.n_features))
        ax.set_ylabel(with_unit(f"{name} where born", unit, -self.n_features))
        self._number_modes(ax, theme, x, y)
        kept = int((self.labels >= 0).sum())
        set_title(
            ax,
            f"{counted(len(self.birth), 'mode')}, {counted(kept, 'cluster')}",
            f"dashed: chance, {self.chance:.3g} standard errors" if len(self.chance_line) else "",
            "triangles: absorbed by none" if alone.any() else "",
            thinning_note(len(self.drawn), len(self.birth), "modes"),
        )
        return self

    def _draw_modes(self, ax: Axes, theme: Theme, x: Floats, y: Floats, alone: Flags) -> None:
        kept = self.labels >= 0
        drawn = np.isin(np.arange(len(x)), self.drawn)
        for chosen, size, zorder in ((~kept, 10, 2), (kept, 38, 3)):
            for some, marker in ((chosen & alone & drawn, "<"), (chosen & ~alone & drawn, "o")):
                colors = theme.colors(self.labels[some])
                ax.scatter(
                    x[some],
                    y[some],
                    s=size,
                    c=colors,
                    marker=marker,
                    linewidths=0,
                    zorder=zorder,
                    rasterized=len(self.drawn) > RASTERIZED,
                )

    def _number_modes(self, ax: Axes, theme: Theme, x: Floats, y: Floats) -> None:
        order = np.argsort(self.labels, kind="stable")[(self.labels < 0).sum() :]
        if order.size <= _MOST_NUMBERED:
            texts = [str(self.labels[i]) for i in order]
            spread_labels(ax, theme, x[order], y[order], texts, offset=5)


def _ends(birth: Floats, death: Floats) -> tuple[float, float]:
    """Return the lowest and the highest density, at least a factor of two apart."""
    known = np.concatenate([birth, death[np.isfinite(death)]])
    low, high = float(known.min()), float(known.max())
    return (low, high) if high - low > 0.3 else (high - 0.3, high)


def _chance_line(model: QuickShift, birth: Floats, death: Floats) -> Floats:
    """Return deaths and births at which the significance is the one that chance rarely exceeds."""
    low, high = _ends(birth, death)
    at = np.linspace(low - 0.1 * (high - low), high, _LINE_POINTS)
    estimate, chance = model._estimate, model._chance()
    if isinstance(estimate, LocalScale):
        # The significance is d √(K/2) log(s / r), and the density is proportional to r^-d.
        born = at + chance / math.sqrt(estimate.n_neighbors / 2) / math.log(10)
        return np.column_stack([at, born])
    to_sums = estimate.log_constant / math.log(10)
    below, above = at.copy(), at + 300.0
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            sums = np.power(10.0, np.minimum(middle - to_sums, 300.0))
            errors = standard_errors(sums, np.power(10.0, at - to_sums), estimate)
        low_enough = errors < chance
        below, above = np.where(low_enough, middle, below), np.where(low_enough, above, middle)
    return np.column_stack([at, above])
