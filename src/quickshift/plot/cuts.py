"""CutsDisplay: how many clusters every tau, or every least significance, gives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.bundles import counted
from quickshift.checks.numbers import check_choice
from quickshift.plot.axes import Theme, set_log_scale, set_title, spread_labels, with_unit
from quickshift.plot.display import Display
from quickshift.plot.fitted import moves_of, quick_shift_of, unit_of_lengths

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.pipeline import Pipeline

    from quickshift.estimators.quick_shift import QuickShift

__all__ = ["CutsDisplay"]

_MOST_STEPS = 2_000
_N_PLATEAUS = 6  # the longest ones, which are shaded
_SHORTEST_PLATEAU = 0.02  # in powers of ten
_ALWAYS_FEW = 10  # plateaus of this many clusters are shaded even if there are few samples
_NEGLIGIBLE = 0.2  # share of chance; modes of less significance are not drawn


@dataclass(eq=False, repr=False, kw_only=True)
class CutsDisplay(Display):
    """The number of clusters against tau, or against the least significance of a mode.

    The longest plateaus, the ranges in which the number of clusters does not change, are shaded:
    the longer, the darker. Both axes are logarithmic, so a plateau is as long as the ratio of its
    ends.

    Attributes
    ----------
    by : {"tau", "significance"}
        The quantity on the horizontal axis.
    thresholds : ndarray of shape (n_steps,)
        Values at which the number of clusters changes, ascending: lengths of moves, or multiples of
        tau of the sample; or significances, from a fifth of that of chance or half of the chosen
        one on. At most 2000; where there are more, they are thinned out at numbers of clusters
        above 1000.
    n_clusters : ndarray of shape (n_steps + 1,)
        Number of clusters below the first threshold, between each two, and above the last one. A
        cut at exactly a threshold counts as above it for tau, and as below it for significance.
    plateaus : ndarray of shape (n_plateaus, 3)
        Lower end, upper end and number of clusters of the longest plateaus, the longest first.
        Those with more clusters than a tenth of the samples are not among them.
    chosen : float
        The cut of the fit: tau, 1 if moves are relative, or the least significance.
    n_chosen : int
        Number of clusters of the fit.
    chance : float
        Significance that chance rarely exceeds; NaN for tau.
    relative : bool
        Whether the moves are relative to tau of the sample.
    unit : str or None
        Unit of the features.
    ax_, figure_
        Set by `plot`.
    """

    by: str
    thresholds: Floats
    n_clusters: Indices
    plateaus: Floats
    chosen: float
    n_chosen: int
    chance: float
    relative: bool
    unit: str | None

    def _facts(self) -> Iterable[str]:
        yield f"by {self.by}"
        yield f"{self.n_clusters[-1]} to {self.n_clusters[0]} clusters"
        yield f"{self.n_chosen} chosen"

    @classmethod
    def from_estimator(
        cls, fitted: QuickShift | Pipeline, *, by: str | None = None, unit: str | None = None
    ) -> Self:
        """Compute the steps of a fit.

        Parameters
        ----------
        fitted : QuickShift or Pipeline
            After `fit`; of a pipeline, the last step.
        by : {"tau", "significance"}, optional
            "tau": the cuts of `QuickShift.labels_at`, without merging; with local scale, at
            multiples of tau of each sample. "significance": the cuts of
            ``recut(min_significance=...)``, of the modes at ``tau_``. If it is not given, the one
            that the clusters of the fit were found by: "tau" if ``tau`` was given to `QuickShift`
            or to ``recut``, otherwise "significance".
        unit : str, optional
            Unit of the features, for the label of the axis.

        Returns
        -------
        CutsDisplay

        Examples
        --------
        >>> from quickshift import QuickShift
        >>> from quickshift.datasets import blobs
        >>> from quickshift.plot import CutsDisplay
        >>> model = QuickShift(bandwidth=0.5, tau=3.0).fit(blobs(600, centers=4, seed=0)[0])
        >>> display = CutsDisplay.from_estimator(model).plot()
        >>> low, high, count = display.plateaus[0]
        >>> int(count), bool(low <= 3.0 < high)
        (4, True)
        """
        model = quick_shift_of(fitted)
        if by is None:
            by = "significance" if isinstance(model._settings.tau, str) else "tau"
        check_choice(by, "by", ("tau", "significance"))
        relative, chance = False, float("nan")
        if by == "tau":
            values, chosen, relative = moves_of(model)
            values = values[~np.isnan(values)]
        else:
            values = model._assessed_tree().known_significance()
            chosen, chance = model.min_significance_, model._chance()
        least = 0.0
        if by == "significance":
            least = min(_NEGLIGIBLE * chance, 0.5 * chosen or np.inf)
        thresholds, n_clusters = _steps(values, least)
        return cls(
            by=by,
            thresholds=thresholds,
            n_clusters=n_clusters,
            plateaus=_plateaus(thresholds, n_clusters, len(model.labels_) / 10),
            chosen=chosen,
            n_chosen=model.n_clusters_,
            chance=chance,
            relative=relative,
            unit=unit_of_lengths(model, unit),
        )

    def _draw(self, ax: Axes, theme: Theme) -> None:
        """Draw the steps, the plateaus and the chosen cut."""
        low, high = self._range()
        edges = np.concatenate([[low], self.thresholds, [high]])
        ax.stairs(self.n_clusters, edges, color=theme.ink, linewidth=1.4, baseline=None)
        ax.set_xlim(low, high)
        ax.set_ylim(0.7, 2.2 * float(self.n_clusters.max()))
        set_log_scale(ax, "x")
        set_log_scale(ax, "y")
        self._shade(ax, theme)
        self._mark_chosen(ax, theme)
        name = "least significance of a mode (standard errors)"
        if self.by == "tau":
            own = "τ as a multiple of each sample's own"
            name = own if self.relative else with_unit("τ", self.unit)
        ax.set(xlabel=name, ylabel="number of clusters")

    def _range(self) -> tuple[float, float]:
        """Return the limits of the horizontal axis, which include the chosen cut."""
        finite = [value for value in (self.chosen, self.chance) if 0 < value < np.inf]
        known = np.concatenate([self.thresholds, finite])
        if not known.size:
            return 0.1, 10.0
        room = max(known.max() / known.min(), 10.0) ** 0.08
        return float(known.min() / room), float(known.max() * room)

    def _shade(self, ax: Axes, theme: Theme) -> None:
        if not len(self.plateaus):
            return
        lengths = np.log10(self.plateaus[:, 1] / self.plateaus[:, 0])
        for (low, high, _), share in zip(self.plateaus, lengths / lengths[0], strict=True):
            ax.axvspan(low, high, color=theme.muted, alpha=0.08 + 0.22 * share, linewidth=0)
        middle = np.sqrt(self.plateaus[:, 0]) * np.sqrt(self.plateaus[:, 1])
        texts = [f"{count:.0f}" for count in self.plateaus[:, 2]]
        spread_labels(ax, theme, middle, self.plateaus[:, 2], texts)

    def _mark_chosen(self, ax: Axes, theme: Theme) -> None:
        color = str(theme.colors(np.array([0]))[0])
        above = self.thresholds <= self.chosen  # a cut at a threshold keeps the move, or the mode
        at = int((above if self.by == "tau" else self.thresholds < self.chosen).sum())
        count = int(self.n_clusters[at])
        if 0 < self.chosen < np.inf:
            ax.axvline(self.chosen, color=color, linewidth=1.2)
            ax.plot([self.chosen], [count], "o", color=color, markersize=6, zorder=4)
        if self.by == "significance":
            ax.axvline(self.chance, color=theme.ink, linewidth=1.0, linestyle=":")
            told = self.chosen not in {0.0, self.chance}
            note = f"line: least significance kept, {self.chosen:.3g}" if told else ""
            chance = f"dotted: chance, {self.chance:.3g}"
            set_title(ax, f"{counted(self.n_chosen, 'cluster')} of the fit", note, chance)
            return
        cut = "at the τ of each sample" if self.relative else f"at τ = {self.chosen:.4g}"
        kept = f"{self.n_chosen} kept as clusters" if count != self.n_chosen else ""
        set_title(ax, f"{counted(count, 'mode')} {cut}", kept)


def _steps(values: Floats, least: float) -> tuple[Floats, Indices]:
    """Return where the number of clusters changes, and the numbers before, between and after.

    The number of clusters at a threshold is the number of values above it; values up to ``least``
    are left out.
    """
    finite = np.sort(values[np.isfinite(values) & (values > least)])
    n_infinite = int(np.isinf(values).sum())
    thresholds, first = np.unique(finite, return_index=True)
    counts = n_infinite + finite.size - np.append(first, finite.size)
    if thresholds.size > _MOST_STEPS:
        few = _MOST_STEPS // 2
        many = np.geomspace(few, thresholds.size, few + 1)[1:].astype(np.int64)
        chosen = thresholds.size - np.unique(np.concatenate([np.arange(1, few + 1), many]))[::-1]
        thresholds, counts = thresholds[chosen], counts[np.append(chosen, counts.size - 1)]
    return thresholds, counts.astype(np.int64)


def _plateaus(thresholds: Floats, n_clusters: Indices, most: float) -> Floats:
    """Return the longest ranges between two thresholds, the longest first."""
    table = np.column_stack([thresholds[:-1], thresholds[1:], n_clusters[1:-1]])
    table = table[(table[:, 2] <= most) | (table[:, 2] <= _ALWAYS_FEW)]
    lengths = np.log10(table[:, 1] / table[:, 0])
    order = np.argsort(-lengths, kind="stable")[:_N_PLATEAUS]
    return table[order[lengths[order] > _SHORTEST_PLATEAU]]
