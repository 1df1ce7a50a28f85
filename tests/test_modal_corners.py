"""ModalRegressor: what must not matter, periods, far queries, odd data, errors."""

import numpy as np
import pytest

from modal_cases import (
    BANDWIDTHS,
    COMPACT,
    EVERY_BANDWIDTH,
    EVERY_KERNEL,
    EVERY_RULE,
    INFINITE,
    QUERIES,
    assert_close_modes,
    assert_same_model,
    assert_same_modes,
    assert_same_set,
    branches,
    repeated,
    two_columns,
)
from quickshift import ModalRegressor
from quickshift.bandwidth import period_limit
from quickshift.kernels import get_kernel

# What must not matter


@EVERY_BANDWIDTH
@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "epanechnikov", "uniform"])
def test_order_of_rows_does_not_matter(bandwidth, kernel):
    X, y = branches(80)
    X, y = np.round(X, 1), np.round(y, 1)  # duplicates and ties
    weights, order = repeated(), np.random.default_rng(1).permutation(80)
    model = ModalRegressor(bandwidth, kernel=kernel).fit(X, y, weights)
    shuffled = ModalRegressor(bandwidth, kernel=kernel).fit(X[order], y[order], weights[order])
    assert_same_model(model, shuffled)
    model.calibrate(X, y, weights)
    shuffled.calibrate(X[order], y[order], weights[order])
    assert_same_set(model.predict_set(QUERIES), shuffled.predict_set(QUERIES))


@pytest.mark.parametrize("bandwidth", [0.25, (0.1, 0.3), "auto", "cv"], ids=str)
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_order_of_rows_does_not_matter_to_several_outputs(bandwidth, kernel):
    X, Y = two_columns(80)
    X, Y = np.round(X, 1), np.round(Y, 1)
    weights, order = repeated(), np.random.default_rng(1).permutation(80)
    model = ModalRegressor(bandwidth, kernel=kernel).fit(X, Y, weights)
    shuffled = ModalRegressor(bandwidth, kernel=kernel).fit(X[order], Y[order], weights[order])
    assert_same_model(model, shuffled)


@EVERY_BANDWIDTH
@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "epanechnikov"])
def test_number_of_threads_does_not_matter(bandwidth, kernel):
    X, y = branches(300)
    queries = np.linspace(-0.2, 1.2, 200)[:, None]
    one = ModalRegressor(bandwidth, kernel=kernel, n_jobs=1).fit(X, y)
    two = ModalRegressor(bandwidth, kernel=kernel, n_jobs=2).fit(X, y)
    assert_same_model(one, two, queries)
    assert_same_set(one.predict_set(queries), two.predict_set(queries))


def test_number_of_threads_does_not_matter_to_several_outputs():
    X, Y = two_columns(300)
    one, two = (ModalRegressor(n_jobs=jobs).fit(X, Y) for jobs in (1, 2))
    assert_same_model(one, two)


@EVERY_BANDWIDTH
def test_float32_is_the_same_values_as_float64(bandwidth):
    X, y = branches()
    X, y = X.astype(np.float32), y.astype(np.float32)
    narrow = ModalRegressor(bandwidth).fit(X, y)
    wide = ModalRegressor(bandwidth).fit(X.astype(np.float64), y.astype(np.float64))
    queries = QUERIES.astype(np.float32)
    assert_same_model(narrow, wide, queries)
    assert_same_modes(narrow.predict_modes(queries), wide.predict_modes(queries.astype(float)))
    assert_same_set(narrow.predict_set(queries), wide.predict_set(queries.astype(float)))


def test_integers_are_numbers():
    X, y = np.arange(20)[:, None], np.arange(20) // 5
    assert_same_model(
        ModalRegressor().fit(X, y), ModalRegressor().fit(X.astype(float), y.astype(float))
    )


@EVERY_KERNEL
def test_powers_of_two_scale_everything_with_them(kernel):
    X, y = branches()
    for x_factor, y_factor in ((2.0**30, 2.0**30), (2.0**-40, 2.0**-40), (2.0**9, 2.0**-5)):
        model = ModalRegressor((0.1, 0.3), 0.4, kernel=kernel).fit(X, y)
        scaled = ModalRegressor((0.1 * x_factor, 0.3 * y_factor), 0.4 * y_factor, kernel=kernel)
        scaled.fit(X * x_factor, y * y_factor)
        modes, again = model.predict_modes(QUERIES), scaled.predict_modes(QUERIES * x_factor)
        np.testing.assert_array_equal(again.offsets, modes.offsets)
        np.testing.assert_array_equal(again.values, modes.values * y_factor)


