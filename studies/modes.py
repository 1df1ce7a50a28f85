"""Study "modes": Theorem 1 (the roots of Quick Shift are the modes) and Lemma 1 (the density)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quickshift as qs
from quickshift.datasets import GaussianMixture
from studies.limits import TooSlow, cpu_seconds, limited
from studies.measures import hausdorff, median, share, slope
from studies.mode_methods import METHODS
from studies.peaks import Peaks, equal, unequal
from studies.tables import Row, column, interval, markdown, select, spaced, values

Floats = NDArray[np.float64]
Job = tuple[Any, ...]

TITLE = "Theorem 1: the roots are the modes"
CLAIM = "Theorem 1: as many roots as modes, at distance Õ(n^(-1/(4+d)))"
CONDITION = "τ < r_M/2, h ∝ n^(-1/(4+d)), compact support, no flat regions"
SIZE = (9.0, 6.4)

ALGORITHM = "Algorithm 1"
RULE = 'QuickShift("paper")'  # the same bandwidth, with the default tau
DEFAULT = "QuickShift()"
OTHER_KERNEL = "Algorithm 1, Epanechnikov"
COMPARED = (OTHER_KERNEL, *METHODS)
SHARE_OF_BOUND = 0.9  # tau in units of r_M / 2, below which the theorem holds
USUAL = 0.9  # slopes are fitted to sizes at which at least this share of runs counts right
LARGE = 10_000  # slopes are fitted to sizes from here on as well
THREE = GaussianMixture([[-2.0, 0.0], [2.0, 0.0], [0.0, 3.0]], weights=[3, 2, 2])
NARROW_TAU = "gaussians, τ = 0.5"
TAU_OF_THREE = {"gaussians": 1.0, NARROW_TAU: 0.5}
FLOORS = (0.0, 0.3)  # of the densities of Lemma 1; the second one jumps at the edge


@dataclass(frozen=True)
class Form:
    """Draws of each size: per dimension, with default settings as well, and of the slower parts."""

    draws: dict[int, dict[int, int]]
    default_draws: dict[int, int]
    sup: dict[int, int]
    outside: dict[int, int]
    peers: dict[int, int]
    peer_dimensions: tuple[int, ...]


_TO_1E5 = (1000, 3000, 10_000, 30_000, 100_000)
_TO_1E6 = {1000: 100, 3000: 100, 10_000: 100, 30_000: 40, 100_000: 100, 300_000: 13, 1_000_000: 5}
_TO_3E5 = dict.fromkeys((*_TO_1E5, 300_000), 5)
_IN_SPACE = {1000: 40, 3000: 40, 10_000: 40, 30_000: 40, 100_000: 20}
_IN_FIVE = {1000: 40, 3000: 40, 10_000: 40, 30_000: 13}
_DEFAULTS = dict.fromkeys((*_TO_1E5, 300_000, 1_000_000), 12)
_OUTSIDE = dict.fromkeys(_TO_1E5, 20)
FORMS = {
    "quick": Form(
        draws={1: {1000: 10, 10_000: 10}, 2: {1000: 10, 10_000: 10}},
        default_draws={1000: 3, 10_000: 3},
        sup={1000: 5, 10_000: 5},
        outside={1000: 3, 10_000: 3},
        peers={1000: 1},
        peer_dimensions=(2,),
    ),
    "middle": Form(
        draws={1: _TO_1E6, 2: _TO_1E6, 3: _IN_SPACE, 5: _IN_FIVE},
        default_draws=_DEFAULTS,
        sup=_TO_3E5,
        outside=_OUTSIDE,
        peers={1000: 2, 3000: 2, 10_000: 2},
        peer_dimensions=(2, 3),
    ),
    "full": Form(
        draws={
            1: _TO_1E6 | {10_000_000: 2},
            2: _TO_1E6 | {10_000_000: 2},
            3: _IN_SPACE | {300_000: 10, 1_000_000: 5},
            5: _IN_FIVE | {100_000: 5, 300_000: 2, 1_000_000: 2},
        },
        default_draws=_DEFAULTS | {100_000: 100},
        sup=_TO_3E5 | {1_000_000: 2},
        outside=_OUTSIDE | {300_000: 20, 1_000_000: 20},
        peers={1000: 2, 3000: 2, 10_000: 2, 30_000: 1, 100_000: 1, 300_000: 1, 1_000_000: 1},
        peer_dimensions=(1, 2, 3, 5),
    ),
}


def jobs(form: Form) -> list[Job]:
    """List fits inside the assumptions, then outside of them, then the peers."""
    found: list[Job] = []
    for d, draws_of in form.draws.items():
        for n, draws in draws_of.items():
            for seed in range(draws):
                with_default = seed < form.default_draws.get(n, 0) and n <= 100_000
                found += [("fit", kind, d, n, seed, with_default) for kind in ("equal", "unequal")]
    for d in (1, 2):
        for n, draws in form.sup.items():
            found += [("sup", floor, d, n, seed) for floor in FLOORS for seed in range(draws)]
    for d, draws_of in form.draws.items():
        found += [("curvature", kind, d, n) for kind in ("equal", "unequal") for n in draws_of]
    for n, draws in form.outside.items():
        for seed in range(draws):
            with_default = seed < form.default_draws.get(n, 0)
            found += [("fit", kind, 2, n, seed, with_default) for kind in ("sharp", "gaussians")]
            found.append(("fit", NARROW_TAU, 2, n, seed, False))
    peers = tuple(form.peers.items())
    return found + [("peer", name, d, peers) for d in form.peer_dimensions for name in COMPARED]


def density_of(kind: str, d: int) -> Peaks:
    """Return a density with three modes."""
    if kind == "sharp":
        return Peaks(d=d, curvature=1.2, power=1.0)
    return equal(d) if kind == "equal" else unequal(d)


def tau_of(known: Peaks) -> float:
    """Return 0.9 of the bound r_M / 2 of the theorem."""
    return SHARE_OF_BOUND * known.r_m / 2


def measure(job: Job) -> list[Row]:
    """Return the rows of one job."""
    part, *rest = job
    of_part = {
        "fit": measure_fit,
        "curvature": measure_curvature,
        "sup": measure_sup,
        "peer": measure_peer,
    }
    return of_part[part](*rest)


def measure_fit(kind: str, d: int, n: int, seed: int, with_default: bool) -> list[Row]:
    """Compare the modes of Algorithm 1, and of default settings, with the true ones."""
    if kind in TAU_OF_THREE:
        X, truth, tau = THREE.sample(n, seed=seed)[0], THREE.modes(), TAU_OF_THREE[kind]
    else:
        known = density_of(kind, d)
        X, truth, tau = known.sample(n, seed), known.modes(), tau_of(known)
    models = {ALGORITHM: qs.QuickShift(bandwidth="paper", tau=tau, n_jobs=1)}
    if with_default:
        models[RULE] = qs.QuickShift(bandwidth="paper", n_jobs=1)
        models[DEFAULT] = qs.QuickShift(n_jobs=1)
    rows = []
    for method, model in models.items():
        began = cpu_seconds()
        model.fit(X)
        passed = cpu_seconds() - began
        scores = errors(model.modes_, truth) | {"cpu": passed}
        if method == ALGORITHM:
            scores["argmax"] = argmax_error(X, model.density_, truth, 2 * tau)
        rows.append({"part": "fit", "method": method, "kind": kind, "d": d, "n": n} | scores)
    return rows


def errors(found: Floats, truth: Floats) -> Row:
    """Return the Hausdorff distance and the number of modes."""
    return {"hausdorff": hausdorff(found, truth), "modes": len(found), "true": len(truth)}


def argmax_error(X: Floats, density: Floats, truth: Floats, radius: float) -> float:
    """Return the longest distance from a mode to the highest sample within ``radius`` of it."""
    longest = 0.0
    for mode in truth:
        away = np.linalg.norm(X - mode, axis=1)
        near = np.flatnonzero(away <= radius)
        longest = max(longest, float(away[near[density[near].argmax()]]))
    return longest


def measure_curvature(kind: str, d: int, n: int) -> list[Row]:
    """Return the share of its curvature that the flattest mode keeps under the bandwidth for n.

    The second derivative of the smoothed density along the axis is the mean of f(mode + h Z)
    (Z₁² - 1) / h² for standard normal Z. The same mean for the paraboloid alone is that of f.
    """
    known = density_of(kind, d)
    model = qs.QuickShift(bandwidth="paper", tau=1.0, n_jobs=1).fit(known.sample(10_000, 0))
    h = float(model.bandwidth_ * (10_000 / n) ** (1 / (4 + d)))
    Z = np.random.default_rng(0).standard_normal((100_000, d))
    weight = Z[:, 0] ** 2 - 1
    alone = -known.curvature / known.constant * h**2 * ((Z**2).sum(axis=1) * weight).mean()
    left = [
        float(((known.density(mode + h * Z) - known.density(mode)) * weight).mean() / alone)
        for mode in known.modes()
    ]
    row = {"part": "curvature", "kind": kind, "d": d, "n": n}
    return [row | {"bandwidth": h, "left": min(left)}]


def measure_sup(floor: float, d: int, n: int, seed: int) -> list[Row]:
    """Return the largest error of the density over a grid on the axis and random points."""
    known = Peaks(d=d, floor=floor)
    model = qs.QuickShift(bandwidth="paper", tau=0.1, n_jobs=1).fit(known.sample(n, seed))
    axis = np.zeros((4001, d))
    axis[:, 0] = np.linspace(-1, 3, len(axis))
    around = np.random.default_rng(seed).uniform(-1, 1, (4000, d))
    around[:, 0] = 1 + 2 * around[:, 0]
    points = np.concatenate([axis, around])
    estimate = np.exp(model.score_samples(points))
    scale = known.density(known.modes()[:1])[0]
    error = float(np.abs(estimate - known.density(points)).max() / scale)
    return [{"part": "sup", "floor": floor, "d": d, "n": n, "sup": error}]


def measure_peer(name: str, d: int, sizes: tuple[tuple[int, int], ...]) -> list[Row]:
    """Run a peer on growing samples, some draws of each, until one takes more than a minute."""
    known = equal(d)
    rows: list[Row] = []
    for n, seed in ((n, seed) for n, draws in sizes for seed in range(draws)):
        X = known.sample(n, seed)
        bandwidth = float(qs.QuickShift(bandwidth="paper", tau=1.0, n_jobs=1).fit(X).bandwidth_)
        began = cpu_seconds()
        try:
            with limited():
                found = modes_by(name, X, bandwidth, known)
        except TooSlow:
            break
        passed = cpu_seconds() - began
        row = {"part": "peer", "method": name, "kind": "equal", "d": d, "n": n}
        rows.append(row | errors(found, known.modes()) | {"cpu": passed})
    return rows


def modes_by(name: str, X: Floats, bandwidth: float, known: Peaks) -> Floats:
    """Return the modes that a method finds."""
    if name != OTHER_KERNEL:
        return METHODS[name](X, bandwidth, len(known.centers))
    radius = math.sqrt(known.d + 4) * bandwidth  # the same variance, as for MeanShift
    model = qs.QuickShift(radius, tau_of(known), kernel="epanechnikov", n_jobs=1)
    found: Floats = model.fit(X).modes_
    return found


def fitted(rows: list[Row], **where: Any) -> tuple[list[int], list[Floats]]:
    """Return the sizes at which the number of modes is usually right, and the distances there."""
    chosen = select(rows, part="fit", method=ALGORITHM, **where)
    sizes, samples = [], []
    for n in values(chosen, "n"):
        some = select(chosen, n=n)
        right = [row for row in some if row["modes"] == row["true"]]
        if len(right) >= USUAL * len(some) and len(some) > 1:
            sizes.append(n)
            samples.append(column(some, "hausdorff"))
    return sizes, samples


def slopes(rows: list[Row]) -> list[list[str]]:
    """Return a line per density and dimension: fitted slopes next to the theorem's."""
    lines = []
    for kind in ("equal", "unequal"):
        for d in values(select(rows, part="fit", kind=kind), "d"):
            theory = -1 / (4 + d)
            sizes, samples = fitted(rows, kind=kind, d=d)
            line = [kind, str(d), f"{theory:.3f}", "", "", ""]
            if len(sizes) > 1:
                fit = slope(sizes, samples)
                line[3:] = [interval(fit), f"{fit[0] / theory:.2f}"]
                line.append(f"{spaced(sizes[0])} to {spaced(sizes[-1])}")
            chosen = select(rows, part="fit", method=ALGORITHM, kind=kind, d=d)
            every = [n for n in values(chosen, "n") if len(select(chosen, n=n)) > 1]
            large = [n for n in every if n >= LARGE]
            lines.append([*line, argmax_slope(chosen, every), argmax_slope(chosen, large)])
    return lines


