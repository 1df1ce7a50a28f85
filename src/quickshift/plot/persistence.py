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
    MOST_NUMBERED,
    Theme,
    drawn_density,
    set_log_scale,
    set_title,
    spread_labels,
    with_unit,
)
from quickshift.plot.chance_line import births_at, deaths_at
from quickshift.plot.display import Display
from quickshift.plot.fitted import dimension_of, log10_levels, quick_shift_of, require_tree
from quickshift.plot.thinning import RASTERIZED, drawn_rows, thinning_note
from quickshift.stages.tree.cluster_tree import ClusterTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.pipeline import Pipeline

    from quickshift.estimators.quick_shift import QuickShift

__all__ = ["PersistenceDisplay"]

_LINE_POINTS = 240
_LEAST_SPAN = 0.3  # powers of ten that both axes span at least
_STRIP = 0.14  # width of the strip of modes that are never absorbed, as a share of the other part


@dataclass(eq=False, repr=False, kw_only=True)
class PersistenceDisplay(Display):
    """The density at which each mode is born against the one at which a higher mode absorbs it.

    Modes on the diagonal vanish as soon as they appear. Modes are on or above the line of chance
    if and only if they are at least as significant as chance rarely exceeds. Mode i of a cluster
    has the color and the number of label i.

    A mode that meets no higher one has a significance nevertheless, because it is compared with its
    parent. It is drawn as a triangle, at the density at which a mode of that birth and significance
    would have been absorbed. Modes of infinite significance, such as the highest one, are drawn in
    a strip on the left with the label "never".

    Attributes
    ----------
    birth : ndarray of shape (n_leaves,)
        Decimal logarithm of the density at each mode.
    death : ndarray of shape (n_leaves,)
        Decimal logarithm of the density at which a higher mode absorbs it. If a mode meets no
        higher one, the density that follows from its significance; minus infinity if that is
        infinite or not known.
    alone : ndarray of shape (n_leaves,), bool
        Whether a mode meets no higher one.
    labels : ndarray of shape (n_leaves,)
        Label of the cluster whose mode each leaf is; -1 if it is not the mode of a cluster.
    leaf_indices : ndarray of shape (n_leaves,), int64
        Row of each mode.
    drawn : ndarray of shape (n_drawn,)
        The modes that are drawn: all, or the modes of clusters and 50 000 others.
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
    alone: Flags
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
        display = cls._of(tree, labels, dimension_of(model), unit)
        display.chance = model._chance()
        alone = display.alone
        significance = model._assessed_tree().known_significance()[alone]
        display.death[alone] = deaths_at(model, display.birth[alone], significance)
        display.chance_line = _chance_line(model, display)
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
        require_tree(tree)
        return cls._of(tree, np.arange(len(tree)), 0, unit)

    @classmethod
    def _of(cls, tree: ClusterTree, labels: Indices, n_features: int, unit: str | None) -> Self:
        birth, death = log10_levels(tree, tree.persistence()).T
        return cls(
            birth=birth,
            death=death,
            alone=np.isneginf(death),
            labels=labels,
            leaf_indices=tree.leaf_indices,
            drawn=drawn_rows(len(tree), np.flatnonzero(labels >= 0)),
            chance_line=np.empty((0, 2)),
            chance=math.nan,
            n_features=n_features,
            unit=unit,
        )

    def _draw(self, ax: Axes, theme: Theme) -> None:
        """Draw the modes, the diagonal and the line of chance."""
        low, high = self._ends()
        never = np.isneginf(self.death)
        edge = low - 0.04 * (high - low)  # of the strip
        strip = _STRIP * (high - edge) if never.any() else 0.0
        stacked = np.array([self.birth, np.where(never, edge - strip / 2, self.death)])
        (y, x), logarithmic = drawn_density(stacked)

        def drawn(levels: Floats) -> Floats:
            return np.power(10.0, levels) if logarithmic else levels

        ends = drawn(np.array([edge, high]))
        ax.plot(ends, ends, color=theme.faint, linewidth=1.0, zorder=1)
        line = drawn(self.chance_line[self.chance_line[:, 0] >= edge])
        ax.plot(*line.T, color=theme.ink, linewidth=1.2, linestyle="--", zorder=1)
        self._draw_modes(ax, theme, x, y)
        room = 0.10 * (high - low)
        ax.set_xlim(*drawn(np.array([edge - strip, high + room])))
        lowest = min(float(self.birth.min()), high - _LEAST_SPAN)
        ax.set_ylim(*drawn(np.array([lowest - room, high + room])))
        self._label_axes(ax, logarithmic=logarithmic)
        if never.any():
            _mark_strip(ax, theme, *drawn(np.array([edge - strip / 2, edge])).tolist())
        self._number_modes(ax, theme, x, y)
        set_title(ax, *self._title())

    def _ends(self) -> tuple[float, float]:
        """Return the lowest and the highest density of modes, including a part of the line."""
        known = np.concatenate([self.birth, self.death[np.isfinite(self.death)]])
        low, high = float(known.min()), float(known.max())
        if len(self.chance_line):
            low, high = min(low, float(self.chance_line[0, 0])), max(high, self._lowest_of_line())
        return min(low, high - _LEAST_SPAN), high

    def _lowest_of_line(self) -> float:
        return float(self.chance_line[:, 1].min())

    def _label_axes(self, ax: Axes, *, logarithmic: bool) -> None:
        name, unit = "log₁₀ of the density", None
        if logarithmic:
            set_log_scale(ax, "x")
            set_log_scale(ax, "y")
            name, unit = "density", self.unit if self.n_features else None
        ax.set_xlabel(with_unit(f"{name} where absorbed", unit, -self.n_features))
        ax.set_ylabel(with_unit(f"{name} where born", unit, -self.n_features))

    def _title(self) -> list[str]:
        line = f"dashed: chance, {self.chance:.3g} standard errors"
        placed = bool((self.alone & np.isfinite(self.death)).any())
        triangles = "triangles: meet no higher mode" + ", placed by significance" * placed
        return [
            f"{counted(len(self.birth), 'mode')}, "
            f"{counted(int((self.labels >= 0).sum()), 'cluster')}",
            line if len(self.chance_line) else "",
            triangles if self.alone.any() else "",
            thinning_note(len(self.drawn), len(self.birth), "modes"),
        ]

    def _draw_modes(self, ax: Axes, theme: Theme, x: Floats, y: Floats) -> None:
        kept, alone = self.labels >= 0, self.alone
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
        if order.size <= MOST_NUMBERED:
            texts = [str(self.labels[i]) for i in order]
            spread_labels(ax, theme, x[order], y[order], texts, offset=5)


def _chance_line(model: QuickShift, display: PersistenceDisplay) -> Floats:
    """Return deaths and births at which the significance is the one that chance rarely exceeds.

    The line begins at a death that is low enough for the highest mode to be above it.
    """
    highest = display.birth[[np.argmax(display.birth)]]
    crossing = deaths_at(model, highest, np.array([display.chance]))
    known = np.concatenate([display.birth, display.death, crossing])
    known = known[np.isfinite(known)]
    high = float(known.max())
    low = min(float(known.min()), high - _LEAST_SPAN)
    at = np.linspace(low - 0.1 * (high - low), high, _LINE_POINTS)
    return np.column_stack([at, births_at(model, at, display.chance)])


def _mark_strip(ax: Axes, theme: Theme, middle: float, edge: float) -> None:
    """Separate the strip on the left, and replace its ticks by the word "never"."""
    ax.axvline(edge, color=theme.muted, linewidth=0.8, zorder=1)
    to_share = ax.transData + ax.transAxes.inverted()
    major = [tick for tick in ax.get_xticks() if tick > edge]
    minor = [tick for tick in ax.get_xticks(minor=True) if tick > edge]
    # The label of a tick next to the strip would touch the word.
    roomy = [t for t in major if to_share.transform((t, ax.get_ylim()[0]))[0] > 1.4 * _STRIP]
    shown = [tick for tick in roomy if tick <= ax.get_xlim()[1]]
    ax.set_xticks([middle, *shown], ["never", *(f"{tick:g}" for tick in shown)])
    ax.set_xticks(minor, minor=True)