@pytest.mark.parametrize("factor", [2.0**30, 2.0**-40])
@EVERY_BANDWIDTH
def test_powers_of_two_scale_rules_and_single_bandwidths_exactly(factor, bandwidth):
    X, y = branches()
    model = ModalRegressor(bandwidth).fit(X, y)
    if not isinstance(bandwidth, str):
        bandwidth = np.multiply(bandwidth, factor)
    scaled = ModalRegressor(bandwidth).fit(X * factor, y * factor)
    assert scaled.bandwidth_ == tuple(factor * h for h in model.bandwidth_)
    assert scaled.tau_ == factor * model.tau_
    modes, again = model.predict_modes(QUERIES), scaled.predict_modes(QUERIES * factor)
    np.testing.assert_array_equal(again.offsets, modes.offsets)
    np.testing.assert_array_equal(again.values, modes.values * factor)


@pytest.mark.parametrize("factor", [2.0**30, 2.0**-40])
def test_powers_of_two_scale_several_outputs_with_them(factor):
    X, Y = two_columns()
    for bandwidth in (0.25, (0.125, 0.25), "auto"):
        model = ModalRegressor(bandwidth).fit(X, Y)
        given = bandwidth if bandwidth == "auto" else np.multiply(bandwidth, factor)
        scaled = ModalRegressor(given).fit(X * factor, Y * factor)
        assert scaled.bandwidth_ == tuple(factor * h for h in model.bandwidth_)
        np.testing.assert_array_equal(
            scaled.predict(QUERIES * factor), model.predict(QUERIES) * factor
        )


@EVERY_BANDWIDTH
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_large_offsets_keep_the_modes(bandwidth, kernel):
    X, y = branches()
    X, y, queries = (np.round(part * 2.0**20) / 2.0**20 for part in (X, y, QUERIES))
    model = ModalRegressor(bandwidth, kernel=kernel).fit(X, y)
    offset = ModalRegressor(bandwidth, kernel=kernel).fit(X + 1e8, y - 1e8)
    assert offset.bandwidth_ == pytest.approx(model.bandwidth_, rel=1e-6)
    assert offset.tau_ == pytest.approx(model.tau_, rel=1e-6)
    modes, again = model.predict_modes(queries), offset.predict_modes(queries + 1e8)
    np.testing.assert_array_equal(again.offsets, modes.offsets)
    np.testing.assert_array_equal(again.values + 1e8, modes.values)
    exact = not isinstance(bandwidth, str) and np.ndim(bandwidth) == 0
    np.testing.assert_allclose(again.densities, modes.densities, rtol=1e-11 if exact else 1e-5)


def test_large_offsets_keep_the_modes_of_several_outputs():
    X, Y = two_columns()
    X, Y, queries = (np.round(part * 2.0**20) / 2.0**20 for part in (X, Y, QUERIES))
    model = ModalRegressor(0.25).fit(X, Y).predict(queries)
    offset = ModalRegressor(0.25).fit(X + 1e8, Y - 1e8).predict(queries + 1e8)
    np.testing.assert_array_equal(offset + 1e8, model)


@EVERY_KERNEL
def test_tolerance_does_not_change_the_modes(kernel):
    X, y = branches()
    close = ModalRegressor((0.1, 0.3), kernel=kernel).fit(X, y).predict_modes(QUERIES)
    exact = ModalRegressor((0.1, 0.3), kernel=kernel, rtol=0).fit(X, y).predict_modes(QUERIES)
    assert_close_modes(close, exact)


# Periodic features


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
@pytest.mark.parametrize("draw", [branches, two_columns])
def test_whole_periods_change_nothing(kernel, draw):
    X, y = draw()
    X, queries = np.round(X * 1024) / 1024, np.round(QUERIES * 1024) / 1024
    shifts = np.random.default_rng(0).integers(-3, 4, size=X.shape)
    for bandwidth in (0.125, (0.125, 0.5)):
        settings = {"bandwidth": bandwidth, "kernel": kernel, "period": [1.0]}
        model = ModalRegressor(**settings).fit(X, y)
        shifted = ModalRegressor(**settings).fit(X + shifts, y)
        assert model.tau_ == shifted.tau_
        assert_same_modes(model.predict_modes(queries), shifted.predict_modes(queries - 2))


@EVERY_RULE
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_whole_periods_change_no_rule(rule, kernel):
    X, y = branches()
    X = np.round(X * 1024) / 1024
    shifts = np.random.default_rng(0).integers(-3, 4, size=X.shape)
    model = ModalRegressor(rule, kernel=kernel, period=[1.0]).fit(X, y)
    shifted = ModalRegressor(rule, kernel=kernel, period=[1.0]).fit(X + shifts, y)
    assert shifted.bandwidth_ == pytest.approx(model.bandwidth_, rel=1e-9)
    assert shifted.tau_ == pytest.approx(model.tau_, rel=1e-9)
    assert_close_modes(model.predict_modes(QUERIES), shifted.predict_modes(QUERIES + 7))


