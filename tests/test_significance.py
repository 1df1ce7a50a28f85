"""Significance of modes: its definition, the rules that use it, and its level due to chance."""

import itertools
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from clustering_cases import GAPS
from quickshift import ClusterTree, QuickShift, kernels, stages
from quickshift.datasets import blobs
from quickshift.stages.tree.significance import _on_surface, standard_errors


def assessed(X, bandwidth, tau, kernel="gaussian", **settings):
    samples = stages.prepare(X, **settings)
    estimate = stages.fit_estimate(samples, bandwidth, kernel=kernel)
    density = estimate.density(estimate.sums())
    graph = stages.climb(samples, density)
    tree = stages.link(samples, density, stages.cut(graph, tau), tau)
    return stages.assess(tree, estimate, graph), estimate, graph


def by_definition(tree, estimate, graph):
    """Compute the significance of each leaf from its definition, in densities and leaf by leaf."""
    d = estimate.samples.n_features
    W, h = estimate.samples.total_weight, estimate.bandwidth
    roughness = math.exp(estimate.kernel.log_roughness(d))
    lone = math.exp(estimate.kernel.log_normaliser(d)) / (W * h**d)
    deaths = {int(absorbed): level for _, absorbed, level in tree.merges}
    expected = []
    for leaf, row in enumerate(tree.leaf_indices):
        parent = graph.parent[row]
        if leaf in deaths:
            saddle = deaths[leaf]
        elif parent == row:
            expected.append(np.inf)
            continue
        else:
            a, b = estimate.samples.tree.coordinates(np.array([row, parent]))
            path = b - a
            if estimate.samples.period is not None:
                path[0] -= np.rint(path[0])  # the period of the first feature is 1
            between = np.array([a + t * path for t in np.arange(1, 8) / 8])
            saddle = estimate.density_at(between).min()
            if saddle * (1 + 1e-9) >= tree.density[row] - lone:
                expected.append(0.0)
                continue
            saddle = max(saddle, lone)
        birth = tree.density[row]
        variance = sum(roughness / (W * h**d * f) for f in (birth, saddle))
        expected.append(math.log(birth / saddle) / math.sqrt(variance))
    return np.array(expected)


@pytest.mark.parametrize("kernel", kernels.KERNELS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_significance_is_its_definition(kernel, d):
    X = np.random.default_rng(d).normal(size=(150, d))
    X[:5] += 30.0 * np.arange(1, 6)[:, None]  # five isolated points
    tree, estimate, graph = assessed(X, 1.0, 0.4, kernel)
    assert tree.leaf_indices.size > 5
    expected = by_definition(tree, estimate, graph)
    np.testing.assert_allclose(tree.significance, expected, rtol=1e-7, atol=1e-7)
    assert np.isinf(tree.significance[0])


def test_significance_with_weights_and_periods():
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(120, 2)) * [1.0, 5.0]
    period = [1.0, np.inf]
    weights = rng.integers(0, 4, size=120).astype(float)
    tree, estimate, graph = assessed(X, 0.1, 0.05, sample_weight=weights, period=period)
    np.testing.assert_allclose(
        tree.significance, by_definition(tree, estimate, graph), rtol=1e-7, atol=1e-7
    )


def test_integer_weights_are_repetition():
    X = np.random.default_rng(0).normal(size=(60, 2))
    weights = np.random.default_rng(1).integers(1, 4, size=60)
    for bandwidth in ("local", "auto"):
        once = QuickShift(bandwidth).fit(X, sample_weight=weights)
        repeated = QuickShift(bandwidth).fit(np.repeat(X, weights, axis=0))
        np.testing.assert_allclose(once.significance_, repeated.significance_, rtol=1e-7)
        np.testing.assert_array_equal(np.repeat(once.labels_, weights), repeated.labels_)


def test_outliers_are_not_significant():
    X = np.concatenate([np.random.default_rng(0).normal(size=(300, 2)), [[50.0, 50.0]]])
    tree, *_ = assessed(X, 0.3, 0.5)
    assert abs(tree.significance[tree.leaf_labels[-1]]) < 1e-9


