"""Kernel sums of the core: against the reference, far away, in any order, by any way."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import (
    COMPACT,
    DIMENSIONS,
    INFINITE,
    KERNELS,
    KINDS,
    Case,
    Floats,
    cases,
    distances,
    make,
    sizes_of,
    variations,
)
from quickshift import _core, reference
from quickshift.bandwidth import period_limit
from quickshift.kernels import get_kernel
from quickshift.stages import Estimate, estimate_density, fit_estimate, prepare

EPSILON = np.finfo(float).eps
every_kernel = pytest.mark.parametrize("kernel", KERNELS)
every_compact_kernel = pytest.mark.parametrize("kernel", COMPACT)
every_infinite_kernel = pytest.mark.parametrize("kernel", INFINITE)
every_dimension = pytest.mark.parametrize("d", DIMENSIONS)
MODERATE = tuple(kind for kind in KINDS if not kind.startswith("scaled"))


def fit(case: Case, kernel: str, rtol: float = 1e-9, h: float | None = None) -> Estimate:
    samples = prepare(case.X, sample_weight=case.sample_weight, period=case.period)
    return fit_estimate(samples, h or case.bandwidth(kernel), kernel=kernel, rtol=rtol)


def expected_log(case: Case, kernel: str, queries: Floats | None = None) -> Floats:
    h = case.bandwidth(kernel)
    return reference.log_kernel_density(case.X, h, queries=queries, kernel=kernel, **case.given)


def rounding(case: Case, kernel: str, queries: Floats) -> Floats:
    """Allow each term a few units in the last place of k(0): near its edge k itself is tiny."""
    h, support = case.bandwidth(kernel), get_kernel(kernel).support
    if math.isinf(support):
        return np.zeros(len(queries))
    weights = np.ones(case.n) if case.sample_weight is None else case.sample_weight
    near = distances(queries, case.X, case.period) <= h * support * (1 + 1e-6)
    return 8 * EPSILON * (near @ weights)


def assert_logs_agree(found: Floats, expected: Floats, rtol: float, name: str) -> None:
    """Compare log densities: the densities may differ by rtol, and what logarithms must round."""
    assert not np.isnan(found).any(), name
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected), err_msg=name)
    finite = ~np.isneginf(expected)
    error = np.abs(found[finite] - expected[finite])
    allowed = rtol + 1e-12 + 8 * EPSILON * np.abs(expected[finite])
    assert (error <= allowed).all(), f"{name}: off by {error.max()}"


def assert_sums_agree(
    estimate: Estimate, sums: Floats, expected: Floats, slack: Floats, name: str
) -> None:
    """Compare sums of profiles with the reference's log densities."""
    expected_sums = np.exp(expected - estimate.log_constant)
    error = np.abs(sums - expected_sums)
    allowed = 1e-12 * expected_sums + slack
    assert (error <= allowed).all(), f"{name}: off by {(error / expected_sums).max()}"


# By hand


def test_uniform_kernel_counts_the_samples_within_h() -> None:
    density = estimate_density([[0.0], [1.0], [2.0], [10.0]], 1.0, kernel="uniform")
    np.testing.assert_allclose(density, [0.25, 0.375, 0.25, 0.125], rtol=1e-15)


def test_gaussian_of_one_point_is_its_normaliser() -> None:
    assert estimate_density([[3.0, -1.0]], 2.0)[0] == pytest.approx(1 / (8 * math.pi), rel=1e-15)


def test_weight_counts_a_sample_that_many_times() -> None:
    weighted = estimate_density([[0.0], [1.0]], 2.0, kernel="triangular", sample_weight=[3, 1])
    repeated = estimate_density([[0.0], [0.0], [0.0], [1.0]], 2.0, kernel="triangular")
    np.testing.assert_array_equal(weighted, repeated[[0, 3]])


def test_periodic_samples_meet_across_the_seam() -> None:
    density = estimate_density([[0.5], [23.5], [12.0]], 2.0, kernel="uniform", period=[24.0])
    np.testing.assert_allclose(density * 3 * 4, [2, 2, 1], rtol=1e-15)


def test_epanechnikov_support_may_be_a_whole_circle() -> None:
    # A quarter of the circle apart: (1 + 1 - (0.25 / 0.5)²) · 0.75 / (2 · 0.5)
    density = estimate_density([[0.0], [0.75]], 0.5, kernel="epanechnikov", period=[1.0])
    np.testing.assert_allclose(density, 1.3125, rtol=1e-15)


