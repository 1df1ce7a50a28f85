"""Cuts of a parent graph, and the linkage that holds all of them."""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, is_valid_linkage

from cases import Case, Floats, cases, densities, make, same_partition, taus
from quickshift.stages import ParentGraph, climb, cut, cut_into, linkage, prepare

WEIGHTED = ("none", "integer")


def column(*values: float) -> Floats:
    return np.array(values, dtype=float)[:, None]


def graph_of(parent: list[int], distance: list[float]) -> ParentGraph:
    """Make a graph by hand, in which the density decreases with the row."""
    n = len(parent)
    samples = prepare(np.arange(n, dtype=float)[:, None])
    density = np.arange(n, 0.0, -1.0)
    return ParentGraph(np.array(parent, dtype=np.int64), np.array(distance), samples, density)


def climbed(case: Case, density: Floats, ties: str = "total") -> ParentGraph:
    samples = prepare(case.X, sample_weight=case.sample_weight, period=case.period)
    return climb(samples, density, ties=ties)


def present(graph: ParentGraph) -> np.ndarray:
    return ~np.isnan(graph.distance)


# Cut at tau


def test_cut_keeps_an_edge_of_exactly_tau() -> None:
    graph = climb([[0.0, 0.0], [1.0, 2.0]], [1, 2])
    np.testing.assert_array_equal(cut(graph, math.sqrt(5)).labels, [0, 0])
    np.testing.assert_array_equal(cut(graph, math.nextafter(math.sqrt(5), 0)).labels, [1, 0])


def test_cut_keeps_edges_of_exactly_the_tau_of_their_sample() -> None:
    graph = climb(column(0, 1, 3, 7), [4, 3, 2, 1])
    np.testing.assert_array_equal(cut(graph, [1.0, 1.0, 2.0, 3.9]).labels, [0, 0, 0, 1])
    np.testing.assert_array_equal(cut(graph, [1.0, 0.9, 2.0, 4.0]).labels, [0, 1, 1, 1])


def test_lattice_edges_of_exactly_tau_are_kept() -> None:
    grid = np.stack(np.meshgrid(*[np.arange(9.0)] * 3), axis=-1).reshape(-1, 3)
    for shift in (0.0, 0.1, 1e8):  # at an offset of 0.1 the coordinates are no longer exact
        graph = climb(grid + shift, np.ones(len(grid)))
        longest = graph.distance[np.isfinite(graph.distance)].max()
        assert longest == pytest.approx(1.0, abs=1e-14)
        assert len(cut(graph, longest).roots) == 1


def test_labels_fall_by_the_height_of_the_roots() -> None:
    forest = cut(climb(column(0, 10, 20, 30), [2, 4, 1, 3]), 1.0)
    np.testing.assert_array_equal(forest.labels, [2, 0, 3, 1])
    np.testing.assert_array_equal(forest.roots, [1, 3, 0, 2])
    assert forest.labels.dtype == forest.roots.dtype == np.int64
    assert forest.tau == 1.0


def test_infinite_tau_gives_one_tree() -> None:
    for kind in ("random", "lattice", "duplicated", "constant"):
        case = make(kind, 65, 2)
        forest = cut(climb(case.X, np.ones(case.n)), np.inf)
        assert not forest.labels.any()
        assert len(forest.roots) == 1


def test_tau_of_zero_leaves_duplicates_together() -> None:
    forest = cut(climb(column(1, 2, 1, 1), [1, 1, 1, 1]), 0.0)
    np.testing.assert_array_equal(forest.labels, [1, 0, 1, 1])


def test_rows_of_weight_zero_have_no_label() -> None:
    graph = climb(prepare(column(0, 1, 2), sample_weight=[1, 0, 1]), [1, 5, 2])
    np.testing.assert_array_equal(cut(graph, np.inf).labels, [0, -1, 0])
    np.testing.assert_array_equal(cut(graph, 1.0).labels, [1, -1, 0])
    np.testing.assert_array_equal(cut_into(graph, 2).labels, [1, -1, 0])


def test_cut_changes_nothing_in_the_graph() -> None:
    graph = climb(make("random", 33, 2).X, np.arange(33))
    before = graph.parent.copy(), graph.distance.copy()
    cut(graph, 0.1)
    cut_into(graph, 7)
    linkage(graph)
    np.testing.assert_array_equal(graph.parent, before[0])
    np.testing.assert_array_equal(graph.distance, before[1])


