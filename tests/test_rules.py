"""The rules that choose bandwidth and tau, compared with formulas and brute force.

Weights are checked against the same data with each row repeated as often as its weight says.
"""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from cases import COMPACT, DIMENSIONS, INFINITE, KERNELS, Case, Floats, cases, distances, make
from quickshift import QuickShift, _core
from quickshift.bandwidth import period_limit
from quickshift.kernels import get_kernel
from quickshift.stages import Samples, choose_bandwidth, choose_tau, fit_estimate, prepare
from quickshift.stages.rules import _loss_of, bandwidth_by, best_factor, searched_factors

every_kernel = pytest.mark.parametrize("kernel", KERNELS)
every_dimension = pytest.mark.parametrize("d", DIMENSIONS)
FORMULAS = ("auto", "paper", "scott", "silverman")
every_formula = pytest.mark.parametrize("rule", FORMULAS)
RULES = (*FORMULAS, "cv")
every_rule = pytest.mark.parametrize("rule", RULES)


def prepared(case: Case) -> Samples:
    return prepare(case.X, sample_weight=case.sample_weight, period=case.period)


def repeated(case: Case) -> Case:
    """Repeat every row as often as its weight says, and drop the weights."""
    if case.sample_weight is None:
        return case
    X = np.repeat(case.X, case.sample_weight.astype(int), axis=0)
    return Case(case.name, X, case.h, None, case.period)


# Formulas


def feature_scale(x: Floats, period: float) -> float:
    if math.isfinite(period):
        resultant = abs(np.exp(2j * np.pi * x / period).mean())
        deviation = math.sqrt(-2 * math.log(resultant)) * period / (2 * math.pi)
        return min(deviation, period / math.sqrt(12))
    iqr = np.subtract(*np.quantile(x, [0.75, 0.25])) / 1.349
    return min(x.std(), iqr) if iqr > 0 else x.std()


def formula(rule: str, case: Case, kernel: str) -> float:
    X = repeated(case).X
    n, d = X.shape
    period = np.full(d, np.inf) if case.period is None else case.period
    scale = np.mean([feature_scale(x, p) for x, p in zip(X.T, period, strict=True)])
    factor = {
        "auto": 0.5 * n ** (-1 / (4 + d)),
        "paper": n ** (-1 / (4 + d)),
        "scott": n ** (-1 / (4 + d)),
        "silverman": (4 / ((d + 2) * n)) ** (1 / (d + 4)),
    }[rule]
    h = scale * factor
    if rule == "auto" and d > 5:
        h = max(h, np.median(nearest_elsewhere(X, period)) / 3)
    facts = get_kernel(kernel)
    return min(h / math.sqrt(facts.variance(d)), period_limit(facts, case.period))


def nearest_elsewhere(X: np.ndarray, period: np.ndarray) -> np.ndarray:
    delta = np.abs(X[:, None] - X)
    closed = np.isfinite(period)
    delta[..., closed] %= period[closed]
    delta[..., closed] = np.minimum(delta[..., closed], period[closed] - delta[..., closed])
    distance = np.sqrt((delta**2).sum(axis=-1))
    return np.where(distance < 1e-9, np.inf, distance).min(axis=1)


@every_dimension
@every_kernel
@every_formula
def test_rules_are_their_formulas_on_repeated_data(rule: str, kernel: str, d: int) -> None:
    for kind in ("random", "lattice", "duplicated", "clustered"):
        for weights in ("none", "integer"):
            for period in ("open", "some", "all"):
                case = make(kind, 65, d, weights=weights, period=period)
                h = choose_bandwidth(prepared(case), rule, kernel=kernel)
                assert h == pytest.approx(formula(rule, case, kernel), rel=1e-10), case.name


def test_paper_rule_of_four_points_by_hand() -> None:
    # IQR 1.5 / 1.349 = 1.112 against the deviation √1.25 = 1.118; 4^(-1/5) = 0.758
    h = choose_bandwidth(prepare([[0.0], [1.0], [2.0], [3.0]]), "paper")
    assert h == pytest.approx(1.5 / 1.349 * 4**-0.2, rel=1e-15)


def test_auto_is_the_rule_that_is_used_if_none_is_named() -> None:
    samples = prepared(make("random", 65, 2))
    assert choose_bandwidth(samples) == choose_bandwidth(samples, "auto", kernel="gaussian")


@every_rule
@every_kernel
def test_all_points_equal_give_a_bandwidth_of_one(kernel: str, rule: str) -> None:
    for n in (1, 2, 33):
        for d in (1, 3, 6):
            samples = prepare(np.full((n, d), 0.7))
            assert choose_bandwidth(samples, rule, kernel=kernel) == 1.0


