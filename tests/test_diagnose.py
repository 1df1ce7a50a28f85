"""The paper's definitions, each compared with a brute-force computation in NumPy."""

import itertools
import math
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import Case, Floats, make
from quickshift import QuickShift
from quickshift import diagnose as diagnose_fit
from quickshift.bandwidth import spread
from quickshift.stages import (
    ParentGraph,
    climb,
    conditions,
    cut,
    diagnose_modes,
    link,
    mode_recovery,
    mode_steps,
    prepare,
    separation,
)
from quickshift.stages.diagnosis import neighborhoods

diagnose = partial(diagnose_fit, theory=True)

KINDS = ("random", "lattice", "duplicated", "constant")
DATA = [
    make(kind, n, d, weights=weights, period=period, seed=seed)
    for seed, (kind, weights, period) in enumerate(
        itertools.product(KINDS, ("none", "integer"), ("open", "all", "some"))
    )
    for n, d in [(25, 1 + seed % 3)]
] + [make("random", 1, 2), make("scaled_up", 20, 2), make("scaled_down", 20, 2)]
EVERY_CASE = pytest.mark.parametrize("case", DATA, ids=lambda case: case.name)
MARGINS = (0.0, 0.1, 0.5, 1.0)


def distances(case: Case) -> Floats:
    """Distances of all pairs, NaN in rows and columns of weight zero."""
    scale = 2.0 ** math.floor(math.log2(np.abs(case.X).max(initial=1e-300)))
    X = case.X / scale
    if case.period is not None:
        period = case.period / scale
        closed = np.isfinite(period)
        X[:, closed] = np.mod(X[:, closed], period[closed])
    squares = np.zeros((case.n, case.n))
    for k in range(case.d):
        delta = np.abs(X[:, None, k] - X[None, :, k])
        if case.period is not None and closed[k]:
            delta = np.minimum(delta, period[k] - delta)
        squares += delta**2
    result = np.sqrt(squares) * scale
    result[~case.present] = np.nan
    result[:, ~case.present] = np.nan
    return result


def densities(case: Case) -> Iterator[Floats]:
    """Draw one density without ties and one that takes few values."""
    rng = np.random.default_rng(case.n)
    for values in (rng.uniform(size=case.n), rng.integers(1, 5, size=case.n) / 4):
        yield np.where(case.present, values, np.nan)


def graphs(case: Case) -> Iterator[ParentGraph]:
    samples = prepare(case.X, sample_weight=case.sample_weight, period=case.period)
    for density in densities(case):
        yield climb(samples, density)