@given(case=cases(weights=WEIGHTED), ties=st.sampled_from(["total", "strict"]), data=st.data())
def test_labels_are_those_of_the_tree_each_sample_climbs_in(
    case: Case, ties: str, data: st.DataObject
) -> None:
    graph = climbed(case, data.draw(densities(case.n)), ties)
    tau = data.draw(taus(graph.distance))
    forest = cut(graph, tau)
    for row in np.flatnonzero(present(graph)).tolist():
        top = row
        while graph.parent[top] != top and graph.distance[top] <= tau:
            top = int(graph.parent[top])
        assert forest.roots[forest.labels[row]] == top


@given(case=cases(weights=WEIGHTED), ties=st.sampled_from(["total", "strict"]), data=st.data())
def test_clusters_of_a_smaller_tau_lie_within_those_of_a_larger(
    case: Case, ties: str, data: st.DataObject
) -> None:
    graph = climbed(case, data.draw(densities(case.n)), ties)
    small, large = sorted(data.draw(st.tuples(taus(graph.distance), taus(graph.distance))))
    fine, coarse = cut(graph, small), cut(graph, large)
    pairs = set(zip(fine.labels.tolist(), coarse.labels.tolist(), strict=True))
    assert len(pairs) == len(set(fine.labels.tolist()))
    assert set(coarse.roots.tolist()) <= set(fine.roots.tolist())


# Cut into a number of clusters


def test_cut_into_removes_the_longest_edges() -> None:
    graph = climb(column(0, 1, 3, 7), [4, 3, 2, 1])
    np.testing.assert_array_equal(cut_into(graph, 1).labels, [0, 0, 0, 0])
    np.testing.assert_array_equal(cut_into(graph, 2).labels, [0, 0, 0, 1])
    np.testing.assert_array_equal(cut_into(graph, 3).labels, [0, 0, 1, 2])
    np.testing.assert_array_equal(cut_into(graph, 4).labels, [0, 1, 2, 3])
    assert [cut_into(graph, k).tau for k in (1, 2, 3, 4)] == [4.0, 2.0, 1.0, 0.0]


def test_of_equal_edges_the_one_below_the_higher_sample_goes_first() -> None:
    graph = climb(column(0, 1, 2, 3), [1, 2, 3, 4])
    np.testing.assert_array_equal(cut_into(graph, 2).roots, [3, 2])
    np.testing.assert_array_equal(cut_into(graph, 3).roots, [3, 2, 1])


@given(case=cases(weights=WEIGHTED, max_n=40), data=st.data())
def test_cut_into_gives_every_number_of_clusters(case: Case, data: st.DataObject) -> None:
    graph = climbed(case, data.draw(densities(case.n)))
    labels = []
    for k in range(1, int((graph.distance > 0).sum()) + 1):
        forest = cut_into(graph, k)
        assert forest.roots.size == k
        assert set(forest.labels[present(graph)].tolist()) == set(range(k))
        assert (forest.labels[~present(graph)] == -1).all()
        labels.append(forest.labels)
    for coarse, fine in itertools.pairwise(labels):
        assert len(set(zip(coarse.tolist(), fine.tolist(), strict=True))) == len(set(fine.tolist()))


@given(case=cases(kinds=("random", "clustered", "offset"), weights=WEIGHTED), data=st.data())
def test_cut_into_agrees_with_cut_at_its_tau_where_lengths_are_distinct(
    case: Case, data: st.DataObject
) -> None:
    graph = climbed(case, data.draw(densities(case.n)))
    lengths = graph.distance[np.isfinite(graph.distance)]
    for k in range(1, int((graph.distance > 0).sum()) + 1):  # duplicate rows are never parted
        forest = cut_into(graph, k)
        same = cut(graph, forest.tau)
        if np.unique(lengths).size == lengths.size:
            assert same.roots.size == k
        if same.roots.size == k:
            np.testing.assert_array_equal(forest.labels, same.labels)


@given(case=cases(periods=("open",), max_n=30), data=st.data())
def test_cut_into_does_not_depend_on_the_order_of_rows(case: Case, data: st.DataObject) -> None:
    X = np.unique(case.X, axis=0)
    density = data.draw(densities(len(X)))
    order = np.random.default_rng(data.draw(st.integers(0, 99))).permutation(len(X))
    graph, permuted = climb(X, density), climb(X[order], density[order])
    for k in range(1, len(X) + 1):
        forest = cut_into(graph, k)
        np.testing.assert_array_equal(cut_into(permuted, k).labels, forest.labels[order])


def test_cut_into_compares_edges_by_their_relative_lengths() -> None:
    graph = climb(column(0, 1, 3, 7), [4, 3, 2, 1])
    forest = cut_into(graph, 2, relative_to=np.array([1.0, 1.0, 4.0, 16.0]))
    np.testing.assert_array_equal(forest.labels, [0, 1, 1, 1])  # of 1, 1/2 and 1/4, 1 is removed
    np.testing.assert_array_equal(forest.tau, [0.5, 0.5, 2.0, 8.0])


