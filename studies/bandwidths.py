"""Study "bandwidths": constants c of the bandwidths c·σ·n^(-1/6) of ModalRegressor.

"regression" measures the constant that was chosen, 1, against peers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quickshift as qs
from studies.conditional_data import DATA, SHEET, WAVES, modes_of, queries_of
from studies.measures import median
from studies.regression import distances
from studies.tables import Row, column, interval, markdown, select, spaced, values

Floats = NDArray[np.float64]
Job = tuple[str, int, int]

TITLE = "The constant of the automatic bandwidths of ModalRegressor"
CLAIM = "the bandwidths σ·n^(-1/6) of `ModalRegressor()` suit many data (not in the paper)"
CONDITION = "none; the paper gives the order of a bandwidth and no constant"
SIZE = (8.0, 3.4)

NAMES = [name for name in DATA if name not in (SHEET, WAVES)]
CONSTANTS = (0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2)
CHOSEN = 1.0
QUERIES = 60


@dataclass(frozen=True)
class Form:
    """Draws of each size."""

    draws: dict[int, int]


FORMS = {
    "quick": Form({1000: 5}),
    "middle": Form({1000: 11, 3000: 5}),
    "full": Form({1000: 11, 10_000: 11}),
}


def jobs(form: Form) -> list[Job]:
    """List one job per data set, size and draw."""
    sizes = form.draws.items()
    return [(name, n, seed) for name in NAMES for n, draws in sizes for seed in range(draws)]


def measure(job: Job) -> list[Row]:
    """Return the mean distance over x for every constant, on one sample."""
    name, n, seed = job
    data = DATA[name]
    X, y = data.sample(n, seed=seed)
    queries = queries_of(data, QUERIES)
    true = [data.conditional_modes(float(x)) for x in queries[:, 0]]
    unit_x, unit_y = (scale(v) * n ** (-1 / 6) for v in (X[:, 0], y))
    rows = []
    for c in CONSTANTS:
        model = qs.ModalRegressor((c * unit_x, c * unit_y), n_jobs=1).fit(X, y)
        far = float(distances(modes_of(model, queries), true).mean())
        rows.append({"data": name, "n": n, "seed": seed, "c": c, "distance": far})
    return rows


def scale(v: Floats) -> float:
    """Return the smaller of the standard deviation and the interquartile range / 1.349."""
    low, high = np.percentile(v, [25, 75])
    return float(min(v.std(), (high - low) / 1.349))


def ratios(rows: list[Row], n: int) -> Floats:
    """Return median distances divided by the least of their data set: (data sets, constants)."""
    table = np.array(
        [
            [np.median(column(select(rows, data=name, n=n, c=c), "distance")) for c in CONSTANTS]
            for name in values(rows, "data")
        ]
    )
    shares: Floats = table / table.min(axis=1, keepdims=True)
    return shares


def tables(rows: list[Row]) -> dict[str, str]:
    """Return the tables of the page."""
    constants = [f"c = {c:g}" for c in CONSTANTS]
    lines = [["data", "n", *constants]]
    means = [["n", *constants]]
    for n in values(rows, "n"):
        for name in values(rows, "data"):
            some = select(rows, data=name, n=n)
            samples = [column(select(some, c=c), "distance") for c in CONSTANTS]
            lines.append([name, spaced(n), *(interval(median(sample)) for sample in samples)])
        means.append([spaced(n), *(f"{mean:.2f}" for mean in ratios(rows, n).mean(axis=0))])
    draws = str(len(values(rows, "seed")))
    return {"distances": markdown(lines), "ratios": markdown(means), "draws": draws}


def summary(rows: list[Row]) -> str:
    """Return the measured figures in one sentence."""
    parts = []
    for n in values(rows, "n"):
        means = ratios(rows, n).mean(axis=0)
        best = CONSTANTS[int(means.argmin())]
        chosen = means[CONSTANTS.index(CHOSEN)]
        parts.append(
            f"n = {spaced(n)}: {chosen:.2f} with c = {CHOSEN:g}, least {means.min():.2f} "
            f"with c = {best:g}"
        )
    return "mean ratio to the best constant of each data set: " + "; ".join(parts)


def draw(rows: list[Row], figure: Any) -> None:
    """Draw the distance divided by the least one against c, one panel per size."""
    sizes = values(rows, "n")
    axes = figure.subplots(1, len(sizes), squeeze=False, sharey=True)[0]
    for ax, n in zip(axes, sizes, strict=True):
        shares = ratios(rows, n)
        for line, name in zip(shares, values(rows, "data"), strict=True):
            ax.plot(CONSTANTS, line, "o-", ms=3, lw=0.8, label=name)
        ax.plot(CONSTANTS, shares.mean(axis=0), "k--", label="mean")
        ax.set(xlabel="c", yscale="log", title=f"n = {spaced(n)}")
        ax.minorticks_off()
        ax.set_yticks([1, 2, 4, 8], ["1", "2", "4", "8"])
    axes[0].set_ylabel("distance / least of the data set")
    axes[0].legend(frameon=False)
