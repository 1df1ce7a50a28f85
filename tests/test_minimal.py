"""The test to run if only one is run. It needs only NumPy, pytest and the installed package."""

import numpy as np
import pytest

import quickshift as qs

CENTERS = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])


@pytest.fixture(scope="module")
def three_blobs():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [120, 100, 80])
    return CENTERS[truth] + rng.normal(size=(300, 2)), truth


def test_three_blobs_are_three_clusters(three_blobs):
    X, truth = three_blobs
    model = qs.QuickShift(bandwidth=1.0, tau=4.0).fit(X)

    assert model.n_clusters_ == 3
    assert sorted(np.bincount(model.labels_)) == [80, 100, 120]
    assert len(set(zip(model.labels_.tolist(), truth.tolist(), strict=True))) == 3

    assert (model.density_ > 0).all()
    assert model.density_.argmax() == model.mode_indices_[0]
    np.testing.assert_array_equal(model.modes_, X[model.mode_indices_])

    assert (model.parent_distance_[model.mode_indices_] > 4.0).all()
    assert model.parent_[model.mode_indices_[0]] == model.mode_indices_[0]

    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert sorted(model.predict(CENTERS)) == [0, 1, 2]
    np.testing.assert_array_equal(model.labels_at(np.inf), np.zeros(300))


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "uniform"])
def test_stages_agree_with_the_reference(three_blobs, kernel):
    X, _ = three_blobs
    density = qs.stages.estimate_density(X, 1.0, kernel=kernel)
    graph = qs.stages.climb(X, density)
    forest = qs.stages.cut(graph, 4.0)
    expected = qs.reference.quick_shift(X, 1.0, 4.0, kernel=kernel)

    np.testing.assert_allclose(density, expected.density, rtol=1e-9)
    np.testing.assert_array_equal(graph.parent, expected.parent)
    np.testing.assert_array_equal(graph.distance, expected.parent_distance)
    np.testing.assert_array_equal(forest.labels, expected.labels)