def test_rows_of_weight_zero_get_the_density_of_the_others() -> None:
    density = estimate_density(
        [[0.0], [0.5], [9.0]], 1.0, kernel="uniform", sample_weight=[1, 0, 1]
    )
    np.testing.assert_allclose(density, [0.25, 0.25, 0.25], rtol=1e-15)


def test_the_callers_arrays_are_not_written() -> None:
    X, weights, period = np.full((3, 1), 30.0), np.ones(3), np.array([24.0])
    for array in (X, weights, period):
        array.setflags(write=False)
    estimate_density(X, 1.0, sample_weight=weights, period=period)
    assert (X == 30.0).all()


# At the samples


@pytest.mark.parametrize("kind", MODERATE)
@every_dimension
@every_kernel
def test_density_at_the_samples_is_the_references(kernel: str, d: int, kind: str) -> None:
    for case in variations(kind, d):
        h = case.bandwidth(kernel)
        found = estimate_density(case.X, h, kernel=kernel, rtol=1e-9, **case.given)
        expected = reference.kernel_density(case.X, h, kernel=kernel, **case.given)
        tolerance = 1e-12 + (1e-9 if kernel in INFINITE else 0.0)
        scale = math.exp(fit(case, kernel).log_constant)
        allowed = tolerance * expected + scale * rounding(case, kernel, case.X)
        worst = np.abs(found / np.where(expected > 0, expected, 1.0) - 1.0).max()
        assert (np.abs(found - expected) <= allowed).all(), f"{case.name}: off by {worst}"


@pytest.mark.parametrize("rtol", [0.3, 1e-3, 1e-6, 5e-10, 1e-12, 0.0])
@pytest.mark.parametrize("kind", MODERATE)
@every_infinite_kernel
def test_infinite_kernels_keep_the_tolerance_asked_for(kernel: str, kind: str, rtol: float) -> None:
    for d in DIMENSIONS:
        for case in variations(kind, d):
            estimate = fit(case, kernel, rtol)
            found = estimate.log_density_at(case.X)
            at_samples = estimate.log_density(estimate.sums())[case.present]
            expected = expected_log(case, kernel)
            # An error of rtol in a density is more in its logarithm where rtol is large.
            in_logs = -math.log1p(-rtol)
            assert_logs_agree(found, expected, in_logs, case.name)
            assert_logs_agree(at_samples, expected[case.present], in_logs, case.name)


@pytest.mark.parametrize("kind", ["scaled_up", "scaled_down"])
@every_dimension
@every_kernel
def test_log_density_holds_at_any_scale(kernel: str, d: int, kind: str) -> None:
    for case in variations(kind, d):
        estimate = fit(case, kernel, rtol=0.0)
        sums = estimate.sums()[case.present]
        expected = expected_log(case, kernel)[case.present]
        if kernel in INFINITE:
            assert_logs_agree(estimate.log_density(sums), expected, 0.0, case.name)
        else:
            slack = rounding(case, kernel, case.X[case.present])
            assert_sums_agree(estimate, sums, expected, slack, case.name)


@pytest.mark.parametrize("exponent", [-900, -300, 1, 300, 900])
@every_kernel
def test_scaling_by_a_power_of_two_changes_no_bit_of_a_sum(kernel: str, exponent: int) -> None:
    for case in variations("random", 2):
        h = case.bandwidth(kernel)
        period = None if case.period is None else np.ldexp(case.period, exponent)
        samples = prepare(
            np.ldexp(case.X, exponent), sample_weight=case.sample_weight, period=period
        )
        scaled = fit_estimate(samples, math.ldexp(h, exponent), kernel=kernel)
        np.testing.assert_array_equal(scaled.sums(), fit(case, kernel).sums(), err_msg=case.name)


@pytest.mark.parametrize("kind", ["random", "duplicated", "clustered"])
@every_kernel
def test_density_is_right_for_every_number_of_points(kernel: str, kind: str) -> None:
    for case in sizes_of(kind, 2):
        estimate = fit(case, kernel, rtol=0.0)
        slack = rounding(case, kernel, case.X)
        expected = expected_log(case, kernel)
        assert_sums_agree(estimate, estimate.sums(), expected, slack, case.name)


