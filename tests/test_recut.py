"""`recut` returns a fitted estimator of the same fit with other clusters."""

import networkx
import numpy as np
import pytest

from quickshift import QuickShift
from quickshift.datasets import blobs

FITS = [{}, {"bandwidth": "auto"}, {"bandwidth": 0.8, "tau": 2.0}, {"tau": 1.5}]
SHARED = ("density_", "parent_", "parent_distance_", "bandwidth_")


@pytest.fixture(name="X", scope="module")
def some_blobs():
    return blobs(600, centers=5, seed=2)[0]


def same_clusters(model, other, X):
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(model.mode_indices_, other.mode_indices_)
    np.testing.assert_array_equal(model.modes_, other.modes_)
    np.testing.assert_array_equal(model.significance_, other.significance_)
    np.testing.assert_array_equal(model.tau_, other.tau_)
    np.testing.assert_array_equal(model.predict(X + 0.01), other.predict(X + 0.01))
    assert model.n_clusters_ == other.n_clusters_
    assert model.min_significance_ == other.min_significance_


@pytest.mark.parametrize("settings", FITS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_recut_by_tau_is_a_fit_with_that_tau(settings, weighted, X):
    weights = np.random.default_rng(0).integers(0, 3, size=600) if weighted else None
    model = QuickShift(**settings).fit(X, sample_weight=weights)
    scale = {"n_neighbors": model.n_neighbors_} if "n_neighbors_" in vars(model) else {}
    for tau in (0.5, 3.0, np.inf):
        refit = QuickShift(**{**settings, **scale, "tau": tau}).fit(X, sample_weight=weights)
        same_clusters(model.recut(tau=tau), refit, X)


@pytest.mark.parametrize("settings", [{}, {"bandwidth": "auto"}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("wanted", [1, 3, 550])
def test_recut_by_number_is_a_fit_with_that_number(settings, weighted, wanted, X):
    weights = np.where(np.arange(600) % 12, 1, 0) if weighted else None
    model = QuickShift(**settings).fit(X, sample_weight=weights)
    scale = {"n_neighbors": model.n_neighbors_} if not settings else {}
    refit = QuickShift(**settings, **scale, n_clusters=wanted).fit(X, sample_weight=weights)
    again = model.recut(n_clusters=wanted)
    same_clusters(again, refit, X)
    assert again.min_significance_ == refit.min_significance_
    np.testing.assert_array_equal(again.labels_, model.labels_for(wanted))


@pytest.mark.parametrize("settings", [{}, {"bandwidth": "auto"}], ids=str)
def test_recut_by_significance_is_a_fit_with_that_significance(settings, X):
    model = QuickShift(**settings).fit(X)
    scale = {"n_neighbors": model.n_neighbors_} if not settings else {}
    for least in (0.0, 1.0, 1e9):
        refit = QuickShift(**settings, **scale, min_significance=least).fit(X)
        same_clusters(model.recut(min_significance=least), refit, X)


@pytest.mark.parametrize(
    ("bandwidth", "settings"),
    [("local", {"min_significance": 0.0}), ("local", {"tau": 0.8}), ("auto", {"tau": 0.8})],
)
def test_recut_by_size_is_a_fit_with_that_size(bandwidth, settings, X):
    model = QuickShift(bandwidth, **settings).fit(X)
    scale = {"n_neighbors": model.n_neighbors_} if bandwidth == "local" else {}
    sizes = np.bincount(model.labels_)
    assert sizes.min() < 20 < sizes.max()
    refit = QuickShift(bandwidth, **settings, **scale, min_cluster_size=20).fit(X)
    again = model.recut(min_cluster_size=20)
    same_clusters(again, refit, X)
    assert np.bincount(again.labels_).min() >= 20
    assert 1 < again.n_clusters_ < model.n_clusters_
    kept = np.isin(model.mode_indices_, again.mode_indices_)
    assert kept.sum() == again.n_clusters_  # modes are only removed


def test_size_counts_weights():
    X = np.concatenate([np.arange(10.0), np.arange(50.0, 60.0)])[:, None]
    weights = np.repeat([1.0, 3.0], 10)
    settings = {"bandwidth": 2.0, "tau": 5.0}
    for least, expected in ((11, 1), (10, 2)):
        model = QuickShift(**settings, min_cluster_size=least).fit(X, sample_weight=weights)
        assert model.n_clusters_ == expected


@pytest.mark.parametrize("settings", FITS, ids=str)
@pytest.mark.parametrize(
    "cut", [{"tau": 1.0}, {"n_clusters": 2}, {"min_significance": 3.0}, {"min_cluster_size": 30}]
)
def test_recut_shares_memory_and_leaves_its_origin_alone(settings, cut, X):
    model = QuickShift(**settings).fit(X)
    labels, parameters = model.labels_.copy(), model.get_params()
    again = model.recut(**cut)
    for name in SHARED:
        value = getattr(model, name)
        assert np.isscalar(value) or np.shares_memory(value, getattr(again, name))
    assert again._graph is model._graph
    np.testing.assert_array_equal(model.labels_, labels)
    assert model.get_params() == parameters
    assert {name: again.get_params()[name] for name in cut} == cut


def test_recuts_can_be_chained(X):
    model = QuickShift(tau=0.8).fit(X)
    again = model.recut(min_significance=1.0).recut(min_cluster_size=30).recut(n_clusters=2)
    assert again.n_clusters_ == 2


@pytest.mark.parametrize("settings", [*FITS, {"n_clusters": 2}, {"min_cluster_size": 40}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_graph_has_one_tree_per_cluster(settings, weighted, X):
    weights = np.where(np.arange(600) % 7, 1, 0) if weighted else None
    model = QuickShift(**settings).fit(X, sample_weight=weights)
    graph = model.to_networkx()
    trees = list(networkx.weakly_connected_components(graph))
    assert len(trees) == model.n_clusters_
    assert graph.number_of_edges() == graph.number_of_nodes() - model.n_clusters_
    for rows in trees:
        assert len(set(model.labels_[list(rows)])) == 1


def test_recut_takes_one_length_for_all_samples(X):
    with pytest.raises(TypeError, match="tau is"):
        QuickShift().fit(X[:50]).recut(tau=np.ones(50))


@pytest.mark.parametrize("given", [{}, {"tau": 1.0, "n_clusters": 2}])
def test_recut_takes_exactly_one_parameter(given, X):
    model = QuickShift().fit(X[:50])
    with pytest.raises(ValueError, match=r"recut was called with .*, expected exactly one of tau"):
        model.recut(**given)


@pytest.mark.parametrize("size", [0, -1, np.nan, np.inf, "5", True])
def test_sizes_that_are_no_sizes_are_refused(size, X):
    with pytest.raises((TypeError, ValueError), match="min_cluster_size is"):
        QuickShift(min_cluster_size=size).fit(X)


@pytest.mark.parametrize("settings", [{}, {"bandwidth": "auto"}], ids=str)
def test_more_clusters_than_modes_link_no_tree_until_it_is_asked_for(settings, X):
    model = QuickShift(**settings).fit(X)
    again = model.recut(n_clusters=len(model.tree_.leaf_indices) + 5)
    assert again._clusters.tree is None
    kept = again.significance_
    assert again.min_significance_ == kept[np.isfinite(kept)].min()
    assert again._clusters.tree is not None
