"""Results in the browser: one HTML file that recuts under a slider, or a widget."""

from quickshift.explorer.exploring import explore

__all__ = ["explore"]