def argmax_slope(rows: list[Row], sizes: list[int]) -> str:
    """Return the slope of the distance of the highest sample near each mode, with its interval."""
    if len(sizes) < 2:
        return ""
    return interval(slope(sizes, [column(select(rows, n=n), "argmax") for n in sizes]))


def count_lines(rows: list[Row], method: str, kinds: tuple[str, ...]) -> list[list[str]]:
    """Return a line per density, dimension and size: how often the number of modes is right."""
    lines = []
    for kind in kinds:
        for d in values(select(rows, part="fit", kind=kind), "d"):
            chosen = select(rows, part="fit", method=method, kind=kind, d=d)
            for n in values(chosen, "n"):
                some = select(chosen, n=n)
                hits = sum(row["modes"] == row["true"] for row in some)
                found = interval(share(hits, len(some)), 2)
                typical = f"{np.median(column(some, 'modes')):g}"
                far = interval(median(column(some, "hausdorff")))
                lines.append([kind, str(d), spaced(n), str(len(some)), found, typical, far])
    return lines


def root_lines(rows: list[Row]) -> list[list[str]]:
    """Return a line per τ for the Gaussians: the mean number of roots for each n, and its range."""
    chosen = select(rows, part="fit", method=ALGORITHM)
    sizes = values(select(chosen, kind=NARROW_TAU), "n")
    lines = [["τ", *(f"n = {spaced(n)}" for n in sizes)]]
    for kind, tau in TAU_OF_THREE.items():
        counts = [column(select(chosen, kind=kind, n=n), "modes") for n in sizes]
        cells = [f"{some.mean():.1f} ({some.min():.0f} to {some.max():.0f})" for some in counts]
        lines.append([f"{tau:g}", *cells])
    return lines


