"""The cluster tree under local scale, and the stages that lead to it."""

import itertools
import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
from cases import Case
from clustering_cases import (
    EVERY_DATA,
    blobs,
)
from density_cases import queries_near
from quickshift import ClusterTree, QuickShift, reference, stages

# The cluster tree


@EVERY_DATA
def test_components_are_those_of_algorithm_2_with_one_tau_per_sample(X):
    weight = np.random.default_rng(9).integers(0, 3, len(X)).astype(float)
    for case in (Case("", X, 1.0), Case("", X, 1.0, weight)):
        settings = {"n_neighbors": 6, "min_significance": 1.0}
        model = QuickShift(**settings).fit(X, sample_weight=case.sample_weight)
        tree, r = model.tree_, model.bandwidth_
        np.testing.assert_array_equal(
            tree.labels()[case.present], model.labels_at(model.tau_)[case.present]
        )
        np.testing.assert_allclose(tree.density[case.present], model.density_[case.present])
        np.testing.assert_array_equal(tree.tau[case.present], model.tau_[case.present])
        steps = np.unique(r[case.present])
        between = [a for a, b in itertools.pairwise(steps) if b > a * (1 + 1e-9)]
        middle = np.array([*(a * (1 + 1e-10) for a in between), 2 * steps[-1]])
        expected = reference.cluster_tree(
            X, tau=model.tau_, density=-r, levels=-middle, sample_weight=case.sample_weight
        )
        levels = model._estimate.density_of_levels(1 / middle)
        for level, components in zip(levels, expected, strict=True):
            np.testing.assert_array_equal(tree.components_at(float(level)), components)


def test_tree_of_many_features_has_one_over_r_in_place_of_densities():
    model = QuickShift(min_significance=0.0).fit(blobs(0, 60, 400) * 2.0**-10)
    tree = model.tree_
    assert tree.power == 400
    np.testing.assert_allclose(tree.density, 1 / model.bandwidth_, rtol=1e-15)
    log_density = tree.log_unit + tree.power * np.log(tree.density)
    np.testing.assert_allclose(log_density, model.log_density_, rtol=1e-12)
    plain = QuickShift(min_significance=0.0).fit(blobs(0, 60, 2)).tree_
    assert (plain.power, plain.log_unit) == (1.0, 0.0)


def assert_same_tree(a: ClusterTree, b: ClusterTree) -> None:
    for field in fields(ClusterTree):
        np.testing.assert_array_equal(getattr(a, field.name), getattr(b, field.name), strict=True)


@pytest.mark.parametrize("d", [2, 400])
def test_file_gives_a_tree_with_one_tau_per_sample_back(tmp_path: Path, d):
    tree = QuickShift(min_significance=0.5).fit(blobs(0, 80, d) * 2.0**-10).tree_
    assert tree.tau.shape == (80,)
    tree.save(tmp_path / "tree.npz")
    loaded = ClusterTree.load(tmp_path / "tree.npz")
    assert_same_tree(loaded, tree)
    assert type(loaded.power) is float
    np.testing.assert_array_equal(
        loaded.prune(significance=1.0).labels(), tree.prune(significance=1.0).labels()
    )
    loaded.to_pandas()
    loaded.to_networkx()


def test_file_of_version_1_is_read(tmp_path: Path):
    tree = QuickShift(bandwidth=0.5, tau=1.0).fit(blobs()).tree_
    names = ("leaf_labels", "leaf_indices", "density", "merges", "sizes", "towards", "pieces")
    arrays = {name: getattr(tree, name) for name in (*names, "piece_merges", "significance")}
    about = {"format": "quickshift cluster tree", "version": 1, "tau": 1.0, "log_unit": 0.0}
    np.savez_compressed(tmp_path / "old.npz", json=np.array(json.dumps(about)), **arrays)
    assert_same_tree(ClusterTree.load(tmp_path / "old.npz"), tree)
    about["version"] = 3
    np.savez_compressed(tmp_path / "new.npz", json=np.array(json.dumps(about)), **arrays)
    with pytest.raises(ValueError, match="is not a cluster tree that this version can read"):
        ClusterTree.load(tmp_path / "new.npz")


