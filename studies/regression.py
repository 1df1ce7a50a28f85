"""Study "regression": Theorem 5, the conditional modes converge uniformly in x."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import quickshift as qs
from studies.conditional_data import DATA, SHEET, modes_of, queries_of
from studies.measures import hausdorff, median, slope
from studies.partial_mean_shift import partial_mean_shift
from studies.tables import Row, column, interval, markdown, select, spaced, values

Floats = NDArray[np.float64]
Job = tuple[str, int, int, bool]

TITLE = "Theorem 5: the conditional modes converge"
CLAIM = "Theorem 5: the conditional modes converge, uniformly in x"
CONDITION = "τ → 0 with τ ≥ (log²n/n)^(1/d), h → 0, n h^(d+1) / log n → ∞"
SIZE = (9.0, 5.6)

LITERAL, DEFAULT, PEER = "Algorithm 3", "ModalRegressor()", "partial mean shift"
OWN_BANDWIDTH = "partial mean shift, its own h"
PEERS = (PEER, OWN_BANDWIDTH)
METHODS = (LITERAL, DEFAULT, *PEERS)
MIN_DENSITY_RATIO = 0.01
QUERIES = 60
GAPS = ("true modes per x", "roots per x", "share of roots next to a gap")
PEER_QUERIES = slice(1, None, 3)  # the peer is slow, and runs at every third query


@dataclass(frozen=True)
class Form:
    """Draws of each size, draws in which the slow methods run, and how many data sets."""

    draws: dict[int, int]
    slow_draws: dict[int, int]
    data: int


FORMS = {
    "quick": Form({1000: 4, 10_000: 4}, {1000: 2, 10_000: 2}, 1),
    "middle": Form({1000: 8, 3000: 8, 10_000: 8, 30_000: 8}, {1000: 3, 3000: 3, 10_000: 3}, 6),
    "full": Form(
        {1000: 20, 3000: 20, 10_000: 20, 30_000: 10, 100_000: 4},
        {1000: 6, 3000: 4, 10_000: 3},
        6,
    ),
}


def jobs(form: Form) -> list[Job]:
    """List one job per data set, size and draw."""
    return [
        (name, n, seed, seed < form.slow_draws.get(n, 0))
        for name in list(DATA)[: form.data]
        for n, draws in form.draws.items()
        for seed in range(draws)
    ]


def measure(job: Job) -> list[Row]:
    """Return the distances of every method from the true modes: the longest and the mean."""
    name, n, seed, with_slow = job
    data = DATA[name]
    X, y = data.sample(n, seed=seed)
    queries = queries_of(data, QUERIES)
    true = [data.conditional_modes(float(x)) for x in queries[:, 0]]
    model = qs.ModalRegressor(min_density_ratio=MIN_DENSITY_RATIO, n_jobs=1).fit(X, y)
    far = distances(modes_of(model, queries), true)
    gap = float(np.mean([np.abs(y - mode).min() for modes in true for mode in modes]))
    rows = [row_of(name, n, DEFAULT, far) | {"gap": gap}]
    if with_slow:
        tau = math.log(n) ** 2 / n  # d = 1
        literal = qs.ModalRegressor(
            model.bandwidth_, tau, min_density_ratio=0.0, rtol=0.0, n_jobs=1
        )
        roots = modes_of(literal.fit(X, y), queries)
        row = row_of(name, n, LITERAL, distances(roots, true))
        rows.append(row | gap_counts(roots, true, y, tau))
        bandwidths = model.bandwidth_, own_bandwidth(model.bandwidth_, n)
        for method, bandwidth in zip(PEERS, bandwidths, strict=True):
            with threadpool_limits(1):  # one process per core
                theirs = partial_mean_shift(
                    X, y, queries[PEER_QUERIES], bandwidth, MIN_DENSITY_RATIO
                )
            peer = distances(theirs, true[PEER_QUERIES])
            ours = far[PEER_QUERIES]
            ratios = {
                "ratio": float(ours.mean() / peer.mean()),
                "ratio_max": float(ours.max() / peer.max()),
            }
            rows.append(row_of(name, n, method, peer) | ratios)
    return rows


def own_bandwidth(ours: Any, n: int) -> tuple[float, float]:
    """Return σ (log n / n)^(1/8) for x and y, given our bandwidths σ n^(-1/6).

    This is the order of Chen et al., (log n / n)^(1/(d+7)) for d = 1, at which the bias h² and the
    error √(log n / (n h^(d+3))) of the modes are in balance, with a constant of one.
    """
    wider = n ** (1 / 6) * (math.log(n) / n) ** (1 / 8)
    return float(ours[0]) * wider, float(ours[1]) * wider


def gap_counts(roots: list[Floats], true: list[Floats], y: Floats, tau: float) -> Row:
    """Return roots and true modes per x, and the share of roots next to a gap between responses.

    A gap is a distance longer than tau from a root to the next response on either side.
    """
    responses = np.concatenate([[-math.inf], np.sort(y), [math.inf]])
    found = np.concatenate(roots)
    place = np.searchsorted(responses, found)
    widest = np.maximum(found - responses[place - 1], responses[place + 1] - found)
    count, expected = len(found) / len(roots), sum(map(len, true)) / len(true)
    return {"roots": count, "modes": expected, "beside": float((widest > tau).mean())}


def row_of(name: str, n: int, method: str, far: Floats) -> Row:
    """Return the row of one method."""
    largest, mean = float(far.max()), float(far.mean())
    return {"data": name, "n": n, "method": method, "largest": largest, "mean": mean}


def distances(found: list[Floats], true: list[Floats]) -> Floats:
    """Return the Hausdorff distance at each query."""
    pairs = zip(found, true, strict=True)
    return np.array([hausdorff(a[:, None], b[:, None]) for a, b in pairs])


def tables(rows: list[Row]) -> dict[str, str]:
    """Return the tables of the page."""
    lines, ratios, rates = [], [], []
    for name in values(rows, "data"):
        for n in values(rows, "n"):
            some = select(rows, data=name, n=n)
            cells = [
                cell(select(some, method=m), what) for what in ("largest", "mean") for m in METHODS
            ]
            gap = f"{np.median(column(select(some, method=DEFAULT), 'gap')):.0e}"
            lines.append([name, spaced(n), *cells, gap])
            peers = [select(some, method=m) for m in PEERS]
            if all(peers):
                shares = [cell(p, what, 2) for what in ("ratio_max", "ratio") for p in peers]
                ratios.append([name, spaced(n), str(len(peers[0])), *shares])
        for method in METHODS:
            chosen = select(rows, data=name, method=method)
            rates.append([name, method, rate(chosen, "largest"), rate(chosen, "mean")])
    columns = [f"{what}: {m}" for what in ("largest", "mean") for m in METHODS]
    same_and_own = [f"{what}: {h} h" for what in ("largest", "mean") for h in ("same", "its own")]
    return {
        "distances": markdown([["data", "n", *columns, "nearest response"], *lines]),
        "ratios": markdown([["data", "n", "draws", *same_and_own], *ratios]),
        "rates": markdown([["data", "method", "largest over x", "mean over x"], *rates]),
        "gaps": markdown([["data", "n", *GAPS], *gap_lines(rows)]),
        "queries": str(QUERIES),
    }


def gap_lines(rows: list[Row]) -> list[list[str]]:
    """Return a line per data set and size: how many roots the literal algorithm has, and where."""
    lines = []
    for name in values(rows, "data"):
        for n in values(select(rows, method=LITERAL), "n"):
            some = select(rows, data=name, n=n, method=LITERAL)
            means = [column(some, what).mean() for what in ("modes", "roots", "beside")]
            lines.append([name, spaced(n), *(f"{value:.2f}" for value in means)])
    return lines


def cell(rows: list[Row], name: str, digits: int = 3) -> str:
    """Return the median of a column with its interval."""
    return interval(median(column(rows, name)), digits) if rows else ""


def rate(rows: list[Row], name: str) -> str:
    """Return the slope of a distance against n with its interval."""
    sizes = values(rows, "n")
    if len(sizes) < 2:
        return ""
    return interval(slope(sizes, [column(select(rows, n=n), name) for n in sizes]), 2)


def summary(rows: list[Row]) -> str:
    """Return the measured figures in one sentence."""
    parts = []
    for method in METHODS:
        some = select(rows, data=SHEET, method=method)
        if some:
            ends = [cell(select(some, n=f(values(some, "n"))), "largest") for f in (min, max)]
            to = spaced(max(values(some, "n")))
            parts.append(f"{method}: from {ends[0]} to {ends[1]} (n = {to})")
    return "sheet, largest distance over x: " + "; ".join(parts)


def draw(rows: list[Row], figure: Any) -> None:
    """Draw the largest and the mean distance against n, one panel per data set."""
    names = values(rows, "data")
    axes = figure.subplots(-(-len(names) // 3), min(3, len(names)), squeeze=False)
    for ax in axes.ravel()[len(names) :]:
        ax.remove()
    for ax, name in zip(axes.ravel(), names, strict=False):
        for color, method in enumerate(METHODS):
            some = select(rows, data=name, method=method)
            sizes = values(some, "n")
            for what, style in (("largest", "o-"), ("mean", "s:")):
                three = np.array([median(column(select(some, n=n), what)) for n in sizes])
                if sizes:
                    bars = np.abs(three[:, 1:] - three[:, :1]).T
                    label = method if what == "largest" else None
                    kwargs = {"fmt": style, "ms": 3, "color": f"C{color}", "label": label}
                    ax.errorbar(sizes, three[:, 0], bars, **kwargs)
        ax.set(xscale="log", yscale="log", xlabel="n")
        ax.set_title(name)
    for row in axes:
        row[0].set_ylabel("distance (solid: largest; dotted: mean)")
    axes[0, 0].legend(frameon=False, fontsize=7)
