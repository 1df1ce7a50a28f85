"""SeparationDisplay: what separates two samples on a line, as in Figure 2 of the paper."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from quickshift.arrays import Floats
from quickshift.checks.results import check_row_pair
from quickshift.estimators.diagnosis import diagnose
from quickshift.plot.axes import Theme, set_title, with_unit
from quickshift.plot.display import Display
from quickshift.plot.fitted import feature_names, periods_of, present_rows
from quickshift.plot.line import curve_width, density_curve, on_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.pipeline import Pipeline

    from quickshift.estimators.quick_shift import QuickShift

__all__ = ["SeparationDisplay"]


@dataclass(eq=False, repr=False, kw_only=True)
class SeparationDisplay(Display):
    """How a valley of the density separates two samples on a line.

    The samples A and B are (r_s, δ)-separated by a point S between them if the lowest density
    within r_s of A and B is higher by δ than the highest density within r_s of S. This is the
    subject of Figure 2 of the paper.

    Attributes
    ----------
    grid, density : ndarray of shape (n_grid,)
        The curve.
    ends : ndarray of shape (2, 2)
        Coordinate and density of A and of B.
    separators : ndarray of shape (n_separators,)
        Coordinates of S: one point between A and B, or two if the feature is periodic.
    r_s : float
        The radius.
    level : float
        Highest density within r_s of S.
    delta : float
        Lowest density within r_s of A and B, minus the level; A and B are separated if it is
        positive.
    name : str
        Label of the horizontal axis.
    unit : str or None
        Unit of the feature.
    ax_, figure_
        Set by `plot`.
    """

    grid: Floats
    density: Floats
    ends: Floats
    separators: Floats
    r_s: float
    level: float
    delta: float
    name: str
    unit: str | None

    def _facts(self) -> Iterable[str]:
        yield f"r_s {self.r_s:.4g}"
        yield f"delta {self.delta:.4g}"

    @classmethod
    def from_estimator(
        cls,
        fitted: QuickShift | Pipeline,
        pair: tuple[int, int],
        *,
        r_s: float | None = None,
        unit: str | None = None,
    ) -> Self:
        """Compute what separates two samples of a fit.

        Parameters
        ----------
        fitted : QuickShift or Pipeline
            After `fit` on one feature; of a pipeline, the last step.
        pair : two int
            Rows of A and B.
        r_s : float, optional
            The radius; if it is not given, that of `quickshift.diagnose`, 2.1 times tau.
        unit : str, optional
            Unit of the feature, for the labels of the axes.

        Returns
        -------
        SeparationDisplay

        Examples
        --------
        >>> import numpy as np
        >>> from quickshift import QuickShift
        >>> from quickshift.plot import SeparationDisplay
        >>> x = np.concatenate([np.linspace(0, 1, 50), np.linspace(3, 4, 50)])[:, None]
        >>> model = QuickShift(bandwidth=0.3, tau=0.2).fit(x)
        >>> display = SeparationDisplay.from_estimator(model, (25, 75)).plot()
        >>> display.separators, display.delta > 0
        (array([2.]), True)
        """
        model, x = on_line(fitted, cls.__name__)
        found = diagnose(model, pair=check_row_pair(pair), separation_radius=r_s).separation
        assert found is not None  # because there is a pair
        grid, density = density_curve(model, x)
        rows, present = np.array(pair), present_rows(model)
        radius = found.r_s * float(model.scale_[0])  # in the units of the feature
        return cls(
            grid=grid,
            density=density,
            ends=np.column_stack([x[rows], model.density_[rows]]),
            separators=_separators(
                x[present],
                model.density_[present],
                x[rows],
                radius,
                float(periods_of(model)[0]),
            ),
            r_s=radius,
            level=found.level,
            delta=found.delta,
            name=with_unit(feature_names(model)[0], unit),
            unit=unit,
        )

    def _draw(self, ax: Axes, theme: Theme) -> None:
        """Draw the density, the balls around A, B and S, and δ."""
        red, gold = theme.colors(np.array([5, 3])).tolist()
        width = curve_width(self.grid)
        ax.plot(self.grid, self.density, color=theme.ink, linewidth=width, zorder=3)
        self._draw_balls(ax, theme, red, gold)
        lowest = self.level + self.delta
        ax.axhline(lowest, color=red, linestyle=":", linewidth=1.8)
        ax.axhline(self.level, color=gold, linestyle=":", linewidth=1.8)
        at = self.separators[0]
        if self.delta > 0:
            ax.annotate(
                "",
                (at, lowest),
                (at, self.level),
                arrowprops={"arrowstyle": "<->", "color": theme.ink, "shrinkA": 0, "shrinkB": 0},
            )
            middle = (lowest + self.level) / 2
            ax.annotate(
                "δ",
                (at, middle),
                (6, 0),
                textcoords="offset points",
                va="center",
                color=theme.ink,
            )
        ax.set_xlim(self.grid[0], self.grid[-1])
        ax.set_ylim(-0.08 * float(self.density.max()), 1.18 * float(self.density.max()))
        ax.set(xlabel=self.name, ylabel=with_unit("density", self.unit, -1))
        verdict = f"separated, δ = {self.delta:.3g}" if self.delta > 0 else "not separated"
        set_title(
            ax,
            f"A and B are {verdict}",
            f"shaded: within r$_s$ = {self.r_s:.3g} of A, B and S",
        )

    def _draw_balls(self, ax: Axes, theme: Theme, red: str, gold: str) -> None:
        balls = [("A", self.ends[0, 0], red), ("B", self.ends[1, 0], red)]
        balls += [("S", place, gold) for place in self.separators]
        for name, place, color in balls:
            low, high = max(place - self.r_s, self.grid[0]), min(place + self.r_s, self.grid[-1])
            ax.axvspan(low, high, color=color, alpha=0.18, linewidth=0)
            height = float(np.interp(place, self.grid, self.density))
            ax.plot([place], [height], "o", color=theme.ink, markersize=5, zorder=4)
            offset = (0, -13) if name == "S" else (0, 5)
            ax.annotate(
                name,
                (place, height),
                offset,
                textcoords="offset points",
                ha="center",
                color=theme.ink,
            )


def _separators(x: Floats, density: Floats, ends: Floats, r: float, period: float) -> Floats:
    """Return the samples around which the highest density within r is lowest, one per path.

    In a gap between samples that is wider than 2r, it is the middle of the gap.
    """
    low, high = float(ends.min()), float(ends.max())
    copies = np.array([0.0]) if np.isinf(period) else np.array([-period, 0.0, period])
    places, heights = (x + copies[:, None]).reshape(-1), np.tile(density, copies.size)
    order = np.argsort(places, kind="stable")
    places, heights = places[order], heights[order]
    paths = [(low, high)] if np.isinf(period) else [(low, high), (high, low + period)]
    found = np.array([_lowest(places, heights, *path, r) for path in paths])
    return found if np.isinf(period) else found % period


def _lowest(places: Floats, heights: Floats, low: float, high: float, r: float) -> float:
    """Return the point between two others with the lowest maximum within r; places are sorted."""
    between = places[(places >= low) & (places <= high)]
    gap = int(np.argmax(np.diff(between))) if between.size > 1 else 0
    if between.size > 1 and between[gap + 1] - between[gap] > 2 * r:
        return float(between[gap] + between[gap + 1]) / 2
    first = np.searchsorted(places, between - r, side="left")
    last = np.searchsorted(places, between + r, side="right")
    # Maxima over the slices from first to last: every second one of these pairs of ends.
    pairs = np.column_stack([first, last]).reshape(-1)
    highest = np.maximum.reduceat(np.append(heights, -np.inf), pairs)[::2]
    own = heights[np.searchsorted(places, between)]
    return float(between[np.lexsort((own, highest))[0]])