@pytest.mark.parametrize("repeated", [0, 3], ids=["distinct", "repeated"])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
@every_kernel
def test_sums_are_right_for_every_filling_of_the_leaves(kernel: str, d: int, repeated: int) -> None:
    support = get_kernel(kernel).support
    for n in (*range(1, 101), 165, 330, 1500):
        X = np.random.default_rng(n).normal(size=(n, d))
        X = np.concatenate([X, X[:repeated]])  # leaves with and without equal weights meet
        away = distances(X, X)
        expected = get_kernel(kernel).profile(away).sum(axis=1)
        inside = ~np.isclose(away, support, rtol=1e-9).any(axis=1)
        for rtol in (1e-3, 1e-9, 0.0) if math.isinf(support) else (1e-9,):
            estimate = fit_estimate(prepare(X), 1.0, kernel=kernel, rtol=rtol)
            error = np.abs(estimate.sums() - expected)[inside]
            assert (error <= (rtol + 1e-11) * expected[inside]).all(), (n, rtol, error.max())


@pytest.mark.parametrize("heavy", [3.0, 1e9])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
@every_kernel
def test_sums_are_right_where_leaves_of_different_weights_meet(
    kernel: str, d: int, heavy: float
) -> None:
    X = np.random.default_rng(0).normal(size=(1500, d))
    weights = np.where(X[:, 0] < 0.0, 1.0, heavy)
    away = distances(X, X)
    expected = get_kernel(kernel).profile(away) @ weights
    edge = np.abs(away - get_kernel(kernel).support) < 1e-4
    estimate = fit_estimate(prepare(X, sample_weight=weights), 1.0, kernel=kernel)
    error = (np.abs(estimate.sums() - expected) / expected)[~edge.any(axis=1)]
    assert error.max() <= 2e-9


@every_kernel
def test_sums_of_a_tree_that_was_pickled_have_the_same_bits(kernel: str) -> None:
    X = np.random.default_rng(0).normal(size=(700, 2))
    samples = prepare(np.concatenate([X, X[:5]]))
    again = pickle.loads(pickle.dumps(samples))
    found = fit_estimate(again, 0.5, kernel=kernel).sums()
    np.testing.assert_array_equal(found, fit_estimate(samples, 0.5, kernel=kernel).sums())


@every_dimension
@every_compact_kernel
def test_support_may_reach_half_a_period(kernel: str, d: int) -> None:
    case = make("random", 200, d, period="all")
    h = period_limit(get_kernel(kernel), case.period)
    found = estimate_density(case.X, h, kernel=kernel, period=case.period)
    expected = reference.kernel_density(case.X, h, kernel=kernel, period=case.period)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@every_dimension
@every_infinite_kernel
def test_bandwidth_of_infinite_kernels_may_be_a_quarter_of_a_period(kernel: str, d: int) -> None:
    case = make("random", 65, d, period="all")
    h = float(case.period.min()) / 4
    found = estimate_density(case.X, h, kernel=kernel, period=case.period, rtol=0.0)
    expected = reference.kernel_density(case.X, h, kernel=kernel, period=case.period)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("h", [2.0**-398, 1e-115, 1e-80, 1e-20])
@every_kernel
def test_bandwidth_far_below_the_distances_leaves_every_sample_alone(kernel: str, h: float) -> None:
    X = np.array([[0.0, 1.0], [1.0, 3.0], [-2.0, 1.5], [-2.0, 1.5]])
    estimate = fit_estimate(prepare(X), h, kernel=kernel)
    sums = estimate.sums() / get_kernel(kernel).profile(0.0)
    np.testing.assert_allclose(sums, [1, 1, 2, 2], rtol=1e-14)
    at_samples = estimate.log_density_at(X)
    np.testing.assert_allclose(at_samples, estimate.log_density(estimate.sums()), rtol=1e-14)


@pytest.mark.parametrize("h", [5e-324, 1e-300, 1e-200, 1e-160])
@every_kernel
def test_bandwidth_whose_square_would_vanish_is_refused(kernel: str, h: float) -> None:
    message = r"bandwidth is .*, expected at least .*squares of distances would vanish.*rescale"
    with pytest.raises(ValueError, match=message):
        estimate_density([[0.0, 1.0], [1.0, 3.0]], h, kernel=kernel)


