"""ModalRegressor as users meet it: modes, bandwidths, prediction sets, and what leaves them be."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import quickshift as qs
from quickshift import ModalRegressor, kernels, reference, trace_branches
from quickshift.bandwidth import gaussian_equivalent, joint_rule, period_limit
from quickshift.datasets import three_branches_merging, two_branches
from quickshift.kernels import get_kernel

KERNELS = tuple(kernels.KERNELS)
INFINITE = tuple(name for name in KERNELS if kernels.KERNELS[name].infinite)
COMPACT = tuple(name for name in KERNELS if not kernels.KERNELS[name].infinite)
RULES = ("auto", "cv", "prediction_set")
BANDWIDTHS = (0.25, (0.1, 0.3), *RULES)
FIELDS = ("offsets", "values", "densities", "heights", "support")
QUERIES = np.linspace(0.0, 1.0, 11)[:, None]
DEFAULTS = {
    "bandwidth": "auto",
    "tau": "auto",
    "kernel": "gaussian",
    "min_density_ratio": 0.01,
    "period": None,
    "rtol": 1e-9,
    "n_jobs": None,
}

EVERY_KERNEL = pytest.mark.parametrize("kernel", KERNELS)
EVERY_RULE = pytest.mark.parametrize("rule", RULES)
EVERY_BANDWIDTH = pytest.mark.parametrize("bandwidth", BANDWIDTHS, ids=str)


def branches(n=120, seed=0):
    return two_branches().sample(n, seed)


def two_columns(n=120, seed=0):
    """Draw responses in the plane, around two places that move with x."""
    X, y = branches(n, seed)
    noise = np.random.default_rng(seed).normal(size=n)
    return X, np.column_stack([y, np.cos(y) + 0.2 * noise])


def repeated(seed=0, n=80):
    """Draw frequencies, some of them zero."""
    return np.random.default_rng(seed).integers(0, 4, size=n)


def assert_same_modes(a, b, fields=FIELDS):
    for name in fields:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def assert_close_modes(a, b, rtol=1e-8):
    assert_same_modes(a, b, ("offsets", "values"))
    np.testing.assert_allclose(a.densities, b.densities, rtol=rtol)
    np.testing.assert_allclose(a.heights, b.heights, rtol=rtol, atol=rtol * a.densities.max())
    np.testing.assert_allclose(a.support, b.support, rtol=rtol, atol=rtol)


def assert_same_model(a, b, queries=QUERIES):
    assert a.bandwidth_ == b.bandwidth_
    assert a.tau_ == b.tau_
    assert_same_modes(a.predict_modes(queries), b.predict_modes(queries))


def assert_same_set(a, b):
    for name in ("offsets", "lower", "upper"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


# Parameters and what fit leaves behind


def test_defaults_are_the_documented_ones():
    assert ModalRegressor().get_params() == DEFAULTS


def test_only_bandwidth_and_tau_are_positional():
    assert ModalRegressor(0.5, 1.5).get_params() == DEFAULTS | {"bandwidth": 0.5, "tau": 1.5}
    with pytest.raises(TypeError, match="positional"):
        ModalRegressor(0.5, 1.5, "gaussian")


def test_it_is_a_regressor():
    assert is_regressor(ModalRegressor())
    assert qs.ModalRegressor is qs.estimators.ModalRegressor is ModalRegressor


def test_fit_returns_the_estimator():
    model = ModalRegressor()
    assert model.fit(*branches()) is model


@EVERY_BANDWIDTH
def test_attributes_have_their_types(bandwidth):
    model = ModalRegressor(bandwidth).fit(*branches())
    assert type(model.bandwidth_) is tuple
    assert [type(h) for h in model.bandwidth_] == [float, float]
    assert type(model.tau_) is float
    assert type(model.n_outputs_) is int
    assert model.n_outputs_ == model.n_features_in_ == 1


def test_number_of_outputs_is_that_of_columns():
    X, Y = two_columns()
    assert ModalRegressor().fit(X, Y).n_outputs_ == 2
    assert ModalRegressor().fit(X, Y[:, :1]).n_outputs_ == 1
    assert ModalRegressor().fit(np.hstack([X, X]), Y[:, 0]).n_features_in_ == 2


def test_nothing_is_answered_before_fit():
    X, y = branches()
    model = ModalRegressor()
    for ask in (model.predict, model.predict_modes, model.predict_set):
        with pytest.raises(NotFittedError):
            ask(X)
    for ask in (model.calibrate, model.score):
        with pytest.raises(NotFittedError):
            ask(X, y)


# Modes


def test_modes_of_a_small_case_drawn_by_hand():
    X, y = [[0.0], [0.0], [0.0], [9.0]], [1.0, 1.5, 6.0, 3.0]
    model = ModalRegressor(1.0, 2.0, kernel="triangular").fit(X, y)
    modes = model.predict_modes([[0.0], [5.0], [9.0]])
    np.testing.assert_array_equal(modes.offsets, [0, 2, 2, 3])
    np.testing.assert_array_equal(modes.values, [1.5, 6.0, 3.0])
    # The cone of volume π/3 at (0, 1.5): 1 + 1/2 of four samples.
    np.testing.assert_allclose(modes.densities, np.array([1.5, 1.0, 1.0]) * 3 / np.pi / 4)
    np.testing.assert_allclose(modes.heights, modes.densities)  # the valley between is empty
    np.testing.assert_allclose(modes.support, [np.log(0.75), -np.inf, np.log(0.25)])
    np.testing.assert_array_equal(model.predict([[0.0], [5.0], [9.0]]), [1.5, np.nan, 3.0])


def test_modes_are_those_of_the_branches():
    model = ModalRegressor().fit(*branches(2000))
    truth = two_branches()
    for x, found in zip(QUERIES[1:-1, 0], model.predict_modes(QUERIES[1:-1]), strict=True):
        np.testing.assert_allclose(np.sort(found), truth.conditional_modes(x), atol=0.2)


def test_modes_that_merge_become_one():
    model = ModalRegressor().fit(*three_branches_merging().sample(2000, seed=0))
    assert model.predict_modes([[0.1], [0.95]]).counts.tolist() == [3, 1]


@EVERY_KERNEL
def test_every_kernel_finds_both_branches(kernel):
    model = ModalRegressor((0.2, 0.2), 0.5, kernel=kernel).fit(*branches(500))
    for found in model.predict_modes(QUERIES[2:-2]):
        np.testing.assert_array_equal(np.sort(np.sign(found)), [-1.0, 1.0])


@pytest.mark.parametrize(("alias", "kernel"), [("tophat", "uniform"), ("linear", "triangular")])
def test_kernels_have_the_names_of_scikit_learn_too(alias, kernel):
    X, y = branches()
    assert_same_model(
        ModalRegressor(kernel=alias).fit(X, y), ModalRegressor(kernel=kernel).fit(X, y)
    )


@EVERY_KERNEL
@pytest.mark.parametrize("draw", [branches, two_columns])
def test_prediction_is_the_first_and_highest_mode(kernel, draw):
    X, y = draw()
    model = ModalRegressor(kernel=kernel, min_density_ratio=0.0).fit(X, y)
    modes = model.predict_modes(QUERIES)
    predicted = model.predict(QUERIES)
    assert predicted.shape == (11, *y.shape[1:])
    np.testing.assert_array_equal(predicted, [here[0] for here in modes])
    assert modes.counts.max() > 1
    for start, stop in pairwise(modes.offsets):
        densities = modes.densities[start:stop]
        assert (densities[1:] <= densities[:-1] * (1 + 1e-8)).all()


@pytest.mark.parametrize("draw", [branches, two_columns])
def test_modes_are_responses_of_samples(draw):
    X, y = draw()
    values = ModalRegressor().fit(X, y).predict_modes(QUERIES).values
    rows = {tuple(row) for row in y.reshape(len(y), -1)}
    assert {tuple(row) for row in values.reshape(len(values), -1)} <= rows


@pytest.mark.parametrize("draw", [branches, two_columns])
def test_heights_are_at_most_the_densities(draw):
    modes = ModalRegressor((0.1, 0.2)).fit(*draw()).predict_modes(QUERIES)
    assert (modes.heights >= 0).all()
    assert (modes.heights <= modes.densities).all()
    alone = np.isin(modes.queries, np.flatnonzero(modes.counts == 1))
    np.testing.assert_array_equal(modes.heights[alone], modes.densities[alone])


@EVERY_KERNEL
def test_support_is_the_density_of_the_features(kernel):
    X, y = branches()
    model = ModalRegressor((0.1, 0.3), kernel=kernel).fit(X, y)
    expected = reference.log_kernel_density(X, 0.1, queries=QUERIES, kernel=kernel)
    support = model.predict_modes(QUERIES).support
    np.testing.assert_allclose(support, expected, rtol=1e-8, atol=1e-8)


def test_table_of_modes_has_a_row_a_mode():
    model = ModalRegressor(0.2, kernel="epanechnikov").fit(*branches())
    modes = model.predict_modes([[0.5], [77.0], [0.6]])
    table = modes.to_pandas()
    columns = ["query", "mode", "value", "density", "height", "support"]
    assert table.columns.tolist() == columns
    assert len(table) == len(modes.values)
    assert set(table["query"]) == {0, 2}
    np.testing.assert_array_equal(table["value"], modes.values)
    np.testing.assert_array_equal(table.loc[table["mode"] == 0, "value"], modes.highest()[[0, 2]])
    np.testing.assert_array_equal(table["support"], modes.support[modes.queries])


def test_table_of_several_outputs_has_a_column_for_each():
    modes = ModalRegressor().fit(*two_columns()).predict_modes(QUERIES)
    table = modes.to_pandas()
    columns = ["query", "mode", "value_0", "value_1", "density", "height", "support"]
    assert table.columns.tolist() == columns
    np.testing.assert_array_equal(table[["value_0", "value_1"]], modes.values)


@pytest.mark.parametrize("draw", [branches, two_columns])
def test_table_without_modes_is_empty(draw):
    model = ModalRegressor(0.1, kernel="uniform").fit(*draw())
    assert len(model.predict_modes([[9.0]]).to_pandas()) == 0


# The share of the highest mode


def test_modes_below_the_ratio_are_dropped():
    X, y = np.zeros((10, 1)), [0.0] * 6 + [50.0] * 3 + [100.0]
    expected = {0.0: [0, 50, 100], 0.01: [0, 50, 100], 0.2: [0, 50], 0.5: [0, 50], 0.6: [0], 1: [0]}
    for ratio, values in expected.items():
        model = ModalRegressor(1.0, 2.0, kernel="uniform", min_density_ratio=ratio).fit(X, y)
        np.testing.assert_array_equal(model.predict_modes([[0.0]])[0], values)


def test_ratio_of_one_keeps_modes_that_are_equally_high():
    X, y = np.zeros((5, 1)), [0.0, 0.0, 50.0, 50.0, 100.0]
    for kernel in KERNELS:
        model = ModalRegressor(1.0, 2.0, kernel=kernel, min_density_ratio=1.0).fit(X, y)
        np.testing.assert_array_equal(model.predict_modes([[0.0]])[0], [50.0, 0.0])


@pytest.mark.parametrize("draw", [branches, two_columns])
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_higher_ratio_keeps_fewer_of_the_same_modes(draw, kernel):
    X, y = draw(40)
    counts = []
    every = None
    for ratio in (0.0, 1e-3, 0.01, 0.1, 0.5, 1.0):
        model = ModalRegressor((0.1, 0.1), 0.1, kernel=kernel, min_density_ratio=ratio, rtol=0)
        modes = model.fit(X, y).predict_modes(QUERIES)
        every = modes if every is None else every
        counts.append(modes.counts)
        for few, all_of_them in zip(modes, every, strict=True):
            np.testing.assert_array_equal(few, all_of_them[: len(few)])
    assert (np.diff(counts, axis=0) <= 0).all()
    assert counts[0].sum() > counts[-1].sum() == len(QUERIES)


@pytest.mark.parametrize(("most", "share"), [(5, 2), (10, 3), (10, 1), (3, 1), (2, 1)])
@pytest.mark.parametrize("columns", [1, 2])
def test_modes_at_exactly_the_ratio_are_kept(most, share, columns):
    X, y = np.zeros((2, 1)), np.array([[0.0] * columns, [9.0] * columns])
    for kernel in set(COMPACT) - {"silverman"}:  # whose profile is 1 at 0 and 0 at 9
        model = ModalRegressor(1.0, 2.0, kernel=kernel, min_density_ratio=share / most)
        model.fit(X, y, sample_weight=[most, share])
        assert len(model.predict_modes([[0.0]])[0]) == 2, kernel


def test_gaussian_tail_reaches_every_response_without_a_ratio():
    X, y = np.zeros((4, 1)), [0.0, 0.1, 0.2, 30.0]
    model = ModalRegressor(1.0, 2.0, min_density_ratio=0.0, rtol=0).fit([*X, [30.0]], [*y, 60.0])
    np.testing.assert_array_equal(model.predict_modes([[0.0]])[0], [0.1, 30.0, 60.0])
    model.set_params(min_density_ratio=0.01).fit([*X, [30.0]], [*y, 60.0])
    np.testing.assert_array_equal(model.predict_modes([[0.0]])[0], [0.1, 30.0])


# Bandwidths and tau


@EVERY_KERNEL
def test_one_bandwidth_is_a_pair_of_equal_ones(kernel):
    X, y = branches()
    one = ModalRegressor(0.2, 0.3, kernel=kernel).fit(X, y)
    two = ModalRegressor((0.2, 0.2), 0.3, kernel=kernel).fit(X, y)
    assert one.bandwidth_ == two.bandwidth_ == (0.2, 0.2)
    assert_close_modes(one.predict_modes(QUERIES), two.predict_modes(QUERIES))


@EVERY_KERNEL
def test_pair_is_one_bandwidth_of_data_divided_by_it(kernel):
    X, y = branches()
    pair = ModalRegressor((0.125, 0.5), 1.0, kernel=kernel).fit(X, y)
    divided = ModalRegressor(1.0, 2.0, kernel=kernel).fit(X * 8, y * 2)
    modes, expected = pair.predict_modes(QUERIES), divided.predict_modes(QUERIES * 8)
    np.testing.assert_array_equal(modes.values, expected.values / 2)
    np.testing.assert_allclose(modes.densities, expected.densities * 16, rtol=1e-12)
    np.testing.assert_allclose(modes.support, expected.support + np.log(8), rtol=1e-12)


@pytest.mark.parametrize(
    "bandwidth", [[0.1, 0.25], np.array([0.1, 0.25]), (np.float64(0.1), 0.25)], ids=str
)
def test_pair_may_be_any_sequence(bandwidth):
    assert ModalRegressor(bandwidth).fit(*branches()).bandwidth_ == (0.1, 0.25)


@pytest.mark.parametrize("bandwidth", [2, np.float32(2.0), np.int64(2)], ids=repr)
def test_bandwidth_may_be_any_number(bandwidth):
    assert ModalRegressor(bandwidth).fit(*branches()).bandwidth_ == (2.0, 2.0)


def robust_spread(columns):
    quartiles = np.subtract(*np.quantile(columns, [0.75, 0.25], axis=0)) / 1.349
    return float(np.minimum(columns.std(axis=0), quartiles).mean())


@EVERY_KERNEL
def test_automatic_bandwidths_are_the_rate_times_the_spread_of_features_and_of_responses(kernel):
    X, Y = two_columns()
    X = np.hstack([X, 3 * X**2, -X])
    for y in (Y[:, 0], Y):
        columns = y.reshape(len(y), -1)
        facts = {
            "total_weight": len(X),
            "n_dimensions": 3 + columns.shape[1],
            "kernel": get_kernel(kernel),
        }
        expected = [joint_rule(spread=robust_spread(part), **facts) for part in (X, columns)]
        assert ModalRegressor(kernel=kernel).fit(X, y).bandwidth_ == pytest.approx(expected)


def test_joint_rule_falls_at_the_rate_of_all_dimensions():
    gaussian = get_kernel("gaussian")
    for d in (2, 3, 6):
        few = joint_rule(spread=1.0, total_weight=10.0, n_dimensions=d, kernel=gaussian)
        many = joint_rule(spread=1.0, total_weight=10240.0, n_dimensions=d, kernel=gaussian)
        assert few / many == pytest.approx(2.0 ** (10 / (d + 4)))


@EVERY_KERNEL
def test_joint_rule_gives_every_kernel_the_same_variance(kernel):
    facts = {"spread": 3.0, "total_weight": 500.0, "n_dimensions": 3}
    h = joint_rule(kernel=get_kernel(kernel), **facts)
    expected = joint_rule(kernel=get_kernel("gaussian"), **facts)
    assert gaussian_equivalent(h, get_kernel(kernel), 3) == pytest.approx(expected)


@EVERY_RULE
@EVERY_KERNEL
def test_rules_choose_a_pair_that_can_be_given_back(rule, kernel):
    X, y = branches()
    model = ModalRegressor(rule, kernel=kernel).fit(X, y)
    assert_same_model(model, ModalRegressor(model.bandwidth_, kernel=kernel).fit(X, y))


@EVERY_RULE
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_rules_scale_the_automatic_pair_by_one_factor(rule, kernel):
    X, y = branches()
    pair = np.array(ModalRegressor(rule, kernel=kernel).fit(X, y).bandwidth_)
    factors = pair / ModalRegressor(kernel=kernel).fit(X, y).bandwidth_
    assert factors[0] == pytest.approx(factors[1])
    assert 1 / 40 < factors[0] < 10


def test_cross_validated_pair_is_more_likely_than_its_neighbours():
    X, y = branches(60)

    def likelihood(h_x, h_y):
        squares = -0.5 * (((X - X.T) / h_x) ** 2 + (np.subtract.outer(y, y) / h_y) ** 2)
        np.fill_diagonal(squares, -np.inf)
        return logsumexp(squares, axis=1).mean() - np.log(h_x * h_y)

    h_x, h_y = ModalRegressor("cv").fit(X, y).bandwidth_
    best = likelihood(h_x, h_y)
    assert best > likelihood(h_x * 1.05, h_y * 1.05)
    assert best > likelihood(h_x / 1.05, h_y / 1.05)


@pytest.mark.parametrize("tau", ["auto", 0.3])
def test_pair_of_the_shortest_prediction_sets_is_the_best_of_its_multiples(tau):
    X, y = branches(160)
    order = np.argsort(X[:, 0])
    out, kept = order[3::4], np.delete(order, np.s_[3::4])

    def mean_length(factor):
        pair = tuple(factor * h for h in ModalRegressor().fit(X, y).bandwidth_)
        model = ModalRegressor(pair, tau).fit(X[kept], y[kept]).calibrate(X[out], y[out])
        return model.predict_set(X[out]).lengths.mean()

    chosen = ModalRegressor("prediction_set", tau).fit(X, y).bandwidth_
    factor = chosen[0] / ModalRegressor().fit(X, y).bandwidth_[0]
    best = mean_length(factor)
    assert all(best <= mean_length(other) * (1 + 1e-9) for other in 2.0 ** np.linspace(-2, 2, 17))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 8, 20, 32])
def test_too_few_samples_to_compare_prediction_sets_leave_the_automatic_pair(n):
    X, y = branches(n)
    expected = ModalRegressor("auto").fit(X, y).bandwidth_
    assert ModalRegressor("prediction_set").fit(X, y).bandwidth_ == expected


def test_prediction_sets_are_compared_for_one_output_only():
    with pytest.raises(ValueError, match=r"bandwidth is 'prediction_set'.* y has 2 columns"):
        ModalRegressor("prediction_set").fit(*two_columns())


def test_explicit_tau_is_used_as_given():
    X, y = branches()
    for tau in (0.0, 0.5, 2, np.float32(0.25), np.inf):
        assert ModalRegressor(tau=tau).fit(X, y).tau_ == tau


def test_tau_of_zero_makes_a_mode_of_every_response():
    model = ModalRegressor(0.5, 0.0, min_density_ratio=0.0, rtol=0).fit(*branches(20))
    assert model.predict_modes([[0.5]]).counts == [20]


@pytest.mark.parametrize("draw", [branches, two_columns])
def test_infinite_tau_leaves_one_mode(draw):
    model = ModalRegressor(tau=np.inf, min_density_ratio=0.0).fit(*draw())
    assert (model.predict_modes(QUERIES).counts == 1).all()


def test_automatic_tau_reaches_a_neighbour_and_three_quarters_of_a_bandwidth():
    X, y = np.zeros((10, 1)), np.arange(10.0)
    assert ModalRegressor((9.0, 4.0)).fit(X, y).tau_ == 3.0
    assert ModalRegressor(4.0).fit(X, y).tau_ == 3.0
    assert ModalRegressor((9.0, 0.1)).fit(X, y).tau_ == 1.0
    assert ModalRegressor((9.0, 0.1)).fit(np.zeros((30, 1)), np.repeat(y, 3)).tau_ == 1.0


@EVERY_KERNEL
def test_automatic_tau_is_in_gaussian_bandwidths_of_the_joint_kernel(kernel):
    X, Y = two_columns()
    for y in (Y[:, 0], Y):
        model = ModalRegressor((0.1, 40.0), kernel=kernel).fit(X, y)
        dimensions = 1 + model.n_outputs_
        expected = 0.75 * gaussian_equivalent(40.0, get_kernel(kernel), dimensions)
        assert model.tau_ == pytest.approx(expected)


@pytest.mark.parametrize("columns", [1, 2])
def test_automatic_tau_leaves_out_what_only_a_gap_makes_a_mode(columns):
    y = np.append(np.linspace(-0.1, 0.1, 200), 2.0)  # 2.0 is on the slope of the others
    y = np.column_stack([y] * columns) / np.sqrt(columns)
    X = np.zeros((201, 1))
    model = ModalRegressor(1.0).fit(X, y)
    assert model.tau_ == 0.75
    assert model.predict_modes([[0.0]]).counts == [1]
    assert ModalRegressor(1.0, 0.75).fit(X, y).predict_modes([[0.0]]).counts == [2]


@EVERY_KERNEL
@pytest.mark.parametrize("draw", [branches, two_columns])
def test_automatic_modes_are_those_of_the_same_tau_that_rise_above_the_way_to_others(kernel, draw):
    X, y = draw(60)
    model = ModalRegressor((0.2, 0.2), kernel=kernel, min_density_ratio=0.0).fit(X, y)
    literal = ModalRegressor((0.2, 0.2), model.tau_, kernel=kernel, min_density_ratio=0.0).fit(X, y)
    modes, every = model.predict_modes(QUERIES), literal.predict_modes(QUERIES)
    assert (modes.heights > 0).all()
    assert (modes.counts <= every.counts).all()
    for here, all_of_them in zip(modes, every, strict=True):
        assert {*map(tuple, np.atleast_2d(here.T).T)} <= {
            *map(tuple, np.atleast_2d(all_of_them.T).T)
        }
    np.testing.assert_array_equal(modes.highest(), every.highest())


# Weights


@EVERY_BANDWIDTH
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_integer_weights_are_repetition(bandwidth, kernel):
    X, y = branches(80)
    weights = repeated()
    weighted = ModalRegressor(bandwidth, kernel=kernel).fit(X, y, sample_weight=weights)
    again = ModalRegressor(bandwidth, kernel=kernel).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert_same_model(weighted, again)
    X_new, y_new = branches(80, seed=1)
    weighted.calibrate(X_new, y_new, sample_weight=weights)
    again.calibrate(np.repeat(X_new, weights, axis=0), np.repeat(y_new, weights))
    for coverage in (0.5, 0.8, 0.9):
        assert_same_set(
            weighted.predict_set(QUERIES, coverage), again.predict_set(QUERIES, coverage)
        )


@EVERY_BANDWIDTH
def test_weight_zero_is_removal(bandwidth):
    X, y = branches(80)
    weights = repeated() * np.random.default_rng(3).exponential(size=80)
    present = weights > 0
    assert not present.all()
    weighted = ModalRegressor(bandwidth).fit(X, y, sample_weight=weights)
    removed = ModalRegressor(bandwidth).fit(X[present], y[present], sample_weight=weights[present])
    assert_same_model(weighted, removed)
    weighted.calibrate(X, y, weights)
    removed.calibrate(X[present], y[present], weights[present])
    assert_same_set(weighted.predict_set(QUERIES, 0.6), removed.predict_set(QUERIES, 0.6))


@pytest.mark.parametrize("bandwidth", [0.25, (0.1, 0.3), "auto", "cv"], ids=str)
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_weights_of_several_outputs_are_frequencies_too(bandwidth, kernel):
    X, Y = two_columns(80)
    weights = repeated()
    weighted = ModalRegressor(bandwidth, kernel=kernel).fit(X, Y, sample_weight=weights)
    again = ModalRegressor(bandwidth, kernel=kernel).fit(
        np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0)
    )
    assert_same_model(weighted, again)


def test_weights_decide_which_mode_is_the_highest():
    X, y = np.zeros((2, 1)), [0.0, 9.0]
    for weights, expected in (([3, 1], 0.0), ([1, 3], 9.0)):
        model = ModalRegressor(1.0, 2.0).fit(X, y, sample_weight=weights)
        assert model.predict([[0.0]]) == [expected]


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


# The company of scikit-learn


def test_set_params_after_fit_changes_nothing_until_the_next_fit():
    X, y = branches()
    model, changed = (ModalRegressor((0.1, 0.3)).fit(X, y) for _ in range(2))
    changed.set_params(bandwidth=2.0, tau=0.0, kernel="uniform", min_density_ratio=1.0, rtol=0.5)
    assert_same_model(model, changed)
    assert model.score(X, y) == changed.score(X, y)
    assert_same_set(model.predict_set(QUERIES), changed.predict_set(QUERIES))


def test_failed_refit_with_other_parameters_changes_no_answer():
    X, y = branches()
    model, changed = (ModalRegressor((0.1, 0.3), 0.2).fit(X, y) for _ in range(2))
    with pytest.raises(ValueError, match="min_density_ratio"):
        changed.set_params(min_density_ratio=7.0, bandwidth=1.0).fit(X, y)
    assert_same_model(model, changed)
    assert_same_set(model.predict_set(QUERIES), changed.predict_set(QUERIES))


@pytest.mark.parametrize("draw", [branches, two_columns])
def test_arrays_of_the_caller_may_change_after_fit(draw):
    X, y = draw()
    weights = np.ones(len(X))
    model, expected = ModalRegressor().fit(X, y, weights), ModalRegressor().fit(*draw())
    X[:], y[:], weights[:] = 0.0, 0.0, 0.0
    assert_same_model(model, expected)
    assert_same_set(model.predict_set(QUERIES), expected.predict_set(QUERIES))


@pytest.mark.parametrize("draw", [branches, two_columns])
def test_arrays_of_the_caller_are_not_written(draw):
    X, y = draw()
    weights, queries = np.arange(1.0, len(X) + 1), QUERIES.copy()
    for array in (X, y, weights, queries):
        array.flags.writeable = False
    model = ModalRegressor("cv", period=[1.5]).fit(X, y, weights).calibrate(X, y, weights)
    model.predict_modes(queries)
    model.predict_set(queries)
    model.score(X, y, weights)


def test_answers_may_be_written_without_changing_the_model():
    model = ModalRegressor().fit(*branches())
    expected = copy.deepcopy(model)
    modes, found = model.predict_modes(QUERIES), model.predict_set(QUERIES)
    for array in (modes.values, modes.densities, modes.support, found.lower, found.upper):
        array[:] = -7.0
    assert_same_model(model, expected)
    assert_same_set(model.predict_set(QUERIES), expected.predict_set(QUERIES))


@pytest.mark.parametrize("draw", [branches, two_columns])
@pytest.mark.parametrize("calibrated", [False, True])
def test_pickled_model_answers_alike(draw, calibrated):
    X, y = draw()
    model = ModalRegressor(kernel="epanechnikov", period=[1.5]).fit(X, y)
    if calibrated:
        model.calibrate(X, y)
    for _ in range(2):  # before and after the first set
        for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            assert again.get_params() == model.get_params()
            assert_same_model(again, model)
            assert_same_set(again.predict_set(QUERIES), model.predict_set(QUERIES))


def test_clone_copies_parameters_but_not_the_fit():
    X, y = branches()
    model = ModalRegressor((0.1, 0.2), 0.3, min_density_ratio=0.1, period=[2.0]).fit(X, y)
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert not hasattr(again, "bandwidth_")
    assert_same_model(again.fit(X, y), model)


def test_refit_replaces_everything():
    X, Y = two_columns()
    model = ModalRegressor().fit(X, Y, np.arange(120.0)).calibrate(X, Y)
    model.predict_set(X)
    X, y = branches(50, seed=4)
    model.fit(X, y)
    fresh = ModalRegressor().fit(X, y)
    assert sorted(vars(model)) == sorted(vars(fresh))
    assert_same_model(model, fresh)
    assert_same_set(model.predict_set(QUERIES), fresh.predict_set(QUERIES))


def test_pipeline_regresses_on_the_scaled_features():
    X, y = branches()
    stretched = np.hstack([X, 1e6 * X**2])
    pipeline = make_pipeline(StandardScaler(), ModalRegressor((0.3, 0.3)))
    scaled = StandardScaler().fit_transform(stretched)
    model = ModalRegressor((0.3, 0.3)).fit(scaled, y)
    np.testing.assert_array_equal(
        pipeline.fit(stretched, y).predict(stretched), model.predict(scaled)
    )
    assert pipeline.score(stretched, y) == model.score(scaled, y)
    weights = np.arange(120.0)
    pipeline.fit(stretched, y, modalregressor__sample_weight=weights)
    np.testing.assert_array_equal(
        pipeline.predict(stretched), model.fit(scaled, y, weights).predict(scaled)
    )


def test_parameters_can_be_searched_over():
    X, y = branches()
    grid = {"bandwidth": [0.5, (0.1, 0.3), "auto"]}
    search = GridSearchCV(ModalRegressor(), grid, cv=2).fit(X, y)
    assert search.best_params_["bandwidth"] in grid["bandwidth"]
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("columns", [1, 2])
def test_data_frames_are_read_as_their_values(columns):
    X, Y = two_columns(60)
    X = np.hstack([X, X**2])
    table = pd.DataFrame(X, columns=["a", "b"], index=X[:, 0])
    y = Y[:, 0] if columns == 1 else Y
    series = pd.Series(y, index=y) if columns == 1 else pd.DataFrame(y, columns=["u", "v"])
    weights = pd.Series(np.arange(60.0), index=X[:, 0])
    model = ModalRegressor().fit(table, series, sample_weight=weights)
    expected = ModalRegressor().fit(X, y, sample_weight=weights.to_numpy())
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.bandwidth_ == expected.bandwidth_
    assert_same_modes(model.predict_modes(table), expected.predict_modes(X))
    assert model.score(table, series) == expected.score(X, y)
    assert_same_set(model.predict_set(table), expected.predict_set(X))
    model.calibrate(table, series)
    assert_same_set(model.predict_set(table), expected.calibrate(X, y).predict_set(X))


def test_column_names_are_compared():
    X, y = branches()
    table = pd.DataFrame(np.hstack([X, X**2]), columns=["a", "b"])
    model = ModalRegressor().fit(table, y)
    for ask in (model.predict, model.predict_set):
        with pytest.raises(ValueError, match="feature names should match"):
            ask(table.rename(columns={"b": "c"}))


# The score


def test_score_is_the_share_of_variance_that_the_highest_modes_explain():
    X, y = branches()
    weights = np.arange(120.0)
    model = ModalRegressor().fit(X, y)
    assert model.score(X, y) == r2_score(y, model.predict(X))
    assert model.score(X, y, weights) == r2_score(y, model.predict(X), sample_weight=weights)
    X, Y = two_columns()
    model = ModalRegressor().fit(X, Y)
    assert model.score(X, Y) == r2_score(Y, model.predict(X))


@pytest.mark.parametrize("draw", [branches, two_columns])
def test_score_leaves_out_queries_without_a_mode_and_says_how_many(draw):
    X, y = draw(50)
    model = ModalRegressor(0.2, kernel="epanechnikov").fit(X, y)
    queries, truth = np.vstack([X, [[7.0], [8.0]]]), np.concatenate([y, y[:2] + 100.0])
    weights = np.arange(52.0)
    with pytest.warns(UserWarning, match=r"^2 of 52 queries have no mode"):
        assert model.score(queries, truth) == model.score(X, y)
    with pytest.warns(UserWarning, match=r"^2 of 52 queries have no mode"):
        assert model.score(queries, truth, weights) == model.score(X, y, weights[:50])


def test_score_without_any_mode_is_not_a_number():
    model = ModalRegressor(0.2, kernel="epanechnikov").fit(*branches())
    with pytest.warns(UserWarning, match=r"^2 of 2 queries have no mode"):
        assert np.isnan(model.score([[7.0], [8.0]], [0.0, 1.0]))


def test_score_is_not_a_number_where_only_queries_of_weight_zero_have_a_mode():
    model = ModalRegressor(0.2, kernel="epanechnikov").fit(*branches())
    with pytest.warns(UserWarning, match=r"^1 of 3 queries have no mode"):
        assert np.isnan(model.score([[0.2], [0.4], [8.0]], [0.0, 1.0, 2.0], [0.0, 0.0, 1.0]))


# Prediction sets


@EVERY_KERNEL
def test_sets_are_disjoint_rising_intervals_around_modes(kernel):
    X, y = branches(300)
    found = ModalRegressor(kernel=kernel).fit(X, y).predict_set(QUERIES)
    assert len(found) == len(QUERIES)
    for here in found:
        assert len(here) > 0
        assert (here[:, 0] < here[:, 1]).all()
        assert (here[1:, 0] > here[:-1, 1]).all()
    assert max(map(len, found)) == 2


def test_set_contains_what_is_between_its_ends():
    X, y = branches(300)
    found = ModalRegressor().fit(X, y).predict_set(X)
    inside = [
        ((here[:, 0] <= value) & (value <= here[:, 1])).any()
        for here, value in zip(found, y, strict=True)
    ]
    np.testing.assert_array_equal(found.contains(y), inside)


def test_calibrated_sets_are_what_is_within_a_radius_of_the_modes():
    model = ModalRegressor().fit(*branches(200))
    X, y = branches(99, seed=1)
    modes, found = model.predict_modes(X), model.calibrate(X, y).predict_set(X, 0.9)
    radius = found.upper[-1] - modes[-1].max()
    gaps = [np.abs(here - value).min() for here, value in zip(modes, y, strict=True)]
    assert np.sort(gaps)[89] == pytest.approx(radius)  # 0.9 of 100
    assert found.contains(y).sum() in {89, 90}  # the one at the end may be off by rounding
    for value in modes.values + 0.999 * radius, modes.values - 0.999 * radius:
        for query, y_near in zip(modes.queries, value, strict=True):
            assert ((found[query][:, 0] <= y_near) & (y_near <= found[query][:, 1])).any()


def test_calibration_returns_the_estimator_and_changes_the_sets():
    model = ModalRegressor().fit(*branches(200))
    before = model.predict_set(QUERIES)
    X, y = branches(200, seed=1)
    modes = model.predict_modes(QUERIES)
    assert model.calibrate(X, y) is model
    after = model.predict_set(QUERIES)
    assert not np.array_equal(before.lower, after.lower)
    assert_same_modes(model.predict_modes(QUERIES), modes)
    assert model.calibrate(X, y * 2).predict_set(QUERIES).lengths.sum() > after.lengths.sum()


@pytest.mark.parametrize("draw", [branches, two_columns])
def test_responses_that_are_modes_leave_nothing_but_the_modes(draw):
    model = ModalRegressor().fit(*draw())
    X = np.linspace(0, 1, 50)[:, None]
    found = model.calibrate(X, model.predict(X)).predict_set(QUERIES)
    modes = model.predict_modes(QUERIES)
    np.testing.assert_array_equal(found.offsets, modes.offsets)
    np.testing.assert_array_equal(found.lower, found.upper)
    np.testing.assert_array_equal(np.sort(found.lower, axis=0), np.sort(modes.values, axis=0))


def test_refit_forgets_the_calibration():
    X, y = branches(200)
    model = ModalRegressor().fit(X, y).calibrate(X, 9 * y).fit(X, y)
    assert_same_set(model.predict_set(QUERIES), ModalRegressor().fit(X, y).predict_set(QUERIES))


def test_sets_without_calibration_are_those_of_a_fit_without_every_fourth_row():
    X, y = branches(200)
    out = np.arange(200) % 4 == 3
    weights = np.random.default_rng(0).integers(1, 4, size=200)
    found = ModalRegressor().fit(X, y, weights).predict_set(QUERIES)
    kept = ModalRegressor().fit(X[~out], y[~out], weights[~out])
    expected = kept.calibrate(X[out], y[out], weights[out]).predict_set(QUERIES)
    assert_same_set(found, expected)


@pytest.mark.parametrize("calibrated", [False, True])
def test_nine_of_ten_new_responses_are_inside(calibrated):
    inside = []
    for seed in range(30):
        model = ModalRegressor().fit(*branches(400, seed))
        if calibrated:
            model.calibrate(*branches(100, 1000 + seed))
        X, y = branches(200, 2000 + seed)
        inside.append(model.predict_set(X).contains(y).mean())
    assert np.mean(inside) == pytest.approx(0.9, abs=0.04)


def test_rules_keep_the_coverage():
    for rule in ("cv", "prediction_set"):
        inside = []
        for seed in range(8):
            model = ModalRegressor(rule).fit(*branches(200, seed))
            X, y = branches(200, 2000 + seed)
            inside.append(model.predict_set(X).contains(y).mean())
        assert np.mean(inside) == pytest.approx(0.9, abs=0.06), rule


@pytest.mark.parametrize("calibrated", [False, True])
def test_more_coverage_takes_longer_sets_that_hold_the_shorter_ones(calibrated):
    X, y = branches(400)
    model = ModalRegressor().fit(X, y)
    if calibrated:
        model.calibrate(*branches(100, seed=1))
    sets = [model.predict_set(X, coverage) for coverage in (0.3, 0.5, 0.7, 0.9, 0.95)]
    for short, long in pairwise(sets):
        assert (short.lengths < long.lengths).all()
        assert (short.contains(y) <= long.contains(y)).all()


@pytest.mark.parametrize("n", [1, 3, 4, 20, 35])
@pytest.mark.parametrize("draw", [branches, two_columns])
def test_too_few_samples_leave_everything_possible(n, draw):
    X, y = draw(n)
    found = ModalRegressor().fit(X, y).predict_set(QUERIES)
    np.testing.assert_array_equal(found.offsets, np.arange(len(QUERIES) + 1))
    assert np.isneginf(found.lower).all()
    assert np.isposinf(found.upper).all()
    assert found.lower.shape == (len(QUERIES), *y.shape[1:])


def test_36_samples_are_enough_for_nine_of_ten():
    found = ModalRegressor().fit(*branches(36)).predict_set(QUERIES)
    assert np.isfinite(found.lengths).all()


def test_samples_held_out_may_all_weigh_nothing():
    X, y = branches(40)
    weights = (np.arange(40) % 4 != 3).astype(float)
    found = ModalRegressor().fit(X, y, weights).predict_set(QUERIES)
    assert np.isinf(found.lengths).all()
    found = ModalRegressor().fit(X, y, 1.0 - weights).predict_set(QUERIES)
    assert np.isinf(found.lengths).all()


def test_calibration_off_the_samples_leaves_everything_possible():
    model = ModalRegressor(0.1, kernel="epanechnikov").fit(*branches())
    found = model.calibrate(np.full((50, 1), 9.0), np.zeros(50)).predict_set([[0.5], [9.0]])
    np.testing.assert_array_equal(found.lengths, [np.inf, np.inf])


def test_sets_of_several_outputs_are_boxes_that_cover():
    inside = []
    for seed in range(6):
        found_on, truth = two_columns(100, 2000 + seed)
        found = ModalRegressor().fit(*two_columns(400, seed)).predict_set(found_on)
        assert found.lower.shape == found.upper.shape == (found.offsets[-1], 2)
        sides = found.upper - found.lower
        np.testing.assert_allclose(sides, np.full(sides.shape, sides[0, 0]))
        inside.append(found.contains(truth).mean())
    assert np.mean(inside) == pytest.approx(0.9, abs=0.06)


# Responses in space, held against every pair


def brute_force(X, Y, x, bandwidth, tau, *, kernel, ratio, weights=None, period=None):
    """Run Algorithm 3 at one query by the reference's density and its Algorithm 1."""
    h_x, h_y, h = (*bandwidth, 1.0) if np.ndim(bandwidth) else (1.0, 1.0, bandwidth)
    samples = np.hstack([X / h_x, Y / h_y])
    at = np.hstack([np.tile(np.divide(x, h_x), (len(Y), 1)), Y / h_y])
    if period is not None:
        period = np.append(np.divide(period, h_x), [np.inf] * Y.shape[1])
    density = reference.kernel_density(
        samples, h, queries=at, kernel=kernel, sample_weight=weights, period=period
    )
    density /= h_x ** X.shape[1] * h_y ** Y.shape[1]
    present = np.ones(len(Y), dtype=bool) if weights is None else np.asarray(weights) > 0
    vertices = np.flatnonzero(present & (density > 0))
    if not len(vertices):
        return Y[:0], density[:0]
    roots = vertices[reference.quick_shift(Y[vertices], tau=tau, density=density[vertices]).roots]
    roots = roots[density[roots] >= ratio * density[roots[0]]]
    return Y[roots], density[roots]


