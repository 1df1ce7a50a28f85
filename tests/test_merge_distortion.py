"""The merge distortion between two trees, compared with the maximum over all pairs of samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import Case, Floats, cases, densities, make
from quickshift.stages import (
    ClusterTree,
    climb,
    cut,
    estimate_density,
    link,
    merge_distortion,
    prepare,
)

WEIGHTED = ("none", "integer")


def tree_of(case: Case, density: Floats, tau: float) -> ClusterTree:
    samples = prepare(case.X, sample_weight=case.sample_weight, period=case.period)
    return link(samples, density, cut(climb(samples, density), tau), tau)


def over_all_pairs(a: ClusterTree, b: ClusterTree) -> float:
    rows = np.flatnonzero((a.pieces >= 0) & (b.pieces >= 0))
    levels = [tree.merge_level(rows[:, None], rows[None, :]) for tree in (a, b)]
    return float(np.abs(levels[0] - levels[1]).max())


@given(cases(weights=WEIGHTED, max_n=50), st.data())
def test_spanning_edges_find_what_all_pairs_do(case: Case, data: st.DataObject) -> None:
    trees = [
        tree_of(case, data.draw(densities(case.n)), case.h * data.draw(st.floats(0.1, 4.0)))
        for _ in range(2)
    ]
    expected = over_all_pairs(*trees)
    assert merge_distortion(*trees) == expected
    assert merge_distortion(*trees[::-1]) == expected


def test_tree_is_at_no_distance_from_itself() -> None:
    case = make("random", 100, 2)
    tree = tree_of(case, estimate_density(case.X, 0.3), 0.5)
    assert merge_distortion(tree, tree) == 0.0


def test_pruned_tree_differs_by_what_was_pruned() -> None:
    case = make("random", 300, 2)
    tree = tree_of(case, estimate_density(case.X, 0.2), 0.5)
    birth, death = tree.persistence().T
    prominences = np.sort((birth - death)[death > 0])
    pruned = tree.prune(prominence=prominences[3])
    assert 0 < merge_distortion(tree, pruned) < prominences[3]


def test_rows_in_one_tree_only_do_not_count() -> None:
    X, density = [[0.0], [1.0], [2.0]], np.array([3.0, 1.0, 2.0])
    weighted = prepare(X, sample_weight=[1, 0, 1])
    whole = link(X, density, cut(climb(X, density), 1.5), 1.5)
    part = link(weighted, density, cut(climb(weighted, density), 1.5), 1.5)
    assert merge_distortion(whole, part) == over_all_pairs(whole, part) == 1.0


def test_trees_must_be_of_the_same_samples() -> None:
    a = tree_of(make("random", 10, 1), np.arange(10.0), 1.0)
    b = tree_of(make("random", 11, 1), np.arange(11.0), 1.0)
    with pytest.raises(ValueError, match="tree_a has 10 samples and tree_b 11, expected trees of"):
        merge_distortion(a, b)