def test_the_tau_of_relative_lengths_keeps_what_was_kept() -> None:
    graph = climb(column(0, 0.25, 0.75), [3, 2, 1])
    forest = cut_into(graph, 2, relative_to=np.array([1.0, 0.5, 1.0]))  # both are half as long
    np.testing.assert_array_equal(forest.labels, [0, 1, 1])
    np.testing.assert_array_equal(forest.tau, [0.5, np.nextafter(0.25, 0.0), 0.5])
    np.testing.assert_array_equal(cut(graph, forest.tau).labels, forest.labels)


def test_cut_into_never_parts_duplicates() -> None:
    graph = climb(column(0, 0, 5, 0), [1, 1, 2, 1])
    np.testing.assert_array_equal(cut_into(graph, 2).labels, [1, 1, 0, 1])
    with pytest.raises(ValueError, match=r"n_clusters is 3, .* 1 to 2, the number of distinct"):
        cut_into(graph, 3)


@pytest.mark.parametrize("n_clusters", [0, -1, 4])
def test_number_of_clusters_must_be_one_to_the_number_of_samples(n_clusters: int) -> None:
    graph = climb(column(0, 1, 2), [1, 2, 3])
    with pytest.raises(ValueError, match=rf"n_clusters is {n_clusters}, expected .* from 1 to 3"):
        cut_into(graph, n_clusters)


def test_rows_of_weight_zero_do_not_count_as_clusters() -> None:
    graph = climb(prepare(column(0, 1, 2), sample_weight=[1, 0, 1]), [1, 5, 2])
    with pytest.raises(ValueError, match=r"n_clusters is 3, expected .* from 1 to 2"):
        cut_into(graph, 3)


def test_fewer_clusters_than_strict_roots_is_an_error_that_says_why() -> None:
    graph = climb(column(0, 1, 2), [1, 1, 1], ties="strict")
    with pytest.raises(ValueError, match=r"n_clusters is 2, expected at least 3.*ties='total'"):
        cut_into(graph, 2)
    np.testing.assert_array_equal(cut_into(graph, 3).roots, [2, 1, 0])


@pytest.mark.parametrize("tau", [-1.0, math.nan, -math.inf])
def test_tau_must_be_a_length(tau: float) -> None:
    with pytest.raises(ValueError, match=r"tau is .*, expected a length of at least 0"):
        cut(climb(column(0, 1), [1, 2]), tau)


# Linkage


def test_linkage_of_three_points() -> None:
    np.testing.assert_array_equal(
        linkage(climb(column(0, 1, 3), [1, 2, 3])), [[0, 1, 1, 2], [2, 3, 2, 3]]
    )


def test_linkage_of_one_point_is_empty() -> None:
    assert linkage(climb(column(0), [1])).shape == (0, 4)


def assert_linkage_holds_every_cut(graph: ParentGraph, extra: list[float]) -> None:
    Z = linkage(graph)
    kept = present(graph)
    n = int(kept.sum())
    assert Z.shape == (n - 1, 4)
    if n == 1:
        return
    assert is_valid_linkage(Z, throw=True)
    assert (Z[1:, 2] >= Z[:-1, 2]).all()
    lengths = np.unique(graph.distance[np.isfinite(graph.distance)]).tolist()
    for tau in [*lengths, *extra, 0.0, 1e300]:
        labels = cut(graph, tau).labels[kept]
        assert same_partition(fcluster(Z, tau, "distance"), labels), tau


@given(case=cases(weights=WEIGHTED, max_n=40), data=st.data())
def test_linkage_holds_the_cut_at_every_tau(case: Case, data: st.DataObject) -> None:
    graph = climbed(case, data.draw(densities(case.n)))
    extra = data.draw(st.lists(taus(graph.distance), max_size=5))
    assert_linkage_holds_every_cut(graph, [tau for tau in extra if math.isfinite(tau)])


@given(case=cases(weights=WEIGHTED, max_n=40), data=st.data())
def test_linkage_joins_strict_trees_at_an_infinite_distance(
    case: Case, data: st.DataObject
) -> None:
    graph = climbed(case, data.draw(densities(case.n)), "strict")
    n_roots = int(np.isinf(graph.distance).sum())
    assert int(np.isinf(linkage(graph)[:, 2]).sum()) == n_roots - 1
    assert_linkage_holds_every_cut(graph, [])


def test_linkage_numbers_samples_of_positive_weight_only() -> None:
    graph = climb(prepare(column(0, 1, 2, 4), sample_weight=[0, 1, 1, 1]), [9, 1, 2, 3])
    np.testing.assert_array_equal(linkage(graph), [[0, 1, 1, 2], [2, 3, 2, 3]])


