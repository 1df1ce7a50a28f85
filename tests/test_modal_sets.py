"""ModalRegressor: prediction sets, several outputs, branches."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from modal_cases import (
    EVERY_KERNEL,
    QUERIES,
    assert_same_model,
    assert_same_modes,
    assert_same_set,
    branches,
    repeated,
    two_columns,
)
from quickshift import ModalRegressor, reference, trace_branches

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


@pytest.mark.parametrize("given", [list, tuple, np.array, pd.Series], ids=lambda f: f.__name__)
@pytest.mark.parametrize("draw", [branches, two_columns])
def test_several_coverages_give_the_sets_of_single_ones_in_the_order_given(draw, given):
    X, y = draw(200)
    coverages = [0.8, 0.5, 0.99, 0.8]
    sets = ModalRegressor().fit(X, y).predict_set(QUERIES, given(coverages))
    assert isinstance(sets, list)
    for found, coverage in zip(sets, coverages, strict=True):
        assert_same_set(found, ModalRegressor().fit(X, y).predict_set(QUERIES, coverage))


def test_sets_of_several_coverages_are_nested():
    X, y = branches(300)
    small, middle, large = ModalRegressor().fit(X, y).predict_set(X, [0.5, 0.8, 0.95])
    assert (small.lengths < middle.lengths).all()
    assert (middle.lengths < large.lengths).all()
    assert not (small.contains(y) & ~middle.contains(y)).any()
    assert not (middle.contains(y) & ~large.contains(y)).any()


def test_several_coverages_find_the_modes_once(monkeypatch):
    model = ModalRegressor().fit(*branches(100))
    model.predict_set(QUERIES, 0.5)  # calibrates
    calls = []
    find = ModalRegressor._modes_at
    monkeypatch.setattr(ModalRegressor, "_modes_at", lambda *a: calls.append(1) or find(*a))
    model.predict_set(QUERIES, [0.5, 0.8, 0.95])
    assert len(calls) == 1


@pytest.mark.parametrize("coverage", [[], [[0.5]], "0.5", None, {0.5: 1}, [0.5, "0.9"], [True]])
def test_coverages_that_are_no_list_of_shares_are_refused(coverage):
    model = ModalRegressor().fit(*branches(40))
    with pytest.raises(TypeError, match=r"coverage is .*, expected a share of new responses"):
        model.predict_set(QUERIES, coverage)


@pytest.mark.parametrize("coverage", [[0.5, 1.0], [0.0], [np.nan]])
def test_coverages_outside_their_range_are_refused(coverage):
    model = ModalRegressor().fit(*branches(40))
    with pytest.raises(ValueError, match=r"coverage is .*, expected a share of new responses"):
        model.predict_set(QUERIES, coverage)


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
    assert np.sort(gaps)[89] == pytest.approx(radius)  # rank 90 of 100
    assert found.contains(y).sum() in {89, 90}  # rounding decides about the one at the end
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


# Several outputs, compared with sums over every pair


def brute_force(X, Y, x, bandwidth, tau, *, kernel, ratio, weights=None, period=None):
    """Run Algorithm 3 at one query with the density and Algorithm 1 of the reference."""
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


@pytest.mark.parametrize("name", ["predict_modes", "predict_set"])
def test_queries_are_indexed_as_in_a_list(name):
    found = getattr(ModalRegressor().fit(*branches()), name)(QUERIES)
    np.testing.assert_array_equal(found[-1], found[np.int32(len(QUERIES) - 1)])
    with pytest.raises(
        IndexError, match=f"query is {len(QUERIES)}, expected a whole number from -"
    ):
        found[len(QUERIES)]
    with pytest.raises(
        TypeError, match=r"query is slice\(None, 2, None\), expected a whole number"
    ):
        found[:2]


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
        ([0.0, 0.5, 0.5], "increasing"),
        ([1.0, 0.0], "increasing"),
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
