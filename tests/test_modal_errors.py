"""Arguments that `ModalRegressor` refuses, and the error messages."""

import numpy as np
import pytest

from modal_cases import (
    BANDWIDTHS,
    QUERIES,
    assert_same_modes,
    assert_same_set,
    branches,
    two_columns,
)
from quickshift import ModalRegressor

NUMBERS = (0, 0.0, -1.0, np.nan, np.inf, True, {"h": 1.0}, "silverman")
PAIRS = ((), (1.0,), (1.0, 2.0, 3.0), (0.0, 1.0), (1.0, -1.0), (np.nan, 1.0), ("auto", 1.0))


# Parameters


@pytest.mark.parametrize("bandwidth", [*NUMBERS, *PAIRS], ids=str)
def test_bandwidth_is_a_positive_number_a_pair_or_a_rule(bandwidth):
    with pytest.raises(ValueError, match=r"bandwidth is .*expected a positive number"):
        ModalRegressor(bandwidth).fit(*branches(20))


def test_unknown_rule_is_told_the_known_ones():
    with pytest.raises(ValueError, match=r"'scott'.*'auto', 'cv', 'prediction_set'"):
        ModalRegressor("scott").fit(*branches(20))


@pytest.mark.parametrize("bandwidth", [10.0, (10.0, 1.0)], ids=str)
def test_bandwidth_beyond_the_period_is_refused_in_the_units_of_the_user(bandwidth):
    X, y = branches()
    with pytest.raises(ValueError, match=r"bandwidth is \(?10.0.*expected at most 6.0"):
        ModalRegressor(bandwidth, period=[24.0]).fit(24 * X, y)


@pytest.mark.parametrize("tau", [-1, np.nan, -np.inf])
@pytest.mark.parametrize("bandwidth", [0.5, "prediction_set"])
def test_tau_is_a_length(tau, bandwidth):
    with pytest.raises(ValueError, match=r"tau is .*expected a length of at least 0"):
        ModalRegressor(bandwidth, tau).fit(*branches(20))


@pytest.mark.parametrize("tau", ["cv", None, True, [1.0]], ids=str)
def test_tau_is_a_length_or_auto(tau):
    with pytest.raises((TypeError, ValueError), match=r"tau is .*'auto'"):
        ModalRegressor(0.5, tau).fit(*branches(20))


@pytest.mark.parametrize("ratio", [-0.1, 1.1, np.nan, "0", None, True])
def test_min_density_ratio_is_a_share(ratio):
    with pytest.raises((TypeError, ValueError), match=r"min_density_ratio is .*from 0 to 1"):
        ModalRegressor(min_density_ratio=ratio).fit(*branches(20))


@pytest.mark.parametrize("coverage", [0, 1, 90, -0.5, np.nan, "0.9", None])
def test_coverage_is_a_share(coverage):
    model = ModalRegressor().fit(*branches(20))
    with pytest.raises((TypeError, ValueError), match=r"coverage is .*above 0 and below 1"):
        model.predict_set(QUERIES, coverage)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel": "gauss"}, "gauss"),
        ({"rtol": -1.0}, "rtol"),
        ({"rtol": 1.0}, "rtol"),
        ({"period": [1.0, 2.0]}, "period"),
        ({"period": [-1.0]}, "period"),
        ({"period": "day"}, "period"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
    ids=str,
)
def test_other_parameters_are_named_when_they_are_wrong(settings, words):
    for bandwidth in BANDWIDTHS:
        with pytest.raises(ValueError, match=words):
            ModalRegressor(bandwidth, **settings).fit(*branches(20))


