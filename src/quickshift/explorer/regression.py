"""What the page needs of a ModalRegressor: its branches and prediction sets at many settings."""

from typing import Any

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.checks.exploring import check_column_names
from quickshift.checks.plots import check_one_feature
from quickshift.checks.regression import check_one_output
from quickshift.estimators.modal_regressor import ModalRegressor
from quickshift.estimators.summarize import literal
from quickshift.explorer.clusters import palettes
from quickshift.explorer.columns import Columns, pack_columns
from quickshift.explorer.packing import Section, pack
from quickshift.plot.fitted import feature_names
from quickshift.plot.thinning import drawn_rows
from quickshift.stages.regression.branches import Branch, follow
from quickshift.stages.regression.conditional_modes import find_modes
from quickshift.stages.regression.prediction_set import PredictionSet

__all__ = ["pack_regression"]

_GRID_POINTS = 301
_RATIOS = np.array([0, 1, 2, 5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500, 700, 900])
_COVERAGES = np.round(np.arange(0.5, 0.995, 0.02), 2)


def pack_regression(model: ModalRegressor, names: Any) -> bytes:
    """Pack a fitted ModalRegressor with one feature and one response.

    Branches are traced for a list of `min_density_ratio`, and prediction sets for a list of
    coverages, so that the page only chooses among them.

    Parameters
    ----------
    model : ModalRegressor
        After `fit`.
    names : sequence of str, optional
        Names of the feature and of the response.

    Returns
    -------
    bytes
        From `pack`.
    """
    check_one_feature(model.n_features_in_, "explore")
    data = model._data
    check_one_output(data.y)
    x = np.asarray(data.X[:, 0], dtype=np.float64)
    present = x[data.weights > 0]
    grid = np.unique(np.linspace(float(present.min()), float(present.max()), _GRID_POINTS))
    own = float(model._mode_options.min_density_ratio)
    ratios = np.unique(np.append(_RATIOS / 1000, own))
    coverages = np.unique(np.append(_COVERAGES, [0.9, 0.99]))
    shown = [*feature_names(model), "response"]
    if names is not None:
        shown = check_column_names(names, 2, "the feature and the response")
    drawn = drawn_rows(x.size)
    columns = Columns([x[drawn], data.y.reshape(-1)[drawn]], shown, (0, 1), None)
    rows, described, sections = pack_columns(columns)
    sections["rows"] = Section(drawn[rows], "i32")
    branches = [_branches_at(model, grid, ratio) for ratio in ratios.tolist()]
    sets = model._sets_at(grid[:, None], coverages.tolist())
    header = {
        "kind": "regression",
        "n": rows.size,
        "columns": described,
        "ratios": ratios.tolist(),
        "ratio": ratios.tolist().index(own),
        "coverages": coverages.tolist(),
        "coverage": coverages.tolist().index(0.9),
        "title": f"Modal regression of {x.size:,} samples",
        "python": {"fit": _reproduce(model)},
        **palettes(),
    }
    return pack(header, {**sections, **_branch_sections(branches), **_set_sections(grid, sets)})


def _branches_at(model: ModalRegressor, grid: Floats, ratio: float) -> list[Branch]:
    options = model._mode_options._replace(min_density_ratio=ratio)
    modes = find_modes(model._joint, grid[:, None], options, model._sorted_responses)
    return follow(grid, modes, max(model.tau_, np.finfo(np.float64).tiny))


def _branch_sections(branches: list[list[Branch]]) -> dict[str, Section]:
    """Write the branches of all ratios one after the other.

    ``first_branches`` has the first branch of each ratio, ``branch_starts`` the first grid point of
    each branch, and ``branch_ends`` where its heights begin and end.
    """
    every = [branch for some in branches for branch in some]
    heights = np.concatenate([np.empty(0), *(branch.y for branch in every)])
    starts = np.array([branch.start for branch in every], dtype=np.int64)
    return {
        "first_branches": Section(_sums([len(some) for some in branches]), "i32"),
        "branch_starts": Section(starts, "i32"),
        "branch_ends": Section(_sums([len(branch) for branch in every]), "i32"),
        "branch_y": Section(heights, "f64"),
    }


def _set_sections(grid: Floats, sets: list[PredictionSet]) -> dict[str, Section]:
    """Write the intervals of all coverages one after the other, with the grid point of each."""
    return {
        "grid": Section(grid, "f64"),
        "first_intervals": Section(_sums([some.lower.size for some in sets]), "i32"),
        "interval_at": Section(np.concatenate([some.queries for some in sets]), "i32"),
        "interval_low": Section(np.concatenate([some.lower for some in sets]), "f64"),
        "interval_high": Section(np.concatenate([some.upper for some in sets]), "f64"),
    }


def _sums(lengths: list[int]) -> Indices:
    """Return where parts of some lengths begin, and the end of the last."""
    return np.append(0, np.cumsum(lengths, dtype=np.int64))


def _reproduce(model: ModalRegressor) -> str:
    """Return the Python of the fit, with a place for the ratio."""
    pair = tuple(float(h) for h in model.bandwidth_)
    given: dict[str, Any] = {"bandwidth": pair, "tau": float(model.tau_)}
    if model.kernel != "gaussian":
        given["kernel"] = model.kernel
    if model.period is not None:
        given["period"] = np.asarray(model.period).tolist()
    if model.rtol != 1e-9:
        given["rtol"] = model.rtol
    words = ", ".join(f"{name}={literal(value)}" for name, value in given.items())
    weights = ", sample_weight=sample_weight" if np.any(model._data.weights != 1) else ""
    return f"ModalRegressor({words}, min_density_ratio={{}}).fit(X, y{weights})"
