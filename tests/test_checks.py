"""Every check says what was passed, what was expected, and which change fixes it."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from quickshift.checks.numbers import (
    check_bandwidth,
    check_choice,
    check_count,
    check_real,
    check_tau,
)
from quickshift.checks.points import (
    check_density,
    check_period,
    check_points,
    check_weights,
    refuse_masked_or_dates,
)
from quickshift.kernels import KERNELS, get_kernel
from quickshift.stages import (
    assign,
    choose_bandwidth,
    climb,
    cut,
    cut_into,
    estimate_density,
    fit_estimate,
    prepare,
)

X = np.array([[0.0], [1.0], [2.0]])
GAUSSIAN, EPANECHNIKOV = get_kernel("gaussian"), get_kernel("epanechnikov")


def masked(values: list[float], mask: list[bool]) -> np.ma.MaskedArray:
    return np.ma.masked_array(values, mask=mask)


# Points


def test_points_come_back_as_they_are() -> None:
    for dtype in (np.float64, np.float32):
        points = np.ones((3, 2), dtype=dtype)
        assert check_points(points) is points


@pytest.mark.parametrize(
    "points",
    [
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]], dtype=np.uint8),
        np.array([[1, 2], [3, 4]], dtype=object),
        np.array([[Fraction(1), Decimal(2)], [3, 4.0]], dtype=object),
        np.array([[1, 2], [3, 4]], dtype=">f8"),
        np.array([[1, 2], [3, 4]], dtype=np.longdouble),
        np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]),
        np.array([[1.0, 0.0, 2.0], [3.0, 0.0, 4.0]])[:, ::2],
        masked([[1.0, 2.0], [3.0, 4.0]], [[False, False], [False, False]]),
    ],
    ids=lambda points: f"{type(points).__name__} {getattr(points, 'dtype', '')}",
)
def test_numbers_of_any_kind_become_float64_in_c_order(points: object) -> None:
    found = check_points(points)
    assert found.dtype == np.float64
    assert found.flags.c_contiguous
    assert found.dtype.isnative
    np.testing.assert_array_equal(found, [[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize("points", [[1.0, 2.0], [[[1.0]]]])
def test_points_must_have_rows_and_columns(points: object) -> None:
    with pytest.raises(ValueError, match=r"X has shape \(.*\), expected \(n_samples, n_features\)"):
        check_points(points)


@pytest.mark.parametrize("points", [1.0, None])
def test_points_must_be_an_array(points: object) -> None:
    with pytest.raises((TypeError, ValueError), match=rf"X is {points}, expected .*n_features\)"):
        check_points(points)


def test_a_single_feature_is_told_how_to_become_a_column() -> None:
    with pytest.raises(ValueError, match=r"shape \(2,\).*use X\.reshape\(-1, 1\)"):
        check_points(np.array([1.0, 2.0]))


@pytest.mark.parametrize("shape", [(0, 2), (3, 0), (0, 0)])
def test_empty_points_are_refused(shape: tuple[int, int]) -> None:
    message = rf"X has shape \({shape[0]}, {shape[1]}\), expected at least one row and column"
    with pytest.raises(ValueError, match=message):
        check_points(np.empty(shape))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_points_must_be_finite_and_the_first_bad_row_is_named(bad: float, dtype: type) -> None:
    points = np.zeros((5, 2), dtype=dtype)
    points[2, 1] = points[4, 0] = bad
    message = r"NaN or infinity in 2 of 5 rows, the first at row 2, column 1; expected .*impute"
    with pytest.raises(ValueError, match=message):
        check_points(points)


@pytest.mark.parametrize(
    "points",
    [[["a", "b"]], np.array([["1.0", "b"]]), np.array([[{}]], dtype=object), [[None, 1.0]]],
    ids=str,
)
def test_points_must_be_numbers(points: object) -> None:
    with pytest.raises((TypeError, ValueError), match=r"X has .*expected .*(numbers|finite)"):
        check_points(points)


def test_ragged_points_are_refused() -> None:
    with pytest.raises(ValueError, match=r"X has rows of different lengths .*, expected the same"):
        check_points([[1.0], [2.0, 3.0]])


def test_integers_beyond_the_floats_are_refused() -> None:
    with pytest.raises(ValueError, match=r"X has .*expected"):
        check_points([[10**400]])


@pytest.mark.parametrize("dtype", ["M8[D]", "m8[s]"])
def test_dates_are_told_how_to_become_numbers(dtype: str) -> None:
    with pytest.raises((TypeError, ValueError), match=r"X has .*expected numbers.*unit and divide"):
        check_points(np.array([[1]]).astype(dtype))


def test_complex_points_are_told_how_to_become_real() -> None:
    with pytest.raises(ValueError, match=r"X is complex, expected real.*X\.real and X\.imag"):
        check_points([[1j]])


def test_sparse_points_are_told_how_to_become_dense() -> None:
    with pytest.raises(TypeError, match=r"X is sparse, expected a dense .*X\.toarray\(\)"):
        check_points(csr_array([[1.0]]))


def test_masked_points_are_counted() -> None:
    points = masked([[1.0, 2.0], [3.0, 4.0]], [[True, False], [True, False]])
    with pytest.raises(ValueError, match=r"X has 2 masked entries, expected none.*X\.filled\("):
        check_points(points)


def test_masks_that_hide_nothing_are_no_matter() -> None:
    refuse_masked_or_dates(masked([1.0], [False]))
    refuse_masked_or_dates([1.0])


def test_messages_use_the_name_of_the_argument() -> None:
    with pytest.raises(ValueError, match=r"queries has shape .*queries\.reshape"):
        check_points(np.array([1.0]), "queries")


# Weights


def test_no_weights_stay_none() -> None:
    assert check_weights(None, 3) is None


def test_weights_become_float64() -> None:
    weights = check_weights([1, 0, 2], 3)
    assert weights.dtype == np.float64
    np.testing.assert_array_equal(weights, [1.0, 0.0, 2.0])


@pytest.mark.parametrize("weights", [[1.0], [1.0] * 4, [[1.0, 1.0, 1.0]], np.ones((3, 1)), 1.0, []])
def test_weights_must_be_one_per_row(weights: object) -> None:
    with pytest.raises(ValueError, match=r"sample_weight has shape \(.*\), expected \(3,\)"):
        check_weights(weights, 3)


@pytest.mark.parametrize("bad", [-1.0, -1e-300, np.nan, np.inf])
def test_weights_must_be_frequencies(bad: float) -> None:
    message = r"sample_weight has negative, NaN or infinite entries, expected frequencies.*twice"
    with pytest.raises(ValueError, match=message):
        check_weights([1.0, bad, 1.0], 3)


def test_weights_must_not_all_be_zero() -> None:
    message = "sample_weight is all zero, expected at least one positive"
    for zeros in ([0.0, 0.0], [0.0, -0.0]):
        with pytest.raises(ValueError, match=message):
            check_weights(zeros, 2)


def test_weights_must_have_a_finite_sum() -> None:
    with pytest.raises(ValueError, match=r"sample_weight .*sum.*expected"):
        check_weights([1e308, 1e308], 2)


def test_masked_weights_are_refused() -> None:
    with pytest.raises(ValueError, match=r"sample_weight has 1 masked entries"):
        check_weights(masked([1.0, 2.0], [True, False]), 2)


@pytest.mark.parametrize("weights", [["a", "b"], [1j, 2], [None, 1.0]], ids=str)
def test_weights_must_be_numbers(weights: list[object]) -> None:
    with pytest.raises((TypeError, ValueError), match=r"sample_weight .*expected"):
        check_weights(weights, 2)


# Periods


@pytest.mark.parametrize("period", [None, [np.inf, np.inf]])
def test_no_periods_at_all_are_none(period: object) -> None:
    assert check_period(period, 2) is None


def test_periods_become_float64() -> None:
    np.testing.assert_array_equal(check_period([24, np.inf], 2), [24.0, np.inf])


@pytest.mark.parametrize(
    "period", [[24.0], [24.0] * 3, [[24.0, 24.0]], [], "day", ["a", "b"], 24.0]
)
def test_periods_must_be_one_per_feature(period: object) -> None:
    with pytest.raises(ValueError, match=r"period is .*, expected one length for each of the 2 f"):
        check_period(period, 2)


@pytest.mark.parametrize("bad", [0.0, -24.0, np.nan, -np.inf])
def test_periods_must_be_positive(bad: float) -> None:
    with pytest.raises(ValueError, match=r"period is .*, expected positive lengths \(numpy\.inf"):
        check_period([24.0, bad], 2)


# Numbers


@pytest.mark.parametrize("value", [1, 1.0, np.float32(1), np.int64(1), Fraction(1)])
def test_real_numbers_become_floats(value: object) -> None:
    number = check_real(value, "tau", "a length")
    assert type(number) is float
    assert number == 1.0


@pytest.mark.parametrize("value", ["1", None, True, np.True_, 1j, [1.0], np.ones(1)], ids=repr)
def test_what_is_no_real_number_is_repeated(value: object) -> None:
    with pytest.raises(TypeError, match=r"tau is .*, expected a length\."):
        check_real(value, "tau", "a length")


def test_nan_is_no_number() -> None:
    with pytest.raises(ValueError, match=r"tau is NaN, expected a length\."):
        check_real(math.nan, "tau", "a length")


@pytest.mark.parametrize("h", [0, -1.0, math.inf, -math.inf])
def test_bandwidth_must_be_positive_and_finite(h: float) -> None:
    message = r"bandwidth is .*, expected a positive, finite number.*units of the data"
    with pytest.raises(ValueError, match=message):
        check_bandwidth(h, GAUSSIAN, None)


@pytest.mark.parametrize("h", ["auto", None, True, [1.0]])
def test_bandwidth_must_be_a_number(h: object) -> None:
    with pytest.raises(TypeError, match=r"bandwidth is .*, expected a positive, finite number"):
        check_bandwidth(h, GAUSSIAN, None)


def test_bandwidth_must_fit_into_the_periods() -> None:
    period = np.array([np.inf, 24.0])
    assert check_bandwidth(6.0, GAUSSIAN, period) == 6.0
    assert check_bandwidth(12.0, EPANECHNIKOV, period) == 12.0
    with pytest.raises(ValueError, match=r"is 6\.1, expected at most 6\.0 for the gaussian kernel"):
        check_bandwidth(6.1, GAUSSIAN, period)
    with pytest.raises(ValueError, match=r"at most 12\.0 for the epanechnikov.*smaller bandwidth"):
        check_bandwidth(12.1, EPANECHNIKOV, period)


@pytest.mark.parametrize("kernel", KERNELS)
def test_bandwidth_that_a_period_does_not_admit_is_refused_by_every_kernel(kernel: str) -> None:
    with pytest.raises(ValueError, match=f"for the {kernel} kernel and the period"):
        estimate_density(X, 100.0, kernel=kernel, period=[24.0])


@pytest.mark.parametrize("tau", [0, 0.0, 1.5, math.inf])
def test_tau_may_be_any_length(tau: float) -> None:
    assert check_tau(tau) == tau


@pytest.mark.parametrize("tau", [-1e-300, -1.0, -math.inf])
def test_tau_must_not_be_negative(tau: float) -> None:
    with pytest.raises(ValueError, match=r"tau is -.*, expected a length.*numpy\.inf keeps every"):
        check_tau(tau)


@pytest.mark.parametrize("tau", ["auto", None, True, [1.0]])
def test_tau_must_be_a_number(tau: object) -> None:
    with pytest.raises(TypeError, match=r"tau is .*, expected a length of at least 0"):
        check_tau(tau)


@pytest.mark.parametrize("value", [1, 3, np.int32(2)])
def test_counts_are_whole_numbers(value: int) -> None:
    count = check_count(value, "n_clusters", 3)
    assert type(count) is int
    assert count == value


@pytest.mark.parametrize("value", [0, -1, 4])
def test_counts_go_from_one_to_the_most(value: int) -> None:
    message = rf"n_clusters is {value}, expected a whole number from 1 to 3, the number of samples"
    with pytest.raises(ValueError, match=message):
        check_count(value, "n_clusters", 3)


@pytest.mark.parametrize("value", [2.0, "2", None, True, np.True_])
def test_counts_must_be_integers(value: object) -> None:
    with pytest.raises(TypeError, match=r"n_clusters is .*, expected a whole number from 1 to 3\."):
        check_count(value, "n_clusters", 3)


# Choices


def test_choices_come_back() -> None:
    assert check_choice("strict", "ties", ("total", "strict")) == "strict"


@pytest.mark.parametrize(
    "value", ["Strict", "", None, 1, ("total",), ["total"], np.array(["total"])]
)
def test_choices_are_listed(value: object) -> None:
    with pytest.raises(ValueError, match=r"ties is .*, expected one of 'total', 'strict'\."):
        check_choice(value, "ties", ("total", "strict"))


# Densities


def test_densities_become_float64() -> None:
    density = check_density([1, 2, 3], 3)
    assert density.dtype == np.float64


@pytest.mark.parametrize("density", [[1.0], [[1.0, 2.0, 3.0]], 1.0])
def test_densities_must_be_one_per_sample(density: object) -> None:
    with pytest.raises(ValueError, match=r"density has shape \(.*\), expected \(3,\)"):
        check_density(density, 3)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_densities_must_be_finite(value: float) -> None:
    with pytest.raises(ValueError, match="density has NaN or infinite entries, expected"):
        check_density([1.0, value, 2.0], 3)


def test_masked_densities_are_refused() -> None:
    with pytest.raises(ValueError, match=r"density has 1 masked entries"):
        check_density(masked([1.0, 2.0, 3.0], [True, False, False]), 3)


@pytest.mark.parametrize("density", [["a", "b", "c"], [1j, 2, 3]], ids=str)
def test_densities_must_be_numbers(density: list[object]) -> None:
    with pytest.raises((TypeError, ValueError), match=r"density .*expected"):
        check_density(density, 3)


# Checks made by the stages


def test_prepare_checks_its_points_weights_and_periods() -> None:
    with pytest.raises(ValueError, match="X has shape"):
        prepare([1.0, 2.0])
    with pytest.raises(ValueError, match="sample_weight has shape"):
        prepare(X, sample_weight=[1.0])
    with pytest.raises(ValueError, match="period is"):
        prepare(X, period=[1.0, 2.0])


def test_samples_carry_their_weights_and_periods() -> None:
    samples = prepare(X)
    assert prepare(samples) is samples
    for given in ({"sample_weight": [1, 1, 1]}, {"period": [24.0]}):
        with pytest.raises(ValueError, match="X is Samples, which carry their weights and periods"):
            prepare(samples, **given)
    with pytest.raises(ValueError, match="X is Samples"):
        climb(samples, [1, 2, 3], period=[24.0])


@pytest.mark.parametrize("rtol", [-1e-9, 1.0, math.inf])
def test_rtol_must_be_from_zero_to_below_one(rtol: float) -> None:
    with pytest.raises(
        ValueError, match=r"rtol is .*, expected a relative error from 0 to below 1"
    ):
        fit_estimate(prepare(X), 1.0, rtol=rtol)


@pytest.mark.parametrize("rtol", ["auto", None, True])
def test_rtol_must_be_a_number(rtol: object) -> None:
    with pytest.raises(TypeError, match=r"rtol is .*, expected a relative error"):
        fit_estimate(prepare(X), 1.0, rtol=rtol)


def test_unknown_kernels_are_repeated_with_a_suggestion() -> None:
    with pytest.raises(ValueError, match=r"'gausian'; did you mean 'gaussian'\? The kernels are"):
        estimate_density(X, 1.0, kernel="gausian")
    with pytest.raises(TypeError, match="kernel must be a name, got 3"):
        estimate_density(X, 1.0, kernel=3)


def test_climb_checks_ties_and_density() -> None:
    with pytest.raises(ValueError, match="ties is 'loose', expected one of 'total', 'strict'"):
        climb(X, [1, 2, 3], ties="loose")
    with pytest.raises(ValueError, match="density has shape"):
        climb(X, [1, 2])


@pytest.mark.parametrize("bits", [0, -1, 54, 2.5])
def test_climb_checks_the_bits_that_count(bits: object) -> None:
    with pytest.raises((TypeError, ValueError), match=r"significant_bits is .*expected .*1 to 53"):
        climb(X, [1, 2, 3], significant_bits=bits)


def test_cuts_check_tau_and_count() -> None:
    graph = climb(X, [1, 2, 3])
    with pytest.raises(TypeError, match="tau is 'auto'"):
        cut(graph, "auto")
    with pytest.raises(TypeError, match=r"n_clusters is 1\.5"):
        cut_into(graph, 1.5)


def test_assign_checks_its_queries() -> None:
    graph = climb(X, [1, 2, 3])
    one = np.ones(1)
    with pytest.raises(ValueError, match=r"queries has 2 features, expected 1 .*same columns"):
        assign(graph, np.zeros((1, 2)), one, tau=1.0)
    with pytest.raises(ValueError, match=r"density has shape \(1,\), expected \(2,\): one"):
        assign(graph, np.zeros((2, 1)), one, tau=1.0)
    with pytest.raises(ValueError, match=r"tau is -1\.0, expected a length"):
        assign(graph, np.zeros((1, 1)), one, tau=-1.0)
    with pytest.raises(ValueError, match=r"tau is NaN, expected a length"):
        assign(graph, np.zeros((1, 1)), one, tau=math.nan)


def test_estimate_refuses_queries_of_another_width() -> None:
    estimate = fit_estimate(prepare(X), 1.0)
    with pytest.raises(ValueError, match=r"queries has 2 features, expected 1 .*same columns"):
        estimate.log_density_at(np.zeros((1, 2)))


@pytest.mark.parametrize("n_jobs", [0, "two"])
def test_every_stage_refuses_impossible_numbers_of_threads(n_jobs: object) -> None:
    samples = prepare(X)
    for call in (
        lambda: prepare(X, n_jobs=n_jobs),
        lambda: estimate_density(X, 1.0, n_jobs=n_jobs),
        lambda: fit_estimate(samples, 1.0, n_jobs=n_jobs),
        lambda: climb(samples, [1, 2, 3], n_jobs=n_jobs),
        lambda: choose_bandwidth(samples, "cv", n_jobs=n_jobs),
    ):
        with pytest.raises((TypeError, ValueError), match="n_jobs must"):
            call()


def test_numbers_beyond_the_range_of_floats_are_refused():
    with pytest.raises(ValueError, match="tau is beyond the range of floats, expected a length"):
        check_tau(10**400)