def curvature_lines(rows: list[Row]) -> list[list[str]]:
    """Return a line per density and dimension: the curvature that smoothing leaves, for each n."""
    chosen = select(rows, part="curvature")
    sizes = values(chosen, "n")
    lines = [["density", "d", *(f"n = {spaced(n)}" for n in sizes)]]
    for kind in values(chosen, "kind"):
        for d in values(chosen, "d"):
            of_size = [select(chosen, kind=kind, d=d, n=n) for n in sizes]
            cells = [f"{some[0]['left']:.2f}" if some else "" for some in of_size]
            lines.append([kind, str(d), *cells])
    return lines


def sup_lines(rows: list[Row]) -> list[list[str]]:
    """Return a line per density of Lemma 1: errors and their slope."""
    lines = []
    for floor, name in zip(FLOORS, ("falls to zero at the edge", "jumps at the edge"), strict=True):
        for d in values(select(rows, part="sup"), "d"):
            chosen = select(rows, part="sup", floor=floor, d=d)
            sizes = values(chosen, "n")
            samples = [column(select(chosen, n=n), "sup") for n in sizes]
            ends = [f"{np.median(samples[i]):.3f}" for i in (0, -1)]
            theory = f"{-1 / (4 + d):.3f}"
            lines.append([name, str(d), *ends, theory, interval(slope(sizes, samples))])
    return lines


