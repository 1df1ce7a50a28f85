"""The cluster tree is compared, level by level, with Algorithm 2 of the reference."""

import itertools
import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from gudhi.clustering.tomato import Tomato
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from scipy.spatial import KDTree

from cases import KERNELS, Case, Floats, cases, densities, make, taus
from quickshift import reference
from quickshift.stages import ClusterTree, climb, cut, estimate_density, link, prepare

WEIGHTED = ("none", "integer")


def tree_of(case: Case, density: Floats, tau: float, ties: str = "total") -> ClusterTree:
    samples = prepare(case.X, sample_weight=case.sample_weight, period=case.period)
    return link(samples, density, cut(climb(samples, density, ties=ties), tau), tau)


def levels_of(density: Floats) -> Floats:
    """Return all levels at which components can change, and one level between any two of them."""
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
    """Compare merge levels with the lowest of the given levels at which two samples are apart."""
    apart = (components[:, :, None] != components[:, None, :]) | (components[:, :, None] < 0)
    rows = np.arange(tree.density.size)
    met = tree.merge_level(rows[:, None], rows[None, :])
    expected = np.where(apart, levels[:, None, None], np.inf).min(axis=0)
    np.testing.assert_array_equal(met, expected)


@pytest.mark.parametrize("seed", [19, 23, 24, 37, 44, 48])
def test_links_are_found_where_tau_vanishes_beside_a_coordinate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(1, 3, size=200), 1e-20 * rng.uniform(size=200)])
    density, tau = rng.permutation(200) + 1.0, float(rng.choice([1e-21, 2e-21]))
    tree = link(X, density, cut(climb(X, density), tau), tau)
    levels = levels_of(density)
    expected = reference.cluster_tree(X, tau=tau, density=density, levels=levels)
    for level, components in zip(levels, expected, strict=True):
        np.testing.assert_array_equal(tree.components_at(level), components, f"level {level}")


@pytest.fixture(name="tree")
def small_tree() -> ClusterTree:
    return tree_of(make("random", 20, 2), np.arange(20.0), 1.0)


# Against Algorithm 2 as printed


@given(cases(weights=WEIGHTED, max_n=40), st.data())
def test_components_are_those_of_the_literal_algorithm(case: Case, data: st.DataObject) -> None:
    density = data.draw(densities(case.n))
    samples = prepare(case.X, **case.given)
    tau = data.draw(taus(climb(samples, density).distance)) or 1.0
    ties = data.draw(st.sampled_from(("total", "strict")))
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


@pytest.mark.parametrize("ties", ["total", "strict"])
@pytest.mark.parametrize("heights", [1, 2, 4])
@pytest.mark.parametrize("kind", ["random", "duplicated"])
def test_many_points_of_equal_height(kind: str, heights: int, ties: str) -> None:
    for d, reach in ((1, 0.05), (2, 0.3), (5, 1.8)):
        case = make(kind, 200, d)
        density = np.random.default_rng(d).integers(1, heights + 1, size=200).astype(float)
        assert_equals_algorithm_2(case, density, reach, ties)


def test_points_of_equal_height_join_many_modes() -> None:
    rng = np.random.default_rng(0)
    modes = np.stack(np.mgrid[:12, :12], axis=-1).reshape(-1, 2)
    case = Case("modes", np.concatenate([modes, rng.uniform(0, 11, size=(100, 2))]), 1.0)
    density = np.append(rng.uniform(2, 3, size=len(modes)), np.ones(100))
    assert_equals_algorithm_2(case, density, 0.9)


def test_groups_apart_with_equal_heights() -> None:
    case = make("random", 90, 2)
    X = np.concatenate([case.X, case.X + 100.0, case.X[:5] * 1e3 + 1e4])
    density = np.random.default_rng(0).integers(1, 3, size=len(X)).astype(float)
    for tau in (0.3, 1.0):
        assert_equals_algorithm_2(replace(case, X=X), density, tau)


# Against GUDHI's ToMATo, which computes the same persistence from the graph of all neighbors


