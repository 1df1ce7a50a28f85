"""ForestDisplay: samples with the moves to their parents, as in Figure 1 of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Flags, Floats, Indices
from quickshift.bundles import counted
from quickshift.checks.plots import check_drawn_points, check_features
from quickshift.plot.axes import Theme, plain, point_size, set_title, spread_labels, with_unit
from quickshift.plot.display import Display
from quickshift.plot.fitted import (
    coordinates_of,
    feature_names,
    is_on_globe,
    moves_of,
    periods_of,
    quick_shift_of,
)
from quickshift.plot.thinning import RASTERIZED, drawn_rows, thinning_note

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.pipeline import Pipeline

    from quickshift.estimators.quick_shift import QuickShift

__all__ = ["ForestDisplay"]

_FEW_CUT = 40  # more dashed moves than this are thinner and fainter
_MOST_NUMBERED = 60  # modes are numbered up to this many
_LARGEST_ASPECT = 4.0  # ranges that differ more than this have different scales


@dataclass(eq=False, repr=False, kw_only=True)
class ForestDisplay(Display):
    """Samples in the colors of their clusters, with the moves to their parents.

    Moves longer than tau are dashed, and modes are marked with their labels. With one feature, the
    samples are drawn over it at the height of their density.

    Attributes
    ----------
    rows : ndarray of shape (n_drawn,)
        Rows of the samples that are drawn: all of them, or a choice of 50 000.
    points : ndarray of shape (n_drawn, 2)
        Where they are drawn.
    labels : ndarray of shape (n_drawn,)
        Their labels.
    kept_moves : ndarray of shape (n_kept, 2, 2)
        Start and end of every move that is kept. Moves across the end of a period appear twice,
        once at each end of it.
    kept_labels : ndarray of shape (n_kept,)
        Label of the sample that each of them starts from.
    cut_moves : ndarray of shape (n_cut, 2, 2)
        Start and end of every move longer than tau.
    modes : ndarray of shape (n_clusters, 2)
        Where the modes are drawn; mode i has label i.
    limits : ndarray of shape (2, 2)
        Lower and upper limit of both axes; NaN if they follow from the points.
    names : tuple of two str
        Labels of the axes.
    features_text : str
        Which of the features are drawn, in words; empty if there are no others.
    n_samples : int
        Number of samples of the fit.
    equal : bool
        Whether both axes have the same scale.
    tau_text : str
        The cut in words.
    ax_, figure_
        Set by `plot`.
    """

    rows: Indices
    points: Floats
    labels: Indices
    kept_moves: Floats
    kept_labels: Indices
    cut_moves: Floats
    modes: Floats
    limits: Floats
    names: tuple[str, str]
    features_text: str
    n_samples: int
    equal: bool
    tau_text: str

    def _facts(self) -> Iterable[str]:
        yield counted(self.n_samples, "sample")
        yield counted(len(self.modes), "cluster")
        yield f"{len(self.cut_moves)} dashed"

    @classmethod
    def from_estimator(
        cls,
        fitted: QuickShift | Pipeline,
        X: ArrayLike | None = None,
        *,
        features: Sequence[int] | Sequence[str] | None = None,
        unit: str | None = None,
    ) -> Self:
        """Compute what is drawn of a fit.

        Parameters
        ----------
        fitted : QuickShift or Pipeline
            After `fit`; of a pipeline, the last step.
        X : array-like of shape (n_samples, 2), optional
            Where to draw the samples, for example an embedding of many features in the plane. If it
            is not given, two features of the samples are drawn.
        features : pair of int or of str, optional
            The features to draw if the samples have more than one, as column numbers or as names of
            the data frame that was fitted: by default the first two, or longitude and latitude with
            ``metric="haversine"``.
        unit : str, optional
            Unit of the features, for the labels of the axes; with ``metric="haversine"``, "rad" if
            it is not given.

        Returns
        -------
        ForestDisplay

        Examples
        --------
        >>> from quickshift import QuickShift
        >>> from quickshift.datasets import blobs
        >>> from quickshift.plot import ForestDisplay
        >>> model = QuickShift().fit(blobs(600, centers=4, seed=0)[0])
        >>> display = ForestDisplay.from_estimator(model)
        >>> display.points.shape, display.modes.shape
        ((600, 2), (4, 2))
        >>> display.plot().ax_.get_xlabel()
        'x0'
        """
        model = quick_shift_of(fitted)
        n_samples = len(model.labels_)
        rows = drawn_rows(n_samples, model.mode_indices_)
        involved = np.union1d(rows, model.parent_[rows])
        if X is not None:
            places = np.asarray(check_drawn_points(X, n_samples), dtype=np.float64)[involved]
            names, period = ("first coordinate", "second coordinate"), np.full(2, np.inf)
            features_text = ""
        else:
            chosen = _chosen_features(model, features)
            places, names, period = _places(model, involved, chosen, unit)
            features_text = _features_text(feature_names(model), chosen)
        start = places[np.searchsorted(involved, rows)]
        end = places[np.searchsorted(involved, model.parent_[rows])]
        kept, cut = _kept_and_cut(model, rows)
        kept_moves, of_kept = _segments(start[kept], end[kept], period)
        length = np.where(np.isfinite(period), period, np.nan)
        first = -0.5 if is_on_globe(model) else 0.0  # in periods
        return cls(
            rows=rows,
            points=start,
            labels=model.labels_[rows],
            kept_moves=kept_moves,
            kept_labels=model.labels_[rows[kept]][of_kept],
            cut_moves=_segments(start[cut], end[cut], period)[0],
            modes=places[np.searchsorted(involved, model.mode_indices_)],
            limits=length[:, None] * np.array([first, first + 1.0]),
            names=names,
            features_text=features_text,
            n_samples=n_samples,
            equal=X is None and model.n_features_in_ > 1,
            tau_text="τ of the sample" if moves_of(model)[2] else f"τ = {model.tau_:.4g}",
        )

    def plot(self, ax: Axes | None = None, *, moves: bool = True) -> Self:
        """Draw the samples, the moves and the modes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into; a new figure if not given.
        moves : bool, default=True
            Whether to draw the moves.

        Returns
        -------
        ForestDisplay
            The display, with ``ax_`` and ``figure_``.
        """
        ax, theme = self._begin(ax)
        raster = len(self.rows) > RASTERIZED
        size = point_size(ax, len(self.rows))
        if moves:
            self._draw_moves(ax, theme, raster=raster)
        ax.scatter(
            self.points[:, 0],
            self.points[:, 1],
            s=size,
            c=theme.colors(self.labels),
            linewidths=0,
            zorder=2,
            rasterized=raster,
        )
        self._set_limits(ax)
        self._mark_modes(ax, theme)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        dashed = f"dashed: longer than {self.tau_text}" if len(self.cut_moves) else ""
        set_title(
            ax,
            counted(len(self.modes), "cluster"),
            self.features_text,
            dashed if moves else "",
            thinning_note(len(self.rows), self.n_samples),
        )
        return self

    def _draw_moves(self, ax: Axes, theme: Theme, *, raster: bool) -> None:
        from matplotlib.collections import LineCollection

        shared = {"zorder": 1, "rasterized": raster}
        strength = min((_FEW_CUT / max(len(self.cut_moves), 1)) ** 0.5, 1.0)
        cut = LineCollection(
            list(self.cut_moves),
            colors=theme.muted,
            linewidths=0.8 * max(strength, 0.5),
            alpha=max(strength, 0.3),
            linestyles="--",
            **shared,
        )
        colors = theme.colors(self.kept_labels)
        kept = LineCollection(
            list(self.kept_moves), colors=list(colors), linewidths=0.6, alpha=0.7, **shared
        )
        ax.add_collection(cut, autolim=False)
        ax.add_collection(kept, autolim=False)

    def _set_limits(self, ax: Axes) -> None:
        ax.margins(0.04)
        fixed = ~np.isnan(self.limits[:, 0])
        if fixed[0]:
            ax.set_xlim(*self.limits[0])
        if fixed[1]:
            ax.set_ylim(*self.limits[1])
        width, height = np.ptp(self.points, axis=0)
        similar = max(width, height) <= _LARGEST_ASPECT * min(width, height)
        if self.equal and similar:
            ax.set_aspect("equal")

    def _mark_modes(self, ax: Axes, theme: Theme) -> None:
        from matplotlib.patheffects import withStroke

        count = len(self.modes)
        numbered = count <= _MOST_NUMBERED
        x, y = self.modes.T
        ax.scatter(
            x,
            y,
            s=float(np.clip(2400 / count, 45, 170)) if numbered else 5,
            marker="*" if numbered else "o",
            c=theme.background,
            edgecolors=theme.ink,
            linewidths=1.1 if numbered else 0.5,
            path_effects=[withStroke(linewidth=3.5, foreground=theme.background)] * numbered,
            zorder=3,
            clip_on=False,  # a mode may lie on the end of a period
        )
        if numbered:
            texts = [str(label) for label in range(count)]
            spread_labels(ax, theme, x, y, texts, offset=9, bold=True)


def _chosen_features(
    model: QuickShift, features: Sequence[int] | Sequence[str] | None
) -> list[int]:
    """Return the numbers of the features that are drawn: two, or the only one."""
    if model.n_features_in_ == 1:
        return [0]
    if features is None:
        return [1, 0] if is_on_globe(model) else [0, 1]  # maps have the longitude to the right
    return list(check_features(features, feature_names(model)))


def _features_text(names: list[str], chosen: list[int]) -> str:
    """Say which features are drawn, if not all of them are."""
    if len(names) == len(chosen):
        return ""
    first, second = (plain(names[feature]) for feature in chosen)
    return f"features {first} and {second} of {len(names)}"


def _places(
    model: QuickShift, rows: Indices, chosen: list[int], unit: str | None
) -> tuple[Floats, tuple[str, str], Floats]:
    """Return where rows are drawn, the labels of the axes and their periods."""
    points, names, periods = coordinates_of(model, rows), feature_names(model), periods_of(model)
    if len(chosen) == 1:
        places = np.column_stack([points[:, 0], model.density_[rows]])
        labels = with_unit(names[0], unit), with_unit("density", unit, -1)
        return places, labels, np.array([periods[0], np.inf])
    unit = "rad" if unit is None and is_on_globe(model) else unit
    first, second = (with_unit(names[feature], unit) for feature in chosen)
    return points[:, chosen], (first, second), periods[chosen]


def _kept_and_cut(model: QuickShift, rows: Indices) -> tuple[Flags, Flags]:
    """Flag the rows whose move is kept, and those whose move is longer than tau."""
    moves, tau, _ = moves_of(model)
    moving = np.isfinite(model.parent_distance_[rows])
    kept = moving & (moves[rows] <= tau) & ~np.isin(rows, model.mode_indices_)
    return kept, moving & ~kept


def _segments(start: Floats, end: Floats, period: Floats) -> tuple[Floats, Indices]:
    """Return segments from start to end, along the nearest image, and the number of each move.

    A move that crosses the end of a period is drawn at both ends.
    """
    closed = np.isfinite(period)
    by = end - start
    by[:, closed] -= period[closed] * np.rint(by[:, closed] / period[closed])
    across = np.flatnonzero((np.abs(start + by - end) > 1e-9 * np.abs(by).max(initial=1.0)).any(1))
    first = np.stack([start, start + by], axis=1)
    second = np.stack([end[across] - by[across], end[across]], axis=1)
    return np.concatenate([first, second]), np.concatenate([np.arange(len(start)), across])