def peer_lines(rows: list[Row]) -> list[list[str]]:
    """Return a line per dimension, size and method, all of them on the same draws."""
    peers = select(rows, part="peer")
    lines = []
    for d in values(peers, "d"):
        for n in values(select(peers, d=d), "n"):
            draws = len(select(peers, method=OTHER_KERNEL, d=d, n=n))
            ours = select(rows, part="fit", method=ALGORITHM, kind="equal", d=d, n=n)
            for method in (ALGORITHM, *COMPARED):
                some = select(peers, method=method, d=d, n=n)
                if method == ALGORITHM:
                    some = ours[:draws]  # the draws are in the order of their seeds
                start = [str(d), spaced(n), method, str(len(some))]
                if some:
                    far = column(some, "hausdorff")
                    cells = [f"{np.median(far):.3f}", f"{far.min():.3f} to {far.max():.3f}"]
                    modes = f"{np.median(column(some, 'modes')):g}"
                    lines.append([*start, *cells, modes, f"{cpu(some):.2g} s"])
                else:
                    lines.append([*start, "", "", "", "more than a minute or 1 GB"])
    return lines


def cpu(rows: list[Row]) -> float:
    """Return the median CPU time of rows."""
    return float(np.median(column(rows, "cpu")))


def tables(rows: list[Row]) -> dict[str, str]:
    """Return the tables of the page."""
    count = ["density", "d", "n", "draws", "share with the right number", "median number"]
    head = [*count, "Hausdorff distance"]
    inside, outside = ("equal", "unequal"), ("sharp", *TAU_OF_THREE)
    by_default = (*inside, "sharp", "gaussians")  # which choose their own τ
    rate = ["density", "d", "theorem", "slope of the Hausdorff distance", "ratio", "fitted for n"]
    nearest = "slope of the nearest maximum"
    sup = ["density", "d", "smallest n", "largest n", "-1/(4+d)", "slope"]
    peer = ["d", "n", "method", "draws", "median Hausdorff distance", "range", "median number"]
    return {
        "slopes": markdown([[*rate, nearest, f"{nearest}, n ≥ {spaced(LARGE)}"], *slopes(rows)]),
        "curvature": markdown(curvature_lines(rows)),
        "counts": markdown([head, *count_lines(rows, ALGORITHM, inside)]),
        "rule": markdown([head, *count_lines(rows, RULE, by_default)]),
        "defaults": markdown([head, *count_lines(rows, DEFAULT, by_default)]),
        "outside": markdown([head, *count_lines(rows, ALGORITHM, outside)]),
        "roots": markdown(root_lines(rows)),
        "sup": markdown([sup, *sup_lines(rows)]),
        "peers": markdown([[*peer, "CPU time"], *peer_lines(rows)]),
    }