def test_pruning_by_significance_is_monotone_and_nested():
    X, _ = blobs(600, 2, seed=2)
    tree, *_ = assessed(X, 1.0, 0.7)
    levels = [0.0, *np.sort(tree.significance[1:]), 1e9]
    labels = [tree.prune(significance=level).labels() for level in levels]
    assert labels[0].max() + 1 == tree.leaf_indices.size
    assert labels[-1].max() == 0
    for fine, coarse in pairwise(labels):
        assert coarse.max() <= fine.max()
        assert len({*zip(fine.tolist(), coarse.tolist(), strict=True)}) == fine.max() + 1
    for level in levels:
        pruned = tree.prune(significance=level)
        assert (pruned.significance >= level).all()
        kept = tree.significance >= level
        np.testing.assert_array_equal(pruned.leaf_indices, tree.leaf_indices[kept])
        np.testing.assert_array_equal(pruned.persistence(), tree.persistence()[kept])


def test_most_significant_leaves_stay():
    X, _ = blobs(600, 2, seed=2)
    tree, *_ = assessed(X, 1.0, 0.7)
    order = np.argsort(-tree.significance, kind="stable")
    for count in range(1, tree.leaf_indices.size + 1):
        kept = stages.keep_most_significant(tree, count)
        expected = tree.leaf_indices[np.sort(order[:count])]
        np.testing.assert_array_equal(kept.leaf_indices, expected)


@pytest.mark.parametrize(
    ("significance", "least", "kept"),
    [
        ([np.inf], 1.0, 1),
        ([np.inf, 0.9, 0.8], 1.0, 1),
        ([np.inf, 9.0, 8.0, 1.1, 1.0], 1.0, 3),
        ([np.inf, 1.1, 1.0, 8.0, 9.0], 1.0, 3),
        ([np.inf, 9.0, 8.0, 7.0], 1.0, 4),
        ([np.inf, 9.0, 2.0, 0.1], 1.0, 3),  # 0.1 counts as a quarter of 1, and 2 / 0.25 > 9 / 2
        ([np.inf, 9.0, 9.0, 1.2], 1.0, 3),
    ],
)
def test_leaves_before_the_largest_ratio_stay(significance, least, kept):
    n = len(significance)
    X, density = 10.0 * np.arange(n)[:, None], np.arange(n, 0, -1.0)
    forest = stages.cut(stages.climb(X, density), 1.0)
    tree = stages.link(X, density, forest, 1.0)
    tree = type(tree)(**{**vars(tree), "significance": np.array(significance)})
    assert stages.keep_significant(tree, least).leaf_indices.size == kept


@pytest.mark.parametrize(("significance", "kept"), GAPS)
def test_leaves_before_the_last_wide_gap_stay_under_local_scale(significance, kept):
    n = len(significance)
    order = np.append(0, 1 + np.random.default_rng(n).permutation(n - 1))  # the highest is first
    X, density = 10.0 * np.arange(n)[:, None], np.arange(n, 0, -1.0)
    tree = stages.link(X, density, stages.cut(stages.climb(X, density), 1.0), 1.0)
    tree = replace(tree, significance=np.array(significance)[order])
    leaves = stages.keep_significant(tree, 2.0, gap="last").leaf_indices
    np.testing.assert_array_equal(leaves, np.flatnonzero(order < kept))
    without = stages.keep_significant(tree, 2.0, gap="none").leaf_indices
    np.testing.assert_array_equal(without, np.flatnonzero(tree.significance >= 2.0))


def test_pruning_by_significance_needs_an_estimate():
    X, density = [[0.0], [1.0], [2.0]], [3.0, 1.0, 2.0]
    tree = stages.link(X, density, stages.cut(stages.climb(X, density), 1.5), 1.5)
    with pytest.raises(ValueError, match="not known, expected a tree from QuickShift or `assess`"):
        tree.prune(significance=1.0)


@pytest.mark.parametrize("bandwidth", ["local", "auto"])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_one_gaussian_is_one_cluster(d, bandwidth):
    clusters = [
        QuickShift(bandwidth)
        .fit(np.random.default_rng([d, seed]).normal(size=(1000, d)))
        .n_clusters_
        for seed in range(20)
    ]
    assert clusters.count(1) >= 18