# Invalid graphs


@pytest.mark.parametrize(
    "parent", [[1, 0], [1, 2, 0], [0, 2, 1], [0, 2, 3, 1], [1, 2, 3, 4, 2]], ids=str
)
def test_cut_refuses_cycles(parent: list[int]) -> None:
    graph = graph_of(parent, [1.0] * len(parent))
    with pytest.raises(ValueError, match="no cycle"):
        cut(graph, 2.0)
    with pytest.raises(ValueError, match="no cycle"):
        cut(graph, np.inf)


@pytest.mark.parametrize("parent", [[0, 2], [0, -1], [7, 0], [-1, 0], [0, 2**62]], ids=str)
def test_cut_refuses_parents_that_are_no_rows(parent: list[int]) -> None:
    graph = graph_of(parent, [1.0, 1.0])
    with pytest.raises(ValueError, match="parent must name rows"):
        cut(graph, 2.0)


@pytest.mark.parametrize(
    "parent", [[1, 0], [0, 2, 1], [0, 2], [0, -1], [0, -7], [0, 2**62]], ids=str
)
def test_linkage_refuses_what_is_no_forest(parent: list[int]) -> None:
    graph = graph_of(parent, [1.0] * len(parent))
    with pytest.raises(ValueError, match="parent must name rows and contain no cycle"):
        linkage(graph)


def test_linkage_refuses_parents_of_weight_zero() -> None:
    # In a separate process, because a read outside an array may crash it.
    code = """
from numpy import array, inf, nan
from quickshift.stages import ParentGraph, linkage, prepare
samples = prepare([[0.0], [1.0], [2.0]])
graph = ParentGraph(array([0, 1, 1]), array([inf, nan, 1.0]), samples, array([3.0, 2.0, 1.0]))
try:
    linkage(graph)
except ValueError as error:
    print(error)
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr[-500:]
    assert "parent must name rows" in found.stdout


# Long chains


@pytest.mark.parametrize("order", ["rising", "falling", "shuffled"])
def test_a_chain_of_a_million_samples_is_cut_in_linear_time_without_recursion(order: str) -> None:
    # A quadratic algorithm would take days here, and a recursive one would overflow the stack.
    n = 1_000_000
    place = np.arange(n)
    if order == "shuffled":
        place = np.random.default_rng(0).permutation(n)
    if order == "falling":
        place = place[::-1].copy()
    graph = climb(place[:, None].astype(float), place)
    row_of = np.argsort(place)
    np.testing.assert_array_equal(graph.parent[row_of], [*row_of[1:], row_of[-1]])

    assert cut(graph, 1.0).roots.tolist() == [row_of[-1]]
    np.testing.assert_array_equal(cut(graph, 0.5).labels, n - 1 - place)
    assert cut_into(graph, 3).roots.tolist() == row_of[:-4:-1].tolist()
    Z = linkage(graph)
    assert Z.shape == (n - 1, 4)
    assert (Z[:, 2] == 1.0).all()
    assert Z[-1, 3] == n


def test_relative_lengths_may_be_zero_and_a_list():
    graph = climb([[0.0], [100.0], [300.0], [700.0]], [1.0, 2.0, 3.0, 4.0])
    forest = cut_into(graph, 2, relative_to=[0.0] * 4)  # 100 / 0 is not larger than 400 / 0
    assert forest.labels.max() == 1
    np.testing.assert_array_equal(cut(graph, forest.tau).labels, forest.labels)
    forest = cut_into(graph, 2, relative_to=[1.0, 100.0, 100.0, 1.0])
    assert forest.roots.tolist() == [3, 0]


def test_relative_lengths_may_be_far_apart():
    graph = climb([[0.0], [100.0], [300.0], [700.0]], [1.0, 2.0, 3.0, 4.0])
    for lengths in ([0.0, 5.0, 5.0, 5.0], [1e-300, 1e308, 1e308, 1.0]):
        forest = cut_into(graph, 1, relative_to=lengths)  # 100 / 0 times 5 overflows
        assert forest.labels.tolist() == [0, 0, 0, 0]
        assert forest.tau[0] == 100.0
        assert forest.tau[2] == np.inf
        np.testing.assert_array_equal(cut(graph, forest.tau).labels, forest.labels)


@pytest.mark.parametrize("lengths", [[np.inf] * 3, [-1.0] * 3, [1.0], 2.0, ["a"] * 3])
def test_relative_lengths_that_are_no_lengths_are_refused(lengths):
    graph = climb([[0.0], [1.0], [3.0]], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"relative_to (is|has) .*, expected an array of shape"):
        cut_into(graph, 2, relative_to=lengths)
