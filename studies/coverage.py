"""Study "coverage": prediction sets around conditional modes, next to intervals around the mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quickshift as qs
from studies.conditional_data import DATA
from studies.tables import Row, column, markdown, select, values

Floats = NDArray[np.float64]
Job = tuple[str, int, int, int]

TITLE = "How long prediction sets are, and how often they cover"
CLAIM = "prediction sets cover a new response with the nominal probability (not in the paper)"
CONDITION = "exchangeable rows (split conformal prediction)"
SIZE = (8.0, 3.2)

COVERED = ("two_branches", "heteroscedastic")
COVERAGES = (0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Form:
    """Seeds, and rows to fit and to test."""

    seeds: int
    training_rows: int = 1000
    test_rows: int = 200


FORMS = {"quick": Form(20), "middle": Form(200), "full": Form(1000)}


def jobs(form: Form) -> list[Job]:
    """List one job per data set and seed."""
    rows = form.training_rows, form.test_rows
    return [(name, seed, *rows) for name in COVERED for seed in range(form.seeds)]


def measure(job: Job) -> list[Row]:
    """Return coverage and length of our sets and of the intervals, one row per nominal coverage."""
    name, seed, training_rows, test_rows = job
    data = DATA[name]
    X, y = data.sample(training_rows, seed=2 * seed)
    X_test, y_test = data.sample(test_rows, seed=2 * seed + 1)
    model = qs.ModalRegressor(n_jobs=1).fit(X, y)
    held_out = np.arange(len(y)) % 4 == 3  # as in the model
    mean = partial(kernel_mean, X[~held_out], y[~held_out], h_x=model.bandwidth_[0])
    scores = np.abs(y[held_out] - mean(X[held_out]))
    test_scores = np.abs(y_test - mean(X_test))
    rows = []
    for coverage in COVERAGES:
        half = conformal_quantile(scores, coverage)
        covered, length = score_sets(model.predict_set(X_test, coverage), y_test)
        row = {
            "data": name,
            "seed": seed,
            "nominal": coverage,
            "covered": covered,
            "length": length,
        }
        inside = float(np.mean(test_scores <= half))
        rows.append(row | {"interval_covered": inside, "interval_length": 2 * half})
    return rows


def kernel_mean(X: Floats, y: Floats, queries: Floats, *, h_x: float) -> Floats:
    """Return the Nadaraya–Watson mean of `y` at each query with a Gaussian kernel."""
    exponents = -0.5 * (((queries[:, None] - X) / h_x) ** 2).sum(axis=2)
    weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    return (weights * y).sum(axis=1) / weights.sum(axis=1)


def conformal_quantile(scores: Floats, coverage: float) -> float:
    """Return the bound that a new score does not exceed with probability at least `coverage`."""
    rank = math.ceil((len(scores) + 1) * coverage)
    return float(np.sort(scores)[rank - 1]) if rank <= len(scores) else math.inf


def score_sets(sets: Any, y: Floats) -> tuple[float, float]:
    """Return the share of the responses inside their set, and the mean length of the sets."""
    query = np.repeat(np.arange(len(y)), np.diff(sets.offsets))
    inside = (sets.lower <= y[query]) & (y[query] <= sets.upper)
    hit = np.bincount(query, inside, minlength=len(y)) > 0
    return float(hit.mean()), float((sets.upper - sets.lower).sum() / len(y))


MEASURED = ("covered", "length", "interval_covered", "interval_length")


def tables(rows: list[Row]) -> dict[str, str]:
    """Return the table of the page, and how many draws it is from."""
    ours = ["prediction set: coverage", "prediction set: length"]
    theirs = ["interval: coverage", "interval: length"]
    lines = [["data", "nominal coverage", *ours, *theirs, "ratio of lengths"]]
    for name in values(rows, "data"):
        for nominal in values(rows, "nominal"):
            some = select(rows, data=name, nominal=nominal)
            columns = [column(some, what) for what in MEASURED]
            cells = [f"{c.mean():.3f} ± {c.std():.3f}" for c in columns]
            ratio = columns[1].mean() / columns[3].mean()
            lines.append([name, f"{nominal:g}", *cells, f"{ratio:.2f}"])
    return {"coverage": markdown(lines), "seeds": str(len(values(rows, "seed")))}


def summary(rows: list[Row]) -> str:
    """Return the measured figures in one sentence."""
    parts = []
    for name in values(rows, "data"):
        some = select(rows, data=name, nominal=0.9)
        covered = column(some, "covered")
        half = 1.96 * covered.std() / math.sqrt(len(covered))
        ratio = column(some, "length").mean() / column(some, "interval_length").mean()
        parts.append(
            f"{name}: {covered.mean():.3f} ± {half:.3f}, {ratio:.2f} of an interval's length"
        )
    return "coverage at 0.9: " + "; ".join(parts)


def draw(rows: list[Row], figure: Any) -> None:
    """Draw how coverage and length are distributed over the seeds."""
    from matplotlib.patches import Patch

    names = values(rows, "data")
    axes = figure.subplots(1, 2 * len(names), width_ratios=[1, 1] * len(names))
    for place, name in enumerate(names):
        for ax, ours, theirs, label in (
            (axes[2 * place], "covered", "interval_covered", "coverage"),
            (axes[2 * place + 1], "length", "interval_length", "length"),
        ):
            for color, what in enumerate((ours, theirs)):
                groups = [column(select(rows, data=name, nominal=c), what) for c in COVERAGES]
                places = np.arange(len(COVERAGES)) + 0.3 * color - 0.15
                options = {"widths": 0.25, "showfliers": False, "manage_ticks": False}
                boxes = ax.boxplot(groups, positions=places, patch_artist=True, **options)
                for box in boxes["boxes"]:
                    box.set(facecolor=f"C{color}", alpha=0.6)
                for line in boxes["medians"]:
                    line.set(color="black")
            if label == "coverage":
                ax.plot(range(len(COVERAGES)), COVERAGES, "k_", ms=30)
            ax.set_xticks(range(len(COVERAGES)), [f"{c:g}" for c in COVERAGES])
            ax.set(xlabel="nominal coverage", ylabel=label, title=name)
    kinds = {"prediction set": "C0", "interval": "C1"}
    handles = [Patch(color=color, alpha=0.6, label=name) for name, color in kinds.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
