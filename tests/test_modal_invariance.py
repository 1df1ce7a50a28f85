"""Changes of the input that must not change the answer of `ModalRegressor`.

These are the order of the rows, the number of threads, the data type, units, offsets, whole
periods, and the tolerance.
"""

import numpy as np
import pytest

from modal_cases import (
    EVERY_BANDWIDTH,
    EVERY_KERNEL,
    EVERY_RULE,
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

# Order of rows and number of threads


@EVERY_BANDWIDTH
@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "epanechnikov", "uniform"])
def test_order_of_rows_does_not_matter(bandwidth, kernel):
    X, y = branches(80)
    X, y = np.round(X, 1), np.round(y, 1)  # makes duplicate rows and ties
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


# Data types


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


# Units, offsets and the tolerance


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


# Whole periods


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