@pytest.mark.parametrize("h", [1e20, 1e160, 2.0**540, 1e200, 1e300])
@every_kernel
def test_bandwidth_far_above_the_distances_counts_every_sample_whole(kernel: str, h: float) -> None:
    X = np.array([[0.0, 1.0], [1.0, 3.0], [-2.0, 1.5], [-2.0, 1.5]])
    estimate = fit_estimate(prepare(X), h, kernel=kernel)
    sums = estimate.sums() / get_kernel(kernel).profile(0.0)
    np.testing.assert_allclose(sums, 4.0, rtol=1e-14)


# Elsewhere


def queries_near(case: Case, seed: int = 1) -> Floats:
    """Draw points among the samples, some of them equal to one."""
    rng = np.random.default_rng(seed)
    chosen = case.X[rng.integers(case.n, size=40)]
    return chosen + case.h * rng.normal(size=chosen.shape) * rng.integers(0, 2, size=(40, 1))


@pytest.mark.parametrize("kind", KINDS)
@every_dimension
@every_kernel
def test_density_near_the_samples_is_the_references(kernel: str, d: int, kind: str) -> None:
    for case in variations(kind, d):
        queries = queries_near(case)
        estimate = fit(case, kernel)
        expected = expected_log(case, kernel, queries)
        if kernel in INFINITE:
            assert_logs_agree(estimate.log_density_at(queries), expected, 1e-9, case.name)
        else:
            sums, log_scales = estimate.sums_at(queries)
            assert not log_scales.any()
            slack = rounding(case, kernel, queries)
            assert_sums_agree(estimate, sums, expected, slack, case.name)


@pytest.mark.parametrize("far", [30.0, 40.0, 1e3, 1e6, 1e9, 1e10, 1e100])
@pytest.mark.parametrize("kind", ["random", "lattice", "duplicated", "constant", "offset"])
@every_infinite_kernel
def test_density_far_from_the_samples_does_not_underflow(
    kernel: str, kind: str, far: float
) -> None:
    for d in DIMENSIONS:
        for weights in ("none", "integer", "heavy"):
            case = make(kind, 65, d, weights=weights)
            directions = np.random.default_rng(2).normal(size=(20, d))
            directions /= np.abs(directions).max(axis=1, keepdims=True)
            queries = case.X[:20] + far * case.h * directions
            for rtol in (1e-3, 1e-9, 0.0):
                found = fit(case, kernel, rtol).log_density_at(queries)
                name = f"{case.name} rtol={rtol}"
                assert_logs_agree(found, expected_log(case, kernel, queries), rtol, name)


@every_infinite_kernel
def test_the_nearest_sample_counts_however_far_it_is(kernel: str) -> None:
    rng = np.random.default_rng(0)
    for h in (0.8, 1.0, 1.3, *rng.uniform(0.3, 2.0, size=30)):
        t = np.outer(np.geomspace(1.0, 1e140, 60), rng.uniform(1.0, 9.0, size=5)).ravel()
        decay = t if kernel == "exponential" else 0.5 * t * t
        for rtol, exact in ((1e-9, {"rtol": 1e-14, "atol": 1e-9}), (1e-12, {"rtol": 1e-11})):
            estimate = fit_estimate(prepare([[0.0]]), h, kernel=kernel, rtol=rtol)
            found = estimate.log_density_at((t * h)[:, None])
            np.testing.assert_allclose(found, estimate.log_constant - decay, **exact)


@pytest.mark.parametrize("scale", [2.0**-300, 1.0, 2.0**300])
@every_infinite_kernel
def test_log_density_reaches_as_far_as_floats_do(kernel: str, scale: float) -> None:
    estimate = fit_estimate(prepare(np.array([[0.0], [scale]])), scale, kernel=kernel)
    for t in (1e140, 1e152, 1e200):
        log_density = estimate.log_density_at(np.array([[t * scale], [-t * scale]]))
        expected = -t if kernel == "exponential" else -0.5 * t * min(t, 1e153)
        if expected > -1e300:
            np.testing.assert_allclose(log_density, expected, rtol=1e-12)
        else:  # the true value is beyond the floats
            assert (log_density <= -1e300).all()


@every_compact_kernel
def test_density_beyond_the_support_is_exactly_zero(kernel: str) -> None:
    estimate = fit_estimate(prepare(make("random", 65, 2).X), 1.0, kernel=kernel)
    queries = np.array([[20.0, 0.0], [1e6, 1e6], [0.0, 1e200], [-1e308, 1e308]])
    assert np.isneginf(estimate.log_density_at(queries)).all()


