"""The rules for bandwidth and tau: repetition, scaling, outliers, periods."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from quickshift.bandwidth import (
    RULES,
    gaussian_equivalent,
    joint_rule,
    period_limit,
    rule_bandwidth,
    spread,
    tau_rule,
    weighted_quantile,
)
from quickshift.kernels import KERNELS, Kernel, get_kernel

Floats = NDArray[np.float64]
FORMULAS = [rule for rule in RULES if rule != "cv"]
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=lambda k: k.name)


def unit(n: int) -> Floats:
    return np.ones(n)


def normal(n: int, d: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=(n, d))


# Quantiles


@pytest.mark.parametrize("seed", range(8))
def test_quantile_with_integer_weights_is_that_of_the_repeated_sample(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=rng.integers(1, 40)), seed % 4)
    weights = rng.integers(0, 5, size=len(values))
    weights[rng.integers(len(values))] += 1
    repeated = np.repeat(values, weights)
    for q in [0.0, 0.01, 0.25, 1 / 3, 0.5, 0.75, 0.99, 1.0]:
        assert weighted_quantile(values, weights.astype(float), q) == np.quantile(repeated, q)


def test_quantile_of_unit_weights_is_numpys() -> None:
    values = normal(1001, 1)[:, 0]
    for q in np.linspace(0, 1, 23):
        assert weighted_quantile(values, unit(1001), q) == np.quantile(values, q)


def test_quantile_is_the_same_by_selection_and_by_sorting() -> None:
    values = normal(50, 1)[:, 0]
    doubled = weighted_quantile(values, 2 * unit(50), 0.3)
    assert doubled == weighted_quantile(np.tile(values, 2), unit(100), 0.3)


def test_quantile_ignores_values_of_weight_zero() -> None:
    values, weights = np.array([-9.0, 1.0, 2.0, 9.0]), np.array([0.0, 1.0, 1.0, 0.0])
    assert [weighted_quantile(values, weights, q) for q in (0, 0.5, 1)] == [1.0, 1.5, 2.0]


def test_quantile_of_fractional_weights_counts_from_the_lowest() -> None:
    # The total weight of 3 makes ranks 0, 1 and 2. Ranks below 1.5 have the value 1, rank 2 has 2.
    values, weights = np.array([1.0, 2.0]), np.array([1.5, 1.5])
    assert weighted_quantile(values, weights, 0.5) == 1.0
    assert weighted_quantile(values, weights, 0.75) == 1.5
    assert weighted_quantile(values, weights, 1.0) == 2.0


def test_quantile_of_less_than_one_observation_is_the_lowest_value() -> None:
    assert weighted_quantile(np.array([3.0, 1.0]), np.array([0.2, 0.3]), 0.9) == 1.0


# Spread


def test_spread_of_a_gaussian_is_its_standard_deviation() -> None:
    points = normal(20_000, 3) * [1.0, 2.0, 6.0]
    assert spread(points, unit(20_000)) == pytest.approx(3.0, rel=0.02)


def test_spread_takes_the_smaller_of_deviation_and_iqr() -> None:
    two_piles = np.repeat([[-1.0], [1.0]], 10, axis=0)  # IQR/1.349 = 1.48, deviation 1
    assert spread(two_piles, unit(20)) == 1.0
    ramp_and_tail = np.array([[0.0], [1.0], [2.0], [3.0], [100.0]])
    assert spread(ramp_and_tail, unit(5)) == 2.0 / 1.349


def test_spread_takes_the_deviation_where_the_iqr_is_zero() -> None:
    points = np.array([[0.0], [0.0], [0.0], [0.0], [0.0], [1.0]])
    assert spread(points, unit(6)) == pytest.approx(math.sqrt(5) / 6, rel=1e-15)


@pytest.mark.parametrize("period", [None, np.array([np.inf, 7.0])])
def test_spread_with_integer_weights_is_that_of_the_repeated_sample(period: Floats | None) -> None:
    points = normal(60, 2)
    weights = np.random.default_rng(1).integers(0, 4, size=60)
    repeated = np.repeat(points, weights, axis=0)
    expected = spread(repeated, unit(len(repeated)), period)
    assert spread(points, weights.astype(float), period) == pytest.approx(expected, rel=1e-14)


def test_spread_of_quartiles_is_bit_for_bit_that_of_the_repeated_sample() -> None:
    points, weights = np.array([[0.1], [0.7], [1.3], [50.0]]), np.array([3, 4, 3, 1])
    repeated = np.repeat(points, weights, axis=0)
    assert spread(points, weights.astype(float)) == spread(repeated, unit(11))


def test_spread_hardly_moves_with_one_far_outlier() -> None:
    points = normal(1000, 2)
    moved = points.copy()
    moved[0] = 1e12
    assert spread(moved, unit(1000)) == pytest.approx(spread(points, unit(1000)), rel=0.05)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e8, 1e300, 5e-324])
@pytest.mark.parametrize("period", [None, np.array([np.inf, 0.3])])
def test_spread_of_equal_points_is_exactly_zero(value: float, period: Floats | None) -> None:
    points = np.full((7, 2), value)
    assert spread(points, np.linspace(0.1, 0.9, 7), period) == 0.0


@pytest.mark.parametrize("k", [-1000, -37, 1, 500, 1015])
@pytest.mark.parametrize("period", [None, np.array([np.inf, 3.0, 100.0])])
def test_spread_scales_exactly_by_powers_of_two(k: int, period: Floats | None) -> None:
    points, weights = normal(101, 3) + np.array([0.0, 1.0, 50.0]), np.linspace(0.5, 3.0, 101)
    scaled_period = None if period is None else np.ldexp(period, k)
    expected = math.ldexp(spread(points, weights, period), k)
    assert spread(np.ldexp(points, k), weights, scaled_period) == expected


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_spread_neither_overflows_nor_vanishes(scale: float) -> None:
    points = normal(200, 2)
    expected = spread(points, unit(200))
    assert spread(points * scale, unit(200)) / scale == pytest.approx(expected, rel=1e-12)


def test_spread_reaches_the_ends_of_the_floats() -> None:
    largest = np.finfo(float).max
    points = np.repeat([[-largest, largest], [largest, -largest]], 3, axis=0)
    assert spread(points, unit(6)) == largest


def test_spread_does_not_see_a_common_offset() -> None:
    points = np.round(normal(300, 2) * 64) / 64
    assert spread(points + 2.0**40, unit(300)) == spread(points, unit(300))


def test_spread_ignores_points_of_weight_zero() -> None:
    points, weights = normal(40, 2), unit(40)
    weights[:5] = 0.0
    assert spread(points, weights) == spread(points[5:], unit(35))


def test_periodic_spread_sees_across_the_seam() -> None:
    hours = np.array([[23.0], [23.5], [0.0], [0.5], [1.0]])
    day = np.array([24.0])
    expected = spread(np.array([[-1.0], [-0.5], [0.0], [0.5], [1.0]]), unit(5), day)
    assert spread(hours, unit(5), day) == pytest.approx(expected, rel=1e-13)
    assert 0.70 < expected < 0.72  # close to the standard deviation √½ of the unwrapped hours


def test_periodic_spread_is_the_circular_standard_deviation() -> None:
    angles = np.random.default_rng(3).vonmises(1.0, 2.0, size=500)
    resultant = abs(np.exp(1j * angles).mean())
    expected = math.sqrt(-2 * math.log(resultant))
    period = np.array([2 * math.pi])
    assert spread(angles[:, None], unit(500), period) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("width", [1e-3, 1e-6, 1e-9])
def test_periodic_spread_of_close_points_is_the_plain_deviation(width: float) -> None:
    points = width * normal(100, 1)
    assert spread(points, unit(100), np.array([1.0])) == pytest.approx(points.std(), rel=1e-4)


@pytest.mark.parametrize("n", [2, 3, 12, 1000])
def test_periodic_spread_is_at_most_that_of_a_uniform_distribution(n: int) -> None:
    points = np.arange(n)[:, None] * (360.0 / n)
    limit = 360.0 / math.sqrt(12)
    assert spread(points, unit(n), np.array([360.0])) == pytest.approx(limit, rel=1e-14)


def test_periodic_features_are_averaged_with_open_ones() -> None:
    points, inf = normal(100, 2), np.inf
    both = spread(points, unit(100), np.array([inf, 8.0]))
    first = spread(points[:, :1], unit(100))
    second = spread(points[:, 1:], unit(100), np.array([8.0]))
    assert both == pytest.approx((first + second) / 2, rel=1e-15)


# Bandwidth rules


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("paper", 3.0 * 1000.0 ** (-1 / 6)),
        ("scott", 3.0 * 1000.0 ** (-1 / 6)),
        ("silverman", 3.0 * 1000.0 ** (-1 / 6)),  # for d = 2 the factor (d + 2)/4 is one
        ("auto", 1.5 * 1000.0 ** (-1 / 6)),
    ],
)
def test_rules_for_the_gaussian_in_two_dimensions(rule: str, expected: float) -> None:
    facts = {"spread": 3.0, "total_weight": 1000.0, "n_features": 2}
    h = rule_bandwidth(rule, kernel=get_kernel("gaussian"), **facts)
    assert h == pytest.approx(expected, rel=1e-15)


def test_silverman_rule_in_one_dimension_is_the_textbook_one() -> None:
    facts = {"spread": 1.0, "total_weight": 100.0, "n_features": 1}
    h = rule_bandwidth("silverman", kernel=get_kernel("gaussian"), **facts)
    assert h == pytest.approx((4 / 3) ** 0.2 * 100**-0.2, rel=1e-14)


@every_kernel
@pytest.mark.parametrize("d", [1, 3, 50])
def test_kernels_get_bandwidths_of_equal_variance(kernel: Kernel, d: int) -> None:
    facts = {"spread": 2.0, "total_weight": 500.0, "n_features": d}
    gaussian = rule_bandwidth("auto", kernel=get_kernel("gaussian"), **facts)
    h = rule_bandwidth("auto", kernel=kernel, **facts)
    assert h**2 * kernel.variance(d) == pytest.approx(gaussian**2, rel=1e-14)
    assert gaussian_equivalent(h, kernel, d) == pytest.approx(gaussian, rel=1e-14)


def test_gaussian_is_its_own_equivalent() -> None:
    assert gaussian_equivalent(0.3, get_kernel("gaussian"), 7) == 0.3


@every_kernel
@pytest.mark.parametrize("rule", FORMULAS)
def test_bandwidth_is_one_where_all_points_are_equal(rule: str, kernel: Kernel) -> None:
    facts = {"spread": 0.0, "total_weight": 9.0, "n_features": 3}
    assert rule_bandwidth(rule, kernel=kernel, **facts) == 1.0


@every_kernel
@pytest.mark.parametrize("rule", FORMULAS)
def test_bandwidth_scales_exactly_by_powers_of_two(rule: str, kernel: Kernel) -> None:
    facts = {"total_weight": 77.7, "n_features": 3, "kernel": kernel}
    h = rule_bandwidth(rule, spread=0.3, **facts)
    assert rule_bandwidth(rule, spread=math.ldexp(0.3, 900), **facts) == math.ldexp(h, 900)


@pytest.mark.parametrize(("n_dimensions", "rate"), [(2, 0.5), (8, 64 ** (-1 / 12))])
def test_joint_rule_falls_with_the_weight_as_silvermans(n_dimensions: int, rate: float) -> None:
    for kernel in KERNELS.values():
        found = joint_rule(spread=3.0, total_weight=64.0, n_dimensions=n_dimensions, kernel=kernel)
        equivalent = gaussian_equivalent(found, kernel, n_dimensions)
        assert equivalent == pytest.approx(3.0 * rate, rel=1e-12)


def test_unknown_rule_is_repeated_with_the_known_ones() -> None:
    facts = {"spread": 1.0, "total_weight": 9.0, "n_features": 3}
    known = "'auto', 'paper', 'scott', 'silverman', 'cv'"
    with pytest.raises(ValueError, match=f"'scot'.*{known}"):
        rule_bandwidth("scot", kernel=get_kernel("gaussian"), **facts)


def test_cross_validation_is_known_but_is_no_formula() -> None:
    facts = {"spread": 1.0, "total_weight": 9.0, "n_features": 3}
    with pytest.raises(
        ValueError,
        match=r"rule is 'cv', expected one of .* cannot be computed from the spread alone",
    ):
        rule_bandwidth("cv", kernel=get_kernel("gaussian"), **facts)


# Tau


def test_tau_is_one_and_a_half_bandwidths_in_dense_data() -> None:
    assert tau_rule(2.0, np.full(100, 0.1), unit(100)) == 3.0


def test_tau_reaches_the_neighbors_of_nearly_all_points_in_sparse_data() -> None:
    distances = np.arange(1.0, 102.0)
    assert tau_rule(2.0, distances, unit(101)) == 100.0


def test_tau_ignores_points_without_a_neighbor_or_weight() -> None:
    distances = np.array([1.0, np.inf, np.nan, 50.0])
    assert tau_rule(0.1, distances, np.array([1.0, 1.0, 0.0, 0.0])) == 1.0


@pytest.mark.parametrize("distances", [[], [np.inf], [np.nan, np.inf]])
def test_tau_needs_no_neighbors_at_all(distances: list[float]) -> None:
    assert tau_rule(2.0, np.array(distances), unit(len(distances))) == 3.0


def test_tau_with_integer_weights_is_that_of_the_repeated_sample() -> None:
    distances, weights = np.array([1.0, 2.0, 7.0]), np.array([3, 50, 2])
    repeated = np.repeat(distances, weights)
    assert tau_rule(0.1, distances, weights.astype(float)) == np.quantile(repeated, 0.99)


# Periods


@every_kernel
@pytest.mark.parametrize("period", [1.0, 0.3, 24.0, 2 * math.pi, 1e-300, 1e300])
def test_bandwidth_at_the_period_limit_just_fits(kernel: Kernel, period: float) -> None:
    limit = period_limit(kernel, np.array([np.inf, period, 2 * period]))
    if kernel.infinite:
        assert limit == period / 4
    else:
        assert kernel.support * limit <= period / 2
        assert kernel.support * limit == pytest.approx(period / 2, rel=1e-15)


@every_kernel
@pytest.mark.parametrize("period", [None, np.array([np.inf, np.inf])])
def test_open_features_do_not_limit_the_bandwidth(kernel: Kernel, period: Floats | None) -> None:
    assert period_limit(kernel, period) == math.inf