@EVERY_KERNEL
def test_query_beyond_the_seam_sees_the_samples_before_it(kernel):
    X, y = [[23.5], [23.75], [23.75]], [1.0, 5.0, 5.0]
    model = ModalRegressor((2.0, 1.0), 2.0, kernel=kernel, period=[24.0]).fit(X, y)
    modes = model.predict_modes([[0.25], [23.25], [48.25]])
    np.testing.assert_array_equal(modes.highest(), [5.0, 5.0, 5.0])
    np.testing.assert_array_equal(modes.support[[0, 2]], modes.support[[0, 0]])
    opened = ModalRegressor((2.0, 1.0), 2.0, kernel=kernel).fit(X, y).predict_modes([[0.25]])
    assert opened.support[0] < modes.support[0]


def test_open_features_beside_periodic_ones_stay_open():
    X, y = np.hstack([np.zeros((2, 1)), [[0.0], [9.0]]]), [1.0, 2.0]
    model = ModalRegressor(1.0, kernel="uniform", period=[10.0, np.inf]).fit(X, y)
    np.testing.assert_array_equal(
        model.predict([[9.5, 0.0], [9.5, 9.0], [0.0, 10.5]]), [1.0, 2.0, np.nan]
    )


@EVERY_RULE
@EVERY_KERNEL
def test_rules_choose_bandwidths_that_the_period_admits(rule, kernel):
    rng = np.random.default_rng(0)
    for _ in range(4 if rule == "prediction_set" else 12):
        period, n = rng.uniform(0.1, 100.0), rng.integers(3, 40)
        X, y = rng.uniform(0, period, size=(n, 1)), rng.normal(size=n)
        model = ModalRegressor(rule, kernel=kernel, period=[period]).fit(X, y)
        assert model.bandwidth_[0] <= period_limit(get_kernel(kernel), np.array([period]))


@EVERY_KERNEL
def test_bandwidth_of_features_may_be_the_most_that_the_period_admits(kernel):
    for period in np.random.default_rng(0).uniform(0.1, 100.0, size=50):
        most = period_limit(get_kernel(kernel), np.array([period]))
        X = [[0.0], [period / 3]]
        model = ModalRegressor((most, 1.0), 1.0, kernel=kernel, period=[period])
        assert model.fit(X, [0.0, 1.0]).bandwidth_[0] == most


@pytest.mark.parametrize("bandwidth", [10.0, (10.0, 1.0)], ids=str)
def test_bandwidth_beyond_the_period_is_refused_in_the_units_of_the_user(bandwidth):
    X, y = branches()
    with pytest.raises(ValueError, match=r"bandwidth is \(?10.0.*expected at most 6.0"):
        ModalRegressor(bandwidth, period=[24.0]).fit(24 * X, y)


# Far from the samples


@pytest.mark.parametrize("kernel", INFINITE)
@pytest.mark.parametrize("draw", [branches, two_columns])
def test_infinite_kernels_answer_everywhere_with_a_low_support(kernel, draw):
    X, y = draw()
    model = ModalRegressor((0.1, 0.3), kernel=kernel).fit(X, y)
    queries = np.array([[0.5], [3.0], [30.0], [-300.0]])
    modes = model.predict_modes(queries)
    assert (modes.counts > 0).all()
    assert np.isfinite(model.predict(queries)).all()
    assert np.isfinite(modes.support).all()
    assert (np.diff(modes.support) < -10).all()


@pytest.mark.parametrize("kernel", COMPACT)
@pytest.mark.parametrize("draw", [branches, two_columns])
def test_compact_kernels_have_no_answer_beyond_their_reach(kernel, draw):
    X, y = draw()
    model = ModalRegressor((0.1, 0.3), kernel=kernel).fit(X, y)
    queries = [[3.0], [0.5], [-1e9]]
    modes = model.predict_modes(queries)
    assert (modes.counts > 0).tolist() == [False, True, False]
    assert modes[0].shape == (0, *y.shape[1:])
    assert np.isneginf(modes.support).tolist() == [True, False, True]
    predicted = model.predict(queries)
    assert np.isnan(predicted.reshape(3, -1)).all(axis=1).tolist() == [True, False, True]
    found = model.predict_set(queries)
    assert (np.diff(found.offsets) > 0).tolist() == [False, True, False]


@pytest.mark.parametrize("draw", [branches, two_columns])
def test_nothing_but_unsupported_queries_is_answered_with_nothing(draw):
    X, y = draw()
    model = ModalRegressor((0.1, 0.3), kernel="epanechnikov").fit(X, y)
    far = np.array([[5.0], [6.0]])
    modes, found = model.predict_modes(far), model.predict_set(far)
    assert modes.values.shape == found.lower.shape == found.upper.shape == (0, *y.shape[1:])
    np.testing.assert_array_equal(modes.offsets, [0, 0, 0])
    np.testing.assert_array_equal(found.offsets, [0, 0, 0])
    assert np.isnan(model.predict(far)).all()
    assert not found.contains(y[:2]).any()