def radii_of(case: Case) -> list[float]:
    """Radii between the distances that occur, where rounding cannot decide.

    On a lattice distances are exact, and some of the radii are distances that occur.
    """
    known = np.unique(distances(case)[case.present][:, case.present])
    between = np.sqrt(known[1:] * known[:-1])[:: max(1, known.size // 12)]
    on = known[:: max(1, known.size // 12)] if "lattice" in case.name else known[:0]
    return [*between.tolist(), *on.tolist(), float(known[-1]) * 1.01 + case.h, math.inf]


def rows_of(case: Case) -> list[int]:
    return np.flatnonzero(case.present).tolist()


# The definitions, written out


def above(case: Case, f: Floats, *, strict: bool = False) -> NDArray[np.bool_]:
    """Matrix whose entry (x, y) says whether y is higher than x.

    Of equal densities the lexicographically larger point is higher, of equal points the one with
    the smaller index; with ``strict`` equal densities are never higher than each other.
    """
    X = case.X.copy()
    if case.period is not None:
        closed = np.isfinite(case.period)
        X[:, closed] = np.mod(X[:, closed], case.period[closed])
    keys = [(f[i], X[i].tolist(), -i) for i in range(case.n)]
    higher = np.array([[b[:1] > a[:1] if strict else b > a for b in keys] for a in keys])
    return higher & case.present & case.present[:, None]


def roots(case: Case, f: Floats, tau: float, *, strict: bool = False) -> list[int]:
    """Rows with no higher row within tau, highest first."""
    found = ~(above(case, f, strict=strict) & (distances(case) <= tau)).any(axis=1)
    rank = above(case, f).sum(axis=1)
    return sorted(np.flatnonzero(found & case.present).tolist(), key=lambda row: rank[row])


def prominences(case: Case, f: Floats, tau: float, *, strict: bool = False) -> Floats:
    """Density of each row, minus the highest level at which a path leads to a higher row.

    By Algorithm 2 the steps of a path are the edges to the nearest higher row that are no longer
    than tau, and all pairs that are closer than tau. Its level is the lowest density on the path.
    """
    D, higher, total = distances(case), above(case, f, strict=strict), above(case, f)
    steps = max(tau, 5e-324) > D
    for x in np.flatnonzero(higher.any(axis=1)):
        nearest = higher[x] & (D[x] == D[x, higher[x]].min())
        parent = next(y for y in np.flatnonzero(nearest) if not (nearest & total[y]).any())
        steps[x, parent] |= D[x, parent] <= tau
    level = np.where(steps | steps.T, np.minimum(f[:, None], f), 0.0)
    for k in range(case.n):
        level = np.maximum(level, np.minimum(level[:, k, None], level[k]))
    return f - np.where(total, level, 0.0).max(axis=1)


def rise_within(f: Floats, D: Floats, x: int, r: float) -> float:
    return float(np.max((f - f[x])[D[x] <= r]))


def is_plus(f: Floats, D: Floats, x: int, r: float, r_m: float, delta: float) -> bool:
    return bool((f[x] - f[(D[x] <= r) & (D[x] > r_m)] > delta).all())


def is_minus(f: Floats, D: Floats, x: int, r: float, delta: float) -> bool:
    return bool((f[D[x] <= r] - f[x] > delta).any())


def meeting_level(g: Floats, D: Floats, i: int, j: int, tau: float) -> float:
    """Highest possible minimum of g over a path, by Floyd and Warshall; 0 if there is no path."""
    level = np.where(tau >= D, np.minimum(g[:, None], g[None, :]), 0.0)
    for k in range(g.size):
        through = np.minimum(level[:, k, None], level[None, k, :])
        level = np.maximum(level, through)
    return float(level[i, j])


def reachable(inside: NDArray[np.bool_], D: Floats, start: int, tau: float) -> NDArray[np.bool_]:
    found = np.zeros(inside.size, dtype=bool)
    found[start] = True
    for _ in range(inside.size):
        found |= inside & (D[found] <= tau).any(axis=0)
    return found


def separated(
    f: Floats, D: Floats, i: int, j: int, r_s: float, tau: float
) -> tuple[float, float, float]:
    """Return the level at which i and j meet, delta above it, and the weak delta."""
    near = r_s >= D
    g = np.array([f[near[x]].max(initial=0.0) for x in range(f.size)])
    e = np.array([f[near[x]].min(initial=np.inf) for x in range(f.size)])
    level = meeting_level(g, D, i, j, tau)
    delta = min(e[i], e[j]) - level
    S = ~np.isnan(f) & (g <= level)
    if (near[i] & S).any() or (near[j] & S).any():
        return level, delta, math.nan
    lowest = []
    for x in (i, j):
        component = reachable(~np.isnan(f) & (g > level), D, x, tau)
        lowest.append(e[component & (f >= f[x])].min())
    return level, delta, min(lowest) - level


# Stages


@EVERY_CASE
def test_steps_are_the_maxima_over_balls(case: Case) -> None:
    D = distances(case)
    for graph in graphs(case):
        f = graph.heights
        for row in rows_of(case):
            rise, drop = mode_steps(graph, row, case.h)
            for steps, sign in ((rise, 1), (drop, -1)):
                assert (np.diff(steps.radii) > 0).all()
                assert (np.diff(steps.values) * sign > 0).all()
            assert (rise.values > 0).all()
            assert (drop.radii > case.h).all()
            for r in radii_of(case):
                assert rise.at(r, 0.0) == rise_within(f, D, row, r)
                ring = f[(D[row] <= r) & (D[row] > case.h)]
                assert drop.at(r, math.inf) == f[row] - ring.max(initial=-math.inf)


@EVERY_CASE
def test_first_rise_is_at_the_parent(case: Case) -> None:
    graph = next(graphs(case))
    for row in rows_of(case):
        rise, _ = mode_steps(graph, row, case.h)
        expected = graph.distance[row]
        assert (rise.radii[0] if rise.radii.size else math.inf) == expected


@EVERY_CASE
def test_modes_are_plus_and_minus_by_definition(case: Case) -> None:
    D = distances(case)
    for graph in graphs(case):
        f, tau = graph.heights, case.h
        forest = cut(graph, tau)
        tree = link(graph.samples, f, forest, tau)
        modes = diagnose_modes(graph, tree, forest.roots, case.h / 2)
        assert [mode.row for mode in modes] == roots(case, f, tau)
        prominence, higher = prominences(case, f, tau), above(case, f)
        for mode in modes:
            assert (mode.height, mode.prominence) == (f[mode.row], prominence[mode.row])
            nearest = D[mode.row, higher[mode.row]].min(initial=math.inf)
            assert mode.parent_distance == pytest.approx(nearest, rel=1e-14)
            assert mode.parent_distance == graph.distance[mode.row]
            assert math.isnan(mode.significance)
            for r, delta in itertools.product(radii_of(case), MARGINS):
                expected = is_plus(f, D, mode.row, r, case.h / 2, delta)
                assert mode.is_plus(r, delta) == expected
                assert mode.is_minus(r, delta) == is_minus(f, D, mode.row, r, delta)


@EVERY_CASE
@pytest.mark.parametrize("pairs", [7, neighborhoods.PAIRS])
def test_theorem_counts_modes_by_definition(
    case: Case, pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighborhoods, "PAIRS", pairs)
    D = distances(case)
    r_m = 0.61 * case.h
    settings = itertools.product((0.8, 1.7, math.inf), (0.0, 0.3, 9.1), MARGINS)
    for graph, (times, slack, delta) in itertools.product(graphs(case), settings):
        f, tau, epsilon = graph.heights, times * case.h, slack * case.h
        found = mode_recovery(graph, tau, r_m, epsilon=epsilon, delta=delta)
        modes = roots(case, f, r_m)
        plus = {x for x in modes if is_plus(f, D, x, tau + epsilon, r_m, delta)}
        minus = {x for x in modes if is_minus(f, D, x, tau - epsilon, delta)}
        expected = roots(case, f, tau)
        assert (found.n_modes, found.n_plus, found.n_minus) == (len(modes), len(plus), len(minus))
        assert found.bound == len(modes) - len(minus)
        assert found.n_found == len(expected) <= found.bound
        assert found.recovered.tolist() == [x for x in modes if x in plus - minus]
        assert set(found.recovered.tolist()) <= set(expected)


def test_theorem_is_exact_without_slack_where_densities_differ() -> None:
    graph = next(graphs(make("random", 200, 2)))
    found = mode_recovery(graph, 0.7, 0.2)
    assert found.n_found == found.bound == found.recovered.size < found.n_modes


def test_theorem_has_no_bound_where_tau_is_below_the_mode_radius() -> None:
    found = mode_recovery(next(graphs(make("random", 200, 2))), 0.2, 0.7)
    assert found.n_found > found.bound
    assert "more may be found" in found.sentence


@EVERY_CASE
@pytest.mark.parametrize("pairs", [7, neighborhoods.PAIRS])
def test_separation_is_the_best_of_all_sets(
    case: Case, pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighborhoods, "PAIRS", pairs)
    D = distances(case)
    rows = rows_of(case)
    for graph, (r_s, tau) in itertools.product(graphs(case), [(0.31, 0.73), (0.11, 1.0), (1, 2)]):
        f = graph.heights
        for i, j in itertools.product(rows[:2], rows[::4]):
            settings = {"r_s": r_s * case.h, "tau": tau * case.h}
            found = separation(graph.samples, f, i, j, **settings)
            expected = separated(f, D, i, j, **settings)
            np.testing.assert_equal((found.level, found.delta, found.weak_delta), expected)
            assert found.r_s == r_s * case.h
            assert not found.weak_delta > found.delta


@pytest.mark.parametrize("radius", [0.05, 0.5, 1.0, 3.0, 1e9])
@pytest.mark.parametrize("shape", [(1, 1), (300, 1), (400, 2), (300, 3)], ids=str)
def test_the_first_sample_within_a_radius_is_that_of_all_pairs(
    shape: tuple[int, int], radius: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighborhoods, "PAIRS", 500)
    rng = np.random.default_rng(shape[0])
    for X in (rng.normal(size=shape), rng.integers(0, 5, shape).astype(float)):
        found = neighborhoods.index_neighbors(prepare(X), rng.integers(0, 50, shape[0]) / 7.0)
        order = found.highest_first
        near = np.linalg.norm(X[:, None] - X, axis=2) <= radius
        highest = np.where(near, found.heights, -np.inf).max(axis=1)
        np.testing.assert_array_equal(found.heights[found.first_within(order, radius)], highest)


def test_no_difference_is_not_negative() -> None:
    model = QuickShift(0.5, 1.0).fit([[0.0], [0.2], [0.4]])
    assert (
        " is 0 less than that" in diagnose(model, pair=(0, 1), separation_radius=1e-9).sentences[-1]
    )


def test_separation_follows_steps_as_long_as_tau() -> None:
    X, density = [[0.0], [1.0], [2.0]], [3.0, 1.0, 2.0]
    assert separation(X, density, 0, 2, r_s=0.5, tau=1.0).level == 1.0
    assert separation(X, density, 0, 2, r_s=0.5, tau=np.nextafter(1.0, 0.0)).level == 0.0
    assert separation(X, density, 0, 2, r_s=0.5, tau=0.0).delta == 2.0


def test_separated_samples_are_in_different_clusters_where_tau_is_short() -> None:
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 5.0])
    model = QuickShift(bandwidth=0.5, tau=0.8).fit(X)
    for i, j in rng.integers(120, size=(40, 2)):
        found = separation(X, model.density_, i, j, r_s=1.7, tau=0.8)
        if found.delta > 0:
            assert model.labels_[i] != model.labels_[j]
            assert "separated for every δ below" in found.sentence
        else:
            assert "not (1.7, δ)-separated" in found.sentence


def test_weak_separation_asks_for_more_than_the_two_balls() -> None:
    # The peak at 2 has a low sample within r_s, which the start at 0 has not.
    X = np.array([[0.0], [1.0], [2.0], [2.1], [3.0], [4.0], [5.0]])
    found = separation(X, [3.0, 3.0, 5.0, 2.5, 1.0, 3.0, 3.0], 0, 6, r_s=0.2, tau=1.0)
    assert (found.level, found.delta, found.weak_delta) == (1.0, 2.0, 1.5)


# Conditions


@pytest.mark.parametrize(
    ("kernel", "power"), [("gaussian", 1), ("exponential", 2), ("cosine", 0), ("tophat", 0)]
)
@pytest.mark.parametrize(("n", "d"), [(10, 1), (1000.5, 3), (1e6, 8)])
def test_conditions_are_the_formulas(kernel: str, power: int, n: float, d: int) -> None:
    for h, tau, sigma in itertools.product((0.01, 0.4, 3.0), (0.02, 1.0, 5.0), (1.0, 2.5)):
        found = conditions(n, d, h=h, tau=tau, spread=sigma, kernel=kernel, r_s=1.2)
        a, b, log_n = h / sigma, tau / sigma, math.log(n)
        values = [log_n**power * a, log_n / (n * a**d), a, b, tau]
        bounds = [1.0, 1.0, (log_n / n) ** (1 / d), (log_n**2 / n) ** (1 / d), 0.6]
        assert [c.value for c in found] == pytest.approx(values)
        assert [c.bound for c in found] == pytest.approx(bounds)
        below = [v < b for v, b in zip(values, bounds, strict=True)]
        holds = [below[0], below[1], not below[2], not below[3], below[4]]
        assert [c.holds for c in found] == holds
        for c in found:
            assert c.name in c.sentence
            assert f"{c.value:.4g}" in c.sentence
            assert f"{c.bound:.4g}" in c.sentence
            assert ("but should be" in c.sentence) != c.holds


def test_conditions_stand_for_one_sample_and_for_no_spread() -> None:
    single = conditions(1, 2, h=0.5, tau=0.0, spread=0.0, kernel="gaussian")
    assert [c.holds for c in single] == [True] * 4
    equal = conditions(100, 2, h=0.5, tau=1.0, spread=0.0, kernel="gaussian")
    assert [c.holds for c in equal] == [False, True, True, True]
    light = conditions(0.3, 2, h=0.5, tau=1.0, spread=1.0, kernel="exponential")
    assert [c.value for c in light] == [0.0, 0.0, 0.5, 1.0]
    high = conditions(100, 900, h=0.1, tau=math.inf, spread=1.0, kernel="cosine")
    assert high[1].value == math.inf


# Estimators


FITS = (
    {"bandwidth": 0.5, "tau": 0.9},
    {"bandwidth": 0.7, "tau": 1.5, "kernel": "epanechnikov"},
    {"bandwidth": 0.4},
    {"bandwidth": "auto", "n_clusters": 3},
    {"bandwidth": 0.5, "tau": 0.0},
    {"bandwidth": 0.5, "tau": math.inf, "ties": "strict"},
)


@pytest.mark.parametrize("settings", FITS, ids=str)
@pytest.mark.parametrize("kind", ["random", "duplicated"])
@pytest.mark.parametrize("period", ["open", "some"])
def test_diagnosis_is_of_the_fit(period: str, kind: str, settings: dict[str, float]) -> None:
    case = make(kind, 60, 2, weights="integer", period=period)
    if case.period is not None:
        settings = {**settings, "metric": "periodic", "period": case.period}
    model = QuickShift(**settings).fit(case.X, sample_weight=case.sample_weight)
    i, j = rows_of(case)[0], rows_of(case)[-1]
    found = diagnose(model, pair=(i, j))
    D, h, tau = distances(case), model.bandwidth_, model.tau_
    r_s = 2.1 * tau if tau > 0 else h
    f = np.where(case.present, model.density_, np.nan)
    assert found.log_unit == 0.0
    assert [mode.row for mode in found.modes] == model.mode_indices_.tolist()
    heights = [mode.height for mode in found.modes]
    assert heights == model.density_[model.mode_indices_].tolist()
    assert [mode.significance for mode in found.modes] == model.significance_.tolist()
    strict = model.ties == "strict"
    prominence = prominences(case, f, tau, strict=strict)[model.mode_indices_]
    assert [mode.prominence for mode in found.modes] == pytest.approx(prominence.tolist())
    for mode, r in itertools.product(found.modes, radii_of(case)):
        ring = f[(D[mode.row] <= r) & (D[mode.row] > h)]
        highest = f[D[mode.row] <= r].max()
        drop = f[mode.row] - ring.max(initial=-math.inf)
        assert mode.rise.at(r, 0.0) == pytest.approx(highest - f[mode.row], abs=1e-8)
        assert mode.drop.at(r, math.inf) == pytest.approx(drop, abs=1e-8)
    theorem = found.theorem_2
    modes = roots(case, f, h, strict=strict)
    minus = [x for x in modes if is_minus(f, D, x, tau, 0.0)]
    plus = [x for x in modes if is_plus(f, D, x, tau, h, 0.0)]
    assert (theorem.n_modes, theorem.n_minus, theorem.n_plus) == tuple(
        map(len, (modes, minus, plus))
    )
    assert theorem.n_found == len(roots(case, f, tau, strict=strict))
    assert theorem.recovered.tolist() == [x for x in plus if x not in minus]
    assert theorem.bound == len(modes) - len(minus)
    assert tau < h or theorem.n_found <= theorem.bound
    expected = separated(f, D, i, j, r_s, tau)
    assert found.separation is not None
    assert found.separation.r_s == r_s
    got = found.separation.level, found.separation.delta, found.separation.weak_delta
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-7)
    weights = np.where(case.present, case.sample_weight, 0.0)
    sigma, n = spread(case.X, weights, case.period), weights.sum()
    bias = (math.log(n) if model.kernel == "gaussian" else 1.0) * h / sigma
    values = [bias, math.log(n) / (n * (h / sigma) ** 2), h / sigma, tau / sigma, tau]
    bounds = [1.0, 1.0, (math.log(n) / n) ** 0.5, math.log(n) / n**0.5, r_s / 2]
    assert [condition.value for condition in found.conditions] == pytest.approx(values)
    assert [condition.bound for condition in found.conditions] == pytest.approx(bounds)
    signs = [1, 1, -1, -1, 1]
    holds = [s * v < s * b for s, v, b in zip(signs, values, bounds, strict=True)]
    assert [condition.holds for condition in found.conditions] == holds
    assert found.conditions[-1].bound == r_s / 2
    assert found.conditions[-1].holds == (tau < math.inf)


def test_bits_that_climbing_ignores_are_not_higher() -> None:
    # All sums except those near the ends are equal up to their last bits, so the largest of these
    # points is the mode, although the sums of many others exceed its own by a few bits.
    model = QuickShift(bandwidth=5.0, tau=10.0).fit(np.arange(400.0)[:, None])
    (top,) = diagnose(model).modes
    sums, bits = model._graph.heights, model._graph.significant_bits
    excess = sums / sums[top.row] - 1.0
    assert np.count_nonzero(excess > 0) > 100
    assert excess.max() < 2.0**-bits
    assert excess[top.row + 1 :].max() < 0
    assert math.isinf(top.parent_distance)
    assert top.rise.radii.size == 0


def test_radii_epsilon_and_delta_are_used() -> None:
    case = make("random", 80, 2)
    model = QuickShift(bandwidth=0.4, tau=0.8).fit(case.X)
    found = diagnose(model, mode_radius=0.3, epsilon=0.1, delta=0.01, separation_radius=2.0)
    f, D, theorem = model.density_, distances(case), found.theorem_2
    modes = roots(case, f, 0.3)
    minus = [x for x in modes if is_minus(f, D, x, 0.8 - 0.1, 0.01)]
    plus = [x for x in modes if is_plus(f, D, x, 0.8 + 0.1, 0.3, 0.01)]
    assert (theorem.n_modes, theorem.n_minus, theorem.n_plus) == tuple(
        map(len, (modes, minus, plus))
    )
    assert (theorem.n_found, theorem.bound) == (len(roots(case, f, 0.8)), len(modes) - len(minus))
    assert theorem.recovered.tolist() == [x for x in plus if x not in minus]
    assert 0 < theorem.n_minus < theorem.n_modes
    assert 0 < theorem.n_plus < theorem.n_modes
    for words in ("within r_M = 0.3", "within 0.7 is higher by more than 0.01", "and 0.9 away"):
        assert words in theorem.sentence
    assert found.separation is None
    assert found.conditions[-1].bound == 1.0
    assert len(diagnose(model).conditions) == 4


def test_densities_beyond_floats_are_sums() -> None:
    X = np.random.default_rng(0).normal(size=(30, 400))
    model = QuickShift(bandwidth=0.01, tau=20.0).fit(X)
    found = diagnose(model, pair=(0, 1))
    assert found.log_unit == model._estimate.log_constant
    assert found.modes[0].height == 1.0
    assert f"multiples of exp({found.log_unit:.4g})" in str(found)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_equal_samples_can_be_diagnosed(n: int) -> None:
    found = diagnose(QuickShift(bandwidth=1.0).fit(np.ones((n, 2))), pair=(0, n - 1))
    assert found.separation is not None
    assert found.separation.delta == 0.0
    assert math.isnan(found.separation.weak_delta)
    assert (found.theorem_2.n_modes, found.theorem_2.bound) == (1, 1)


# Words


def test_sentences_hold_the_numbers() -> None:
    case = make("random", 100, 2)
    found = diagnose(QuickShift(bandwidth=0.3, tau=0.7).fit(case.X), pair=(0, 5))
    assert str(found) == "\n".join(found.sentences)
    for mode, sentence in zip(found.modes, found.sentences[len(found.findings) :], strict=False):
        assert f"row {mode.row} has density {mode.height:.4g}" in sentence
        assert f"prominence {mode.prominence:.4g}" in sentence
        assert f"significance {mode.significance:.3g}" in sentence
        above = f"{mode.parent_distance:.4g} away"
        assert (above if mode.parent_distance < math.inf else "no sample is higher") in sentence
    theorem = found.theorem_2
    for number in (theorem.n_modes, theorem.n_minus, theorem.bound, theorem.n_found):
        assert str(number) in theorem.sentence
    assert found.separation is not None
    for number in (found.separation.level, abs(found.separation.delta), found.separation.r_s):
        assert f"{number:.4g}" in found.separation.sentence
    for part in (theorem, found.separation, *found.conditions):
        assert part.sentence in found.sentences


@pytest.mark.parametrize(
    "settings", [{}, {"n_clusters": 3}, {"min_significance": 0.5}, {"tau": 0.9}], ids=str
)
@pytest.mark.parametrize("kind", ["random", "duplicated"])
def test_diagnosis_of_a_local_fit_has_no_theorem_and_the_rest(
    kind: str, settings: dict[str, float]
) -> None:
    case = make(kind, 60, 2)
    model = QuickShift(**settings).fit(case.X)
    i, j = rows_of(case)[0], rows_of(case)[-1]
    found = diagnose(model, pair=(i, j))
    assert found.theorem_2 is None
    assert found.conditions == []
    assert found.log_unit == 0.0
    assert found.n_unmerged == model.labels_at(model.tau_).max() + 1
    assert [mode.row for mode in found.modes] == model.mode_indices_.tolist()
    heights = model.density_[model.mode_indices_]
    assert [mode.height for mode in found.modes] == pytest.approx(heights.tolist())
    assert [mode.significance for mode in found.modes] == pytest.approx(
        model.significance_.tolist()
    )
    distance = model.parent_distance_[model.mode_indices_].tolist()
    assert [mode.parent_distance for mode in found.modes] == distance
    tree = model.tree_
    birth, death = tree.persistence()[tree.leaf_labels[model.mode_indices_]].T
    prominence = [mode.prominence for mode in found.modes]
    assert prominence == pytest.approx((birth - death).tolist(), rel=1e-7)
    tau = float(np.median(model.tau_))
    expected = separated(model.density_, distances(case), i, j, 2.1 * tau, tau)
    assert found.separation is not None
    got = found.separation.level, found.separation.delta, found.separation.weak_delta
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-7)
    assert any("theorems assume a kernel density" in words for words in found.sentences)
    assert (f"Of the {found.n_unmerged} modes at tau, " in str(found)) == (
        len(found.modes) < found.n_unmerged
    )


