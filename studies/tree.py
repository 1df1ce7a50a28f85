"""Study "tree": Theorem 4, the cluster tree of Quick Shift converges in merge distortion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quickshift as qs
from quickshift.datasets import Dome, GaussianMixture, ShapeMixture
from quickshift.stages.tree.known_tree import known_tree
from studies.linkage_trees import linkage_tree
from studies.measures import median, slope
from studies.peaks import Peaks
from studies.tables import Row, column, interval, markdown, select, spaced, values

Floats = NDArray[np.float64]
Job = tuple[str, int, int, bool]

TITLE = "Theorem 4: the cluster tree converges"
CLAIM = "Theorem 4: the cluster tree converges in merge distortion"
CONDITION = "τ → 0 with τ ≥ (log²n/n)^(1/d), h → 0, n h^d / log n → ∞"
SIZE = (9.0, 5.8)

PAPER, NARROW = "prescribed τ", "prescribed τ, narrow h"
TAU_RULE, NARROW_RULE = "default τ", "default τ, narrow h"
DEFAULT, ROBUST, DBSCAN = "QuickShift()", "RobustSingleLinkage", "DBSCAN over eps"
PEERS = (ROBUST, DBSCAN)
METHODS = (PAPER, NARROW, TAU_RULE, NARROW_RULE, DEFAULT, *PEERS)
SMALL = 10  # components with fewer samples do not count as false clusters
LEVELS = 40
CLEAR = 0.1  # of the highest density: levels nearer to a mode or saddle are not judged

_HEIGHTS = (1.0, 0.8, 0.9)
DENSITIES: dict[str, Any] = {
    "three peaks on the line": Peaks(heights=_HEIGHTS, d=1, floor=0.0),
    "three peaks in the plane": Peaks(heights=_HEIGHTS, d=2, floor=0.0),
    "three peaks in the plane, with a jump": Peaks(heights=_HEIGHTS, d=2, floor=0.1),
    "three Gaussians on the line": GaussianMixture([-3.0, 0.0, 2.5], [0.5, 0.25, 0.5], [3, 2, 2]),
    "three Gaussians in the plane": GaussianMixture(
        [[-2.0, 0.0], [2.0, 0.0], [0.0, 3.0]], weights=[3, 2, 2]
    ),
    "two domes in the plane": ShapeMixture([Dome((0.0, 0.0), 2.0), Dome((3.0, 0.0), 1.5)], [3, 2]),
}


@dataclass(frozen=True)
class Form:
    """Draws of each size, draws in which the peers run, and how many densities."""

    draws: dict[int, int]
    peer_draws: dict[int, int]
    densities: int


_OF_PEERS = {1000: 6, 3000: 6, 10_000: 6}
FORMS = {
    "quick": Form({1000: 2, 10_000: 2}, {1000: 2}, 2),
    "middle": Form(_OF_PEERS | {30_000: 6, 100_000: 6}, _OF_PEERS, 6),
    "full": Form(
        {1000: 12, 3000: 12, 10_000: 8, 30_000: 6, 100_000: 6, 300_000: 2},
        {1000: 12, 3000: 8, 10_000: 6},
        6,
    ),
}


def jobs(form: Form) -> list[Job]:
    """List one job per density, size and draw."""
    return [
        (name, n, seed, seed < form.peer_draws.get(n, 0))
        for name in list(DENSITIES)[: form.densities]
        for n, draws in form.draws.items()
        for seed in range(draws)
    ]


def measure(job: Job) -> list[Row]:
    """Compare the tree of every method with the true one."""
    name, n, seed, with_peers = job
    known = DENSITIES[name]
    drawn = known.sample(n, seed=seed)
    X = drawn if isinstance(known, Peaks) else drawn[0]
    truth = known_tree(X, known, n_jobs=1)
    highest = float(truth.density.max())
    rows = []
    for method in METHODS:
        if method in PEERS and not (with_peers and find_spec("hdbscan")):
            continue
        tree = tree_of(method, X)
        row = {"density": name, "d": known.n_features, "n": n, "method": method, "seed": seed}
        row["distortion"] = float(qs.merge_distortion(tree, truth)) / highest
        row["false"] = false_components(tree, truth)
        if isinstance(known, Peaks) and method in (PAPER, TAU_RULE):
            row["matched"], row["judged"] = matched_components(tree, X, known)
        rows.append(row)
    return rows


def tree_of(method: str, X: Floats) -> qs.ClusterTree:
    """Return the tree of a method, with the parameters of its theory."""
    n, d = X.shape
    bandwidth = narrow_bandwidth(X) if method in (NARROW, NARROW_RULE) else "paper"
    if method in (PAPER, NARROW):
        tau = (math.log(n) ** 2 / n) ** (1 / d)
        return qs.QuickShift(bandwidth=bandwidth, tau=tau, n_jobs=1).fit(X).tree_
    if method in (TAU_RULE, NARROW_RULE):
        return qs.QuickShift(bandwidth=bandwidth, n_jobs=1).fit(X).tree_
    if method == DEFAULT:
        return qs.QuickShift(n_jobs=1).fit(X).tree_
    k = round(n ** (2 / (2 + d)))  # the order that suits a Lipschitz density
    return linkage_tree(X, k, math.sqrt(2) if method == ROBUST else 1.0)


def narrow_bandwidth(X: Floats) -> float:
    """Return the spread times n^(-1/(2+d)), the order that suits a Lipschitz density.

    The paper's bandwidth is the spread times n^(-1/(4+d)).
    """
    n, d = X.shape
    wide = float(qs.QuickShift(bandwidth="paper", tau=1.0, n_jobs=1).fit(X).bandwidth_)
    return wide * n ** (1 / (4 + d) - 1 / (2 + d))


def false_components(tree: qs.ClusterTree, truth: qs.ClusterTree) -> int:
    """Return how many components a level set has too many, at the worst level."""
    shares = np.linspace(0.01, 0.99, LEVELS)
    return max(
        large(tree.components_at(float(tree.density.max() * s)))
        - large(truth.components_at(float(truth.density.max() * s)))
        for s in shares
    )


def large(components: Any) -> int:
    """Count components that are not small."""
    return int((np.bincount(components[components >= 0]) >= SMALL).sum())


def matched_components(tree: qs.ClusterTree, X: Floats, known: Peaks) -> tuple[int, int]:
    """Count components with as many trees as true modes, and all components.

    A true mode belongs to the component of the nearest sample. Levels near the height of a true
    mode or saddle are left out, because there the error of the density decides.
    """
    peak = float(known.density(known.modes()).max())
    on_walls = np.zeros((len(known.walls), known.d))
    on_walls[:, 0] = known.walls
    critical = np.concatenate([known.density(known.modes()), known.density(on_walls)])
    heights = known.density(known.modes())
    nearest = [int(np.linalg.norm(X - mode, axis=1).argmin()) for mode in known.modes()]
    matched = judged = 0
    for level in peak * np.linspace(0.02, 0.98, LEVELS):
        if np.abs(critical - level).min() < CLEAR * peak:
            continue
        component = tree.components_at(float(level))
        leaves = component[tree.leaf_indices[tree.births > level]]
        modes = component[[i for i, height in zip(nearest, heights, strict=True) if height > level]]
        for c in range(int(component.max()) + 1):
            judged += 1
            matched += int((leaves == c).sum() == (modes == c).sum())
    return matched, judged


def tables(rows: list[Row]) -> dict[str, str]:
    """Return the tables of the page."""
    lines, false, rates = [], [], []
    for name in values(rows, "density"):
        for n in values(rows, "n"):
            some = select(rows, density=name, n=n)
            cells = [cell(select(some, method=method), "distortion") for method in METHODS]
            lines.append([name, spaced(n), *cells])
            counts = [select(some, method=method) for method in METHODS]
            worst = [f"{np.median(column(c, 'false')):g}" if c else "" for c in counts]
            false.append([name, spaced(n), *worst, matched_share(some)])
        rates.append([name, *(rate(select(rows, density=name, method=m)) for m in METHODS)])
    head = ["density", "n", *METHODS]
    return {
        "distortions": markdown([head, *lines]),
        "rates": markdown([["density", *METHODS], *rates]),
        "false": markdown([[*head, "components with one tree per mode"], *false]),
        "draws": str(len({row["seed"] for row in rows})),
    }


def cell(rows: list[Row], name: str) -> str:
    """Return the median of a column with its interval."""
    return interval(median(column(rows, name))) if rows else ""


def rate(rows: list[Row]) -> str:
    """Return the slope of the distortion against n, with its interval."""
    sizes = values(rows, "n")
    if len(sizes) < 2:
        return ""
    return interval(slope(sizes, [column(select(rows, n=n), "distortion") for n in sizes]), 2)


def matched_share(rows: list[Row]) -> str:
    """Return the share of components that have as many trees as modes, for the prescribed τ."""
    some = [row for row in select(rows, method=PAPER) if "judged" in row]
    judged = sum(row["judged"] for row in some)
    return f"{sum(row['matched'] for row in some) / judged:.3f}" if judged else ""


def summary(rows: list[Row]) -> str:
    """Return the measured figures in one sentence."""
    some = select(rows, density="three peaks in the plane")
    parts = []
    for method in METHODS:
        of_method = select(some, method=method)
        if of_method:
            n = max(values(of_method, "n"))
            found = cell(select(of_method, n=n), "distortion")
            parts.append(f"{method}: {found} at n = {spaced(n)}")
    return "three peaks in the plane, distortion / highest density: " + "; ".join(parts)


def draw(rows: list[Row], figure: Any) -> None:
    """Draw the distortion of every method against n, one panel per density."""
    names = values(rows, "density")
    axes = figure.subplots(-(-len(names) // 3), min(3, len(names)), squeeze=False, sharey=True)
    for ax in axes.ravel()[len(names) :]:
        ax.remove()
    for ax, name in zip(axes.ravel(), names, strict=False):
        for color, method in enumerate(METHODS):
            some = select(rows, density=name, method=method)
            sizes = values(some, "n")
            if not sizes:
                continue
            three = np.array([median(column(select(some, n=n), "distortion")) for n in sizes])
            bars = np.abs(three[:, 1:] - three[:, :1]).T
            ax.errorbar(sizes, three[:, 0], bars, fmt="o-", ms=3, color=f"C{color}", label=method)
        ax.set(xscale="log", yscale="log", xlabel="n")
        ax.set_title(name)
    for row in axes:
        row[0].set_ylabel("merge distortion / highest density")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