IN_SPACE = {
    "plain": {},
    "pair": {"bandwidth": (0.3, 0.45)},
    "short tau": {"tau": 0.2},
    "no tau": {"tau": np.inf},
    "literal": {"ratio": 0.0},
    "high ratio": {"ratio": 0.37},
    "weights": {"weights": repeated(1, 60)},
    "real weights": {"weights": np.random.default_rng(5).exponential(size=60)},
    "periodic": {"period": [1.5, np.inf]},
    "everything": {
        "bandwidth": (0.25, 0.6),
        "weights": repeated(2, 60),
        "period": [1.5, 2.0],
        "ratio": 0.05,
    },
}


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "uniform"])
@pytest.mark.parametrize("rounding", [None, 1, 0])
@pytest.mark.parametrize("settings", IN_SPACE.values(), ids=IN_SPACE)
def test_modes_in_space_are_those_of_every_pair(kernel, rounding, settings):
    X, Y = two_columns(60)
    X = np.hstack([X, np.sin(5 * X)])
    if rounding is not None:
        X, Y = np.round(X, rounding), np.round(Y, rounding)  # duplicates and ties
    given = {"bandwidth": 0.35, "tau": 0.5, "ratio": 0.01, "weights": None, "period": None}
    given |= settings
    model = ModalRegressor(
        given["bandwidth"],
        given["tau"],
        kernel=kernel,
        min_density_ratio=given["ratio"],
        period=given["period"],
        rtol=0,
    ).fit(X, Y, given["weights"])
    queries = np.vstack([X[:3], X[3:6] + 0.1, [[0.5, 0.0], [2.0, 1.0]]])
    modes = model.predict_modes(queries)
    for i, query in enumerate(queries):
        values, densities = brute_force(X, Y, query, kernel=kernel, **given)
        np.testing.assert_array_equal(modes[i], values)
        found = modes.densities[modes.offsets[i] : modes.offsets[i + 1]]
        np.testing.assert_allclose(found, densities, rtol=1e-10)
    np.testing.assert_array_equal(model.predict(queries), modes.highest())


