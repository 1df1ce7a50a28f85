"""Probabilities and conditional densities of conditional modes: definitions and extreme cases."""

import numpy as np
import pytest
from scipy.integrate import trapezoid

import cases
from modal_cases import branches, two_columns
from quickshift import ModalRegressor, kernels, reference
from quickshift.stages import conditional_modes, prepare_joint
from quickshift.stages.regression import basins

QUERIES = np.linspace(-0.1, 1.1, 9)[:, None]


def assert_defined(X, y, queries, bandwidth, tau, *, ratio=0.01, rtol=1e-9, **settings):
    joint = prepare_joint(X, y, bandwidth, rtol=rtol, **settings)
    found = conditional_modes(joint, queries, tau, min_density_ratio=ratio)
    for i, query in enumerate(queries):
        expected = reference.modal_probabilities(X, y, query, found[i], bandwidth, **settings)
        own = slice(found.offsets[i], found.offsets[i + 1])
        np.testing.assert_allclose(found.probabilities[own], expected, rtol=1e-8, atol=1e-12)
    return found


def sums_by_query(found):
    return np.bincount(found.queries, weights=found.probabilities, minlength=len(found))


def test_probability_is_the_share_of_the_responses_between_the_valleys():
    y = [0.0, 0.1, 0.2, 5.0, 5.1, 9.0]
    found = assert_defined(np.zeros((6, 1)), y, [[0.0]], 1.0, 2.0, kernel="epanechnikov")
    np.testing.assert_array_equal(found[0].round(), [0.0, 5.0, 9.0])
    np.testing.assert_allclose(found.probabilities, [3 / 6, 2 / 6, 1 / 6])


def test_samples_near_the_query_count_more():
    X, y = [[0.0], [0.0], [0.5], [0.5]], [0.0, 0.0, 5.0, 5.0]
    found = assert_defined(X, y, [[0.0], [0.25]], 1.0, 2.0, kernel="triangular")
    np.testing.assert_allclose(found.probabilities, [2 / 3, 1 / 3, 1 / 2, 1 / 2])


def test_response_on_the_valley_belongs_to_the_higher_mode():
    y = [0.0, 0.0, 0.0, 2.0, 4.0, 4.0]
    found = assert_defined(np.zeros((6, 1)), y, [[0.0]], 0.9, 2.5)
    np.testing.assert_array_equal(found[0], [0.0, 4.0])
    np.testing.assert_allclose(found.probabilities, [4 / 6, 2 / 6])
    mirrored = assert_defined(np.zeros((6, 1)), np.negative(y), [[0.0]], 0.9, 2.5)
    np.testing.assert_allclose(mirrored.probabilities, [4 / 6, 2 / 6])


def test_dropped_mode_adds_to_the_neighbor_over_the_higher_valley():
    y = np.repeat([0.0, 3.0, 10.0], [60, 1, 39])
    X = np.zeros((100, 1))
    all_of_them = assert_defined(X, y, [[0.0]], 1.0, 2.0, ratio=0.0, rtol=0.0)
    np.testing.assert_allclose(all_of_them.probabilities, [0.6, 0.39, 0.01])
    found = assert_defined(X, y, [[0.0]], 1.0, 2.0, ratio=0.5)
    np.testing.assert_allclose(found.probabilities, [0.61, 0.39])


@pytest.mark.parametrize("kernel", cases.KERNELS)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_probabilities_are_those_of_the_reference(kernel, d):
    rng = np.random.default_rng(d)
    X = rng.standard_normal((150, d))
    y = rng.choice([-1.0, 0.0, 2.0], 150, p=[0.5, 0.3, 0.2]) + 0.3 * rng.standard_normal(150)
    queries = np.vstack([X[:4], rng.normal(size=(6, d)), np.full((1, d), 50.0)])
    for bandwidth, tau in ((0.8, 0.5), ((0.7, 0.3), 0.2), ((1.5, 0.1), 0.3)):
        found = assert_defined(X, y, queries, bandwidth, tau, kernel=kernel)
        assert found.counts.max() > 1
        np.testing.assert_allclose(sums_by_query(found), np.sign(found.counts), rtol=1e-12)


@pytest.mark.parametrize("kernel", cases.KERNELS)
def test_responses_on_a_lattice_are_counted_as_by_the_reference(kernel):
    rng = np.random.default_rng(4)
    X = np.round(2 * rng.standard_normal((120, 1))) / 2
    y = rng.choice([-1.0, 1.0], 120) + np.round(4 * rng.standard_normal(120)) / 8
    for bandwidth in (0.75, (0.75, 0.25)):
        assert_defined(X, y, [[-0.6], [0.0], [0.5]], bandwidth, 0.3, kernel=kernel)