@every_rule
@every_kernel
def test_bandwidth_is_never_more_than_the_periods_admit(kernel: str, rule: str) -> None:
    period = np.array([1.0, np.inf])
    X = np.random.default_rng(0).uniform(size=(40, 2)) * [1.0, 100.0]
    h = choose_bandwidth(prepare(X, period=period), rule, kernel=kernel)
    assert 0 < h <= period_limit(get_kernel(kernel), period)


@every_rule
def test_equal_points_in_a_short_period_still_get_an_admissible_bandwidth(rule: str) -> None:
    samples = prepare(np.zeros((5, 1)), period=[0.5])
    assert choose_bandwidth(samples, rule) == 0.125


# Invariance


@pytest.mark.parametrize("kind", ["random", "lattice", "duplicated", "clustered"])
@every_rule
def test_integer_weights_are_repetition_to_the_last_bit(rule: str, kind: str) -> None:
    for kernel in ("gaussian", "epanechnikov"):
        for period in ("open", "all"):
            case = make(kind, 33, 2, weights="integer", period=period)
            plain = prepared(repeated(case))
            h = choose_bandwidth(prepared(case), rule, kernel=kernel)
            assert h == choose_bandwidth(plain, rule, kernel=kernel)
            tau = choose_tau(prepared(case), h, kernel=kernel)
            assert tau == choose_tau(plain, h, kernel=kernel)


@every_rule
@every_kernel
def test_order_of_rows_changes_no_bit_of_a_parameter(kernel: str, rule: str) -> None:
    rng = np.random.default_rng(0)
    for kind, weights, period in (
        ("random", "real", "open"),
        ("duplicated", "real", "all"),
        ("lattice", "heavy", "some"),
        ("offset", "none", "open"),
    ):
        case = make(kind, 65, 2, weights=weights, period=period)
        h = choose_bandwidth(prepared(case), rule, kernel=kernel)
        tau = choose_tau(prepared(case), h, kernel=kernel)
        permuted = prepared(case.permuted(rng.permutation(case.n)))
        assert choose_bandwidth(permuted, rule, kernel=kernel) == h
        assert choose_tau(permuted, h, kernel=kernel) == tau


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])
@every_rule
def test_number_of_threads_changes_no_bit_of_a_parameter(rule: str, n_jobs: int) -> None:
    case = make("random", 4000 if rule != "cv" else 1200, 2, weights="real")
    samples = prepared(case)
    h = choose_bandwidth(samples, rule, n_jobs=n_jobs)
    assert h == choose_bandwidth(samples, rule, n_jobs=1)
    assert choose_tau(samples, h, n_jobs=n_jobs) == choose_tau(samples, h, n_jobs=1)


@pytest.mark.parametrize("exponent", [-300, -1, 10, 300])
@every_rule
@every_kernel
def test_scaling_by_a_power_of_two_scales_the_parameters_exactly(
    kernel: str, rule: str, exponent: int
) -> None:
    for period in ("open", "all"):
        case = make("random", 33, 2, weights="real", period=period)
        lengths = None if case.period is None else np.ldexp(case.period, exponent)
        samples = prepare(
            np.ldexp(case.X, exponent), sample_weight=case.sample_weight, period=lengths
        )
        h = choose_bandwidth(prepared(case), rule, kernel=kernel)
        scaled = choose_bandwidth(samples, rule, kernel=kernel)
        assert scaled == math.ldexp(h, exponent)
        tau = choose_tau(prepared(case), h, kernel=kernel)
        assert choose_tau(samples, math.ldexp(h, exponent), kernel=kernel) == math.ldexp(
            tau, exponent
        )


# Cross-validation


def left_out_likelihood(case: Case, kernel: str, h: float) -> float:
    """Compute the mean leave-one-out log density, leaving out all samples at the same location."""
    X = repeated(case).X
    facts, d = get_kernel(kernel), case.d
    apart = distances(X, X, case.period)
    t = apart / h
    with np.errstate(divide="ignore"):
        if kernel == "gaussian":
            log_k = -0.5 * t * t
        else:
            log_k = -t if kernel == "exponential" else np.log(facts.profile(t))
        log_k = np.where(apart > 0, log_k, -np.inf)
        log_density = logsumexp(log_k, axis=1) - np.log((apart > 0).sum(axis=1))
    return float(log_density.mean() + facts.log_normaliser(d) - d * math.log(h))


def searched(case: Case, kernel: str) -> Floats:
    """Make a dense grid over the range that "cv" promises to search."""
    paper = formula("paper", case, kernel)
    high = min(4 * paper, period_limit(get_kernel(kernel), case.period))
    return np.geomspace(paper / 32, high, 120)