def test_many_modes_are_summed_up() -> None:
    model = QuickShift(bandwidth=0.1, tau=0.1).fit(make("random", 100, 2).X)
    found = diagnose(model)
    rest = found.modes[20:]
    theory = found.sentences[len(found.findings) :]
    assert f"There are {len(rest)} more modes" in theory[20]
    assert f"from {rest[0].height:.4g} to {rest[-1].height:.4g}" in theory[20]
    assert len(theory) == 20 + 1 + 1 + 4


def test_merged_modes_are_said() -> None:
    model = QuickShift(bandwidth=0.1).fit(make("random", 100, 2).X)
    found = diagnose(model)
    sentence = f"Of the {found.theorem_2.n_found} modes at tau, one is kept"
    assert len(found.modes) == 1
    assert any(words.startswith(sentence) for words in found.sentences)


# Errors


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"mode_radius": 0.0}, ValueError, "mode_radius is 0.0, expected a positive length"),
        ({"mode_radius": -1.0}, ValueError, "mode_radius is -1.0, expected a positive length"),
        ({"mode_radius": "h"}, TypeError, "mode_radius is 'h', expected a positive length"),
        ({"epsilon": -0.1}, ValueError, "epsilon is -0.1, expected a number of at least 0"),
        ({"delta": -0.1}, ValueError, "delta is -0.1, expected a number of at least 0"),
        ({"delta": math.nan}, ValueError, "delta is NaN"),
        ({"separation_radius": 0.0}, ValueError, "separation_radius is 0.0, expected a positive"),
        ({"pair": (0, 4)}, IndexError, "pair ranges from 0 to 4, expected rows from 0 to 3"),
        ({"pair": (-1, 0)}, IndexError, "pair ranges from -1 to 0"),
        ({"pair": (0, 1.0)}, TypeError, "pair is of type float64, expected row indices"),
        ({"pair": (0, 1, 2)}, ValueError, "pair is .0, 1, 2., expected two rows"),
        ({"pair": 3}, ValueError, "pair is 3, expected two rows"),
        ({"pair": (0, 2)}, ValueError, "pair names row 2, which has weight zero"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: dict[str, float], error: type[Exception], message: str
) -> None:
    X = [[0.0], [1.0], [2.0], [3.0]]
    model = QuickShift(bandwidth=1.0, tau=1.0).fit(X, sample_weight=[1, 1, 0, 1])
    with pytest.raises(error, match=message):
        diagnose(model, **arguments)
    if not arguments.keys() & {"epsilon", "delta"}:
        with pytest.raises(error, match=message):
            diagnose(QuickShift().fit(X, sample_weight=[1, 1, 0, 1]), **arguments)


