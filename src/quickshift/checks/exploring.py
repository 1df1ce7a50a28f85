"""Checks of the arguments of `explore`."""

from collections.abc import Iterable
from typing import Any

from quickshift.arrays import Numbers
from quickshift.checks.points import check_points

__all__ = ["check_column_names", "check_drawn_table", "check_tree_has_points", "refuse_options"]


def check_drawn_table(X: Any, n_samples: int) -> Numbers:
    """Return the columns that are drawn: one row per sample."""
    points = check_points(X)
    if len(points) != n_samples:
        raise ValueError(
            f"X has {len(points)} rows, expected {n_samples}: one row per sample of the fit, with "
            f"the columns to draw. Pass the data that the model was fitted on, or leave X out."
        )
    return points


def check_column_names(names: Any, n_columns: int, what: str) -> list[str]:
    """Return one name per column, or raise; ``what`` says which columns."""
    if isinstance(names, str) or not isinstance(names, Iterable) or getattr(names, "ndim", 1) != 1:
        raise TypeError(
            f"names is {names!r}, expected one name for each of {n_columns}: {what}. Pass a list "
            f"such as ['width', 'height']."
        )
    texts = [str(name) for name in names]
    if len(texts) != n_columns:
        raise ValueError(
            f"names has {len(texts)} entries, expected {n_columns}: {what}. To name rows, pass a "
            f"data frame X with an index."
        )
    return texts


def check_tree_has_points(X: Any) -> None:
    """Raise if no points are given for a tree."""
    if X is None:
        raise TypeError(
            "X is None, but a ClusterTree has no points. Pass the points that it was built from: "
            "explore(tree, X=X)."
        )


def refuse_options(what: str, **given: Any) -> None:
    """Raise for arguments that a model has no use for."""
    for name, value in given.items():
        if value is not None:
            raise TypeError(
                f"{name} is given along with {what}, which has no use for it. Leave {name} out."
            )
