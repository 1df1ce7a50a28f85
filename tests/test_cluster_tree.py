"""The cluster tree against Algorithm 2, level by level."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import KERNELS, Case, Floats, cases, densities, make, taus
from quickshift import reference
from quickshift.stages import ClusterTree, climb, cut, estimate_density, link, prepare

WEIGHTED = ("none", "integer")


def tree_of(case: Case, density: Floats, tau: float, ties: str = "total") -> ClusterTree:
    samples = prepare(case.X, sample_weight=case.sample_weight, period=case.period)
    return link(samples, density, cut(climb(samples, density, ties=ties), tau), tau)


def levels_of(density: Floats) -> Floats:
    """Every level at which something can change, and between them."""
    distinct = np.unique(np.append(density[np.isfinite(density) & (density >= 0)], 0.0))
    return np.concatenate([distinct, distinct[:-1] + np.diff(distinct) / 2])


def assert_equals_algorithm_2(case: Case, density: Floats, tau: float, ties: str = "total") -> None:
    tree = tree_of(case, density, tau, ties)
    levels = levels_of(density)
    expected = reference.cluster_tree(
        case.X, tau=tau, density=density, levels=levels, ties=ties, **case.given
    )
    for level, components in zip(levels, expected, strict=True):
        np.testing.assert_array_equal(tree.components_at(level), components, f"level {level}")
    assert_merge_levels(tree, levels, expected)


def assert_merge_levels(tree: ClusterTree, levels: Floats, components: Floats) -> None:
    """Two samples meet at the lowest of these levels at which they are apart."""
    apart = (components[:, :, None] != components[:, None, :]) | (components[:, :, None] < 0)
    rows = np.arange(tree.density.size)
    met = tree.merge_level(rows[:, None], rows[None, :])
    expected = np.where(apart, levels[:, None, None], np.inf).min(axis=0)
    np.testing.assert_array_equal(met, expected)


# The literal algorithm


@given(cases(weights=WEIGHTED, max_n=40), st.data())
def test_components_are_those_of_the_literal_algorithm(case: Case, data: st.DataObject) -> None:
    density = data.draw(densities(case.n))
    samples = prepare(case.X, **case.given)
    tau = data.draw(taus(climb(samples, density).distance))
    ties = data.draw(st.sampled_from(("total", "strict")))
    if tau > 0:
        assert_equals_algorithm_2(case, density, tau, ties)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", ["random", "lattice", "duplicated"])
def test_components_follow_from_every_kernel(kind: str, kernel: str) -> None:
    for d, period in itertools.product((1, 2, 5), ("open", "some")):
        case = make(kind, 60, d, weights="integer", period=period)
        density = estimate_density(case.X, case.bandwidth(kernel), kernel=kernel, **case.given)
        for tau in (0.5 * case.h, 1.0, 2 * case.h):
            assert_equals_algorithm_2(case, density, tau)


@pytest.mark.parametrize("kind", ["random", "lattice", "duplicated"])
def test_larger_sets(kind: str) -> None:
    case = make(kind, 400, 2)
    density = estimate_density(case.X, case.h / 4)
    tree = tree_of(case, density, 1.0)
    levels = levels_of(density)[:: 1 + 7 * (kind == "random")]
    expected = reference.cluster_tree(case.X, tau=1.0, density=density, levels=levels)
    for level, components in zip(levels, expected, strict=True):
        np.testing.assert_array_equal(tree.components_at(level), components)


@pytest.mark.parametrize("d", [16, 40])
def test_many_features(d: int) -> None:
    case = make("random", 60, d)
    density = estimate_density(case.X, case.h)
    assert_equals_algorithm_2(case, density, 0.9 * float(np.sqrt(2 * d)))


# What the tree says


def test_leaves_are_the_roots_of_the_forest() -> None:
    case = make("lattice", 200, 2)
    density = estimate_density(case.X, 1.5)
    graph = climb(case.X, density)
    forest = cut(graph, 1.0)
    tree = link(case.X, density, forest, 1.0)
    np.testing.assert_array_equal(tree.leaf_indices, forest.roots)
    np.testing.assert_array_equal(tree.labels(), forest.labels)
    np.testing.assert_array_equal(tree.births, density[forest.roots])


def test_last_bits_that_the_order_ignores_part_pieces_and_not_leaves() -> None:
    X = [[0.0], [1.0], [2.0]]
    density = [1.0 + 2**-45, 1.0, 1.0 + 2**-45]  # equal but for rounding: all climb to the right
    tree = link(X, density, cut(climb(X, density), 1.0), 1.0)
    np.testing.assert_array_equal(tree.labels(), [0, 0, 0])
    assert tree.merges.shape == (0, 3)
    np.testing.assert_array_equal(tree.components_at(1.0), [1, -1, 0])
    assert tree.merge_level(0, 2) == 1.0


def test_merges_name_the_higher_leaf_first_and_fall() -> None:
    X = np.arange(7.0)[:, None]
    density = np.array([3.0, 1.0, 4.0, 2.0, 5.0, 1.0, 3.5])
    tree = link(X, density, cut(climb(X, density), 1.0), 1.5)
    np.testing.assert_array_equal(tree.leaf_indices, [4, 2, 6, 0])
    np.testing.assert_array_equal(tree.merges, [[0, 1, 2], [0, 2, 1], [0, 3, 1]])
    np.testing.assert_array_equal(tree.persistence(), [[5, 0], [4, 2], [3.5, 1], [3, 1]])


def test_link_is_strict_where_the_cut_is_not() -> None:
    X, density = [[0.0], [1.0], [2.0]], [2.0, 1.0, 3.0]
    forest = cut(climb(X, density), 1.0)
    assert link(X, density, forest, 1.0).merges.shape == (0, 3)
    assert link(X, density, forest, np.nextafter(1.0, 2)).merges.tolist() == [[0, 1, 1]]


def test_order_of_rows_and_threads_do_not_matter() -> None:
    case = make("lattice", 200, 2)
    density = np.random.default_rng(0).integers(1, 9, case.n).astype(float)
    first = tree_of(case, density, 1.5)
    order = np.random.default_rng(1).permutation(case.n)
    second = tree_of(case.permuted(order), density[order], 1.5)
    np.testing.assert_array_equal(case.X[first.leaf_indices], case.X[order][second.leaf_indices])
    np.testing.assert_array_equal(first.merges, second.merges)
    np.testing.assert_array_equal(first.labels()[order], second.labels())
    forest = cut(climb(case.X, density), 1.5)
    serial, threaded = (link(case.X, density, forest, 1.5, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(serial.merges, threaded.merges)


# Errors


@pytest.fixture(name="tree")
def small_tree() -> ClusterTree:
    return tree_of(make("random", 20, 2), np.arange(20.0), 1.0)


@pytest.mark.parametrize(
    ("level", "error", "message"),
    [
        (np.nan, ValueError, "level is NaN, expected a density of at least 0"),
        (-1.0, ValueError, "level is -1.0, expected a density of at least 0"),
        ("high", TypeError, "level is 'high', expected a density of at least 0"),
    ],
)
def test_level_must_be_a_density(
    tree: ClusterTree, level: float, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        tree.components_at(level)


def test_rows_must_be_there(tree: ClusterTree) -> None:
    with pytest.raises(IndexError, match=re.escape("j ranges from -1 to 3, expected rows from 0")):
        tree.merge_level(0, [3, -1])
    with pytest.raises(IndexError, match="i ranges from 20 to 20, expected rows from 0 to 19"):
        tree.merge_level(20, 0)
    with pytest.raises(TypeError, match="i is of type float64, expected whole numbers"):
        tree.merge_level(0.5, 0)


@pytest.mark.parametrize("tau", [0.0, -1.0, np.nan, "auto"])
def test_tau_must_be_positive(tau: float) -> None:
    X, density = [[0.0], [1.0]], [1.0, 2.0]
    forest = cut(climb(X, density), 1.0)
    with pytest.raises((ValueError, TypeError), match=r"tau is .*, expected a positive length"):
        link(X, density, forest, tau)


def test_lengths_must_agree() -> None:
    X, density = [[0.0], [1.0]], [1.0, 2.0]
    forest = cut(climb(X, density), 1.0)
    with pytest.raises(ValueError, match="forest has 2 samples and X has 3, expected the same"):
        link([[0.0], [1.0], [2.0]], [1, 2, 3], forest, 1.0)
    with pytest.raises(ValueError, match=re.escape("density has shape (3,), expected (2,)")):
        link(X, [1, 2, 3], forest, 1.0)
    for bad in (-1.0, np.inf):
        with pytest.raises(ValueError, match="density has negative or infinite entries"):
            link(X, [1.0, bad], forest, 1.0)
