"""Densities at points other than the samples, and leave-one-out densities at the samples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import (
    DIMENSIONS,
    ENDING_AT_H,
    INFINITE,
    KERNELS,
    KINDS,
    Case,
    Floats,
    cases,
    distances,
    make,
    variations,
)
from density_cases import (
    assert_logs_agree,
    assert_sums_agree,
    every_compact_kernel,
    every_dimension,
    every_infinite_kernel,
    every_kernel,
    expected_log,
    fit,
    queries_near,
    rounding,
)
from quickshift.stages import fit_estimate, prepare

# Near the samples


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


@given(case=cases(weights=("none", "integer", "real", "heavy")), kernel=st.sampled_from(KERNELS))
def test_density_at_queries_equal_to_samples_is_that_of_the_samples(
    case: Case, kernel: str
) -> None:
    estimate = fit(case, kernel)
    at_samples = estimate.log_density(estimate.sums())[case.present]
    elsewhere = estimate.log_density_at(case.X[case.present])
    np.testing.assert_allclose(elsewhere, at_samples, rtol=0, atol=3e-9)


# Far from the samples


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
        else:  # the true value is outside the range of float64
            assert (log_density <= -1e300).all()


@every_compact_kernel
def test_density_beyond_the_support_is_exactly_zero(kernel: str) -> None:
    estimate = fit_estimate(prepare(make("random", 65, 2).X), 1.0, kernel=kernel)
    queries = np.array([[20.0, 0.0], [1e6, 1e6], [0.0, 1e200], [-1e308, 1e308]])
    assert np.isneginf(estimate.log_density_at(queries)).all()


# At the edge of a support


def lattice_points_at(square: int) -> Floats:
    grid = np.stack(np.meshgrid(*[np.arange(8.0)] * 4), axis=-1).reshape(-1, 4)
    return grid[(grid**2).sum(axis=1) == square]


@pytest.mark.parametrize("kernel", ENDING_AT_H)
def test_sample_at_exactly_h_adds_nothing(kernel: str) -> None:
    # A sample is inside the support if √s, rounded, is less than h; dividing by h or squaring h
    # would round once more and could decide otherwise.
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


# Leave-one-out


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