@pytest.mark.parametrize(
    ("kind", "n", "d", "tau"),
    [
        ("random", 20_000, 2, 0.03),
        ("random", 20_000, 2, 0.08),
        ("random", 3_000, 5, 0.8),
        ("clustered", 20_000, 2, 1e-4),
    ],
)
def test_merge_levels_are_those_of_tomato(kind: str, n: int, d: int, tau: float) -> None:
    case = make(kind, n, d)
    density = estimate_density(case.X, tau)
    tree = tree_of(case, density, tau)
    near = KDTree(case.X).query_pairs(tau, output_type="ndarray")
    near = near[np.sqrt(((case.X[near[:, 0]] - case.X[near[:, 1]]) ** 2).sum(axis=1)) < tau]
    neighbors: list[list[int]] = [[] for _ in range(n)]
    for i, j in near.tolist():
        neighbors[i].append(j)
        neighbors[j].append(i)
    peer = Tomato(graph_type="manual", density_type="manual").fit(neighbors, weights=density)
    ours = tree.persistence()
    merged = ours[ours[:, 1] > 0]
    theirs = np.asarray(peer.diagram_).reshape(-1, 2)
    np.testing.assert_array_equal(
        merged[np.lexsort(merged.T)], theirs[np.lexsort(theirs.T)], strict=True
    )
    assert peer.n_leaves_ == tree.leaf_indices.size


# Leaves and merges


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
    density = [1.0 + 2**-45, 1.0, 1.0 + 2**-45]  # equal up to rounding, so all climb to the right
    tree = link(X, density, cut(climb(X, density), 1.0), 1.0)
    np.testing.assert_array_equal(tree.labels(), [0, 0, 0])
    assert tree.merges.shape == (0, 3)
    np.testing.assert_array_equal(tree.components_at(1.0), [1, -1, 0])
    assert tree.merge_level(0, 2) == 1.0


@pytest.mark.parametrize("d", [1, 2])
def test_many_pieces_within_tau_of_each_other(d: int) -> None:
    rng = np.random.default_rng(0)
    case = Case("plateau", rng.normal(size=(150, d)), 1.0)
    top = np.exp(-np.sum(case.X**2, axis=1))
    for noise in (1e-13, 1e-12):  # within and beyond the bits that decide which sample is higher
        assert_equals_algorithm_2(case, np.round(top, 2) + 1 + noise * rng.normal(size=150), 0.7)


def test_merges_name_the_higher_leaf_first_and_fall() -> None:
    X = np.arange(7.0)[:, None]
    density = np.array([3.0, 1.0, 4.0, 2.0, 5.0, 1.0, 3.5])
    tree = link(X, density, cut(climb(X, density), 1.0), 1.5)
    np.testing.assert_array_equal(tree.leaf_indices, [4, 2, 6, 0])
    np.testing.assert_array_equal(tree.merges, [[0, 1, 2], [0, 2, 1], [0, 3, 1]])
    np.testing.assert_array_equal(tree.persistence(), [[5, 0], [4, 2], [3.5, 1], [3, 1]])


def test_sizes_count_copies_that_are_roots_of_their_own() -> None:
    X = np.array([[0.0], [0.0], [0.0], [0.1], [5.0]])
    density = np.array([2.0, 2.0, 2.0, 1.0, 1.0])
    forest = cut(climb(X, density, ties="strict"), 1.0)
    tree = link(X, density, forest, 1.0)
    np.testing.assert_array_equal(tree.sizes, np.bincount(forest.labels))


def test_link_is_strict_where_the_cut_is_not() -> None:
    X, density = [[0.0], [1.0], [2.0]], [2.0, 1.0, 3.0]
    forest = cut(climb(X, density), 1.0)
    assert link(X, density, forest, 1.0).merges.shape == (0, 3)
    assert link(X, density, forest, np.nextafter(1.0, 2)).merges.tolist() == [[0, 1, 1]]


@pytest.mark.parametrize("d", [1, 3, 6])
@pytest.mark.parametrize("kind", ["random", "lattice", "duplicated", "clustered"])
def test_one_tau_and_the_same_for_each_sample_give_the_same_tree(kind: str, d: int) -> None:
    # One tau is searched for from high to low, or link by link if there are few links.
    case = make(kind, 2000, d)
    samples = prepare(case.X, **case.given)
    density = estimate_density(samples, case.h)
    for tau in (0.01 * case.h, 0.1 * case.h, 0.3 * case.h, case.h):
        forest = cut(climb(samples, density), tau)
        lengths = np.full(case.n, np.nextafter(tau, 0.0))
        one = link(samples, density, forest, tau)
        each = link(samples, density, forest, lengths)
        np.testing.assert_array_equal(one.piece_merges, each.piece_merges, case.name)
        np.testing.assert_array_equal(one.merges, each.merges, case.name)


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


# Pruning


def nested(fine: Floats, coarse: Floats) -> bool:
    """Return whether every cluster of `fine` lies within one cluster of `coarse`."""
    pairs = set(zip(fine.tolist(), coarse.tolist(), strict=True))
    return len(pairs) == len(set(fine.tolist()))