CROSS_VALIDATED = [
    make(kind, 40, d, weights=weights, period=period, seed=seed)
    for d in (1, 2)
    for kind, weights, period in (
        ("random", "none", "open"),
        ("random", "integer", "open"),
        ("random", "none", "all"),
        ("duplicated", "none", "open"),
        ("duplicated", "integer", "all"),
        ("lattice", "none", "open"),
        ("clustered", "none", "open"),
    )
    for seed in (0, 1)
]


@pytest.mark.parametrize("case", CROSS_VALIDATED, ids=lambda case: case.name)
@every_kernel
def test_cross_validation_maximizes_the_likelihood_of_left_out_locations(
    kernel: str, case: Case
) -> None:
    best = max(left_out_likelihood(case, kernel, h) for h in searched(case, kernel))
    h = choose_bandwidth(prepared(case), "cv", kernel=kernel)
    if math.isinf(best):  # even the widest support holds no neighbor of some location
        assert h == pytest.approx(searched(case, kernel)[-1], rel=1e-12)
    else:
        # The likelihood of a compact kernel has a kink (of the uniform kernel, a jump) at every
        # bandwidth at which a sample enters the support, so its maximum is found only roughly.
        slack = 1e-6 if kernel in INFINITE else 0.15 if kernel == "uniform" else 0.01
        assert left_out_likelihood(case, kernel, h) >= best - slack


@pytest.mark.parametrize("kernel", INFINITE)
def test_cross_validation_gives_its_narrowest_bandwidth_to_pairs_that_are_nearer(
    kernel: str,
) -> None:
    X = make("random", 40, 1).X
    case = Case("pairs", np.concatenate([X, X + 1e-6]), 1.0)
    h = choose_bandwidth(prepared(case), "cv", kernel=kernel)
    assert h == pytest.approx(formula("paper", case, kernel) * (1 / 32) * (1 + 1e-9), rel=1e-12)


@pytest.mark.parametrize("kernel", COMPACT)
def test_cross_validation_gives_its_widest_bandwidth_where_a_point_stays_alone(
    kernel: str,
) -> None:
    case = make("random", 40, 1)
    X = case.X.copy()
    X[0] = 1e6
    lonely = Case("outlier", X, 1.0)
    h = choose_bandwidth(prepared(lonely), "cv", kernel=kernel)
    assert h == pytest.approx(4 * formula("paper", lonely, kernel), rel=1e-12)


@pytest.mark.parametrize("kernel", INFINITE)
def test_cross_validation_of_infinite_kernels_survives_a_far_outlier(kernel: str) -> None:
    X = make("random", 40, 1).X.copy()
    X[0] = 1e6
    case = Case("outlier", X, 1.0)
    h = choose_bandwidth(prepared(case), "cv", kernel=kernel)
    best = max(left_out_likelihood(case, kernel, x) for x in searched(case, kernel))
    assert left_out_likelihood(case, kernel, h) >= best - 1e-9 * abs(best)


def test_the_factors_that_cross_validation_searches_by_hand() -> None:
    gaussian, uniform = get_kernel("gaussian"), get_kernel("uniform")
    least = (1 / 32) * (1 + 1e-9)
    assert searched_factors(0.5, gaussian, math.inf, 4.0) == (least, 4.0)
    assert searched_factors(0.5, gaussian, 1.0, 4.0) == (least, 2.0)
    assert searched_factors(0.5, uniform, math.inf, 1e-3) == (least, 4.0)
    assert searched_factors(0.5, uniform, math.inf, 1.0) == (2.0 * (1 + 1e-9), 4.0)
    silverman = get_kernel("silverman")
    far = 0.5 * silverman.support
    assert searched_factors(0.5, silverman, math.inf, far) == (1.0 * (1 + 1e-9), 4.0)


@pytest.mark.parametrize("place", [0.0, 0.3, 0.7, 1.2, 15.7, 16.4, 30.8, 31.3, 31.7, 32.0])
def test_the_factor_of_the_lowest_of_several_minima_is_found(place: float) -> None:
    least, most = 1 / 32, 4.0
    step = math.log(most / least) / 32
    lowest = math.log(least) + place * step
    broad = math.log(least) + (24 if place < 16 else 8) * step

    def loss(x: float) -> float:
        return -math.exp(-(((x - lowest) / step) ** 2)) - 0.5 * math.exp(
            -(((x - broad) / (4 * step)) ** 2)
        )

    assert abs(math.log(best_factor(least, most, loss)) - lowest) < 2e-3


