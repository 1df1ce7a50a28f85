"""`find_clusters`, the default pipeline in one call, compared with QuickShift and the stages."""

import numpy as np
import pytest

from cases import make
from quickshift import QuickShift, stages

CASES = [
    make(kind, 120, d, weights=weights, period=period, seed=d)
    for kind, d, weights, period in (
        ("random", 2, "none", "open"),
        ("random", 1, "integer", "all"),
        ("lattice", 2, "none", "open"),
        ("duplicated", 3, "integer", "some"),
        ("constant", 2, "none", "open"),
    )
]
EVERY_CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def estimate_and_graph(case, kernel="gaussian"):
    samples = stages.prepare(case.X, **case.given)
    h = stages.choose_bandwidth(samples, kernel=kernel)
    estimate = stages.fit_estimate(samples, h, kernel=kernel)
    bits = estimate.significant_bits
    return estimate, stages.climb(samples, estimate.sums(), significant_bits=bits)


def fitted(case, **settings):
    metric = "euclidean" if case.period is None else "periodic"
    model = QuickShift(metric=metric, period=case.period, **settings)
    return model.fit(case.X, sample_weight=case.sample_weight)


@EVERY_CASE
@pytest.mark.parametrize("kernel", ["gaussian", "uniform"])
@pytest.mark.parametrize("cut", [{}, {"n_clusters": 3}, {"n_clusters": 1}, {"tau": 0.7}])
def test_one_call_finds_the_clusters_of_the_estimator(case, kernel, cut):
    cut = dict(cut)
    if case.name.startswith("constant"):
        cut.pop("n_clusters", None)  # all points are equal, so there is one cluster
    estimate, graph = estimate_and_graph(case, kernel)
    clusters = stages.find_clusters(estimate, graph, **cut)
    model = fitted(case, bandwidth="auto", kernel=kernel, **cut)
    present = clusters.forest.labels >= 0
    np.testing.assert_array_equal(clusters.forest.labels[present], model.labels_[present])
    np.testing.assert_array_equal(clusters.forest.roots, model.mode_indices_)
    assert clusters.forest.tau == model.tau_


@EVERY_CASE
@pytest.mark.parametrize("n_clusters", [None, 2])
def test_one_call_is_the_stages_one_after_the_other(case, n_clusters):
    estimate, graph = estimate_and_graph(case)
    samples = graph.samples
    tau = stages.choose_tau(samples, estimate.bandwidth)
    unmerged = stages.cut(graph, tau)
    tree = stages.link(samples, estimate.density(graph.heights), unmerged, tau)
    tree = stages.assess(tree, estimate, graph)
    if n_clusters is None:
        least = stages.chance_significance(samples.total_weight, samples.n_features)
        kept = stages.keep_significant(tree, least)
    else:
        n_clusters = min(n_clusters, unmerged.roots.size)
        kept = stages.keep_most_significant(tree, n_clusters)
    clusters = stages.find_clusters(estimate, graph, n_clusters=n_clusters)
    assert clusters.forest.tau == clusters.unmerged.tau == tau
    np.testing.assert_array_equal(clusters.unmerged.labels, unmerged.labels)
    np.testing.assert_allclose(clusters.tree.significance, tree.significance, rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(clusters.forest.roots, kept.leaf_indices)
    np.testing.assert_array_equal(clusters.forest.labels, kept.leaf_labels)


@EVERY_CASE
def test_unmerged_forest_is_the_cut_at_tau(case):
    estimate, graph = estimate_and_graph(case)
    clusters = stages.find_clusters(estimate, graph)
    expected = stages.cut(graph, clusters.forest.tau)
    np.testing.assert_array_equal(clusters.unmerged.labels, expected.labels)
    np.testing.assert_array_equal(clusters.tree.leaf_indices, expected.roots)
    assert set(clusters.forest.roots) <= set(expected.roots)


def test_given_tau_merges_nothing_and_links_only_if_asked():
    estimate, graph = estimate_and_graph(CASES[0])
    plain = stages.find_clusters(estimate, graph, tau=0.3)
    assert plain.forest is plain.unmerged
    assert plain.tree is None
    linked = stages.find_clusters(estimate, graph, tau=0.3, link=True)
    expected = stages.link(graph.samples, graph.heights, stages.cut(graph, 0.3), 0.3)
    np.testing.assert_array_equal(linked.tree.merges, expected.merges)
    np.testing.assert_array_equal(linked.tree.leaf_indices, expected.leaf_indices)
    assert len(expected.merges) > 0
    model = QuickShift(estimate.bandwidth, 0.3).fit(CASES[0].X)
    np.testing.assert_array_equal(linked.tree.significance, model.tree_.significance)
    np.testing.assert_array_equal(linked.tree.leaf_indices, model.tree_.leaf_indices)


def test_tau_and_n_clusters_exclude_each_other():
    estimate, graph = estimate_and_graph(CASES[0])
    with pytest.raises(ValueError, match=r"n_clusters is 2 and tau is 1\.0, expected at most one"):
        stages.find_clusters(estimate, graph, tau=1.0, n_clusters=2)


@pytest.mark.parametrize("tau", ["automatic", -1.0, np.nan])
def test_tau_is_checked(tau):
    estimate, graph = estimate_and_graph(CASES[0])
    with pytest.raises(ValueError, match=r"^tau is "):
        stages.find_clusters(estimate, graph, tau=tau)


def test_stages_are_reported_in_order():
    estimate, graph = estimate_and_graph(CASES[0])
    reported = []
    stages.find_clusters(
        estimate, graph, progress=lambda stage, done: reported.append(stage) if done == 1 else None
    )
    assert reported == ["choose_tau", "cut", "link"]


def test_heights_must_be_finite_and_not_negative():
    estimate, graph = estimate_and_graph(CASES[0])
    below = stages.climb(graph.samples, -np.ones(len(CASES[0].X)))
    with pytest.raises(ValueError, match="density has negative entries"):
        stages.find_clusters(estimate, below)


def test_estimate_and_graph_must_have_the_same_samples():
    estimate, _ = estimate_and_graph(CASES[0])
    _, graph = estimate_and_graph(CASES[1])
    with pytest.raises(ValueError, match=r"estimate has samples of shape \(120, 2\) and graph of"):
        stages.find_clusters(estimate, graph)