# Data


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "requires y to be passed"),
        (np.full(20, np.nan), "y has NaN or infinity in 20 of 20 rows"),
        ([*range(19), np.inf], "y has NaN or infinity in 1 of 20 rows, the first at row 19"),
        (np.zeros(19), r"y has shape \(19,\), expected \(20,\)"),
        (np.zeros((20, 2, 2)), r"y has shape \(20, 2, 2\)"),
        (np.zeros((20, 0)), r"y has shape \(20, 0\)"),
        (["a"] * 20, "y has entries that are not numbers"),
        (np.zeros(20) + 1j, "y is complex"),
        (np.ma.masked_equal(np.zeros(20), 0.0), "y has 20 masked entries"),
        (np.full(20, "2020-01-01", dtype="datetime64[D]"), "y has dates"),
    ],
)
def test_responses_are_one_finite_number_per_row(y, words):
    X, _ = branches(20)
    with pytest.raises(ValueError, match=words):
        ModalRegressor().fit(X, y)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.full((20, 1), np.nan), "X has NaN or infinity in 20 of 20 rows"),
        (np.zeros(20), r"X has shape \(20,\), expected \(n_samples, n_features\)"),
        (np.ma.masked_equal(np.zeros((20, 1)), 0.0), "X has 20 masked entries"),
    ],
)
def test_features_are_finite_numbers(X, words):
    with pytest.raises(ValueError, match=words):
        ModalRegressor().fit(X, np.zeros(20))


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(19), r"sample_weight has shape \(19,\), expected \(20,\)"),
        (-np.ones(20), "sample_weight has negative"),
        (np.zeros(20), "sample_weight is all zero"),
        (np.full(20, np.nan), "sample_weight has .*NaN"),
    ],
)
def test_weights_are_frequencies(weights, words):
    X, y = branches(20)
    with pytest.raises(ValueError, match=words):
        ModalRegressor().fit(X, y, sample_weight=weights)
    model = ModalRegressor().fit(X, y)
    for method in (model.calibrate, model.score):
        with pytest.raises(ValueError, match=words):
            method(X, y, sample_weight=weights)


@pytest.mark.parametrize("method", ["predict", "predict_modes", "predict_set"])
def test_queries_are_like_the_samples(method):
    call = getattr(ModalRegressor().fit(*branches(20)), method)
    with pytest.raises(
        ValueError, match="X has NaN or infinity in 1 of 2 rows, the first at row 1"
    ):
        call([[0.5], [np.nan]])
    with pytest.raises(ValueError, match=r"X has 2 features.* expecting 1 feature"):
        call([[0.5, 0.5]])
    with pytest.raises(ValueError, match=r"X has shape \(1,\), expected \(n_samples, n_features\)"):
        call([0.5])
    with pytest.raises(ValueError, match="0 sample"):
        call(np.empty((0, 1)))


@pytest.mark.parametrize("method", ["score", "calibrate"])
def test_true_responses_are_like_those_of_the_samples(method):
    X, Y = two_columns(20)
    one = getattr(ModalRegressor().fit(X, Y[:, 0]), method)
    two = getattr(ModalRegressor().fit(X, Y), method)
    with pytest.raises(ValueError, match="y has 2 columns, expected 1"):
        one(X, Y)
    with pytest.raises(ValueError, match="y has 1 columns, expected 2"):
        two(X, Y[:, 0])
    with pytest.raises(ValueError, match=r"y has shape \(19,\), expected \(20,\)"):
        one(X, Y[1:, 0])
    with pytest.raises(ValueError, match="y has NaN or infinity in 20 of 20 rows"):
        one(X, np.full(20, np.nan))


# A call that fails leaves the estimator unchanged


@pytest.mark.parametrize(
    "arguments", [{"X": [[np.nan]]}, {"y": [np.nan] * 80}, {"sample_weight": -np.ones(80)}], ids=str
)
def test_failed_refit_leaves_the_old_one(arguments):
    X, y = branches(80)
    model = ModalRegressor().fit(X, y).calibrate(X, y)
    before = vars(model).copy()
    modes, found = model.predict_modes(QUERIES), model.predict_set(QUERIES)
    with pytest.raises(ValueError, match=r"NaN|shape|negative"):
        model.fit(**{"X": X, "y": y} | arguments)
    assert vars(model) == before
    assert_same_modes(model.predict_modes(QUERIES), modes)
    assert_same_set(model.predict_set(QUERIES), found)


def test_failed_calibration_leaves_the_old_one():
    X, y = branches(80)
    model = ModalRegressor().fit(X, y).calibrate(X, y)
    found = model.predict_set(QUERIES)
    with pytest.raises(ValueError, match="NaN"):
        model.calibrate(X, np.full(80, np.nan))
    assert_same_set(model.predict_set(QUERIES), found)


def test_bandwidth_of_a_rule_must_be_finite():
    X = np.arange(30.0)[:, None]
    huge = np.where(np.arange(30) % 2, 1.2e308, -1.2e308)
    model = ModalRegressor(kernel="epanechnikov")
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=r"bandwidth is .*inf"):
        model.fit(X, np.column_stack([huge, huge]))