@EVERY_KERNEL
def test_second_column_that_is_constant_changes_nothing_for_gaussians_or_flat_kernels(kernel):
    X, y = branches()
    one = ModalRegressor((0.1, 0.3), 0.4, kernel=kernel).fit(X, y)
    two = ModalRegressor((0.1, 0.3), 0.4, kernel=kernel).fit(
        X, np.column_stack([y, np.full(len(y), 5.0)])
    )
    modes, again = one.predict_modes(QUERIES), two.predict_modes(QUERIES)
    assert again.values.shape == (len(modes.values), 2)
    np.testing.assert_array_equal(again.offsets, modes.offsets)
    np.testing.assert_array_equal(again.values[:, 0], modes.values)
    np.testing.assert_allclose(again.support, modes.support, rtol=1e-8)


def test_one_column_is_one_output():
    X, y = branches()
    flat, column = ModalRegressor().fit(X, y), ModalRegressor().fit(X, y[:, None])
    assert_same_model(flat, column)
    assert column.predict(QUERIES).shape == (11,)
    assert flat.score(X, y[:, None]) == flat.score(X, y)


def test_shapes_of_several_outputs():
    X, Y = two_columns()
    model = ModalRegressor().fit(X, np.hstack([Y, Y[:, :1] ** 2]))
    assert model.predict(QUERIES).shape == (11, 3)
    for here in model.predict_modes(QUERIES):
        assert here.ndim == 2
        assert here.shape[1] == 3


