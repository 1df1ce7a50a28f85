"""Lists of the samples within tau, which the search for many features finds on its way."""

import itertools
from functools import partial

import numpy as np
import pytest

from quickshift import _core, stages
from quickshift.stages.tree.cluster_tree import link_forest


@pytest.fixture
def blocks(monkeypatch):
    """Search in blocks, which pay only with more samples than these tests have."""
    search = partial(_core.local_scales, method=_core.ScaleMethod.blocks)
    monkeypatch.setattr(_core, "local_scales", search)


@pytest.mark.parametrize(("n", "copies"), [(9, 0), (40, 0), (40, 3), (300, 0), (300, 20)])
@pytest.mark.usefixtures("blocks")
def test_linking_by_lists_is_linking_by_search(n, copies):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 12)) + 4.0 * rng.integers(0, 3, size=(n, 1))
    scale = stages.local_scale(np.concatenate([X, X[:copies]]), 3)
    assert scale.near is not None
    graph = stages.climb(scale.samples, scale.heights)
    forest = stages.cut(graph, scale.tau)
    searched = link_forest(scale.samples, scale.levels, forest, scale.tau)
    listed = link_forest(scale.samples, scale.levels, forest, scale.tau, near=scale.near)
    assert listed == searched


@pytest.mark.parametrize("method", list(_core.ParentMethod))
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("n", "copies"), [(9, 0), (40, 3), (300, 20), (900, 0)])
@pytest.mark.usefixtures("blocks")
def test_climbing_by_lists_is_climbing_by_search(n, copies, strict, method):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 12)) + 4.0 * rng.integers(0, 3, size=(n, 1))
    assert_lists_give_the_parents(np.concatenate([X, X[:copies]]), None, strict, method)


@pytest.mark.parametrize("method", list(_core.ParentMethod))
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.usefixtures("blocks")
def test_lists_with_equal_distances_and_weights_give_the_parents(strict, method):
    X = np.zeros((200, 12))
    X[:, 0] = np.arange(200)  # every sample has two at each distance
    assert_lists_give_the_parents(X, None, strict, method)
    weights = np.ones(200)
    weights[-20:], weights[7::40] = 0.0, 2.0
    assert_lists_give_the_parents(X, weights, strict, method)


def assert_lists_give_the_parents(X, weights, strict, method):
    scale = stages.local_scale(X, 3, sample_weight=weights)
    assert scale.near is not None
    rounded = np.round(scale.heights, 1)  # many are equal
    for heights in (scale.heights, rounded, np.zeros_like(rounded)):
        search = partial(_core.nearest_higher, scale.samples.tree, heights, 36, strict, 2)
        for found, expected in zip(search(method=method, near=scale.near), search(), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.usefixtures("blocks")
def test_lists_that_do_not_fit_the_tree_are_refused():
    scale = stages.local_scale(np.random.default_rng(0).normal(size=(40, 12)), 3)
    climb = partial(_core.nearest_higher, scale.samples.tree, scale.heights, 36, False)
    with pytest.raises(ValueError, match="one row per slot"):
        climb(near=scale.near[:-1])
    with pytest.raises(ValueError, match="must hold slots"):
        climb(near=np.full_like(scale.near, len(scale.near)))


@pytest.mark.usefixtures("blocks")
def test_near_samples_are_those_within_tau():
    X = np.random.default_rng(0).normal(size=(200, 12))
    scale = stages.local_scale(X, 20)
    slots = scale.samples.tree.slots_of_rows()
    for row in range(200):
        nearest = np.argsort(np.linalg.norm(X - X[row], axis=1))[1:9]
        assert set(scale.near[slots[row]]) == set(slots[nearest])


@pytest.mark.usefixtures("blocks")
def test_equal_distances_leave_no_lists():
    X = np.array(list(itertools.product((0.0, 1.0), repeat=9)))
    assert stages.local_scale(X, 20).near is None


def test_few_features_have_no_lists():
    assert stages.local_scale(np.random.default_rng(0).normal(size=(50, 2)), 5).near is None
