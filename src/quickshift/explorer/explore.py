"""explore: a fitted model as one offline HTML page, or as a widget in a notebook."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from quickshift.estimators.pipelines import quick_shift_of
from quickshift.explorer.clusters import pack_clusters
from quickshift.explorer.page import page

__all__ = ["explore"]


def explore(
    model: Any,
    path: str | Path | None = None,
    *,
    X: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    image: ArrayLike | None = None,
) -> Any:
    """Explore."""
    packed = pack_clusters(quick_shift_of(model), X, names)
    Path(path).write_text(page(packed, "Quick Shift explorer"), encoding="utf-8")
