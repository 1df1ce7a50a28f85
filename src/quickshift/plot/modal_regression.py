"""ModalRegressionDisplay: samples, branches of modes and a prediction set, and the mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from quickshift.arrays import Floats, Indices
from quickshift.bundles import counted
from quickshift.checks.plots import check_one_feature
from quickshift.checks.regression import check_coverage, check_grid, check_one_output
from quickshift.checks.results import check_model
from quickshift.estimators.modal_regressor import ModalRegressor
from quickshift.estimators.trace import trace_branches
from quickshift.plot.axes import Theme, point_size, set_title, with_unit
from quickshift.plot.display import Display
from quickshift.plot.fitted import feature_names
from quickshift.plot.thinning import RASTERIZED, drawn_rows, thinning_note
from quickshift.stages.regression.joint import scale_queries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quickshift.stages.regression.branches import Branch
    from quickshift.stages.regression.prediction_set import PredictionSet

__all__ = ["ModalRegressionDisplay"]

_GRID_POINTS = 301
_BLOCK = 1 << 24  # number of kernels that are held in memory at once


@dataclass(eq=False, repr=False, kw_only=True)
class ModalRegressionDisplay(Display):
    """The samples of a modal regression with its branches and its prediction set.

    The kernel mean, with the bandwidth of the model in x, shows where a regression of the mean
    would lie.

    Attributes
    ----------
    rows : ndarray of shape (n_drawn,)
        Rows of the samples that are drawn: all of them, or a choice of 50 000.
    x, y : ndarray of shape (n_drawn,)
        The samples.
    grid : ndarray of shape (n_grid,)
        Increasing values of x.
    branches : list of Branch
        The modes followed along the grid.
    prediction_set : PredictionSet
        Intervals at each point of the grid.
    coverage : float
        Probability of the prediction set.
    mean : ndarray of shape (n_grid,)
        The kernel mean; NaN where no sample is within the support of a compact kernel.
    n_samples : int
        Number of samples of the fit.
    name : str
        Label of the horizontal axis.
    ax_, figure_
        Set by `plot`.
    """

    rows: Indices
    x: Floats
    y: Floats
    grid: Floats
    branches: list[Branch]
    prediction_set: PredictionSet
    coverage: float
    mean: Floats
    n_samples: int
    name: str

    def _facts(self) -> Iterable[str]:
        yield counted(self.n_samples, "sample")
        yield counted(len(self.branches), "branch", "branches")
        yield f"coverage {self.coverage:.4g}"

    @classmethod
    def from_estimator(
        cls,
        fitted: ModalRegressor,
        *,
        grid: ArrayLike | None = None,
        coverage: float = 0.9,
        unit: str | None = None,
    ) -> Self:
        """Compute the branches and the prediction set of a fit.

        Parameters
        ----------
        fitted : ModalRegressor
            After `fit` on one feature and one response.
        grid : array-like of shape (n_grid,), optional
            Increasing values of x; 301 values over the range of the samples if not given.
        coverage : float, default=0.9
            Probability of the prediction set.
        unit : str, optional
            Unit of the feature, for the label of the axis.

        Returns
        -------
        ModalRegressionDisplay

        Examples
        --------
        >>> from quickshift import ModalRegressor
        >>> from quickshift.datasets import two_branches
        >>> from quickshift.plot import ModalRegressionDisplay
        >>> model = ModalRegressor().fit(*two_branches().sample(2000, seed=0))
        >>> display = ModalRegressionDisplay.from_estimator(model).plot()
        >>> len(display.branches), display.mean.shape
        (2, (301,))
        """
        check_model(fitted, ModalRegressor)
        check_is_fitted(fitted)
        check_one_feature(fitted.n_features_in_, cls.__name__)
        data = fitted._data
        check_one_output(data.y)
        x = np.asarray(data.X[:, 0], dtype=np.float64)
        present = x[data.weights > 0]
        if grid is None:
            grid = np.linspace(float(present.min()), float(present.max()), _GRID_POINTS)
            grid = np.unique(grid)
        at = check_grid(grid)
        rows = drawn_rows(len(x))
        return cls(
            rows=rows,
            x=x[rows],
            y=data.y[rows],
            grid=at,
            branches=trace_branches(fitted, at),
            prediction_set=fitted._sets_at(at[:, None], [check_coverage(coverage)])[0],
            coverage=coverage,
            mean=_kernel_mean(fitted, at),
            n_samples=len(x),
            name=with_unit(feature_names(fitted)[0], unit),
        )

    def plot(self, ax: Axes | None = None, *, mean: bool = True) -> Self:
        """Draw the samples, the branches, the prediction set and the mean.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into; a new figure if not given.
        mean : bool, default=True
            Whether to draw the kernel mean.

        Returns
        -------
        ModalRegressionDisplay
            The display, with ``ax_`` and ``figure_``.
        """
        ax, theme = self._begin(ax)
        ax.scatter(
            self.x,
            self.y,
            s=point_size(ax, len(self.rows)),
            color=theme.muted,
            alpha=0.6,
            linewidths=0,
            zorder=2,
            rasterized=len(self.rows) > RASTERIZED,
        )
        limits = ax.get_ylim()
        self._draw_set(ax, theme, limits)
        for number, branch in enumerate(self.branches):
            color = str(theme.colors(np.array([number]))[0])
            marker = "o" if len(branch) == 1 else "none"
            ax.plot(branch.x, branch.y, marker=marker, color=color, linewidth=2.2, zorder=4)
        if mean:
            ax.plot(self.grid, self.mean, color=theme.ink, linewidth=1.3, linestyle="--", zorder=3)
        ax.set(xlabel=self.name, ylabel="response", ylim=limits)
        set_title(
            ax,
            f"{counted(len(self.branches), 'branch', 'branches')} of conditional modes",
            f"shaded: {self.coverage:.0%} prediction set" + ("; dashed: mean" if mean else ""),
            thinning_note(len(self.rows), self.n_samples),
        )
        return self

    def _draw_set(self, ax: Axes, theme: Theme, limits: tuple[float, float]) -> None:
        """Draw each interval as a bar up to the middle of the way to the next grid points."""
        from matplotlib.collections import PolyCollection

        middles = (self.grid[1:] + self.grid[:-1]) / 2
        edges = np.concatenate([self.grid[:1], middles, self.grid[-1:]])
        query = self.prediction_set.queries
        left, right = edges[query], edges[query + 1]
        low = np.maximum(self.prediction_set.lower, limits[0])
        high = np.minimum(self.prediction_set.upper, limits[1])
        corners = [[left, low], [right, low], [right, high], [left, high]]
        bars = np.array(corners).transpose(2, 0, 1)
        # The edges, in the same color, close the seams that antialiasing leaves between bars.
        faint = theme.faint
        drawn = PolyCollection(list(bars), facecolors=faint, edgecolors=faint, linewidths=0.7)
        drawn.set_zorder(1)
        ax.add_collection(drawn, autolim=False)


def _kernel_mean(model: ModalRegressor, grid: Floats) -> Floats:
    """Return the mean of the responses, weighted by the kernel in x (Nadaraya-Watson)."""
    samples = model._joint.by_response
    responses = samples.responses[samples.response_of_sample]
    queries = scale_queries(model._joint, grid[:, None])
    block = max(_BLOCK // responses.size, 1)
    parts = []
    for first in range(0, len(queries), block):
        weights = samples.at(queries[first : first + block])
        with np.errstate(invalid="ignore"):
            parts.append(weights @ responses / weights.sum(axis=1))
    return np.concatenate(parts)
