"""What the page needs of a fitted QuickShift: its forest, its modes and the cut of the fit."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickshift.arrays import Floats, Indices
from quickshift.estimators.quick_shift import QuickShift
from quickshift.estimators.summarize import reproduce
from quickshift.explorer.columns import (
    FINE,
    Columns,
    Table,
    choose_columns,
    pack_columns,
    read_table,
)
from quickshift.explorer.ladders import score_ladder, tau_ladder
from quickshift.explorer.leaves import leaf_sections, scores_of
from quickshift.explorer.levels import Levels, choose_levels, codes_of
from quickshift.explorer.packing import Section, pack
from quickshift.plot.colors import palette
from quickshift.plot.fitted import (
    coordinates_of,
    feature_names,
    log10_density_of,
    moves_of,
    present_rows,
)
from quickshift.stages.parent_graph import assign_points

__all__ = ["density_section", "ids_section", "pack_clusters", "palettes", "positions_of"]

_MOST_LEAVES = 100_000  # if tau was given, the tree of more leaves than this is not built
_KNOTS = 2048  # densities that stand for those of all rows, if there are many


def pack_clusters(model: QuickShift, X: Any, names: Sequence[str] | None) -> bytes:
    """Pack a fitted QuickShift.

    Parameters
    ----------
    model : QuickShift
        After `fit`.
    X : array-like of shape (n_samples, n_columns), optional
        What is drawn in place of the samples.
    names : sequence of str, optional
        Names of the columns.

    Returns
    -------
    bytes
        From `pack`.
    """
    log10_density = log10_density_of(model)
    units = model.scale_ if X is None else None
    columns = choose_columns(_table_of(model, X), names, log10_density, units)
    moves, chosen, relative = _moves(model)
    present = present_rows(model)
    levels = choose_levels(moves[present], chosen)
    rows, described, sections = pack_columns(columns)
    sections |= _forest_sections(model, rows, moves, levels)
    codes = codes_of(moves[present], levels)
    ladder, steps = tau_ladder(levels, codes, relative=relative, mark="fit")
    order = _order(model, present)
    sections |= {
        "density": density_section(log10_density, order, rows),
        **steps,
        **ids_section(columns, rows),
    }
    header: dict[str, Any] = {
        "kind": "clusters",
        "n": rows.size,
        "columns": described,
        "axes": columns.axes,
        "equal": columns.values[1] is not log10_density,
        "note": columns.note,
        "relative": relative,
        "chosen": levels.chosen,
        "mode": "score" if isinstance(model._settings.tau, str) else "tau",
        "n_clusters": model.n_clusters_,
        "ladders": [ladder],
        "reset": "As fitted",
        "title": f"{rows.size:,} samples, clustered by Quick Shift",
        "python": {
            "fit": reproduce(model),
            "model": "model",
            "fitted": "model.labels_",
            "tau": "model.labels_at({})",
            "score": "model.recut(min_significance={}).labels_",
        },
        **palettes(),
    }
    unmerged = model._clusters.unmerged
    if len(unmerged) <= _MOST_LEAVES or unmerged is not model._clusters.forest:
        final = model._clusters.forest.labels[unmerged.roots]
        tree = model._assessed_tree()
        sections |= leaf_sections(tree, final, positions_of(rows))
        score, by = scores_of(tree)
        chance, least = float(model._chance()), float(model.min_significance_)
        ladder, steps = score_ladder(score, by, tree.towards, chance=chance, least=least)
        header["ladders"].append(ladder)
        sections |= steps
    return pack(header, sections)


def _table_of(model: QuickShift, X: Any) -> Table:
    n = len(model.labels_)
    if X is not None:
        return read_table(X, n)
    return Table(coordinates_of(model, np.arange(n)), feature_names(model), None)


def _moves(model: QuickShift) -> tuple[Floats, float, bool]:
    """Return the moves as the page compares them; lengths, if a fit by local scale keeps none."""
    if not isinstance(model.tau_, float) and model._multiple_of_tau == 0:
        return model.parent_distance_, 0.0, False
    return moves_of(model)


def _order(model: QuickShift, present: Indices) -> Indices:
    """Return all rows, the highest first, and those of weight zero last."""
    return np.concatenate([model._graph.highest_first(present), model._absent])


def positions_of(rows: Indices) -> Indices:
    """Return the position of each row."""
    positions = np.empty(rows.size, dtype=np.int64)
    positions[rows] = np.arange(rows.size)
    return positions


def _forest_sections(
    model: QuickShift, rows: Indices, moves: Floats, levels: Levels
) -> dict[str, Section]:
    """Write parents, codes and ranks at the positions of the curve.

    A row of weight zero is labeled as a new point is: by its nearest higher sample, if a level
    keeps the move there, and otherwise by its nearest sample.
    """
    position = positions_of(rows)
    parent, code = model.parent_.copy(), codes_of(moves, levels)
    nearest = np.empty(0, dtype=np.int64)
    if model._absent.size:
        parent[model._absent], nearest, far = _neighbors_of_absent(model)
        code[model._absent] = codes_of(far, levels)
    rank = np.empty(rows.size, dtype=np.int64)
    rank[_order(model, present_rows(model))] = np.arange(rows.size)
    return {
        "step": Section(position[parent[rows]] - np.arange(rows.size), "i32"),
        "code": Section(code[rows], "u16"),
        "rank": Section(rank[rows], "i32", delta=True),
        "absent": Section(position[model._absent], "i32"),
        "nearest": Section(position[nearest], "i32"),
    }


def _neighbors_of_absent(model: QuickShift) -> tuple[Indices, Indices, Floats]:
    """Return nearest higher and nearest samples of the rows of weight zero, and their moves."""
    points, graph = model._absent_points, model._graph
    heights = _heights_of_absent(model)
    higher = assign_points(graph, points, heights, np.inf)
    nearest = assign_points(graph, points, heights, 0.0)
    delta = points.astype(np.float64) - graph.samples.tree.coordinates(higher)
    if graph.samples.period is not None:
        closed = np.isfinite(graph.samples.period)
        period = graph.samples.period[closed]
        delta[:, closed] -= period * np.rint(delta[:, closed] / period)
    far = model._space.to_user(np.sqrt((delta**2).sum(axis=1)))
    if not isinstance(model.tau_, float) and model._multiple_of_tau:
        tau: Floats = model.tau_[model._absent]
        far = far / np.maximum(tau, np.finfo(np.float64).tiny)
    return higher, nearest, np.asarray(far)


def _heights_of_absent(model: QuickShift) -> Floats:
    """Return the heights of the rows of weight zero, as the samples' heights are given."""
    from quickshift.stages.density import heights_at_points
    from quickshift.stages.local_scale import LocalScale, scales_at_points

    if isinstance(model._estimate, LocalScale):
        return -scales_at_points(model._estimate, model._absent_points)[0]
    return heights_at_points(model._estimate, model._absent_points)


def density_section(log10_density: Floats, order: Indices, rows: Indices) -> Section:
    """Write the densities, or of many rows those at equal distances of rank."""
    if rows.size <= FINE:
        return Section(log10_density[rows], "f32")
    at = np.linspace(0, rows.size - 1, _KNOTS).astype(np.int64)
    return Section(log10_density[order[at]], "f32")


def ids_section(columns: Columns, rows: Indices) -> dict[str, Section]:
    """Write the names of the rows, if they have any, as text with a zero byte after each.

    Zero bytes in a name become replacement characters.
    """
    if columns.ids is None:
        return {}
    names = [columns.ids[row].replace("\0", "\ufffd") for row in rows.tolist()]
    text = "".join(f"{name}\0" for name in names)
    encoded: NDArray[np.uint8] = np.frombuffer(text.encode("utf-8", "replace"), np.uint8)
    return {"ids": Section(encoded, "u8")}


def palettes() -> dict[str, Any]:
    """Return the colors of labels for the header."""
    return {"light": palette(), "dark": palette(dark=True)}
