"""DecisionGraphDisplay: density against the move to the parent, where modes stand apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.bundles import counted
from quickshift.plot.axes import (
    MOST_NUMBERED,
    Theme,
    drawn_density,
    point_size,
    set_log_scale,
    set_title,
    spread_labels,
    with_unit,
)
from quickshift.plot.display import Display
from quickshift.plot.fitted import (
    dimension_of,
    log10_density_of,
    moves_of,
    quick_shift_of,
    unit_of_lengths,
)
from quickshift.plot.leaders import label_with_leaders
from quickshift.plot.thinning import RASTERIZED, drawn_rows, thinning_note

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.pipeline import Pipeline

    from quickshift.estimators.quick_shift import QuickShift

__all__ = ["DecisionGraphDisplay"]

_N_CANDIDATES = 3
_LONGEST_DRAWN = 2_000  # this many of the longest moves are drawn in any case


@dataclass(eq=False, repr=False, kw_only=True)
class DecisionGraphDisplay(Display):
    """The density of each sample against its move to the parent.

    Modes are the samples above the line at tau: those whose nearest higher sample is farther away.
    With local scale, every sample has a tau of its own; moves are then divided by it, and the line
    is at 1. Modes of clusters have the color and the number of their label. The other modes, which
    were merged into clusters, are gray circles.

    Attributes
    ----------
    rows : ndarray of shape (n_drawn,)
        Rows of the samples that are drawn: all whose move is positive, or a choice of 50 000.
    log10_density : ndarray of shape (n_drawn,)
        Decimal logarithm of their densities.
    moves : ndarray of shape (n_drawn,)
        Lengths of their moves, or multiples of tau of the sample; infinite if no sample is higher.
    labels : ndarray of shape (n_drawn,)
        Label of the mode of a cluster, otherwise -1.
    candidates : ndarray of shape (n_candidates,)
        Rows of the samples that are nearly modes of clusters, at most three: the most significant
        modes that were not kept; if all were kept, the samples with the longest kept moves.
    tau : float
        The longest move kept; 1 if the moves are relative.
    relative : bool
        Whether the moves are relative to tau of the sample.
    n_modes : int
        Number of modes at tau, before some were merged.
    n_samples : int
        Number of samples of the fit.
    n_unmoved : int
        Number of duplicates, which move nowhere and are not drawn.
    n_features : int
        Number of dimensions, for the unit of the density.
    unit : str or None
        Unit of the features.
    unit_of_moves : str or None
        Unit of the moves; None if the features were scaled.
    ax_, figure_
        Set by `plot`.
    """

    rows: Indices
    log10_density: Floats
    moves: Floats
    labels: Indices
    candidates: Indices
    tau: float
    relative: bool
    n_modes: int
    n_samples: int
    n_unmoved: int
    n_features: int
    unit: str | None
    unit_of_moves: str | None

    def _facts(self) -> Iterable[str]:
        yield counted(self.n_samples, "sample")
        yield f"{counted(self.n_modes, 'mode')} above tau"
        yield counted(int((self.labels >= 0).sum()), "cluster")

    @classmethod
    def from_estimator(cls, fitted: QuickShift | Pipeline, *, unit: str | None = None) -> Self:
        """Compute what is drawn of a fit.

        Parameters
        ----------
        fitted : QuickShift or Pipeline
            After `fit`; of a pipeline, the last step.
        unit : str, optional
            Unit of the features, for the labels of the axes.

        Returns
        -------
        DecisionGraphDisplay

        Examples
        --------
        >>> from quickshift import QuickShift
        >>> from quickshift.datasets import blobs
        >>> from quickshift.plot import DecisionGraphDisplay
        >>> model = QuickShift(bandwidth=0.5, tau=3.0).fit(blobs(600, centers=4, seed=0)[0])
        >>> display = DecisionGraphDisplay.from_estimator(model).plot()
        >>> display.rows[display.moves > display.tau].tolist() == sorted(model.mode_indices_)
        True
        """
        model = quick_shift_of(fitted)
        moves, tau, relative = moves_of(model)
        moving = np.flatnonzero(moves > 0)  # excludes duplicates, and rows of weight zero
        candidates = _candidates(model, moves, tau)
        longest = moving[np.argsort(-moves[moving], kind="stable")[:_LONGEST_DRAWN]]
        always = np.concatenate([longest, candidates, model.mode_indices_])
        rows = np.intersect1d(drawn_rows(len(moves), always), moving)
        labels = np.full(len(moves), -1)
        labels[model.mode_indices_] = np.arange(model.n_clusters_)
        return cls(
            rows=rows,
            log10_density=log10_density_of(model)[rows],
            moves=moves[rows],
            labels=labels[rows],
            candidates=candidates,
            tau=tau,
            relative=relative,
            n_modes=model._clusters.unmerged.roots.size,
            n_samples=len(moves),
            n_unmoved=int((moves == 0).sum()),
            n_features=dimension_of(model),
            unit=unit,
            unit_of_moves=unit_of_lengths(model, unit),
        )

    def _draw(self, ax: Axes, theme: Theme) -> None:
        """Draw the samples, the line at tau and the modes."""
        x, logarithmic = drawn_density(self.log10_density)
        y = self._heights()
        plain = (self.labels < 0) & (self.moves <= self.tau)
        merged = (self.labels < 0) & ~plain
        raster = bool(plain.sum() > RASTERIZED)
        size = point_size(ax, int(plain.sum()))
        ax.axhline(self._tau_drawn(), color=theme.ink, linewidth=1.0, linestyle="--", zorder=2)
        ax.scatter(x[plain], y[plain], s=size, color=theme.muted, linewidths=0, rasterized=raster)
        ax.scatter(x[merged], y[merged], s=16, facecolors="none", edgecolors=theme.muted, zorder=3)
        self._set_scales(ax, x, y, logarithmic=logarithmic)
        self._mark(ax, theme, x, y)
        n_merged = self.n_modes - int((self.labels >= 0).sum())
        set_title(
            ax,
            self._verdict(),
            f"circles: {n_merged} of them were merged" if n_merged else "",
            f"{self.n_unmoved:,} duplicates not drawn" if self.n_unmoved else "",
            thinning_note(len(self.rows), self.n_samples - self.n_unmoved),
        )

    def _verdict(self) -> str:
        """Say how many modes there are, in terms of the axis."""
        one = self.n_modes == 1
        moving = f"{counted(self.n_modes, 'sample')} {'moves' if one else 'move'} farther than"
        if self.relative:
            return f"{moving} {'its' if one else 'their'} τ"
        return f"{moving} τ = {self.tau:.4g}"

    def _heights(self) -> Floats:
        """Return the moves as drawn; samples without a parent are above all others."""
        finite = self.moves[np.isfinite(self.moves)]
        top = 2.0 * max(finite.max(initial=0.0), self._tau_drawn())
        return np.where(np.isfinite(self.moves), self.moves, top)

    def _tau_drawn(self) -> float:
        """Return tau, or a number beyond all moves if it is 0 or infinite."""
        finite = self.moves[np.isfinite(self.moves)]
        if self.tau == 0:
            return float(finite.min(initial=1.0)) / 2
        return self.tau if np.isfinite(self.tau) else 2 * float(finite.max(initial=0.5))

    def _set_scales(self, ax: Axes, x: Floats, y: Floats, *, logarithmic: bool) -> None:
        low, high = min(y.min(), self._tau_drawn()), max(y.max(), self._tau_drawn())
        room = max(high / low, 10.0) ** 0.08
        ax.set_ylim(low / room, high * room**1.5)
        set_log_scale(ax, "y")
        if logarithmic:
            room = max(x.max() / x.min(), 2.0) ** 0.06
            ax.set_xlim(x.min() / room, x.max() * room)
            set_log_scale(ax, "x")
            ax.set_xlabel(with_unit("density", self.unit, -self.n_features))
        else:
            ax.set_xlabel("log₁₀ of the density")
        absolute = with_unit("move to the parent", self.unit_of_moves)
        ax.set_ylabel("move / τ of the sample" if self.relative else absolute)

    def _mark(self, ax: Axes, theme: Theme, x: Floats, y: Floats) -> None:
        """Draw the modes of clusters with their labels, and name the candidates."""
        kept = np.flatnonzero(self.labels >= 0)
        kept = kept[np.argsort(self.labels[kept])]
        colors = theme.colors(self.labels[kept])
        highest = np.isinf(self.moves[kept])
        for chosen, marker in ((highest, "^"), (~highest, "o")):
            some = kept[chosen]
            ax.scatter(x[some], y[some], s=36, c=colors[chosen], marker=marker, zorder=4)
        near = np.searchsorted(self.rows, self.candidates)
        shown = kept if len(kept) <= MOST_NUMBERED else kept[:0]
        spread_labels(ax, theme, x[shown], y[shown], [str(self.labels[i]) for i in shown], offset=5)
        names = [f"row {self.rows[i]}" for i in near]
        points = np.column_stack([x, y])
        label_with_leaders(ax, theme, points[near], names, points)


def _candidates(model: QuickShift, moves: Floats, tau: float) -> Indices:
    """Return the rows that come next if more clusters are wanted."""
    roots = model._clusters.unmerged.roots
    merged = np.setdiff1d(roots, model.mode_indices_)
    if merged.size:
        tree = model._assessed_tree()
        strength = tree.known_significance()[tree.leaf_labels[merged]]
        return merged[np.argsort(-strength, kind="stable")[:_N_CANDIDATES]]
    kept = np.flatnonzero((moves > 0) & (moves <= tau) & np.isfinite(moves))
    kept = np.setdiff1d(kept, model.mode_indices_)
    return kept[np.argsort(-moves[kept], kind="stable")[:_N_CANDIDATES]]