@pytest.mark.parametrize("bandwidth", ["local", "auto"])
@pytest.mark.parametrize("outlier", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_two_gaussians_are_two_clusters(d, outlier, bandwidth):
    found = []
    for seed in range(10):
        X = np.random.default_rng([d, seed]).normal(size=(1001, d))
        X[:500, 0] += 6.0
        X[1000] = 1000.0 if outlier else 0.0
        found.append(QuickShift(bandwidth).fit(X).n_clusters_)
    assert found.count(2) >= 9


def test_attribute_is_that_of_the_modes():
    X, _ = blobs(500, 2, seed=1)
    cuts = ({}, {"tau": 1.0}, {"n_clusters": 3}, {"n_clusters": 200}, {"tau": 0.0})
    for bandwidth, cut in itertools.product(("local", "auto"), cuts):
        settings = {"bandwidth": bandwidth, **cut}
        model = QuickShift(**settings).fit(X)
        assert model.significance_.shape == (model.n_clusters_,)
        assert np.isinf(model.significance_[0])
        assert (model.significance_ >= 0).all()
        tree = QuickShift(**settings).fit(X).tree_
        leaves = tree.leaf_labels[model.mode_indices_]
        np.testing.assert_array_equal(model.significance_, tree.significance[leaves])


@pytest.mark.parametrize("bandwidth", ["local", 0.1])
def test_clusters_at_equal_distances_are_not_joined_across_each_other(bandwidth):
    rng = np.random.default_rng(0)
    sizes = [120, *7 * [80], 110]
    X = np.concatenate([rng.normal(c, 0.05, (size, 1)) for c, size in enumerate(sizes)])
    model = QuickShift(bandwidth).fit(X)
    assert model.n_clusters_ == 9


def test_a_lower_saddle_makes_no_mode_less_significant():
    estimate = stages.fit_estimate(stages.prepare(np.arange(20.0)[:, None]), 1.0)
    births, deaths = np.full(60, 50.0), np.geomspace(50.0, 1e-3, 60)
    found = standard_errors(births, deaths, estimate)
    assert (np.diff(found) >= 0).all()
    assert found[0] == 0


@pytest.mark.parametrize("seed", range(3))
def test_trees_of_many_equal_densities_can_be_loaded(seed, tmp_path):
    """Densities that are equal when rounded gave negative significances, which `load` refuses."""
    X = np.random.default_rng(seed).normal(size=(300, 5))
    tree = QuickShift(bandwidth=0.2, tau=1.7).fit(X).tree_
    assert (tree.significance >= 0).all()
    tree.save(tmp_path / "tree.npz")
    assert ClusterTree.load(tmp_path / "tree.npz") == tree


@pytest.mark.parametrize("other", ["tree", "estimate", "graph"])
def test_parts_of_different_samples_are_refused(other):
    def parts(n):
        estimate = stages.fit_estimate(stages.prepare(np.arange(float(n))[:, None]), 1.0)
        graph = stages.climb(estimate.samples, estimate.sums())
        density = estimate.density(estimate.sums())
        tree = stages.link(estimate.samples, density, stages.cut(graph, 1.5), 1.5)
        return {"tree": tree, "estimate": estimate, "graph": graph}

    given = parts(8) | {other: parts(5)[other]}
    with pytest.raises(
        ValueError, match=r"has .*samples.* and graph .*, expected the same samples"
    ):
        stages.assess(**given)


def test_places_between_samples_on_a_sphere_are_moved_to_it_except_its_center():
    samples = replace(stages.prepare(np.eye(2)), on_sphere=True)
    places = np.array([[0.3, -0.4], [0.0, 0.0]])
    np.testing.assert_allclose(_on_surface(places, samples), [[0.6, -0.8], [0.0, 0.0]])


def test_a_pair_far_from_all_others_falls_to_the_density_of_one_sample_between():
    h = 0.1
    tree, estimate, _ = assessed([[0.0], [0.02], [0.04], [5.0], [5.1]], h, 1.0)
    birth = 1.0 + math.exp(-0.5)
    expected = standard_errors(np.array([birth]), np.array([1.0]), estimate)[0]
    np.testing.assert_allclose(tree.significance[1], expected)
