"""Study "assignment": Theorem 3, no path of Quick Shift crosses a wide and deep valley."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quickshift as qs
from studies.measures import share
from studies.peaks import Peaks
from studies.tables import Row, column, interval, markdown, select, spaced, values

Job = tuple[int, float, float, int, int]
Bools = NDArray[np.bool_]

TITLE = "Theorem 3: no path crosses a valley"
CLAIM = "Theorem 3 and its lemma: no path joins two (r_s, δ)-separated points"
CONDITION = "τ < r_s/2, h → 0, n large enough for δ"
SIZE = (9.0, 3.4)

SHARE_OF_BOUND = 0.9  # tau in units of r_s / 2
REACH = 0.6  # radius of the balls that make up the support, for all valleys that are not too deep
LEAST_FLOOR = 0.1  # in units of the height of the modes
SEPARATED, WEAK, TOO_WIDE = "separated", "weakly separated", "τ twice as wide as the valley"


@dataclass(frozen=True)
class Form:
    """Dimensions, depths and widths of the valley, sizes, and draws of each."""

    dimensions: tuple[int, ...]
    depths: tuple[float, ...]
    widths: tuple[float, ...]
    sizes: tuple[int, ...]
    draws: int


FORMS = {
    "quick": Form((1, 2), (0.1, 0.4), (1.0,), (300, 10_000), 10),
    "middle": Form(
        (1, 2), (0.01, 0.02, 0.05, 0.1, 0.4), (0.5, 1.0), (300, 3000, 30_000, 300_000), 100
    ),
    "full": Form(
        (1, 2, 3), (0.01, 0.02, 0.05, 0.1, 0.2, 0.4), (0.5, 1.0), (300, 3000, 30_000, 300_000), 200
    ),
}


def jobs(form: Form) -> list[Job]:
    """List one job per valley and size; it makes all of its draws."""
    return [
        (d, depth, width, n, max(4, min(form.draws, 2_000_000 // n)))
        for d in form.dimensions
        for depth in form.depths
        for width in form.widths
        for n in form.sizes
    ]


def valley(depth: float, width: float, d: int) -> Peaks:
    """Return two modes with a valley between them, on a support of two balls.

    The radius of the balls is the same for all valleys, except where the density would then be
    too low at the edge. If it were proportional to the width, all widths would give the same
    samples, up to a factor.
    """
    curvature = 4 * depth / width**2
    floor = max(LEAST_FLOOR, 1 - curvature * REACH**2)
    return Peaks((0.0, width), (1.0, 1.0), d=d, curvature=curvature, floor=floor)


def separated_radius(depth: float, width: float) -> tuple[float, float, float]:
    """Return r_s, δ and the radius around either mode within which points are separated.

    The set S of the definition is the plane in the middle between the modes. Within r_s of it the
    density is at most 1 - s (width/2 - r_s)². Within r_s of a point at distance ρ from its mode, it
    is at least 1 - s (ρ + r_s)². The difference exceeds δ for ρ below the radius.
    """
    curvature = 4 * depth / width**2
    r_s, delta = width / 8, depth / 8
    return r_s, delta, math.sqrt((width / 2 - r_s) ** 2 - delta / curvature) - r_s


def measure(job: Job) -> list[Row]:
    """Count draws and points that violate the theorem."""
    d, depth, width, n, draws = job
    known = valley(depth, width, d)
    r_s, _, radius = separated_radius(depth, width)
    tau = SHARE_OF_BOUND * r_s / 2
    cases = [SEPARATED, WEAK, TOO_WIDE] if d == 1 else [SEPARATED, TOO_WIDE]
    bad_runs, bad_points, points = (dict.fromkeys(cases, 0) for _ in range(3))
    for seed in range(draws):
        X = known.sample(n, seed)
        model = qs.QuickShift(bandwidth="paper", tau=math.inf, n_jobs=1).fit(X)
        for case in cases:
            a, b = regions(X, known, radius, case)
            longest = 2 * width if case == TOO_WIDE else tau
            bad = crossing(model, longest, a, b) | crossing(model, longest, b, a)
            bad_runs[case] += bool(bad.any())
            bad_points[case] += int(bad.sum())
            points[case] += int((a | b).sum())
    return [
        {"d": d, "depth": depth, "width": width, "n": n, "case": case, "draws": draws}
        | {"bad_draws": bad_runs[case], "points": points[case], "bad_points": bad_points[case]}
        for case in cases
    ]


def regions(X: Any, known: Peaks, radius: float, case: str) -> tuple[Bools, Bools]:
    """Return the samples on either side; each of one is separated from each of the other.

    On the line, every path from the outer flank of a mode leads over the mode, so that all of the
    flank is weakly separated from the other side, however low it is.
    """
    low, high = known.centers
    if case == WEAK:
        return X[:, 0] < low + radius, X[:, 0] > high - radius
    first, second = known.modes()
    near = [np.linalg.norm(X - mode, axis=1) < radius for mode in (first, second)]
    return near[0], near[1]


def crossing(model: qs.QuickShift, tau: float, start: Bools, end: Bools) -> Bools:
    """Return which samples of ``start`` have a path into ``end``, by doubling the paths."""
    n = len(model.parent_)
    ahead = np.where(model.parent_distance_ <= tau, model.parent_, np.arange(n))
    reached = end.copy()
    while True:
        reached |= reached[ahead]
        further = ahead[ahead]
        if (further == ahead).all():
            return start & reached
        ahead = further


def tables(rows: list[Row]) -> dict[str, str]:
    """Return the table of the page."""
    sizes = values(rows, "n")
    lines = [["pairs", "d", "depth", "width", *(f"n = {spaced(n)}" for n in sizes)]]
    for case in values(rows, "case"):
        for d in values(select(rows, case=case), "d"):
            for depth, width in product(values(rows, "depth"), values(rows, "width")):
                chosen = select(rows, case=case, d=d, depth=depth, width=width)
                cells = [violations(select(chosen, n=n)) for n in sizes]
                lines.append([case, str(d), f"{depth:g}", f"{width:g}", *cells])
    draws = [f"{max(column(select(rows, n=n), 'draws')):.0f} at n = {spaced(n)}" for n in sizes]
    return {"violations": markdown(lines), "draws": ", ".join(draws)}


def violations(rows: list[Row]) -> str:
    """Return the share of draws with a violation.

    Rows of several valleys have the same seeds, so the interval counts each draw only once.
    """
    bad, draws = column(rows, "bad_draws"), column(rows, "draws")
    runs = int(draws.max())
    return interval(share(runs * bad.sum() / draws.sum(), runs), 2)


def summary(rows: list[Row]) -> str:
    """Return the measured figures in one sentence."""
    n = max(values(rows, "n"))
    parts = [
        f"depth {depth:g}: {violations(select(rows, case=SEPARATED, depth=depth, n=n))}"
        for depth in values(rows, "depth")
    ]
    return f"share of draws with a violation at n = {spaced(n)}: " + "; ".join(parts)


def draw(rows: list[Row], figure: Any) -> None:
    """Draw the share of draws with a violation against n, one panel per case."""
    from matplotlib.lines import Line2D

    cases, depths, dimensions = (values(rows, name) for name in ("case", "depth", "d"))
    styles = dict(zip(dimensions, ("o-", "s--", "^:"), strict=False))
    axes = figure.subplots(1, len(cases), sharey=True, squeeze=False)[0]
    for ax, case in zip(axes, cases, strict=True):
        for color, depth in enumerate(depths):
            for d, style in styles.items():
                chosen = select(rows, case=case, d=d, depth=depth)
                sizes = values(chosen, "n")
                bad = [
                    column(some, "bad_draws").sum() / column(some, "draws").sum()
                    for n in sizes
                    if (some := select(chosen, n=n))
                ]
                ax.plot(sizes, bad, style, ms=3, color=f"C{color}")
        ax.set(xscale="log", xlabel="n", ylim=(-0.03, 1.03))
        ax.set_title(case)
    axes[0].set_ylabel("share of draws with a violation")
    handles = [Line2D([], [], color=f"C{i}", label=f"depth {x:g}") for i, x in enumerate(depths)]
    for d, style in styles.items():
        mark = {"marker": style[0], "linestyle": style[1:], "color": "gray", "ms": 3}
        handles.append(Line2D([], [], **mark, label=f"d = {d}"))
    figure.legend(handles=handles, loc="outside right center", frameon=False)