@pytest.mark.parametrize("arguments", [{"epsilon": -0.1}, {"delta": -0.1}, {"delta": math.nan}])
def test_wrong_arguments_of_theorem_2_are_refused_for_local_fits_too(
    arguments: dict[str, float],
) -> None:
    with pytest.raises(ValueError, match=r"^(epsilon|delta) is"):
        diagnose(QuickShift().fit([[0.0], [1.0], [2.0]]), **arguments)


def test_unfitted_estimators_are_refused() -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        diagnose(QuickShift())


def test_stages_refuse_what_is_no_mode() -> None:
    X, density = [[0.0], [1.0], [2.0]], [3.0, 1.0, 2.0]
    graph = climb(prepare(X, sample_weight=[1, 0, 1]), density)
    with pytest.raises(ValueError, match="row names row 1, which has weight zero"):
        mode_steps(graph, 1, 1.0)
    with pytest.raises(IndexError, match="row ranges from 3 to 3"):
        mode_steps(graph, 3, 1.0)
    tree = link(graph.samples, density, cut(graph, 2.5), 2.5)
    with pytest.raises(ValueError, match="rows has row 2, which is not the root of a leaf"):
        diagnose_modes(graph, tree, [0, 2], 1.0)
    (mode,) = diagnose_modes(graph, tree, [0], 1.0)
    for method in (mode.is_plus, mode.is_minus):
        with pytest.raises(ValueError, match=r"delta is -1\.0"):
            method(1.0, -1.0)
        with pytest.raises(ValueError, match=r"r is -1\.0"):
            method(-1.0, 1.0)


