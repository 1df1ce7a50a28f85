"""Corners in which an answer was once wrong."""

import numpy as np
import pytest

from quickshift import QuickShift, _core, kernels, reference, stages


@pytest.mark.parametrize("kernel", ["gaussian", "cosine", "silverman"])
def test_cross_validation_stays_within_what_the_period_admits(kernel):
    angles = np.arange(0.0, 360.0, 60.0)[:, None]
    model = QuickShift("cv", kernel=kernel, metric="periodic", period=[360.0]).fit(angles)
    assert model.bandwidth_ <= 180.0


@pytest.mark.parametrize("kernel", ["triangular", "tricube", "cosine", "epanechnikov"])
def test_heavy_sample_at_the_edge_of_the_support_adds_nothing_to_a_light_one(kernel):
    X = [[0.0, 0.0], [1.0, 1.0], [-0.5, 0.0]]
    h = 2**0.5
    weights = [1e-20, 1.0, 5e-20]
    found = stages.estimate_density(X, h, kernel=kernel, sample_weight=weights)
    expected = reference.kernel_density(X, h, kernel=kernel, sample_weight=weights)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("kernel", list(kernels.KERNELS))
def test_support_ends_where_the_kernel_says(kernel):
    edge = kernels.KERNELS[kernel].support
    estimate = stages.fit_estimate(stages.prepare([[0.0]]), 1.0, kernel=kernel)
    if np.isfinite(edge):
        inside, _ = estimate.sums_at([[edge * (1 - 1e-9)]])
        outside, _ = estimate.sums_at([[edge * (1 + 1e-12)]])
        np.testing.assert_allclose(inside, kernels.KERNELS[kernel].profile(edge * (1 - 1e-9)), 1e-5)
        assert inside > 0
        assert outside == 0


def test_labels_follow_the_definition_where_a_heavy_sample_is_exactly_h_away():
    for kernel in ("triangular", "cosine", "tricube"):
        model = QuickShift(49.0, 1.0, kernel=kernel)
        labels = model.fit_predict([[0.0], [-49.0], [200.0]], sample_weight=[1e6, 1.0, 1.0])
        np.testing.assert_array_equal(labels, [0, 2, 1])


def test_query_beyond_the_range_of_log_densities_scores_minus_infinity_and_is_labelled():
    model = QuickShift(bandwidth=1e-60, tau=1.0).fit([[0.0], [1.0]])
    assert model.score_samples([[1e101]]) == -np.inf
    assert model.predict([[1e101]]) == 0


def test_origin_is_not_remote_from_tiny_samples():
    model = QuickShift(1e-200, 1e-200).fit([[0.0], [1e-200], [2e-200]], sample_weight=[0, 1, 1])
    assert np.isfinite(model.score_samples([[0.0]])).all()
    assert np.isfinite(model.log_density_).all()


@pytest.mark.parametrize(("h", "weight"), [(1e150, 1e10), (1e10, 1e290), (1e-12, 1e-300)])
def test_epanechnikov_survives_extreme_weights_and_bandwidths(h, weight):
    X = np.array([[0.0], [1.0], [3.0]])
    model = QuickShift(h, 1.0, kernel="epanechnikov")
    model.fit(X, sample_weight=np.array([1, 2, 1]) * weight)
    expected = reference.log_kernel_density(X, h, kernel="epanechnikov", sample_weight=[1, 2, 1])
    np.testing.assert_allclose(model.log_density_, expected, rtol=1e-12)


def test_densities_of_prepared_samples_can_be_climbed_despite_weights_of_zero():
    samples = stages.prepare([[0.0], [1.0], [5.0]], sample_weight=[1, 0, 1])
    density = stages.estimate_density(samples, 1.0)
    graph = stages.climb(samples, density)
    assert np.isnan(graph.distance).tolist() == [False, True, False]


def test_prediction_of_the_samples_are_the_labels_for_every_number_of_clusters():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [5.0]])
    for count in (1, 2, 3):
        model = QuickShift(1.0, n_clusters=count).fit(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_number_of_threads_can_change_after_the_fit():
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = QuickShift(1.0, 1.0, n_jobs=2).fit(X)
    before = model.predict(X)
    np.testing.assert_array_equal(model.set_params(n_jobs=1).predict(X), before)


def test_equal_trees_have_equal_states():
    X = np.random.default_rng(0).normal(size=(300, 3))
    states = [stages.prepare(X).tree.__getstate__() for _ in range(2)]
    for ours, theirs in zip(*states, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("damage", ["short", "rows", "features", "slots"])
def test_damaged_state_of_a_tree_is_refused(damage):
    state = list(stages.prepare(np.random.default_rng(0).normal(size=(300, 3))).tree.__getstate__())
    if damage == "short":
        state = state[:5]
    elif damage == "rows":
        state[0] = 10**7
    elif damage == "features":
        state[2] = 10**5
    else:
        state[-1] = np.full_like(state[-1], 10**12)
    tree = _core.Tree.__new__(_core.Tree)
    with pytest.raises(ValueError, match="state"):
        tree.__setstate__(tuple(state))
