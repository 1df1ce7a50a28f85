"""What all displays share when they draw: axes, colors of the background, titles, log scales."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quickshift.arrays import Floats, Indices
from quickshift.checks.plots import check_unit
from quickshift.plot.colors import label_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "MOST_NUMBERED",
    "Theme",
    "drawn_density",
    "new_axes",
    "plain",
    "point_size",
    "set_counts",
    "set_log_scale",
    "set_title",
    "spread_labels",
    "text_size",
    "theme_of",
    "with_unit",
]

MOST_NUMBERED = 40  # modes are numbered up to this many
_GLYPH = 0.53  # mean width of a character, in units of the font size
_TICK_SIZE = 10.0  # font size of tick labels, in points
_NARROW = 0.7  # powers of ten below which ticks are those of a linear axis
# Mantissas of ticks, and the stride between powers of ten, from many ticks to few.
_TICKS = (
    ((1, 2, 5), 1),
    ((1, 3), 1),
    *(((1,), stride) for stride in (1, 2, 3, 5, 10, 20, 50, 100)),
)
_LARGEST_EXPONENT = 290.0  # powers of ten beyond this are not drawn as numbers


@dataclass(frozen=True)
class Theme:
    """The neutral colors that fit a background.

    Attributes
    ----------
    dark : bool
        Whether the background is dark.
    background, ink, muted, faint : str
        The background, and lines and texts from strong to weak.
    """

    dark: bool
    background: str
    ink: str
    muted: str
    faint: str

    def colors(self, labels: Indices) -> NDArray[np.str_]:
        """Return the color of each label."""
        return label_colors(labels, dark=self.dark)


def new_axes(ax: Axes | None) -> Axes:
    """Return the given axes, or those of a new figure, if matplotlib is installed."""
    try:
        from matplotlib import axes, pyplot
    except ImportError as error:
        message = (
            "matplotlib cannot be imported, but plot() draws with it. Install it by: "
            "pip install quickshift[plot]"
        )
        raise ImportError(message) from error
    if ax is None:
        return pyplot.subplots(layout="constrained")[1]
    if not isinstance(ax, axes.Axes):
        raise TypeError(
            f"ax is of type {type(ax).__name__}, expected matplotlib Axes. Pass one of those that "
            f"plt.subplots() returns, or leave ax out for a new figure."
        )
    return ax


def theme_of(ax: Axes) -> Theme:
    """Return the neutral colors for the background of the axes."""
    from matplotlib.colors import to_hex, to_rgba

    background = to_rgba(ax.get_facecolor())
    if background[3] == 0:
        background = to_rgba(ax.figure.get_facecolor())
    red, green, blue, opacity = background
    luminance = 1 - opacity + opacity * (0.2126 * red + 0.7152 * green + 0.0722 * blue)
    if luminance < 0.5:
        return Theme(True, to_hex(background), "#e8e8e8", "#9a9a9a", "#4a4a4a")
    return Theme(False, to_hex(background), "#2a2a2a", "#767676", "#d8d8d8")


def set_title(ax: Axes, *lines: str) -> None:
    """Set the title, wrapped to the place of the axes in the figure; empty lines are left out."""
    from matplotlib.font_manager import FontProperties

    size = FontProperties(size="medium").get_size_in_points()
    # Axes with an equal aspect may be narrower than their place in the figure.
    share = float(ax.get_position(original=True).width)
    points = share * float(ax.figure.bbox.width) * 72 / float(ax.figure.dpi)
    width = max(int(points / (_GLYPH * size)), 24)
    wrapped = [part for line in lines if line for part in textwrap.wrap(line, width)]
    ax.set_title("\n".join(wrapped), fontsize="medium")


def point_size(ax: Axes, n_points: int) -> float:
    """Return the area of a marker in square points, smaller for more samples and smaller axes."""
    box = ax.get_window_extent()
    area = float(box.width * box.height) * (72 / float(ax.figure.dpi)) ** 2
    return float(np.clip(0.12 * area / max(n_points, 1), 0.5, 22.0))


def plain(text: str) -> str:
    r"""Return a text in which matplotlib does not take dollar signs for the ends of a formula.

    Examples
    --------
    >>> print(plain("price ($) and cost ($)"))
    price (\$) and cost (\$)
    """
    return text.replace("$", r"\$")


def with_unit(name: str, unit: str | None, power: int = 1) -> str:
    """Return the label of an axis, with a unit in parentheses if there is one.

    The unit may be a formula, which has two dollar signs; the name is always plain text.

    Examples
    --------
    >>> with_unit("move", "km"), with_unit("density", "km", -2), with_unit("x0", None)
    ('move (km)', 'density (km$^{-2}$)', 'x0')
    """
    check_unit(unit)
    name = plain(name)
    if not unit:
        return name
    unit = plain(unit) if unit.count("$") % 2 else unit
    return f"{name} ({unit})" if power == 1 else f"{name} ({unit}$^{{{power}}}$)"


def drawn_density(log10_density: Floats) -> tuple[Floats, bool]:
    """Return densities to draw, and whether on a logarithmic axis.

    If some densities would overflow or underflow, their logarithms are drawn on a linear axis.
    """
    if np.abs(log10_density).max(initial=0.0) > _LARGEST_EXPONENT:
        return log10_density, False
    return np.power(10.0, log10_density), True


def set_log_scale(ax: Axes, which: str) -> None:
    """Make the axis "x" or "y" logarithmic, with a few ticks such as 0.1, 0.2 and 0.5.

    The limits of the axis have to be final.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    axis: Any = ax.xaxis if which == "x" else ax.yaxis
    low, high = axis.get_view_interval()
    (ax.set_xlim if which == "x" else ax.set_ylim)(low, high)
    (ax.set_xscale if which == "x" else ax.set_yscale)("log")
    box = ax.get_window_extent()
    length = float(box.width if which == "x" else box.height) * 72 / float(ax.figure.dpi)
    ticks_of = _log_ticks if math.log10(high / low) >= _NARROW else _narrow_ticks
    axis.set_major_locator(FixedLocator(ticks_of(low, high, length, along=which == "x")))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _log_ticks(low: float, high: float, length: float, *, along: bool) -> list[float]:
    """Return ticks of a logarithmic axis that fit into its length, in points.

    ``along`` says whether labels are written along the axis, so that their widths count.
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks: list[float] = []
    for mantissas, stride in _TICKS:
        decades = range(first - first % stride, last + 1, stride)
        ticks = [float(f"{m}e{decade}") for decade in decades for m in mantissas]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) * _room_of(ticks, along=along) <= length:
            break
    return ticks


def _narrow_ticks(low: float, high: float, length: float, *, along: bool) -> list[float]:
    """Return the same for less than a power of ten: ticks in equal steps, such as 0.4, 0.5, 0.6."""
    from matplotlib.ticker import MaxNLocator

    ticks: list[float] = []
    for most in range(6, 0, -1):
        found = MaxNLocator(most, steps=[1, 2, 5, 10]).tick_values(low, high)
        ticks = [float(tick) for tick in found if low <= tick <= high]
        places = length * np.log(ticks) / math.log(high / low)
        if (np.diff(places) >= _room_of(ticks, along=along)).all():
            break
    return ticks


def _room_of(ticks: list[float], *, along: bool) -> float:
    """Return the length that the label of each tick takes, in points."""
    widest = max((len(f"{tick:g}") for tick in ticks), default=1)
    return _TICK_SIZE * (_GLYPH * widest + 1.0 if along else 2.2)


def set_counts(ax: Axes, which: str) -> None:
    """Write the ticks of the axis "x" or "y" as whole numbers with thousands separators."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis: Any = ax.xaxis if which == "x" else ax.yaxis
    axis.set_major_locator(MaxNLocator(4, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def text_size(text: str) -> tuple[float, float]:
    """Return the approximate width and the height of a small text, in points."""
    from matplotlib.font_manager import FontProperties

    size = FontProperties(size="small").get_size_in_points()
    return _GLYPH * size * len(text), size


def spread_labels(
    ax: Axes,
    theme: Theme,
    x: Floats,
    y: Floats,
    texts: list[str],
    *,
    offset: float = 3,
    bold: bool = False,
) -> list[int]:
    """Write texts next to points in the given order, except those for which there is no room.

    A text is above its point; if another text is there, or the edge of the axes, it is on the
    right, on the left or below. The limits and the scales of the axes have to be final.

    Returns
    -------
    list of int
        Which of the texts were written.
    """
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=3.0, foreground=theme.background)]
    to_points = 72 / float(ax.figure.dpi)
    ax.autoscale_view()  # computes limits that are not fixed, so that the transformation is known
    ax.apply_aspect()
    at = ax.transData.transform(np.column_stack([x, y])) * to_points
    frame = np.array(ax.get_window_extent().extents) * to_points
    boxes = np.empty((0, 4))  # left, bottom, right and top of the texts that were written
    written = []
    for i, text in enumerate(texts):
        width, size = text_size(text)
        # Middles of the text above its point, on the right, on the left and below.
        aside, up = offset + 3 + width / 2, offset + size / 2
        middles = np.array([[0, up], [aside, 0], [-aside, 0], [0, -up]])
        half = np.array([width / 2 + 1, size / 2 + 1])
        places = np.hstack([at[i] + middles - half, at[i] + middles + half])
        apart = (boxes[:, None, :2] >= places[:, 2:]) | (boxes[:, None, 2:] <= places[:, :2])
        free = apart.any(axis=2).all(axis=0)
        free &= ((places[:, :2] >= frame[:2]) & (places[:, 2:] <= frame[2:])).all(axis=1)
        if free.any():
            best = int(np.argmax(free))
            boxes = np.vstack([boxes, places[best]])
            written.append(i)
            ax.annotate(
                text,
                (x[i], y[i]),
                tuple(middles[best]),
                textcoords="offset points",
                ha="center",
                va="center_baseline",
                fontsize="small",
                fontweight="bold" if bold else "normal",
                color=theme.ink,
                path_effects=halo,
                zorder=5,
            )
    return written