# Branches


def test_two_branches_are_followed_from_end_to_end():
    model = ModalRegressor().fit(*branches(1000))
    grid = np.linspace(0.05, 0.95, 61)
    traced = trace_branches(model, grid)
    assert [(branch.start, branch.stop) for branch in traced] == [(0, 61), (0, 61)]
    lower, upper = traced
    for branch in traced:
        np.testing.assert_array_equal(branch.x, grid)
    assert np.abs(upper.y - 1 - 0.5 * np.sin(2 * np.pi * grid)).max() < 0.4
    assert np.abs(lower.y + 1 - 0.5 * np.cos(2 * np.pi * grid)).max() < 0.4
    modes = model.predict_modes(grid[:, None])
    np.testing.assert_array_equal(
        np.sort(np.concatenate([lower.density, upper.density])), np.sort(modes.densities)
    )


def test_grid_may_be_a_column_or_a_list():
    model = ModalRegressor().fit(*branches(200))
    grid = np.linspace(0.2, 0.8, 7)
    for same in (grid[:, None], grid.tolist()):
        for a, b in zip(trace_branches(model, grid), trace_branches(model, same), strict=True):
            np.testing.assert_array_equal(a.x, b.x)
            np.testing.assert_array_equal(a.y, b.y)


@pytest.mark.parametrize(
    "other",
    [None, 3.0, ModalRegressor, make_pipeline(StandardScaler(), ModalRegressor())],
    ids=repr,
)
def test_only_a_modal_regressor_is_traced(other):
    with pytest.raises(TypeError, match=r"model is .*expected a fitted ModalRegressor"):
        trace_branches(other, [0.0, 1.0])


