"""The tree of a fit is the cluster tree of `stages.link`, linked when it is first asked for."""

import numpy as np
import pytest

from quickshift import QuickShift, stages
from quickshift.datasets import blobs
from quickshift.stages.tree.pruning import contract

SETTINGS = [
    {},
    {"bandwidth": "auto"},
    {"tau": 1.0, "bandwidth": 1.0},
    {"n_clusters": 4},
    {"bandwidth": "auto", "n_clusters": 4},
    {"n_clusters": 250},
    {"bandwidth": "auto", "n_clusters": 250},
    {"min_significance": 0.5},
    {"tau": 1.0},
    {"kernel": "epanechnikov", "bandwidth": 1.5, "tau": 2.0},
    {"metric": "periodic", "period": [50.0, np.inf], "bandwidth": 1.0},
    {"metric": "periodic", "period": [50.0, np.inf]},
    {"ties": "strict", "tau": 1.0},
    {"ties": "strict", "tau": 1.0, "bandwidth": "auto"},
]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("weighted", [False, True])
def test_pruned_to_the_modes_the_tree_has_the_labels_of_the_fit(settings, weighted):
    X, _ = blobs(500, 2, seed=3)
    weights = np.random.default_rng(0).integers(0, 3, size=500) if weighted else None
    model = QuickShift(**settings).fit(X, sample_weight=weights)
    tree = model.tree_
    kept = contract(tree, ~np.isin(tree.leaf_indices, model.mode_indices_))
    present = tree.leaf_labels >= 0
    np.testing.assert_array_equal(kept.leaf_indices, model.mode_indices_)
    np.testing.assert_array_equal(kept.labels()[present], model.labels_[present])
    assert present.sum() == (500 if weights is None else np.count_nonzero(weights))


def test_tree_is_linked_once_and_forgotten_by_a_refit():
    X, _ = blobs(300, 2, seed=3)
    model = QuickShift(bandwidth=1.0, tau=1.0).fit(X)
    tree = model.tree_
    assert model.tree_ is tree
    assert model.fit(X[:200]).tree_.leaf_labels.size == 200


@pytest.mark.parametrize("settings", SETTINGS)
def test_tree_is_the_link_of_the_densities(settings):
    X, _ = blobs(500, 2, seed=3)
    model = QuickShift(**settings).fit(X)
    graph = model._graph
    # More clusters than modes are cut at a smaller tau, but samples are linked by their own.
    tau = model.tau_ if np.ndim(model.tau_) == 0 else model._estimate.tau
    expected = stages.link(graph.samples, model.density_, model._clusters.unmerged, tau)
    np.testing.assert_array_equal(model.tree_.tau, tau)
    np.testing.assert_array_equal(model.tree_.density, model.density_)
    np.testing.assert_array_equal(model.tree_.merges, expected.merges)
    np.testing.assert_array_equal(model.tree_.leaf_indices, expected.leaf_indices)
    np.testing.assert_array_equal(model.tree_.towards, expected.towards)
    rows = np.random.default_rng(1).integers(0, 500, size=(2, 200))
    np.testing.assert_array_equal(model.tree_.merge_level(*rows), expected.merge_level(*rows))
    for level in np.quantile(model.density_, [0.0, 0.3, 0.7, 0.95]):
        np.testing.assert_array_equal(
            model.tree_.components_at(level), expected.components_at(level)
        )


def test_labels_of_the_tree_are_the_cut():
    X = np.random.default_rng(0).normal(size=(500, 2))
    for bandwidth in ("local", "auto"):
        model = QuickShift(bandwidth).fit(X)
        np.testing.assert_array_equal(model.tree_.labels(), model.labels_at(model.tau_))
        assert model.n_clusters_ < model.tree_.leaf_indices.size


def test_densities_beyond_the_range_of_floats_have_a_unit():
    X = np.random.default_rng(0).normal(size=(60, 800)) * 1e-3
    model = QuickShift(bandwidth=1e-3, tau=0.1).fit(X)
    assert not np.isfinite(model.density_).all()
    tree = model.tree_
    assert np.isfinite(tree.density).all()
    np.testing.assert_allclose(np.log(tree.density) + tree.log_unit, model.log_density_)
    assert tree.components_at(0.0).max() == tree.leaf_indices.size - 1 - len(tree.merges)


def test_tree_survives_a_file(tmp_path):
    X, _ = blobs(300, 2, seed=0)
    for bandwidth in ("local", "auto"):
        tree = QuickShift(bandwidth).fit(X).tree_
        tree.save(tmp_path / "tree.npz")
        loaded = type(tree).load(tmp_path / "tree.npz")
        np.testing.assert_array_equal(loaded.significance, tree.significance)
        np.testing.assert_array_equal(loaded.tau, tree.tau)
        assert (loaded.log_unit, loaded.power) == (tree.log_unit, tree.power)
        np.testing.assert_array_equal(
            loaded.prune(significance=2.0).labels(), tree.prune(significance=2.0).labels()
        )


def test_graph_of_merged_modes_has_no_move_longer_than_tau():
    X = np.random.default_rng(0).normal(size=(500, 2))
    for bandwidth in ("local", "auto"):
        model = QuickShift(bandwidth).fit(X)
        edges = model.to_networkx().edges(data=True)
        moves = [(row, edge["distance"]) for row, _, edge in edges if "merged" not in edge]
        tau = np.broadcast_to(model.tau_, 500)
        assert all(length <= tau[row] for row, length in moves)
        assert len(moves) == 500 - (model.labels_at(model.tau_).max() + 1)
        assert len(edges) == 500 - model.n_clusters_


@pytest.mark.parametrize("settings", [{"bandwidth": 1.0, "tau": 1.0}, {}], ids=["kde", "local"])
def test_editing_the_labels_leaves_the_fit_alone(settings):
    X, _ = blobs(300, 2, seed=0)
    model = QuickShift(**settings).fit(X)
    expected = QuickShift(**settings).fit(X).significance_
    model.labels_[:] = -1
    np.testing.assert_array_equal(model.significance_, expected)
    assert model.predict(X).max() == -1  # predict returns the entries of labels_