@pytest.mark.parametrize("kernel", cases.KERNELS)
@pytest.mark.parametrize("few", [0.0, 2.0])
@pytest.mark.parametrize("period", [None, [4.0, np.inf]])
def test_listing_the_samples_near_a_query_changes_nothing(kernel, few, period, monkeypatch):
    monkeypatch.setattr(basins, "_FEW_NEAR", few)
    rng = np.random.default_rng(7)
    X, y = 4 * rng.random((400, 2)), rng.choice([0.0, 1.0], 400) + 0.2 * rng.random(400)
    queries = np.vstack([4 * rng.random((6, 2)), [[9.0, 2.0], [-0.1, 3.0]]])
    weights = rng.integers(0, 3, 400)
    settings = {"kernel": kernel, "period": period, "sample_weight": weights}
    found = assert_defined(X, y, queries, (0.4, 0.1), 0.3, **settings)
    assert found.counts.max() > 1


@pytest.mark.parametrize("kernel", cases.KERNELS)
def test_weights_count_as_repetition_in_probabilities(kernel):
    X, y = branches(90, 1)
    weights = np.random.default_rng(1).integers(0, 4, 90)
    settings = {"kernel": kernel, "bandwidth": (0.2, 0.3), "tau": 0.5}
    weighted = ModalRegressor(**settings).fit(X, y, sample_weight=weights).predict_modes(QUERIES)
    assert_defined(X, y, QUERIES, (0.2, 0.3), 0.5, kernel=kernel, sample_weight=weights)
    rows = np.repeat(np.arange(90), weights)
    repeated = ModalRegressor(**settings).fit(X[rows], y[rows]).predict_modes(QUERIES)
    np.testing.assert_allclose(weighted.probabilities, repeated.probabilities, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "uniform", "silverman"])
def test_periodic_features_wrap_in_probabilities(kernel):
    X, y = branches(150, 2)
    queries = np.array([[0.01], [0.99], [0.5], [3.3], [-2.2]])
    for bandwidth in (0.14, (0.14, 0.3)):
        found = assert_defined(X, y, queries, bandwidth, 0.5, kernel=kernel, period=[1.0])
        assert found.counts.max() > 1


@pytest.mark.parametrize("kernel", cases.COMPACT)
def test_query_without_support_has_no_probabilities(kernel):
    X, y = branches(60)
    found = conditional_modes(prepare_joint(X, y, 0.2, kernel=kernel), [[0.5], [50.0]], 0.5)
    assert found.counts[1] == 0
    assert len(found.probabilities) == len(found.conditional_densities) == found.counts[0]
    nothing = conditional_modes(prepare_joint(X, y, 0.2, kernel=kernel), [[50.0]], 0.5)
    assert nothing.probabilities.shape == nothing.conditional_densities.shape == (0,)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
@pytest.mark.parametrize("far", [1e3, 1e8, 1e200, 1.7e308])
@pytest.mark.parametrize("columns", [1, 2])
def test_query_far_away_has_probabilities_and_conditional_densities(kernel, far, columns):
    X, y = branches(60) if columns == 1 else two_columns(60)
    joint = prepare_joint(X, y, (0.2, 0.3), kernel=kernel)
    found = conditional_modes(joint, [[far], [-far]], 0.3)
    assert (found.counts > 0).all()
    np.testing.assert_allclose(sums_by_query(found), 1.0)
    assert (found.conditional_densities > 0).all()
    assert np.isfinite(found.conditional_densities).all()


def test_conditional_density_far_away_is_that_of_the_nearest_sample():
    X, y = branches(60)
    found = conditional_modes(prepare_joint(X, y, (0.2, 0.3)), [[1e6]], 0.3)
    np.testing.assert_array_equal(found[0], y[[X[:, 0].argmax()]])
    np.testing.assert_array_equal(found.densities, 0.0)
    np.testing.assert_allclose(found.conditional_densities, 1 / (0.3 * np.sqrt(2 * np.pi)))


@pytest.mark.parametrize("kernel", cases.KERNELS)
@pytest.mark.parametrize("columns", [1, 2])
def test_conditional_density_is_the_joint_density_divided_by_that_of_the_features(kernel, columns):
    X, y = branches(80) if columns == 1 else two_columns(80)
    found = conditional_modes(prepare_joint(X, y, (0.2, 0.4), kernel=kernel), QUERIES, 0.5)
    marginal = reference.kernel_density(X, 0.2, queries=QUERIES, kernel=kernel)
    expected = found.densities / marginal[found.queries]
    np.testing.assert_allclose(found.conditional_densities, expected, rtol=1e-8)


def test_gaussian_conditional_density_integrates_to_one():
    X, y = branches(80)
    places = np.linspace(-6.0, 6.0, 2001)
    rows = np.column_stack([X[:, 0] / 0.2, y / 0.4])
    at = np.column_stack([np.full(2001, 0.3 / 0.2), places / 0.4])
    joint = reference.kernel_density(rows, 1.0, queries=at) / (0.2 * 0.4)
    marginal = reference.kernel_density(X, 0.2, queries=[[0.3]])
    assert trapezoid(joint / marginal, places) == pytest.approx(1.0)
    found = conditional_modes(prepare_joint(X, y, (0.2, 0.4)), [[0.3]], 0.5)
    at_modes = np.interp(found[0], places, joint / marginal)
    np.testing.assert_allclose(found.conditional_densities, at_modes, rtol=1e-4)