def test_findings_are_those_of_the_summary_and_theory_comes_on_request() -> None:
    X = np.random.default_rng(0).normal(size=(80, 2))
    for bandwidth in ("local", "auto"):
        model = QuickShift(bandwidth).fit(X)
        found = diagnose_fit(model)
        assert found.sentences == model.summary().remarks
        assert any("recut(n_clusters=2)" in sentence for sentence in found.sentences)
        assert found.theorem_2 is None
        assert found.conditions == []
        longer = diagnose_fit(model, theory=True).sentences
        assert longer[: len(found.sentences)] == found.sentences
        assert any("significance inf" in sentence for sentence in longer)


def test_pipelines_are_diagnosed_by_their_last_step() -> None:
    X = np.random.default_rng(0).normal(size=(80, 2)) * [1, 30]
    pipeline = make_pipeline(StandardScaler(), QuickShift()).fit(X)
    assert diagnose_fit(pipeline).sentences == diagnose_fit(pipeline[-1]).sentences
    with pytest.raises(TypeError, match=r"ends with StandardScaler, expected a fitted QuickShift"):
        diagnose_fit(make_pipeline(StandardScaler()).fit(X))
    with pytest.raises(TypeError, match=r"fitted is StandardScaler, expected"):
        diagnose_fit(StandardScaler().fit(X))