@given(cases(weights=WEIGHTED, max_n=60), st.data())
def test_stronger_pruning_gives_nested_labels_and_the_same_leaves(
    case: Case, data: st.DataObject
) -> None:
    density = data.draw(densities(case.n))
    tau = data.draw(taus(climb(prepare(case.X, **case.given), density).distance))
    tree = tree_of(case, density, tau if tau > 0 else 1.0)
    what = data.draw(st.sampled_from(("prominence", "prominence_ratio", "min_size")))
    largest = {"prominence": float(density.max()), "prominence_ratio": 5.0, "min_size": case.n / 2}
    finer = tree
    for share in (0.0, 0.2, 0.5, 1.0, 1.5):
        pruned = tree.prune(**{what: share * largest[what]})
        assert nested(finer.labels(), pruned.labels())
        assert set(pruned.leaf_indices.tolist()) <= set(finer.leaf_indices.tolist())
        assert_consistent(pruned, tree)
        finer = pruned


def assert_consistent(tree: ClusterTree, whole: ClusterTree) -> None:
    """Check that each leaf contains its root and is absorbed at most once, by a higher leaf."""
    n_leaves = tree.leaf_indices.size
    np.testing.assert_array_equal(tree.leaf_labels[tree.leaf_indices], np.arange(n_leaves))
    np.testing.assert_array_equal(tree.leaf_labels < 0, whole.leaf_labels < 0)
    survivor, absorbed = tree.merges[:, :2].astype(int).T
    assert (survivor < absorbed).all()
    assert len(set(absorbed.tolist())) == absorbed.size
    assert tree.sizes.sum() == pytest.approx(whole.sizes.sum())
    assert (tree.towards < np.arange(n_leaves)).all()


def test_prominence_and_its_ratio() -> None:
    X = np.arange(7.0)[:, None]
    density = np.array([3.0, 1.0, 4.0, 2.0, 5.0, 1.0, 3.5])
    tree = link(X, density, cut(climb(X, density), 1.0), 1.5)  # prominences 5, 2, 2.5, 2
    np.testing.assert_array_equal(tree.prune(prominence=2.0).labels(), tree.labels())
    np.testing.assert_array_equal(tree.prune(prominence=2.1).leaf_indices, [4, 6])
    np.testing.assert_array_equal(tree.prune(prominence=2.1).labels(), [0, 0, 0, 0, 0, 0, 1])
    np.testing.assert_array_equal(tree.prune(prominence_ratio=2.5).leaf_indices, [4, 6, 0])
    pruned = tree.prune(prominence_ratio=2.5)
    np.testing.assert_array_equal(pruned.merges, [[0, 1, 1], [0, 2, 1]])
    np.testing.assert_array_equal(pruned.components_at(2.5), [2, -1, 0, -1, 0, -1, 1])


