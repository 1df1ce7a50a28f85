"""SegmentationDisplay: a picture with the boundaries, mean colors or strengths of its segments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats, Indices, Numbers
from quickshift.bundles import counted
from quickshift.checks.images import check_label_image, check_labeled_image
from quickshift.checks.numbers import check_choice
from quickshift.checks.plots import check_one_cut, check_plane, check_strength
from quickshift.image.forest import SegmentForest, boundary_strength
from quickshift.image.regions import mean_color
from quickshift.plot.axes import set_title
from quickshift.plot.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SegmentationDisplay"]

_LONGEST_TICKS = 1.5  # powers of ten of strengths above which the scale is logarithmic


@dataclass(eq=False, repr=False, kw_only=True)
class SegmentationDisplay(Display):
    """The segments of a picture.

    Attributes
    ----------
    image : ndarray of shape (n_rows, n_columns) or (n_rows, n_columns, n_channels)
        The picture.
    labels : ndarray of shape (n_rows, n_columns)
        Segment of each pixel; negative where the picture is masked out.
    mean_colors : ndarray of the shape of the image
        The picture with the mean color of each segment.
    boundaries : ndarray of shape (n_lines, 2, 2)
        Ends (column, row) of the lines between neighboring pixels of different segments.
    strength : ndarray of shape (n_rows, n_columns) or None
        The tau up to which each pixel lies on a boundary; None if it is not known.
    n_segments : int
        Number of segments.
    ax_, figure_
        Set by `plot`.
    """

    image: Numbers
    labels: Indices
    mean_colors: Numbers
    boundaries: Floats
    strength: Floats | None
    n_segments: int

    def _facts(self) -> Iterable[str]:
        yield f"{self.labels.shape[0]} × {self.labels.shape[1]} pixels"
        yield counted(self.n_segments, "segment")

    @classmethod
    def from_forest(
        cls,
        forest: SegmentForest,
        image: ArrayLike,
        *,
        tau: float | None = None,
        n_segments: int | None = None,
    ) -> Self:
        """Compute one cut of a picture's forest, and the strength of all boundaries.

        Parameters
        ----------
        forest : SegmentForest
            From `segment_forest`.
        image : array-like of shape (n_rows, n_columns) or (n_rows, n_columns, n_channels)
            The picture.
        tau : float, optional
            Longest move that is kept.
        n_segments : int, optional
            Number of segments, instead of tau.

        Returns
        -------
        SegmentationDisplay

        Examples
        --------
        >>> from quickshift import segment_forest
        >>> from quickshift.plot import SegmentationDisplay
        >>> image = [[0.0, 0.0, 0.9, 0.9], [0.0, 0.0, 0.9, 0.9]]
        >>> forest = segment_forest(image, convert2lab=False, ratio=10.0)
        >>> display = SegmentationDisplay.from_forest(forest, image, n_segments=2).plot()
        >>> display.n_segments, display.boundaries.shape, display.strength.shape
        (2, (2, 2, 2), (2, 4))
        """
        if not isinstance(forest, SegmentForest):
            raise TypeError(
                f"forest is of type {type(forest).__name__}, expected a SegmentForest. Pass "
                f"segment_forest(image), or use from_labels."
            )
        check_one_cut(tau, n_segments)
        if n_segments is not None:
            labels = forest.labels_for(n_segments)
        else:
            assert tau is not None
            labels = forest.labels_at(tau)
        display = cls.from_labels(labels, image)
        display.strength = boundary_strength(forest)
        return display

    @classmethod
    def from_labels(cls, labels: ArrayLike, image: ArrayLike) -> Self:
        """Compute the boundaries and mean colors of given segments.

        Parameters
        ----------
        labels : array-like of shape (n_rows, n_columns), int
            Segment of each pixel, from `segment` or another method; negative where the picture is
            masked out.
        image : array-like of shape (n_rows, n_columns) or (n_rows, n_columns, n_channels)
            The picture.

        Returns
        -------
        SegmentationDisplay

        Examples
        --------
        >>> from quickshift.plot import SegmentationDisplay
        >>> display = SegmentationDisplay.from_labels([[0, 1]], [[0.2, 0.8]])
        >>> display.boundaries
        array([[[ 0.5, -0.5],
                [ 0.5,  0.5]]])
        """
        numbers = check_label_image(labels)
        check_plane(numbers.shape)
        picture, _ = check_labeled_image(image, numbers.shape, -1)
        inside = numbers[numbers >= 0]
        return cls(
            image=picture,
            labels=numbers,
            mean_colors=mean_color(picture, numbers),
            boundaries=_boundaries(numbers),
            strength=None,
            n_segments=int(np.unique(inside).size),
        )

    def plot(self, ax: Axes | None = None, *, show: str = "boundaries") -> Self:
        """Draw the picture with its segments.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into; a new figure if not given.
        show : {"boundaries", "mean_colors", "strength"}, default="boundaries"
            "boundaries": the picture with the boundaries of the segments. "mean_colors": each
            segment in its mean color. "strength": the tau at which each boundary disappears.

        Returns
        -------
        SegmentationDisplay
            The display, with ``ax_`` and ``figure_``.
        """
        check_choice(show, "show", ("boundaries", "mean_colors", "strength"))
        ax, _ = self._begin(ax)
        if show == "strength":
            self._draw_strength(ax)
        else:
            picture = _shown(self.image if show == "boundaries" else self.mean_colors)
            ax.imshow(picture, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
            set_title(ax, counted(self.n_segments, "segment"))
        if show == "boundaries":
            self._draw_boundaries(ax)
        ax.set(xlabel="column (pixels)", ylabel="row (pixels)")
        return self

    def _draw_boundaries(self, ax: Axes) -> None:
        from matplotlib.collections import LineCollection
        from matplotlib.patheffects import Normal, withStroke

        lines = LineCollection(list(self.boundaries), colors="white", linewidths=0.6)
        lines.set_capstyle("projecting")
        lines.set_path_effects([withStroke(linewidth=1.4, foreground="#00000080"), Normal()])
        ax.add_collection(lines, autolim=False)

    def _draw_strength(self, ax: Axes) -> None:
        from matplotlib.colors import LogNorm, Normalize

        strength = check_strength(self.strength)
        known = strength[np.isfinite(strength) & (strength > 0)]
        # Most pixels are inside segments; the colors are for the boundaries between them.
        low, high = (np.median(known), known.max()) if known.size else (1.0, 2.0)
        far = np.log10(high / low) > _LONGEST_TICKS
        scale: Any = LogNorm(low, high) if far else Normalize(low, max(high, low + 1e-12))
        drawn = ax.imshow(strength, cmap="magma", norm=scale, interpolation="nearest")
        bar = self.figure_.colorbar(drawn, ax=ax, fraction=0.04, pad=0.02)
        bar.set_label("τ of the boundary")
        set_title(ax, "Boundary strength")


def _shown(image: Numbers) -> Floats:
    """Return a picture as numbers from 0 to 1."""
    if image.dtype.kind == "u":
        return image / np.iinfo(image.dtype).max
    values = image.astype(np.float64)
    low, high = min(float(np.nanmin(values)), 0.0), max(float(np.nanmax(values)), 1.0)
    return (values - low) / (high - low)


def _boundaries(labels: Indices) -> Floats:
    """Return a line between any two neighboring pixels with different labels."""
    row, column = np.nonzero(labels[:, 1:] != labels[:, :-1])
    upright = np.array([[column + 0.5, row - 0.5], [column + 0.5, row + 0.5]])
    row, column = np.nonzero(labels[1:] != labels[:-1])
    level = np.array([[column - 0.5, row + 0.5], [column + 0.5, row + 0.5]])
    return np.concatenate([upright, level], axis=2).transpose(2, 0, 1)
