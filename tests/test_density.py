"""Densities at the samples: computed by hand, compared with the reference, integrated to one.

Densities at other points are in `test_density_at_queries.py`; changes of the input that must not
change a bit of a sum are in `test_density_bits.py`.
"""

import math

import numpy as np
import pytest

from cases import DIMENSIONS, INFINITE, Case, distances, make, sizes_of, variations
from density_cases import (
    MODERATE,
    assert_logs_agree,
    assert_sums_agree,
    every_compact_kernel,
    every_dimension,
    every_infinite_kernel,
    every_kernel,
    expected_log,
    fit,
    rounding,
)
from quickshift import _core, reference
from quickshift.bandwidth import period_limit
from quickshift.kernels import get_kernel
from quickshift.stages import estimate_density, fit_estimate, prepare

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


# Against the reference


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
            # A density too small by a share of rtol has a logarithm too small by more than rtol.
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
        # Repeated rows: some leaves have equal weights, others do not.
        X = np.concatenate([X, X[:repeated]])
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


# Extreme bandwidths


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
    message = r"bandwidth is .*, expected at least .*squared distances would underflow.*rescale"
    with pytest.raises(ValueError, match=message):
        estimate_density([[0.0, 1.0], [1.0, 3.0]], h, kernel=kernel)


@pytest.mark.parametrize("h", [1e20, 1e160, 2.0**540, 1e200, 1e300])
@every_kernel
def test_bandwidth_far_above_the_distances_counts_every_sample_whole(kernel: str, h: float) -> None:
    X = np.array([[0.0, 1.0], [1.0, 3.0], [-2.0, 1.5], [-2.0, 1.5]])
    estimate = fit_estimate(prepare(X), h, kernel=kernel)
    sums = estimate.sums() / get_kernel(kernel).profile(0.0)
    np.testing.assert_allclose(sums, 4.0, rtol=1e-14)


# Other methods for the same sums


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