def test_the_only_factor_is_the_best_one() -> None:
    assert best_factor(3.0, 2.0, lambda _: 0.0) == 2.0


def test_cross_validation_reports_every_evaluation_once() -> None:
    parts: list[float] = []
    samples = prepared(make("random", 40, 2))
    choose_bandwidth(samples, "cv", progress=lambda _, done: parts.append(done))
    assert 0 < parts[0] <= 1 / 44
    assert parts == sorted(parts)
    assert len(set(parts)) > 33
    assert parts[-1] == 1.0


def test_more_evaluations_than_expected_are_reported_as_one() -> None:
    parts: list[float] = []
    loss = _loss_of(fit_estimate(prepared(make("random", 40, 2)), 1.0), parts.append)
    for _ in range(50):
        loss(0.0)
    assert parts[-1] == 1.0


@pytest.mark.parametrize("rule", ["auto", "cv"])
def test_bandwidth_is_at_most_the_diameter_of_the_sphere(rule: str) -> None:
    X = np.random.default_rng(0).normal(size=(4, 3) if rule == "cv" else (20, 30))
    samples = QuickShift(1.0, metric="cosine").fit(X)._graph.samples
    assert bandwidth_by(rule, samples, get_kernel("epanechnikov"), 1e-9) == 2.0


def test_cross_validation_finds_the_narrow_structure_that_the_rules_oversmooth() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.05, size=50) for c in (-3, -1, 1, 3)])[:, None]
    samples = prepare(X)
    assert choose_bandwidth(samples, "cv") < 0.2 * choose_bandwidth(samples, "paper")


# Tau


def nearest_distinct(case: Case) -> Floats:
    """Compute the distance of every repeated sample to the nearest sample at another location."""
    X = repeated(case).X
    apart = distances(X, X, case.period)
    return np.where(apart > 0, apart, np.inf).min(axis=1)


@pytest.mark.parametrize("kind", ["random", "lattice", "duplicated", "collinear", "clustered"])
@every_dimension
def test_tau_is_by_brute_force_over_repeated_data(d: int, kind: str) -> None:
    for weights, period in (("none", "open"), ("integer", "all"), ("integer", "some")):
        case = make(kind, 65, d, weights=weights, period=period)
        reach = np.quantile(nearest_distinct(case), 0.99)
        for kernel in ("gaussian", "uniform", "exponential"):
            for h in (1e-9 * case.h, case.h, 100 * case.h):
                h_gaussian = h * math.sqrt(get_kernel(kernel).variance(d))
                expected = max(1.5 * h_gaussian, reach)
                tau = choose_tau(prepared(case), h, kernel=kernel)
                assert tau == pytest.approx(expected, rel=1e-10), case.name


def test_tau_of_equal_points_is_one_and_a_half_bandwidths() -> None:
    assert choose_tau(prepare(np.zeros((7, 2))), 2.0) == 3.0
    assert choose_tau(prepare([[1.0]]), 2.0) == 3.0


def test_tau_ignores_rows_of_weight_zero() -> None:
    X = np.array([[0.0], [5.0], [5.5], [10.0]])
    assert choose_tau(prepare(X, sample_weight=[1, 1, 0, 1]), 0.1) == 5.0


@given(case=cases(weights=("none", "integer"), max_n=40), kernel=st.sampled_from(KERNELS))
def test_parameters_are_positive_and_finite_for_any_data(case: Case, kernel: str) -> None:
    samples = prepared(case)
    for rule in RULES:
        h = choose_bandwidth(samples, rule, kernel=kernel)
        assert 0 < h < math.inf
        assert 0 < choose_tau(samples, h, kernel=kernel) < math.inf


@pytest.mark.parametrize("rule", ["scot", "", None, 3.0, ["auto"]])
def test_unknown_rules_are_repeated_with_the_known_ones(rule: object) -> None:
    with pytest.raises(ValueError, match=r"bandwidth is .*, expected .*one of 'auto', 'paper'"):
        choose_bandwidth(prepare([[0.0], [1.0]]), rule)


def test_both_rules_share_one_search_for_nearest_samples(monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 6))
    expected = choose_tau(prepare(X), choose_bandwidth(prepare(X)))
    searches = []
    search = _core.nearest_distances
    monkeypatch.setattr(
        _core, "nearest_distances", lambda *args: searches.append(1) or search(*args)
    )
    samples = prepare(X)
    assert choose_tau(samples, choose_bandwidth(samples)) == expected
    assert len(searches) == 1
    assert pickle.loads(pickle.dumps(samples)).__dict__.keys() == prepare(X).__dict__.keys()