# Corners


@EVERY_BANDWIDTH
@EVERY_KERNEL
def test_one_sample_is_its_own_mode(bandwidth, kernel):
    model = ModalRegressor(bandwidth, kernel=kernel).fit([[3.0, 1.0]], [7.0])
    modes = model.predict_modes([[3.0, 1.0]])
    np.testing.assert_array_equal(modes.values, [7.0])
    np.testing.assert_array_equal(modes.heights, modes.densities)
    assert 0 < modes.densities[0] < np.inf
    if isinstance(bandwidth, str):
        assert model.bandwidth_ == (1.0, 1.0)


@EVERY_BANDWIDTH
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_constant_responses_are_the_mode_everywhere(bandwidth, kernel):
    X, y = branches()
    model = ModalRegressor(bandwidth, kernel=kernel).fit(X, np.full(len(y), 4.0))
    modes = model.predict_modes(X)
    np.testing.assert_array_equal(modes.values, np.full(len(X), 4.0))
    found = model.predict_set(X)
    np.testing.assert_array_equal(found.lower, modes.values)
    np.testing.assert_array_equal(found.upper, modes.values)


@EVERY_BANDWIDTH
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_constant_features_have_the_modes_of_the_responses(bandwidth, kernel):
    _, y = branches(400)
    model = ModalRegressor(bandwidth, kernel=kernel).fit(np.full((400, 1), 2.0), y)
    modes = model.predict_modes([[2.0]])
    assert abs(modes.values[0] - 1.0) < 0.8
    assert np.isfinite(modes.densities).all()


@EVERY_BANDWIDTH
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_equal_rows_are_one_mode(bandwidth, kernel):
    model = ModalRegressor(bandwidth, kernel=kernel).fit(np.full((40, 2), 3.0), np.full(40, -1.0))
    np.testing.assert_array_equal(model.predict_modes([[3.0, 3.0]]).values, [-1.0])
    assert all(0 < h < np.inf for h in model.bandwidth_)


def test_negative_zero_is_zero():
    X, y = [[0.0], [-0.0], [1.0]], [0.0, -0.0, 3.0]
    model = ModalRegressor(1.0, 0.5, kernel="uniform").fit(X, y)
    np.testing.assert_array_equal(model.predict_modes([[-0.0]])[0], [0.0, 3.0])


def test_many_features_are_taken():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    y = X[:, 0] + 9 * rng.integers(0, 2, size=60)
    for kernel in ("gaussian", "epanechnikov"):
        model = ModalRegressor((3.0, 1.0), 2.0, kernel=kernel).fit(X, y)
        assert np.isfinite(model.predict(X)).all()


# Errors


NUMBERS = (0, 0.0, -1.0, np.nan, np.inf, None, True, {"h": 1.0}, "silverman")
PAIRS = ((), (1.0,), (1.0, 2.0, 3.0), (0.0, 1.0), (1.0, -1.0), (np.nan, 1.0), ("auto", 1.0))


@pytest.mark.parametrize("bandwidth", [*NUMBERS, *PAIRS], ids=str)
def test_bandwidth_is_a_positive_number_a_pair_or_a_rule(bandwidth):
    with pytest.raises(ValueError, match=r"bandwidth is .*expected a positive number"):
        ModalRegressor(bandwidth).fit(*branches(20))


def test_unknown_rule_is_told_the_known_ones():
    with pytest.raises(ValueError, match=r"'scott'.*'auto', 'cv', 'prediction_set'"):
        ModalRegressor("scott").fit(*branches(20))


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
def test_responses_are_one_finite_number_a_row(y, words):
    X, _ = branches(20)
    with pytest.raises(ValueError, match=words):
        ModalRegressor().fit(X, y)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.full((20, 1), np.nan), "X has NaN or infinity in 20 of 20 rows"),
        (np.zeros(20), "2D array"),
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
    ask = getattr(ModalRegressor().fit(*branches(20)), method)
    with pytest.raises(
        ValueError, match="X has NaN or infinity in 1 of 2 rows, the first at row 1"
    ):
        ask([[0.5], [np.nan]])
    with pytest.raises(ValueError, match=r"X has 2 features.* expecting 1 feature"):
        ask([[0.5, 0.5]])
    with pytest.raises(ValueError, match="2D array"):
        ask([0.5])
    with pytest.raises(ValueError, match="0 sample"):
        ask(np.empty((0, 1)))


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
