"""ModalRegressor as users call it: modes, bandwidths, weights, scikit-learn, score."""

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
from modal_cases import (
    COMPACT,
    DEFAULTS,
    EVERY_BANDWIDTH,
    EVERY_KERNEL,
    EVERY_RULE,
    KERNELS,
    QUERIES,
    assert_close_modes,
    assert_same_model,
    assert_same_modes,
    assert_same_set,
    branches,
    repeated,
    two_columns,
)
from quickshift import ModalRegressor, reference
from quickshift.bandwidth import gaussian_equivalent, joint_rule
from quickshift.datasets import three_branches_merging, two_branches
from quickshift.kernels import get_kernel

COLUMNS = ("density", "height", "support", "conditional_density", "probability")

# Parameters and fitted attributes


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
    for method in (model.predict, model.predict_modes, model.predict_set):
        with pytest.raises(NotFittedError):
            method(X)
    for method in (model.calibrate, model.score):
        with pytest.raises(NotFittedError):
            method(X, y)


# Modes


def test_modes_of_a_small_case_drawn_by_hand():
    X, y = [[0.0], [0.0], [0.0], [9.0]], [1.0, 1.5, 6.0, 3.0]
    model = ModalRegressor(1.0, 2.0, kernel="triangular").fit(X, y)
    modes = model.predict_modes([[0.0], [5.0], [9.0]])
    np.testing.assert_array_equal(modes.offsets, [0, 2, 2, 3])
    np.testing.assert_array_equal(modes.values, [1.5, 6.0, 3.0])
    # The cone of volume π/3 at (0, 1.5): 1 + 1/2 of four samples.
    np.testing.assert_allclose(modes.densities, np.array([1.5, 1.0, 1.0]) * 3 / np.pi / 4)
    np.testing.assert_allclose(
        modes.heights, modes.densities
    )  # the density is zero between the modes
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


def test_table_of_modes_has_a_row_per_mode():
    model = ModalRegressor(0.2, kernel="epanechnikov").fit(*branches())
    modes = model.predict_modes([[0.5], [77.0], [0.6]])
    table = modes.to_pandas()
    columns = ["query", "mode", "value", *COLUMNS]
    assert table.columns.tolist() == columns
    assert len(table) == len(modes.values)
    assert set(table["query"]) == {0, 2}
    np.testing.assert_array_equal(table["value"], modes.values)
    np.testing.assert_array_equal(table.loc[table["mode"] == 0, "value"], modes.highest()[[0, 2]])
    np.testing.assert_array_equal(table["support"], modes.support[modes.queries])


def test_table_of_several_outputs_has_a_column_for_each():
    modes = ModalRegressor().fit(*two_columns()).predict_modes(QUERIES)
    table = modes.to_pandas()
    columns = ["query", "mode", "value_0", "value_1", *COLUMNS]
    assert table.columns.tolist() == columns
    np.testing.assert_array_equal(table[["value_0", "value_1"]], modes.values)


@pytest.mark.parametrize("draw", [branches, two_columns])
def test_table_without_modes_is_empty(draw):
    model = ModalRegressor(0.1, kernel="uniform").fit(*draw())
    assert len(model.predict_modes([[9.0]]).to_pandas()) == 0


# min_density_ratio


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
    for kernel in set(COMPACT) - {"silverman"}:  # all others have k(0) = 1 and k(9) = 0
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


def test_cross_validated_pair_is_more_likely_than_its_neighbors():
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


def test_automatic_tau_reaches_a_neighbor_and_a_share_of_a_bandwidth():
    X, y = np.zeros((10, 1)), np.arange(10.0)
    assert ModalRegressor((9.0, 10.0)).fit(X, y).tau_ == 3.0
    assert ModalRegressor(10.0).fit(X, y).tau_ == 3.0
    assert ModalRegressor((9.0, 0.1)).fit(X, y).tau_ == 1.0
    assert ModalRegressor((9.0, 0.1)).fit(np.zeros((30, 1)), np.repeat(y, 3)).tau_ == 1.0


@EVERY_KERNEL
def test_automatic_tau_is_in_gaussian_bandwidths_of_the_joint_kernel(kernel):
    X, Y = two_columns()
    for y in (Y[:, 0], Y):
        model = ModalRegressor((0.1, 40.0), kernel=kernel).fit(X, y)
        dimensions = 1 + model.n_outputs_
        expected = 0.3 * gaussian_equivalent(40.0, get_kernel(kernel), dimensions)
        assert model.tau_ == pytest.approx(expected)


@pytest.mark.parametrize("columns", [1, 2])
def test_automatic_tau_leaves_out_what_only_a_gap_makes_a_mode(columns):
    y = np.append(np.linspace(-0.1, 0.1, 200), 2.0)  # 2.0 is on the slope of the others
    y = np.column_stack([y] * columns) / np.sqrt(columns)
    X = np.zeros((201, 1))
    model = ModalRegressor(1.0).fit(X, y)
    assert model.tau_ == pytest.approx(0.3)
    assert model.predict_modes([[0.0]]).counts == [1]
    assert ModalRegressor(1.0, 0.3).fit(X, y).predict_modes([[0.0]]).counts == [2]


@EVERY_KERNEL
@pytest.mark.parametrize("draw", [branches, two_columns])
def test_automatic_modes_are_those_of_the_same_tau_that_rise_above_the_path_to_others(kernel, draw):
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


# Together with scikit-learn


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


@pytest.mark.parametrize(
    "settings",
    [{"period": [4.0]}, {"bandwidth": [0.1, 0.3]}, {"period": [4.0], "tau": 0.2}],
    ids=str,
)
def test_parameters_of_the_caller_may_change_after_fit(settings):
    given = {
        name: np.array(value) if name == "period" else value for name, value in settings.items()
    }
    model, expected = (ModalRegressor(**p).fit(*branches()) for p in (given, copy.deepcopy(given)))
    for name in {"period", "bandwidth"} & set(given):
        given[name][:] = [0.9] * len(given[name])
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
    for _ in range(2):  # before and after the first prediction set
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
    for method in (model.predict, model.predict_set):
        with pytest.raises(ValueError, match="feature names should match"):
            method(table.rename(columns={"b": "c"}))


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


def test_weights_of_a_calibration_may_be_changed_afterwards():
    rng = np.random.default_rng(0)
    model = ModalRegressor().fit(rng.random((200, 1)), rng.normal(size=200))
    weights = np.ones(50)
    model.calibrate(rng.random((50, 1)), rng.normal(size=50), sample_weight=weights)
    before = model.predict_set([[0.5]], 0.8).lengths
    weights[:] = 0.0
    np.testing.assert_array_equal(model.predict_set([[0.5]], 0.8).lengths, before)