def summary(rows: list[Row]) -> str:
    """Return the measured figures in one sentence."""
    parts = []
    for d in values(select(rows, part="fit", kind="unequal"), "d"):
        sizes, samples = fitted(rows, kind="unequal", d=d)
        if len(sizes) > 1:
            fit = slope(sizes, samples)
            parts.append(f"{interval(fit)} for {-1 / (4 + d):.3f} (d = {d})")
    return "slopes " + "; ".join(parts)


def draw(rows: list[Row], figure: Any) -> None:
    """Draw distances and shares of right counts against n, the peers, and the error of Lemma 1."""
    axes = figure.subplots(2, 2)
    dimensions = values(select(rows, part="fit", kind="unequal"), "d")
    for color, d in enumerate(dimensions):
        chosen = select(rows, part="fit", method=ALGORITHM, kind="unequal", d=d)
        sizes = values(chosen, "n")
        far = np.array([median(column(select(chosen, n=n), "argmax")) for n in sizes])
        style = {"color": f"C{color}", "label": f"d = {d}"}
        axes[0, 0].errorbar(
            sizes, far[:, 0], np.abs(far[:, 1:] - far[:, :1]).T, fmt="o-", ms=3, **style
        )
        power = np.array(sizes) ** (-1 / (4 + d))
        theory = power * np.exp(np.log(far[:, 0] / power).mean())
        axes[0, 0].plot(sizes, theory, "--", color=f"C{color}", lw=0.8)
        hits = [
            share(sum(r["modes"] == r["true"] for r in some), len(some))
            for n in sizes
            if (some := select(chosen, n=n))
        ]
        table = np.array(hits)
        axes[0, 1].plot(sizes, table[:, 0], "o-", ms=3, **style)
        axes[0, 1].fill_between(
            sizes, table[:, 1], table[:, 2], color=f"C{color}", alpha=0.15, lw=0
        )
    axes[0, 0].set(xscale="log", yscale="log", xlabel="n", ylabel="distance of the worst mode")
    axes[0, 0].set_title("Highest sample within $r_M$ of each mode; dashed: $n^{-1/(4+d)}$")
    axes[0, 0].legend(frameon=False)
    axes[0, 1].set(xscale="log", xlabel="n", ylabel="share of runs", ylim=(-0.03, 1.03))
    axes[0, 1].set_title("Exactly the right number of roots")
    axes[0, 1].legend(frameon=False)
    draw_peers(rows, axes[1, 0])
    draw_sup(rows, axes[1, 1])


def draw_peers(rows: list[Row], ax: Any) -> None:
    """Draw the distance of every method in the plane against n."""
    ours = select(rows, part="fit", method=ALGORITHM, kind="equal", d=2)
    for color, method in enumerate((ALGORITHM, *COMPARED)):
        some = ours if method == ALGORITHM else select(rows, part="peer", method=method, d=2)
        sizes = values(some, "n")
        far = [np.median(column(select(some, n=n), "hausdorff")) for n in sizes]
        style = "o--" if method == "Quickshift++" else "o-"  # it often covers that of k-NN modes
        ax.plot(sizes, far, style, ms=3, color=f"C{color}", label=method)
    ax.set(xscale="log", yscale="log", xlabel="n", ylabel="Hausdorff distance")
    ax.set_title("Methods in the plane")
    ax.legend(frameon=False)


def draw_sup(rows: list[Row], ax: Any) -> None:
    """Draw the largest error of the density against n, with and without a jump."""
    for color, floor in enumerate(FLOORS):
        for d, style in ((1, "o-"), (2, "s--")):
            chosen = select(rows, part="sup", floor=floor, d=d)
            sizes = values(chosen, "n")
            far = [np.median(column(select(chosen, n=n), "sup")) for n in sizes]
            kind = "jumps" if floor else "falls to zero"
            ax.plot(
                sizes, far, style, ms=3, color=f"C{color}", label=f"{kind} at the edge, d = {d}"
            )
    ax.set(xscale="log", yscale="log", xlabel="n", ylabel="largest error / highest density")
    ax.set_title("Lemma 1: largest error of the density")
    ax.legend(frameon=False)
