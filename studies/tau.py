"""Study "tau": Theorem 2, which modes Quick Shift returns for a given tau."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quickshift as qs
from studies.measures import share
from studies.peaks import Peaks
from studies.tables import Row, column, interval, markdown, select, spaced, values

Floats = NDArray[np.float64]
Job = tuple[int, float, int, tuple[float, ...], int]

TITLE = "Theorem 2: τ decides which modes are returned"
CLAIM = "Theorem 2: (τ+ε, δ)⁺-modes are returned, (τ-ε, δ)⁻-modes are not"
CONDITION = "fixed ε and δ, h → 0, n large enough"
SIZE = (9.0, 4.6)

CURVATURE = 2.4
DELTA = 0.05  # in units of the height of the higher mode
EPSILON = 0.05  # in units of the distance between the modes


@dataclass(frozen=True)
class Form:
    """Dimensions, draws of each size, and how many differences of height and values of tau."""

    dimensions: tuple[int, ...]
    draws: dict[int, int]
    gaps: int
    taus: int


FORMS = {
    "quick": Form((2,), {300: 10, 10_000: 10}, 4, 11),
    "middle": Form((1, 2), {300: 30, 3000: 30, 30_000: 30, 300_000: 6}, 11, 33),
    "full": Form((1, 2), {300: 100, 3000: 100, 30_000: 30, 300_000: 10}, 21, 65),
}


def jobs(form: Form) -> list[Job]:
    """List one job per dimension, size and difference of height; it makes all of its draws."""
    taus = tuple(np.linspace(0.1, 1.1, form.taus).round(4).tolist())
    gaps = np.linspace(0.0, 0.5, form.gaps).round(4).tolist()
    return [
        (d, gap, n, taus, draws)
        for d in form.dimensions
        for n, draws in form.draws.items()
        for gap in gaps
    ]


def border(gap: float | np.ndarray, delta: float = 0.0) -> Any:
    """Return the distance from the lower mode at which the density is higher by delta."""
    return 1 - np.sqrt(np.maximum(np.asarray(gap) - delta, 0) / CURVATURE)


def promise(gap: float, tau: float) -> str:
    """Return what Theorem 2 says about the lower mode: returned, merged or nothing."""
    if tau + EPSILON < border(gap, -DELTA):
        return "returned"
    if gap > DELTA and tau - EPSILON > border(gap, DELTA):
        return "merged"
    return "none"


def measure(job: Job) -> list[Row]:
    """Count for each tau how often the lower mode is returned, and how often the bound holds."""
    d, gap, n, taus, draws = job
    known = Peaks((0.0, 1.0), (1.0, 1.0 - gap), d=d, curvature=CURVATURE)
    hits, over = np.zeros(len(taus), dtype=int), np.zeros(len(taus), dtype=int)
    for seed in range(draws):
        X = known.sample(n, seed)
        model = qs.QuickShift(bandwidth="paper", tau=math.inf, n_jobs=1).fit(X)
        near = np.linalg.norm(X - known.modes()[1], axis=1) < known.r_m
        for i, tau in enumerate(taus):
            roots = model.parent_distance_ > tau
            hits[i] += (roots & near).sum() == 1
            over[i] += roots.sum() > 2 - (promise(gap, tau) == "merged")
    return [
        {"d": d, "n": n, "gap": gap, "tau": tau, "promise": promise(gap, tau), "draws": draws}
        | {"returned": int(hit), "over": int(more)}
        for tau, hit, more in zip(taus, hits, over, strict=True)
    ]


def tables(rows: list[Row]) -> dict[str, str]:
    """Return the tables of the page."""
    lines = []
    for d in values(rows, "d"):
        for n in values(rows, "n"):
            some = select(rows, d=d, n=n)
            cells = [kept_promise(some, "returned"), kept_promise(some, "merged")]
            draws = column(some, "draws")
            fine = pooled(draws - column(some, "over"), draws)
            lines.append([str(d), spaced(n), f"{draws.max():.0f}", *cells, fine])
    head = ["d", "n", "draws", "promised modes that are returned", "excluded modes that are merged"]
    border_of = markdown([["d", "n", "width of the transition in τ"], *widths(rows)])
    return {
        "kept": markdown([[*head, "runs within the bound on the number of roots"], *lines]),
        "widths": border_of,
        "delta": f"{DELTA:g}",
        "epsilon": f"{EPSILON:g}",
    }


def kept_promise(rows: list[Row], promised: str) -> str:
    """Return the share of runs in which the lower mode does what the theorem says."""
    some = select(rows, promise=promised)
    draws, returned = column(some, "draws"), column(some, "returned")
    return pooled(returned if promised == "returned" else draws - returned, draws)


def pooled(hits: Floats, draws: Floats) -> str:
    """Return the share over all pairs of tau and height, with the interval of as many as draws.

    Pairs that share a draw are not independent; to count each draw once is on the safe side.
    """
    runs = int(draws.max())
    return interval(share(runs * hits.sum() / draws.sum(), runs))


def widths(rows: list[Row]) -> list[list[str]]:
    """Return the mean width of the range of tau in which a mode is returned sometimes."""
    lines = []
    for d in values(rows, "d"):
        for n in values(rows, "n"):
            found = []
            for gap in values(rows, "gap"):
                some = [r for r in select(rows, d=d, n=n, gap=gap) if gap > 0 and r["tau"] > 0.4]
                if some:
                    p = column(some, "returned") / column(some, "draws")
                    step = some[1]["tau"] - some[0]["tau"]
                    found.append(step * float(((p > 0.05) & (p < 0.95)).sum()))
            lines.append([str(d), spaced(n), f"{np.mean(found):.3f}"])
    return lines


def summary(rows: list[Row]) -> str:
    """Return the measured figures in one sentence."""
    n = max(values(rows, "n"))
    some = select(rows, d=2, n=n)
    returned, merged = kept_promise(some, "returned"), kept_promise(some, "merged")
    return f"at n = {spaced(n)}, d = 2: returned {returned}, merged {merged}"


def draw(rows: list[Row], figure: Any) -> None:
    """Draw the probability of a return over tau and the difference of height, one panel per n."""
    dimensions, sizes = values(rows, "d"), values(rows, "n")
    axes = figure.subplots(len(dimensions), len(sizes), squeeze=False, sharex=True, sharey=True)
    gaps, taus = values(rows, "gap"), values(rows, "tau")
    fine = np.linspace(0, 0.5, 200)
    for row, d in enumerate(dimensions):
        for place, n in enumerate(sizes):
            ax = axes[row, place]
            some = select(rows, d=d, n=n)
            p = (column(some, "returned") / column(some, "draws")).reshape(len(gaps), len(taus))
            shown = ax.pcolormesh(taus, gaps, p, vmin=0, vmax=1, cmap="viridis", shading="nearest")
            ax.plot(border(fine), fine, color="tab:red", lw=1.5)
            ax.plot(border(fine, -DELTA) - EPSILON, fine, "--", color="tab:red", lw=0.8)
            above = fine[fine > DELTA]
            ax.plot(border(above, DELTA) + EPSILON, above, "--", color="tab:red", lw=0.8)
            ax.set(xlim=(taus[0], taus[-1]), ylim=(gaps[0], gaps[-1]))
            ax.set_title(f"d = {d}, n = {spaced(n)}")
            if row == len(dimensions) - 1:
                ax.set_xlabel("τ")
            if place == 0:
                ax.set_ylabel("difference of height")
    figure.colorbar(shown, ax=axes, label="probability that the lower mode is returned")
