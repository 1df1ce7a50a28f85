"""The base of all displays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from quickshift.checks.plots import check_unit
from quickshift.plot.axes import Theme, new_axes, theme_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["Display"]


@dataclass(eq=False, repr=False, kw_only=True)
class Display:
    """A plot whose contents are attributes, as in scikit-learn.

    A constructor such as ``from_estimator`` computes everything that is drawn. ``plot`` draws it,
    sets ``ax_`` and ``figure_``, and returns the display.
    """

    ax_: Axes = field(init=False)
    figure_: Figure | SubFigure = field(init=False)

    def __post_init__(self) -> None:
        check_unit(getattr(self, "unit", None))

    def _facts(self) -> Iterable[str]:
        """Return the facts that the ``repr`` shows."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._facts())})"

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into; a new figure if not given.

        Returns
        -------
        Display
            The display itself, with ``ax_`` and ``figure_``.
        """
        self._draw(*self._begin(ax))
        return self

    def _draw(self, ax: Axes, theme: Theme) -> None:
        """Draw into axes, in the colors of their background."""
        raise NotImplementedError

    def _begin(self, ax: Axes | None) -> tuple[Axes, Theme]:
        """Set the axes to draw into, and return them with the colors of their background."""
        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        return self.ax_, theme_of(self.ax_)
