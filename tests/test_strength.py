"""How firmly samples and new points belong to their clusters; the score of a fit."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from quickshift import QuickShift
from quickshift.datasets import blobs

FITS = [{}, {"bandwidth": "auto"}, {"bandwidth": 0.8, "tau": 2.0, "kernel": "epanechnikov"}]


@pytest.fixture(name="X", scope="module")
def some_blobs():
    return blobs(400, centers=4, seed=1)[0]


@pytest.mark.parametrize("settings", FITS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_strength_is_relative_to_the_mode_of_the_cluster(settings, weighted, X):
    weights = np.random.default_rng(0).integers(0, 3, size=400) if weighted else None
    model = QuickShift(**settings).fit(X, sample_weight=weights)
    if settings:
        values = model.density_ / model.density_[model.mode_indices_][model.labels_]
    else:
        values = model.bandwidth_[model.mode_indices_][model.labels_] / model.bandwidth_
    np.testing.assert_allclose(model.strength_, np.minimum(values, 1.0), rtol=1e-9)
    assert (model.strength_ > 0).all() if not weighted else (model.strength_ >= 0).all()
    assert (model.strength_[model.mode_indices_] == 1).all()
    np.testing.assert_array_equal(model.outlier_scores_, 1 - model.strength_)


@pytest.mark.parametrize("settings", FITS, ids=str)
def test_strength_of_samples_is_that_of_the_fit(settings, X):
    model = QuickShift(**settings).fit(X)
    np.testing.assert_allclose(model.strength(X), model.strength_, rtol=1e-8)


@pytest.mark.parametrize("settings", FITS, ids=str)
def test_far_points_have_a_label_and_no_strength(settings, X):
    model = QuickShift(**settings).fit(X)
    assert 0 <= model.predict([[1e6, 1e6]])[0] < model.n_clusters_
    assert model.strength([[1e6, 1e6]])[0] < 1e-5


@pytest.mark.parametrize("settings", [{}, {"bandwidth": "auto"}], ids=str)
def test_strength_stays_finite_with_many_features(settings):
    X = np.random.default_rng(0).normal(size=(60, 300)) * 1e-3
    strength = QuickShift(**settings).fit(X).strength_
    assert ((strength > 0) & (strength <= 1)).all()


def test_score_is_the_mean_log_density(X):
    model = QuickShift(bandwidth=1.0, tau=2.0).fit(X)
    assert model.score(X[:50] + 0.1) == pytest.approx(model.score_samples(X[:50] + 0.1).mean())


def test_grid_search_finds_a_bandwidth(X):
    search = GridSearchCV(QuickShift(tau=2.0), {"bandwidth": [1e-2, 1.0, 100.0]}, cv=3).fit(X)
    assert search.best_params_ == {"bandwidth": 1.0}
