"""LevelSetDisplay: components above a density level beside the clusters of Quick Shift."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.bundles import counted
from quickshift.checks.numbers import check_choice, check_nonnegative
from quickshift.plot.axes import MOST_NUMBERED, Theme, set_title, spread_labels, with_unit
from quickshift.plot.display import Display
from quickshift.plot.fitted import feature_names, present_rows
from quickshift.plot.line import curve_width, density_curve, on_line, runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.pipeline import Pipeline

    from quickshift.estimators.quick_shift import QuickShift
    from quickshift.stages.tree.cluster_tree import ClusterTree

__all__ = ["LevelSetDisplay"]


@dataclass(eq=False, repr=False, kw_only=True)
class LevelSetDisplay(Display):
    """The density of samples on a line, with the components of a level set and the clusters.

    Clusters fill the area below the density, so every sample belongs to one. Components are bars at
    the level: samples below it belong to none. This is the subject of Figures 3 and 4 of the paper.

    Attributes
    ----------
    grid, density : ndarray of shape (n_grid,)
        The curve.
    level : float
        The level λ.
    component_intervals : ndarray of shape (n_components, 2)
        Ends of the pieces of the line that belong to a component.
    component_labels : ndarray of shape (n_components,)
        Label of the highest sample of the component that each piece belongs to.
    cluster_intervals : ndarray of shape (n_intervals, 2)
        Ends of the pieces of the line that belong to a cluster.
    cluster_labels : ndarray of shape (n_intervals,)
        Label of each.
    modes : ndarray of shape (n_clusters, 2)
        Coordinate and density of the modes; mode i has label i.
    n_components : int
        Number of components of the level set.
    share_below : float
        Share of the samples that are not above the level.
    name : str
        Label of the horizontal axis.
    unit : str or None
        Unit of the feature.
    ax_, figure_
        Set by `plot`.
    """

    grid: Floats
    density: Floats
    level: float
    component_intervals: Floats
    component_labels: Indices
    cluster_intervals: Floats
    cluster_labels: Indices
    modes: Floats
    n_components: int
    share_below: float
    name: str
    unit: str | None

    def _facts(self) -> Iterable[str]:
        yield f"{counted(self.n_components, 'component')} above {self.level:.4g}"
        yield counted(len(self.modes), "cluster")

    @classmethod
    def from_estimator(
        cls, fitted: QuickShift | Pipeline, *, level: float, unit: str | None = None
    ) -> Self:
        """Compute the components and the clusters of a fit.

        Parameters
        ----------
        fitted : QuickShift or Pipeline
            After `fit` on one feature; of a pipeline, the last step.
        level : float
            The density level λ.
        unit : str, optional
            Unit of the feature, for the labels of the axes.

        Returns
        -------
        LevelSetDisplay

        Examples
        --------
        >>> import numpy as np
        >>> from quickshift import QuickShift
        >>> from quickshift.plot import LevelSetDisplay
        >>> x = np.concatenate([np.linspace(0, 1, 50), np.linspace(2, 3, 50)])[:, None]
        >>> model = QuickShift(bandwidth=0.2, tau=0.5).fit(x)
        >>> display = LevelSetDisplay.from_estimator(model, level=0.3).plot()
        >>> display.n_components, len(display.modes)
        (2, 2)
        """
        model, x = on_line(fitted, cls.__name__)
        threshold = check_nonnegative(level, "level", "a density of at least 0")
        components = model.tree_.components_at(_level_of(model.tree_, threshold))
        grid, density = density_curve(model, x)
        ends = {"low": float(grid[0]), "high": float(grid[-1])}
        present = present_rows(model)
        pieces, of_piece = runs(x[present], components[present], **ends)
        intervals, labels = runs(x[present], model.labels_[present], **ends)
        highest_first = np.argsort(-model.density_, kind="stable")
        inside = highest_first[components[highest_first] >= 0]
        first = inside[np.unique(components[inside], return_index=True)[1]]
        return cls(
            grid=grid,
            density=density,
            level=threshold,
            component_intervals=pieces,
            component_labels=model.labels_[first][of_piece],
            cluster_intervals=intervals,
            cluster_labels=labels,
            modes=np.column_stack([model.modes_[:, 0], model.density_[model.mode_indices_]]),
            n_components=first.size,
            share_below=float((components[present] < 0).mean()),
            name=with_unit(feature_names(model)[0], unit),
            unit=unit,
        )

    def plot(self, ax: Axes | None = None, *, show: str = "both") -> Self:
        """Draw the density with the components and the clusters.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into; a new figure if not given.
        show : {"both", "components", "clusters"}, default="both"
            What to draw: "components" fills the area of the components and "clusters" that of the
            clusters; "both" fills the clusters and draws the components as bars.

        Returns
        -------
        LevelSetDisplay
            The display, with ``ax_`` and ``figure_``.
        """
        check_choice(show, "show", ("both", "components", "clusters"))
        ax, theme = self._begin(ax)
        if show == "components":
            self._fill(ax, theme, self.component_intervals, self.component_labels)
        else:
            self._fill(ax, theme, self.cluster_intervals, self.cluster_labels)
        ax.plot(self.grid, self.density, color=theme.ink, linewidth=curve_width(self.grid))
        ax.set(xlim=(self.grid[0], self.grid[-1]))
        ax.set_ylim(0, 1.15 * max(float(self.density.max()), self.level))
        if show != "clusters":
            ax.axhline(self.level, color=theme.ink, linewidth=1.0, linestyle="--")
        if show == "both":
            self._draw_bars(ax, theme)
        if show != "components":
            x, y = self.modes.T
            ax.scatter(x, y, s=20 if len(x) <= MOST_NUMBERED else 3, color=theme.ink, zorder=4)
            if len(self.modes) <= MOST_NUMBERED:
                texts = [str(label) for label in range(len(self.modes))]
                spread_labels(ax, theme, x, y, texts, offset=4)
        ax.set(xlabel=self.name, ylabel=with_unit("density", self.unit, -1))
        self._set_title(ax, show)
        return self

    def _fill(self, ax: Axes, theme: Theme, intervals: Floats, labels: Indices) -> None:
        colors = theme.colors(labels)
        for (low, high), color in zip(intervals, colors, strict=True):
            inner = (self.grid > low) & (self.grid < high)
            x = np.concatenate([[low], self.grid[inner], [high]])
            y = np.interp(x, self.grid, self.density)
            ax.fill_between(x, y, color=str(color), alpha=0.45, linewidth=0)

    def _draw_bars(self, ax: Axes, theme: Theme) -> None:
        colors = theme.colors(self.component_labels)
        for (low, high), color in zip(self.component_intervals, colors, strict=True):
            ax.hlines(self.level, low, high, colors=str(color), linewidth=5.0, zorder=3)

    def _set_title(self, ax: Axes, show: str) -> None:
        above = f"{counted(self.n_components, 'component')} above λ = {self.level:.3g}"
        below = f"{self.share_below:.0%} of the samples in none" if self.share_below else ""
        clusters = f"{counted(len(self.modes), 'cluster')} of Quick Shift"
        titles = {
            "components": (above, below),
            "clusters": (clusters,),
            "both": (f"filled: {clusters}", f"bars: {above}"),
        }
        set_title(ax, *titles[show])


def _level_of(tree: ClusterTree, density: float) -> float:
    """Return the level of a tree at a density, which differs if densities would overflow."""
    if density == 0 or (tree.log_unit == 0.0 and tree.power == 1.0):
        return density
    return math.exp((math.log(density) - tree.log_unit) / tree.power)