def test_tree_with_an_explicit_tau_is_linked_within_it():
    X = blobs()
    model = QuickShift(tau=1.0).fit(X)
    assert model.tree_.tau == 1.0
    np.testing.assert_array_equal(model.tree_.labels(), model.labels_)
    r = model.bandwidth_
    middle = np.sort(r)[::7] * (1 + 1e-12)
    expected = reference.cluster_tree(X, tau=1.0, density=-r, levels=-middle)
    for level, components in zip(
        model._estimate.density_of_levels(1 / middle), expected, strict=True
    ):
        np.testing.assert_array_equal(model.tree_.components_at(float(level)), components)


# The stages


def test_estimator_and_stages_agree():
    X = blobs(0, 300)
    for settings in ({}, {"n_clusters": 4}, {"tau": 1.0}, {"n_neighbors": 9}):
        model = QuickShift(**settings).fit(X)
        found = stages.find_local_clusters(stages.prepare(X), **settings)
        np.testing.assert_array_equal(found.clusters.forest.labels, model.labels_)
        np.testing.assert_array_equal(found.scale.r, model.bandwidth_)
        np.testing.assert_array_equal(found.graph.parent, model.parent_)
        assert found.clusters.min_significance == model.min_significance_


def test_stages_can_be_called_one_by_one():
    X = blobs(0, 300)
    scale = stages.local_scale(X, 10)
    graph = stages.climb(scale.samples, scale.heights)
    forest = stages.cut(graph, scale.tau)
    tree = stages.link(scale.samples, scale.levels, forest, scale.tau)
    tree = stages.assess_by_scale(tree, scale, graph)
    kept = stages.keep_significant(tree, 1.0, gap="none")
    model = QuickShift(n_neighbors=10, min_significance=1.0).fit(X)
    np.testing.assert_array_equal(kept.labels(), model.labels_)
    np.testing.assert_array_equal(kept.significance, model.significance_)
    rows = stages.assign(graph, X[:9] + 0.2, -scale.scales_at(X[:9] + 0.2)[0], tau=np.ones(9))
    assert rows.shape == (9,)


def test_a_tree_is_linked_if_it_is_asked_for():
    samples = stages.prepare(blobs())
    assert stages.find_local_clusters(samples, tau=1.0).clusters.tree is None
    assert stages.find_local_clusters(samples, tau=1.0, link=True).clusters.tree is not None


@given(case=cases.cases(weights=("none", "integer", "real")), data=st.data())
def test_cut_link_and_assign_with_one_tau_per_sample_are_the_references(case, data):
    density = data.draw(cases.densities(case.n))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    samples = stages.prepare(case.X, **case.given)
    lengths = np.append(cases.distances(case.X, case.X, case.period).ravel(), [0.0, 1e-3, np.inf])
    wrapped = stages.prepare(case.X, period=case.period).tree.coordinates(np.arange(case.n))
    place = np.unique(wrapped, axis=0, return_inverse=True)[1].ravel()
    tau = rng.choice(lengths, case.n)[place]  # duplicates have the same tau
    queries = queries_near(case)
    given = {"density": density, "tau": tau, **case.given}
    present = case.present

    graph = stages.climb(samples, density)
    forest = stages.cut(graph, tau)
    expected = reference.quick_shift(case.X, **given)
    np.testing.assert_array_equal(forest.labels[present], expected.labels[present])
    np.testing.assert_array_equal(forest.roots, expected.roots)
    np.testing.assert_array_equal(forest.tau, tau)

    tree = stages.link(samples, density, forest, tau)
    levels = np.unique(density)[::3]
    components = reference.cluster_tree(case.X, levels=levels, **given)
    for level, at in zip(levels, components, strict=True):
        np.testing.assert_array_equal(tree.components_at(float(level)), at, case.name)

    heights, reach = rng.choice(density, len(queries)), rng.choice(lengths, len(queries))
    rows = stages.assign(graph, queries, heights, tau=reach)
    wanted = reference.predict(case.X, queries, query_density=heights, query_tau=reach, **given)
    np.testing.assert_array_equal(expected.labels[rows], wanted)


def test_duplicates_share_the_largest_of_their_taus():
    X, density, tau = [[0.0], [4.0], [4.0]], [2.0, 3.0, 1.0], [0.0, 0.0, 9.0]
    tree = stages.link(X, density, stages.cut(stages.climb(X, density), tau), tau)
    np.testing.assert_array_equal(tree.components_at(0.5), [0, 0, 0])
    np.testing.assert_array_equal(tree.components_at(1.5), [0, 0, -1])
    np.testing.assert_array_equal(tree.components_at(2.5), [-1, 0, -1])