def basins_in_space(y, heights, tau, ratio, modes):
    """Return the mode of each response: where it climbs to, or the nearest mode."""
    found = np.linalg.norm(y[:, None] - modes, axis=2).argmin(axis=1)
    vertices = np.flatnonzero(heights >= ratio * heights.max())
    forest = reference.quick_shift(y[vertices], tau=tau, density=heights[vertices])
    roots = y[vertices[forest.roots]][forest.labels]
    for vertex, root in zip(vertices, roots, strict=True):
        kept = np.flatnonzero((modes == root).all(axis=1))
        if kept.size:
            found[vertex] = kept[0]
    return found


@pytest.mark.parametrize("kernel", cases.KERNELS)
@pytest.mark.parametrize("automatic", [True, False])
def test_responses_of_several_columns_belong_to_the_mode_that_they_climb_to(kernel, automatic):
    X, y = two_columns(100)
    weights = np.random.default_rng(0).integers(1, 4, 100)
    model = ModalRegressor((0.3, 0.4), "auto" if automatic else 0.5, kernel=kernel)
    found = model.fit(X, y, sample_weight=weights).predict_modes(QUERIES)
    rows = np.hstack([X / 0.3, y / 0.4])
    assert found.counts.max() > 1
    for i, query in enumerate(QUERIES):
        at = np.hstack([np.tile(query / 0.3, (100, 1)), y / 0.4])
        heights = reference.kernel_density(
            rows, 1.0, queries=at, kernel=kernel, sample_weight=weights
        )
        near = weights * kernels.get_kernel(kernel).profile(np.abs(X[:, 0] - query) / 0.3)
        if not len(found[i]):
            continue
        basins = basins_in_space(y, heights, model.tau_, 0.01, found[i])
        expected = np.bincount(basins, near, minlength=len(found[i])) / near.sum()
        own = slice(found.offsets[i], found.offsets[i + 1])
        np.testing.assert_allclose(found.probabilities[own], expected, rtol=1e-8)


@pytest.mark.parametrize("columns", [1, 2])
def test_probabilities_depend_neither_on_threads_nor_on_the_order_of_the_rows(columns):
    X, y = branches(300) if columns == 1 else two_columns(100)
    order = np.random.default_rng(0).permutation(len(X))
    first = ModalRegressor(n_jobs=1).fit(X, y).predict_modes(QUERIES)
    second = ModalRegressor(n_jobs=2).fit(X[order], y[order]).predict_modes(QUERIES)
    np.testing.assert_array_equal(first.probabilities, second.probabilities)
    np.testing.assert_array_equal(first.conditional_densities, second.conditional_densities)


def test_many_queries_give_the_probabilities_of_single_queries(monkeypatch):
    X, y = branches(200)
    model = ModalRegressor().fit(X, y)
    whole = model.predict_modes(np.tile(QUERIES, (3, 1)))
    monkeypatch.setattr(basins, "_MODES_AT_ONCE", 4)
    monkeypatch.setattr(basins, "_WEIGHTS_AT_ONCE", 500)
    parts = model.predict_modes(np.tile(QUERIES, (3, 1)))
    np.testing.assert_array_equal(parts.probabilities, whole.probabilities)
    single = np.concatenate([model.predict_modes(query[None]).probabilities for query in QUERIES])
    np.testing.assert_array_equal(np.tile(single, 3), whole.probabilities)


def test_probabilities_estimate_those_of_the_branches():
    rng = np.random.default_rng(0)
    X = rng.random((5000, 1))
    upper = rng.random(5000) < 0.2 + 0.6 * X[:, 0]
    y = np.where(upper, 3.0, 0.0) + np.where(upper, 0.2, 0.6) * rng.standard_normal(5000)
    found = ModalRegressor().fit(X, y).predict_modes([[0.2], [0.5], [0.8]])
    for i, expected in enumerate((0.32, 0.5, 0.68)):
        own = slice(found.offsets[i], found.offsets[i + 1])
        of_upper = found.probabilities[own][found[i] > 1.5].sum()
        assert of_upper == pytest.approx(expected, abs=0.05)


def test_table_has_probabilities_and_conditional_densities():
    pytest.importorskip("pandas")
    X, y = branches(100)
    found = ModalRegressor().fit(X, y).predict_modes(QUERIES)
    table = found.to_pandas()
    np.testing.assert_array_equal(table["probability"], found.probabilities)
    np.testing.assert_array_equal(table["conditional_density"], found.conditional_densities)