def test_leaf_that_meets_no_other_goes_to_the_one_above_it() -> None:
    X = np.array([[0.0], [0.1], [0.2], [5.0], [9.0], [9.1]])
    density = np.array([3.0, 4.0, 3.0, 1.0, 3.0, 3.5])
    tree = link(X, density, cut(climb(X, density), 1.0), 1.0)
    np.testing.assert_array_equal(tree.labels(), [0, 0, 0, 2, 1, 1])
    np.testing.assert_array_equal(tree.towards, [-1, 0, 1])
    np.testing.assert_array_equal(tree.prune(min_size=2).labels(), [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(tree.prune(min_size=3).labels(), np.zeros(6))
    np.testing.assert_array_equal(tree.prune(prominence=2.0).labels(), [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(tree.prune(prominence_ratio=9.0).labels(), tree.labels())


def test_sizes_count_weights_and_duplicates() -> None:
    X = [[0.0], [0.0], [5.0], [6.0]]
    samples = prepare(X, sample_weight=[1.0, 2.0, 4.0, 0.0])
    density = [1.0, 1.0, 2.0, np.nan]
    tree = link(samples, density, cut(climb(samples, density), 1.0), 1.0)
    np.testing.assert_array_equal(tree.sizes, [4.0, 3.0])
    np.testing.assert_array_equal(tree.prune(min_size=5.0).labels(), [0, 0, 0, -1])


# Exports


def test_linkage_holds_the_merges() -> None:
    case = make("random", 200, 2)
    density = estimate_density(case.X, 0.2)
    tree = tree_of(case, density, 0.3)
    Z = tree.to_linkage()
    assert is_valid_linkage(Z)
    leaves = tree.leaf_indices
    for level in np.unique(tree.merges[:, 2])[::3]:
        flat = fcluster(Z, tree.births.max() - level, "distance")
        together = tree.merge_level(leaves[:, None], leaves[None, :]) >= level
        np.fill_diagonal(together, val=True)
        np.testing.assert_array_equal(flat[:, None] == flat[None, :], together)


def test_table_and_graph_hold_leaves_and_merges(tree: ClusterTree) -> None:
    table = tree.to_pandas()
    np.testing.assert_array_equal(table[["birth", "death"]], tree.persistence())
    np.testing.assert_array_equal(table["row"], tree.leaf_indices)
    absorbed = table[table["absorbed_by"] >= 0]
    assert len(absorbed) == len(tree.merges)
    graph = tree.to_networkx()
    assert graph.number_of_nodes() == len(table)
    for survivor, leaf, level in tree.merges.tolist():
        assert graph.edges[int(leaf), int(survivor)]["level"] == level
        assert absorbed.loc[int(leaf), "absorbed_by"] == survivor


def test_file_gives_the_tree_back(tree: ClusterTree, tmp_path: Path) -> None:
    for file in (tmp_path / "tree.npz", tmp_path / "tree of another name"):
        tree.save(file)
        loaded = ClusterTree.load(str(file))
        for field in fields(ClusterTree):
            np.testing.assert_array_equal(
                getattr(loaded, field.name), getattr(tree, field.name), strict=True
            )


def test_file_of_something_else_is_an_error_that_says_so(tmp_path: Path) -> None:
    file = tmp_path / "data.npz"
    np.savez(file, x=np.arange(3))
    with pytest.raises(ValueError, match=r"data.npz' is not a cluster tree .* ClusterTree.save"):
        ClusterTree.load(file)
    file.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="is not a cluster tree that this version can read"):
        ClusterTree.load(file)
    with pytest.raises(FileNotFoundError):
        ClusterTree.load(tmp_path / "absent.npz")


# Errors


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
    with pytest.raises(TypeError, match="i is of type float64, expected row indices"):
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
    weighted = prepare(X, sample_weight=[0.0, 1.0])
    with pytest.raises(ValueError, match="forest and X have different rows of weight zero"):
        link(weighted, density, forest, 1.0)
    for bad, kind in ((-1.0, "negative"), (np.inf, "NaN or infinite")):
        with pytest.raises(ValueError, match=f"density has {kind} entries"):
            link(X, [1.0, bad], forest, 1.0)


def test_leaves_that_go_join_the_leaf_across_the_saddle():
    X = np.arange(5.0)[:, None]
    density = np.array([10.0, 5.0, 8.0, 2.0, 3.0])  # the last point is a bump next to the peak of 8
    tree = link(X, density, cut(climb(X, density), 1.5), 1.5)
    np.testing.assert_array_equal(tree.merges, [[0, 1, 5], [0, 2, 2]])
    np.testing.assert_array_equal(tree.towards, [-1, 0, 1])
    labels = tree.prune(prominence=1.5).labels()
    assert labels[4] == labels[2] != labels[0]


def test_leaf_across_the_saddle_that_is_lower_leads_on_to_a_higher_one():
    X = np.arange(7.0)[:, None]
    density = np.array([10.0, 5.0, 6.0, 5.5, 9.0, 1.0, 7.0])
    tree = link(X, density, cut(climb(X, density), 1.5), 1.5)
    np.testing.assert_array_equal(tree.leaf_indices, [0, 4, 6, 2])
    np.testing.assert_array_equal(tree.towards, [-1, 0, 1, 1])


def test_infinite_ratio_leaves_what_never_meets_another():
    X, density = [[0.0], [1.0], [2.0], [9.0]], [3.0, 1.0, 2.0, 1.0]
    tree = link(X, density, cut(climb(X, density), 1.5), 1.5)
    np.testing.assert_array_equal(tree.prune(prominence_ratio=np.inf).labels(), [0, 0, 0, 1])


def test_arrays_of_the_caller_may_change_after_a_stage() -> None:
    rng = np.random.default_rng(0)
    X, given, tau = rng.normal(size=(50, 2)), rng.uniform(size=50), np.full(50, 0.4)
    expected = given.copy()
    graph = climb(X, given)
    forest = cut(graph, tau)
    tree = link(X, given, forest, tau)
    given[:], tau[:] = 7.0, 7.0
    again = link(X, expected, cut(climb(X, expected), np.full(50, 0.4)), np.full(50, 0.4))
    assert tree == again
    np.testing.assert_array_equal(cut(graph, 0.4).labels, again.leaf_labels)
    np.testing.assert_array_equal(forest.tau, np.full(50, 0.4))


def test_no_pairs_meet_at_no_levels() -> None:
    tree = link([[0.0], [1.0]], [1.0, 2.0], cut(climb([[0.0], [1.0]], [1.0, 2.0]), 2.0), 2.0)
    assert tree.merge_level([], []).shape == (0,)
