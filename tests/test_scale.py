"""Scaled features: clusters of the scaled data, modes and densities in the user's units."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import RobustScaler, StandardScaler

import quickshift as qs
from quickshift import QuickShift
from quickshift.bandwidth import feature_scale, standard_deviation

UNITS = np.array([1.0, 1000.0, 0.01])
every_density = pytest.mark.parametrize("bandwidth", ["local", 0.4], ids=["local", "kernel"])
every_scale = pytest.mark.parametrize("scale", ["std", "iqr", [2.0, 1500.0, 0.03]], ids=str)


@pytest.fixture(name="X", scope="module")
def two_groups_in_different_units():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 3)) + np.repeat([[0.0, 0.0, 0.0], [6.0, 6.0, 0.0]], 100, axis=0)
    return points * UNITS


def scales_by_hand(X, scale):
    if scale == "std":
        return X.std(axis=0)
    if scale == "iqr":
        return np.subtract(*np.quantile(X, [0.75, 0.25], axis=0))
    return np.array(scale)


@every_scale
@every_density
def test_clusters_are_those_of_the_divided_features(X, scale, bandwidth):
    units = scales_by_hand(X, scale)
    model = QuickShift(bandwidth, scale=scale).fit(X)
    plain = QuickShift(bandwidth).fit(X / units)
    np.testing.assert_allclose(model.scale_, units, rtol=1e-12)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    for name in ("bandwidth_", "tau_", "parent_distance_", "significance_"):
        np.testing.assert_allclose(getattr(model, name), getattr(plain, name), rtol=1e-6)
    queries = np.random.default_rng(1).normal(size=(50, 3)) * 4 * UNITS
    np.testing.assert_array_equal(model.predict(queries), plain.predict(queries / units))
    np.testing.assert_allclose(model.strength(queries), plain.strength(queries / units), rtol=1e-6)


def test_scales_are_those_of_scikit_learn(X):
    standard, robust = StandardScaler().fit(X).scale_, RobustScaler().fit(X).scale_
    np.testing.assert_allclose(QuickShift(scale="std").fit(X).scale_, standard)
    np.testing.assert_allclose(QuickShift(scale="iqr").fit(X).scale_, robust)


def test_without_scale_nothing_is_divided(X):
    np.testing.assert_array_equal(QuickShift().fit(X).scale_, [1.0, 1.0, 1.0])


@every_scale
def test_density_is_per_volume_of_the_users_features(X, scale):
    h, units = 0.5, scales_by_hand(X, scale)
    model = QuickShift(h, scale=scale, rtol=0.0).fit(X)
    by_hand = norm.pdf(X[:, None], X[None], h * units).prod(axis=2).mean(axis=1)
    np.testing.assert_allclose(model.density_, by_hand, rtol=1e-9)
    np.testing.assert_allclose(model.score_samples(X), np.log(by_hand), rtol=1e-9)
    np.testing.assert_allclose(model.log_density_, np.log(by_hand), rtol=1e-9)
    np.testing.assert_allclose(model.tree_.density, by_hand, rtol=1e-9)
    np.testing.assert_allclose(model.summary().densities, by_hand[model.mode_indices_], rtol=1e-9)


@every_density
def test_scores_do_not_depend_on_units(X, bandwidth):
    model = QuickShift(bandwidth, scale="std").fit(X)
    other = QuickShift(bandwidth, scale="std").fit(X / UNITS)
    assert other.score(X / UNITS) == pytest.approx(model.score(X) + np.log(UNITS).sum())


def test_score_is_comparable_between_scales(X):
    h = 0.5
    std = X.std(axis=0)
    model = QuickShift(h, scale="std").fit(X)
    other = QuickShift(h / 2, scale=2 * std).fit(X)
    same = QuickShift(2 * h, scale=std / 2).fit(X)
    assert same.score(X) == pytest.approx(model.score(X))
    assert other.score(X) == pytest.approx(model.score(X))


@pytest.mark.parametrize("scale", ["std", "iqr", [1.0, 2.0, 3.0]], ids=str)
def test_local_density_leaves_constant_features_out(scale):
    X = np.random.default_rng(0).normal(size=(80, 2)) * [5.0, 1.0]
    wide = np.insert(X, 2, 7.0, axis=1)
    plain = scale if isinstance(scale, str) else scale[:2]
    model, other = QuickShift(scale=plain).fit(X), QuickShift(scale=scale).fit(wide)
    np.testing.assert_allclose(other.log_density_, model.log_density_, rtol=1e-12)


@every_density
@pytest.mark.parametrize("scale", ["std", "iqr"])
def test_constant_features_are_left_alone(X, scale, bandwidth):
    wide = np.insert(X, 1, 1e5, axis=1)
    model, other = (QuickShift(bandwidth, scale=scale).fit(rows) for rows in (X, wide))
    assert other.scale_[1] == 1
    np.testing.assert_array_equal(np.delete(other.scale_, 1), model.scale_)
    np.testing.assert_array_equal(other.labels_, model.labels_)


def test_feature_without_interquartile_range_is_divided_by_its_deviation(X):
    rare = np.where(np.arange(200) % 10 == 0, 50.0, 0.0)
    model = QuickShift(scale="iqr").fit(np.column_stack([X, rare]))
    assert model.scale_[3] == pytest.approx(1.349 * rare.std())


@pytest.mark.parametrize("scale", ["std", "iqr"])
def test_weights_are_frequencies(X, scale):
    weights = np.random.default_rng(0).integers(0, 4, size=200)
    model = QuickShift(scale=scale).fit(X, sample_weight=weights)
    repeated = QuickShift(scale=scale).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_array_equal(model.scale_, repeated.scale_)
    np.testing.assert_array_equal(np.repeat(model.labels_, weights), repeated.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("scale", ["std", "iqr"])
def test_scales_do_not_depend_on_the_order_of_rows(X, scale):
    rng = np.random.default_rng(0)
    weights, order = rng.uniform(0.5, 2.0, size=200), rng.permutation(200)
    rounded = X.round(1)
    model = QuickShift(scale=scale).fit(rounded, sample_weight=weights)
    other = QuickShift(scale=scale).fit(rounded[order], sample_weight=weights[order])
    np.testing.assert_array_equal(other.scale_, model.scale_)
    np.testing.assert_array_equal(other.labels_, model.labels_[order])
    np.testing.assert_array_equal(other.density_, model.density_[order])


@pytest.mark.parametrize("rule", ["std", "iqr"])
@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_scales_do_not_overflow(rule, factor):
    values = np.random.default_rng(0).uniform(size=50)
    expected = feature_scale(values, np.ones(50), rule)
    found = feature_scale(values * factor, np.ones(50), rule)
    assert found == pytest.approx(expected * factor, rel=1e-12, abs=0.0)
    model = QuickShift(0.5, 1.0, scale=rule).fit(values[:, None] * factor)
    plain = QuickShift(0.5, 1.0, scale=rule).fit(values[:, None])
    np.testing.assert_array_equal(model.labels_, plain.labels_)


@pytest.mark.parametrize("factor", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_blocks_give_the_standard_deviation(factor, offset):
    rng = np.random.default_rng(0)
    values, weights = factor * (rng.normal(size=150_000) + offset), rng.uniform(0.5, 2.0, 150_000)
    expected = feature_scale(values, weights, "std")
    assert standard_deviation(values, weights) == pytest.approx(expected, rel=1e-9, abs=0.0)
    assert standard_deviation(np.full(150_000, 0.1 * factor), weights) == 0.0


def test_queries_may_be_far_away(X):
    model = QuickShift(0.5, scale=[1e-5, 1e-5, 1e-5]).fit(X)
    far = [[1e308, -1e308, 0.0]]
    assert model.predict(far).shape == (1,)
    assert model.score_samples(far)[0] < -1e100
    assert QuickShift(scale="std").fit(X).strength(far)[0] == pytest.approx(0.0)


# Periodic features


@pytest.mark.parametrize("scale", ["std", "iqr", [250.0, 1.0]], ids=str)
def test_periodic_features_are_left_alone(scale):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=100) * 300, rng.normal(size=100) * 20 + 355])
    model = QuickShift(scale=scale, period=[np.inf, 360.0]).fit(X)
    assert model.scale_[1] == 1
    assert model.scale_[0] > 100
    plain = QuickShift(period=[np.inf, 360.0]).fit(X / model.scale_)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    expected = X[model.mode_indices_] % [np.inf, 360.0]
    np.testing.assert_allclose(model.modes_[:, 1], expected[:, 1])
    np.testing.assert_array_equal(model.modes_[:, 0], X[model.mode_indices_, 0])


# In the user's units, like every other fit


@every_scale
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_modes_are_rows_of_the_user(X, scale, dtype):
    given = X.astype(dtype)
    model = QuickShift(scale=scale).fit(given)
    given += 1  # the estimator has a copy
    for fitted in (model, model.recut(n_clusters=5)):
        np.testing.assert_array_equal(fitted.modes_, X.astype(dtype)[fitted.mode_indices_])
        np.testing.assert_array_equal(fitted.summary().modes, fitted.modes_)


@every_scale
@pytest.mark.parametrize("settings", [{}, {"bandwidth": 0.4, "tau": 0.9}], ids=str)
def test_printed_parameters_reproduce_the_labels(X, scale, settings):
    model = QuickShift(scale=scale, **settings).fit(X)
    for fitted in (model, model.recut(n_clusters=4)):
        [line] = [line for line in fitted.summary().chosen if line.startswith("To reproduce: ")]
        code = line.removeprefix("To reproduce: ")
        again = eval(code, {"QuickShift": QuickShift, "numpy": np, "X": X})
        np.testing.assert_array_equal(again.labels_, fitted.labels_)


def test_distances_between_modes_are_in_units_of_scale(X):
    model = QuickShift(scale="std").fit(X)
    first, second = model.modes_ / model.scale_
    assert model.summary().nearest_denser[1] == pytest.approx(np.linalg.norm(first - second))


def test_hint_about_spreads_names_the_parameter_and_goes_with_it(X):
    hints = QuickShift().fit(X).summary().hints
    assert any('QuickShift(scale="std")' in hint for hint in hints)
    assert any('scale="std"' in sentence for sentence in qs.diagnose(QuickShift().fit(X)).sentences)
    for scale in ("std", "iqr"):
        summary = QuickShift(scale=scale).fit(X).summary()
        assert summary.hints == []
        assert any("scale_" in line for line in summary.chosen)


def test_hint_about_spreads_goes_with_units_that_leave_them_unequal(X):
    summary = QuickShift(scale=[1.0, 1.0, 1.0]).fit(X).summary()
    [hint] = summary.hints  # the clusters are still too thin, so their number is in doubt
    assert "factor of" not in hint
    assert "the rows of a cluster spread along 1 direction rather than 3" in hint
    assert any("scale_" in line for line in summary.chosen)


@every_scale
def test_copies_and_feature_names_work(X, scale):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = QuickShift(scale=scale).fit(frame)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    for copy in (pickle.loads(pickle.dumps(model)), clone(model).fit(frame)):
        np.testing.assert_array_equal(copy.labels_, model.labels_)
        np.testing.assert_array_equal(copy.scale_, model.scale_)
        np.testing.assert_array_equal(copy.predict(frame), model.labels_)
    assert "scale" in repr(model)


@every_scale
def test_grid_search_compares_bandwidths(X, scale):
    rows = np.random.default_rng(0).permutation(X)
    search = GridSearchCV(QuickShift(scale=scale), {"bandwidth": [0.001, 0.3, 9.0]}, cv=3)
    assert search.fit(rows).best_params_ == {"bandwidth": 0.3}


def test_grid_search_compares_scales(X):
    rows = np.random.default_rng(0).permutation(X)
    grid = {"scale": ["std", "iqr", None], "bandwidth": [0.2, 0.5]}
    assert GridSearchCV(QuickShift(), grid, cv=3).fit(rows).best_params_["scale"] is not None


# Errors


def refused(message, X, **settings):
    with pytest.raises(ValueError, match=message):
        QuickShift(**settings).fit(X)


@pytest.mark.parametrize(
    "scale",
    [
        2.0,
        [1.0],
        [1.0, 2.0, 0.0],
        [1.0, -2.0, 3.0],
        [1.0, np.nan, 1.0],
        [1.0, np.inf, 1.0],
        [[1, 2, 3]],
    ],
    ids=str,
)
def test_scales_are_positive_numbers_one_per_feature(X, scale):
    refused("scale is .*expected 'std', 'iqr', None or one positive number", X, scale=scale)


def test_misspelled_rule_is_refused(X):
    refused("scale is 'sd', expected one positive .*one of 'std', 'iqr'", X, scale="sd")


@pytest.mark.parametrize("metric", ["haversine", "cosine"])
def test_spheres_have_no_scale(metric):
    X = np.random.default_rng(0).uniform(0.1, 1.0, size=(20, 2))
    refused(
        f"scale is 'std' but metric is '{metric}'.*Leave scale out", X, metric=metric, scale="std"
    )


def test_scales_of_periodic_features_must_be_one(X):
    period = [np.inf, np.inf, 0.1]
    refused("expected 1 for periodic features", X, period=period, scale=[1.0, 2.0, 3.0])


def test_overflowing_quotients_are_refused(X):
    message = "scale is 1e-308 for feature 1.*overflow"
    refused(message, X, scale=[1.0, 1e-308, 1.0])