def test_only_a_fitted_model_is_traced():
    with pytest.raises(NotFittedError):
        trace_branches(ModalRegressor(), [0.0, 1.0])


def test_branches_are_of_one_feature_and_one_output():
    X, Y = two_columns()
    with pytest.raises(ValueError, match=r"has 1 features, .*expect\w+ 2"):
        trace_branches(ModalRegressor().fit(np.hstack([X, X]), Y[:, 0]), [0.0, 1.0])
    with pytest.raises(ValueError, match="grid has shape"):
        trace_branches(ModalRegressor().fit(np.hstack([X, X]), Y[:, 0]), [[0.0, 1.0]])
    with pytest.raises(ValueError, match="one output"):
        trace_branches(ModalRegressor().fit(X, Y), [0.0, 1.0])


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ([0.0, 0.5, 0.5], "rising"),
        ([1.0, 0.0], "rising"),
        ([0.0, np.nan], "NaN"),
        (np.ma.masked_equal([0.0, 0.5, 1.0], 0.5), "grid has 1 masked"),
        ([], "has shape|0 sample"),
    ],
    ids=str,
)
def test_grid_is_rising_numbers(grid, words):
    model = ModalRegressor().fit(*branches())
    with pytest.raises(ValueError, match=words):
        trace_branches(model, grid)


def test_model_of_named_columns_is_traced_without_a_warning():
    X, y = branches()
    model = ModalRegressor().fit(pd.DataFrame(X, columns=["x"]), y)
    plain = ModalRegressor().fit(X, y)
    grid = np.linspace(0.2, 0.8, 7)
    assert len(trace_branches(model, grid)) == len(trace_branches(plain, grid))