def lattice_points_at(square: int) -> Floats:
    grid = np.stack(np.meshgrid(*[np.arange(8.0)] * 4), axis=-1).reshape(-1, 4)
    return grid[(grid**2).sum(axis=1) == square]


@pytest.mark.parametrize("kernel", ["triangular", "tricube", "cosine", "epanechnikov"])
def test_sample_at_exactly_h_adds_nothing(kernel: str) -> None:
    # t < 1 is decided by fl(√s) < h, whatever dividing by h or squaring it would round to.
    touching = {}
    for square in range(1, 60):
        estimate = fit_estimate(prepare(np.zeros((1, 4))), math.sqrt(square), kernel=kernel)
        sums, _ = estimate.sums_at(lattice_points_at(square))
        if sums.any():
            touching[square] = sums.max()
    assert touching == {}


def test_uniform_kernel_takes_in_a_sample_at_exactly_h() -> None:
    for square in range(1, 60):
        queries, h = lattice_points_at(square), math.sqrt(square)
        reaching = fit_estimate(prepare(np.zeros((1, 4))), h, kernel="uniform")
        assert (reaching.sums_at(queries)[0] == 1.0).all()
        short = fit_estimate(prepare(np.zeros((1, 4))), math.nextafter(h, 0.0), kernel="uniform")
        assert (short.sums_at(queries)[0] == 0.0).all()


@pytest.mark.parametrize("gap", [1.0, 5.0, 7.0, 9.0, 20.0, 37.0, 60.0, 1e3])
@pytest.mark.parametrize("rtol", [1e-3, 1e-9, 0.0])
@every_infinite_kernel
def test_light_points_beside_heavy_ones_keep_the_tolerance(
    kernel: str, rtol: float, gap: float
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    X[100:, 0] += gap
    weights = np.repeat([1e12, 1.0], 100)
    case = Case(f"gap {gap}", X, 1.0, weights)
    estimate = fit(case, kernel, rtol)
    expected = expected_log(case, kernel)
    assert_logs_agree(estimate.log_density(estimate.sums()), expected, rtol, case.name)
    assert_logs_agree(estimate.log_density_at(X), expected, rtol, case.name)


@every_kernel
def test_isolated_point_has_the_density_of_one_kernel(kernel: str) -> None:
    X = make("random", 64, 3).X
    X[0] = 1e7
    estimate = fit_estimate(prepare(X), 1.0, kernel=kernel)
    alone = float(get_kernel(kernel).profile(0.0))
    assert estimate.sums()[0] == pytest.approx(alone, rel=1e-15)
    assert estimate.sums_at(X[:1])[0][0] == pytest.approx(alone, rel=1e-15)


@pytest.mark.parametrize("far", [1e12, 1e160, 1e300])
@every_kernel
def test_rows_of_weight_zero_change_nothing_wherever_they_are(kernel: str, far: float) -> None:
    case = make("random", 33, 2)
    X = np.vstack([case.X, [[far, 0.0]]])
    with_row = fit_estimate(prepare(X, sample_weight=[1.0] * 33 + [0.0]), 1.0, kernel=kernel)
    np.testing.assert_array_equal(with_row.sums()[:33], fit(case, kernel, h=1.0).sums())


@given(case=cases(weights=("none", "integer", "real", "heavy")), kernel=st.sampled_from(KERNELS))
def test_density_at_queries_equal_to_samples_is_that_of_the_samples(
    case: Case, kernel: str
) -> None:
    estimate = fit(case, kernel)
    at_samples = estimate.log_density(estimate.sums())[case.present]
    elsewhere = estimate.log_density_at(case.X[case.present])
    np.testing.assert_allclose(elsewhere, at_samples, rtol=0, atol=3e-9)


# Left out


@every_dimension
@every_kernel
def test_leaving_out_a_location_equals_estimating_without_it(kernel: str, d: int) -> None:
    for kind in ("random", "lattice", "duplicated", "clustered"):
        for weights, period in (("none", "open"), ("real", "all"), ("heavy", "some")):
            case = make(kind, 33, d, weights=weights, period=period)
            estimate = fit(case, kernel, rtol=0.0)
            values, log_scales = estimate.sums_left_out()
            w = np.ones(case.n) if case.sample_weight is None else case.sample_weight
            for i in range(0, case.n, 4):
                others = distances(case.X[i : i + 1], case.X, case.period)[0] > 0
                rest = Case(case.name, case.X[others], case.h, w[others], case.period)
                expected = expected_log(rest, kernel, case.X[i : i + 1])
                shift = math.log(w[others].sum()) - math.log(estimate.samples.total_weight)
                if kernel in INFINITE:
                    found = estimate.log_density(values[i : i + 1], log_scales[i : i + 1]) - shift
                    assert_logs_agree(found, expected, 0.0, case.name)
                else:
                    slack = rounding(rest, kernel, case.X[i : i + 1])
                    sums = values[i : i + 1]
                    assert_sums_agree(estimate, sums, expected + shift, slack, case.name)


@every_kernel
def test_nothing_is_left_where_the_only_location_is_left_out(kernel: str) -> None:
    estimate = fit_estimate(prepare(np.full((5, 2), 3.0)), 1.0, kernel=kernel)
    values, log_scales = estimate.sums_left_out()
    assert np.isneginf(estimate.log_density(values, log_scales)).all()


# The other ways to the same sums


@pytest.mark.parametrize("kind", MODERATE)
@pytest.mark.parametrize("kernel", ["uniform", "epanechnikov"])
def test_sums_by_moments_are_those_pair_by_pair(kernel: str, kind: str) -> None:
    for d in DIMENSIONS:
        for weights, period in (("none", "open"), ("integer", "all"), ("real", "some")):
            for n in (65, 300):
                case = make(kind, n, d, weights=weights, period=period)
                tree = fit(case, kernel).samples.tree
                settings = (get_kernel(kernel).code, case.bandwidth(kernel), 0.0)
                fast = _core.kernel_sums(tree, *settings, method=_core.DensityMethod.moments)[
                    case.present
                ]
                slow = _core.kernel_sums(tree, *settings, method=_core.DensityMethod.direct)[
                    case.present
                ]
                allowed = 1e-12 * slow + rounding(case, kernel, case.X[case.present])
                error = np.abs(fast - slow)
                assert (error <= allowed).all(), f"{case.name}: off by {error.max()}"


# The same bits


@every_kernel
def test_float32_gives_the_bits_of_the_same_values_as_float64(kernel: str) -> None:
    for kind in ("random", "lattice", "duplicated"):
        narrow = make(kind, 65, 3).X.astype(np.float32)
        wide = narrow.astype(np.float64)
        queries = queries_near(make(kind, 65, 3)).astype(np.float32)
        a = fit_estimate(prepare(narrow), 1.0, kernel=kernel)
        b = fit_estimate(prepare(wide), 1.0, kernel=kernel)
        np.testing.assert_array_equal(a.sums(), b.sums())
        np.testing.assert_array_equal(
            a.log_density_at(queries), b.log_density_at(queries.astype(np.float64))
        )


@pytest.mark.parametrize("dtype", [np.int64, np.int8, bool, object, ">f8", np.float16])
def test_other_numbers_are_taken_as_float64(dtype: object) -> None:
    X = np.array([[0, 1], [1, 1], [1, 0], [0, 0], [0, 1]])
    np.testing.assert_array_equal(
        estimate_density(X.astype(dtype), 1.0), estimate_density(X.astype(float), 1.0)
    )


def test_memory_layout_does_not_matter() -> None:
    X = make("random", 64, 3).X
    expected = estimate_density(X, 1.0)
    np.testing.assert_array_equal(estimate_density(np.asfortranarray(X), 1.0), expected)
    np.testing.assert_array_equal(estimate_density(np.repeat(X, 2, axis=0)[::2], 1.0), expected)
    np.testing.assert_array_equal(estimate_density(X[::-1][::-1], 1.0), expected)


@pytest.mark.parametrize("kind", ["random", "duplicated", "lattice"])
@every_kernel
def test_number_of_threads_changes_no_bit(kernel: str, kind: str) -> None:
    # Enough points that the core does start threads.
    case = make(kind, 6000, 2, weights="real")
    h = 0.1 if kind != "lattice" else 2.0
    queries = queries_near(case)
    results = []
    for n_jobs in (1, 2, 3, 8):
        samples = prepare(case.X, sample_weight=case.sample_weight, n_jobs=n_jobs)
        estimate = fit_estimate(samples, h, kernel=kernel, n_jobs=n_jobs)
        left_out = np.concatenate(estimate.sums_left_out())
        results.append([estimate.sums(), left_out, estimate.log_density_at(queries)])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", KINDS)
@every_kernel
def test_order_of_rows_changes_no_bit(kernel: str, kind: str) -> None:
    rng = np.random.default_rng(0)
    for d in DIMENSIONS:
        for case in (make(kind, 200, d, weights=w, period=p) for w, p in VARIED):
            order = rng.permutation(case.n)
            expected = fit(case, kernel).sums()
            found = fit(case.permuted(order), kernel).sums()
            np.testing.assert_array_equal(found, expected[order], err_msg=case.name)
            queries = queries_near(case)
            shuffled = rng.permutation(len(queries))
            np.testing.assert_array_equal(
                fit(case.permuted(order), kernel).log_density_at(queries[shuffled]),
                fit(case, kernel).log_density_at(queries)[shuffled],
                err_msg=case.name,
            )


VARIED = (("none", "open"), ("integer", "all"), ("real", "some"), ("heavy", "open"))


@given(case=cases(weights=("integer",)), kernel=st.sampled_from(KERNELS))
def test_integer_weights_give_the_bits_of_repetition(case: Case, kernel: str) -> None:
    counts = np.ones(case.n) if case.sample_weight is None else case.sample_weight
    repeated = Case("", np.repeat(case.X, counts.astype(int), axis=0), case.h, None, case.period)
    weighted, plain = fit(case, kernel), fit(repeated, kernel)
    np.testing.assert_array_equal(np.repeat(weighted.sums(), counts.astype(int)), plain.sums())
    assert weighted.log_constant == plain.log_constant


# It is a density


@pytest.mark.parametrize("weights", ["none", "real", "integer"])
@every_kernel
def test_density_on_a_line_integrates_to_one(kernel: str, weights: str) -> None:
    case = make("random", 15, 1, weights=weights)
    estimate = fit(case, kernel)
    grid, step = np.linspace(-25.0, 25.0, 50_001, retstep=True)
    mass = np.exp(estimate.log_density_at(grid[:, None])).sum() * step
    assert mass == pytest.approx(1.0, abs=1e-3 if kernel == "uniform" else 1e-6)


@every_kernel
def test_density_in_the_plane_integrates_to_one(kernel: str) -> None:
    case = make("random", 15, 2, weights="real")
    estimate = fit(case, kernel)
    axis, step = np.linspace(-20.0, 20.0, 601, retstep=True)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    mass = np.exp(estimate.log_density_at(grid)).sum() * step**2
    assert mass == pytest.approx(1.0, abs=5e-3 if kernel == "uniform" else 5e-4)


@every_kernel
def test_density_on_a_circle_integrates_to_one(kernel: str) -> None:
    case = make("random", 15, 1, period="all")
    if kernel in INFINITE:  # only the nearest image counts: the tails are cut at half a period
        case = Case(case.name, case.X, case.h, None, 10 * case.period)
    estimate = fit(case, kernel)
    grid = np.linspace(0.0, float(case.period[0]), 50_000, endpoint=False)
    mass = np.exp(estimate.log_density_at(grid[:, None])).mean() * float(case.period[0])
    assert mass == pytest.approx(1.0, abs=1e-3 if kernel == "uniform" else 1e-6)


@every_kernel
def test_density_is_the_exponential_of_the_log_density(kernel: str) -> None:
    for d in (1, 8, 150):
        estimate = fit_estimate(prepare(make("random", 33, d).X), 100.0, kernel=kernel)
        sums = estimate.sums()
        density, log_density = estimate.density(sums), estimate.log_density(sums)
        with np.errstate(under="ignore"):
            np.testing.assert_allclose(density, np.exp(log_density), rtol=1e-12)
        assert np.isfinite(log_density).all()


@pytest.mark.parametrize("scale", [2.0**-300, 2.0**300])
def test_density_beyond_the_floats_is_infinite_or_zero_without_a_warning(scale: float) -> None:
    X = make("random", 33, 5).X * scale
    weights = np.arange(33) % 3
    density = estimate_density(X, scale, sample_weight=weights)
    assert (density == (np.inf if scale < 1 else 0.0)).all()
