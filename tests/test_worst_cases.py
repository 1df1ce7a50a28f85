"""Data made up against an algorithm: the number of elementary steps stays near that of random data.

The steps are counted, so that these tests do not depend on the speed of the machine.
benchmarks/adversarial.py searches for such data, and docs/benchmarks.md has their times.
"""

import numpy as np
import pytest
from scipy.spatial import KDTree

from benchmarks.made_up_data import against_median, colliding, long_tails, narrow_group
from quickshift import QuickShift, _core, reference, stages


def test_rows_with_colliding_hashes_are_compared_as_rarely_as_by_sorting():
    n = 20_000
    random = np.random.default_rng(0).normal(size=(n, 1))
    assert _core.comparisons_for_duplicates(random) < 2 * n
    assert _core.comparisons_for_duplicates(colliding(n)) < 4 * n * np.log2(n)  # was n²/2


@pytest.mark.parametrize("threads", [1, 2])
def test_duplicates_among_colliding_rows_are_found(threads):
    rows = colliding(5000)
    X = np.concatenate([rows, rows[::3], rows])
    order = np.random.default_rng(1).permutation(len(X))
    tree = _core.Tree(X[order], threads=threads)
    assert tree.n_locations == 5000
    first, weights = tree.first_rows()
    expected = {}
    for row, value in enumerate(X[order, 0].tolist()):
        expected.setdefault(value, row)
    assert sorted(first.tolist()) == sorted(expected.values())
    assert sorted(weights.tolist()) == sorted(np.unique(X, return_counts=True)[1].tolist())


def test_many_copies_of_few_rows_are_compared_once_each():
    X = np.random.default_rng(0).normal(size=(7, 2))[np.arange(20_000) % 7]
    assert _core.comparisons_for_duplicates(X) < 4 * len(X)


def test_an_order_against_the_median_costs_a_bounded_number_of_reads():
    n = 20_000
    random = np.random.default_rng(0).permutation(n).astype(float)
    assert _core.reads_for_median(random) < 3 * n
    keys = against_median(n)
    np.testing.assert_array_equal(np.sort(keys), np.arange(n))
    assert _core.reads_for_median(keys) < 20 * n  # was 120 n


@pytest.mark.parametrize("keys", [np.arange(9000.0), np.arange(9000.0) % 7, np.zeros(9000)])
def test_sorted_and_equal_keys_cost_few_reads(keys):
    assert _core.reads_for_median(keys) < 8 * len(keys)


def test_an_order_against_the_median_gives_the_tree_of_any_other_order():
    keys = against_median(20_000)[:, None]
    expected, _ = stages.prepare(np.sort(keys, axis=0)).tree.locations()
    found, _ = stages.prepare(keys).tree.locations()
    np.testing.assert_array_equal(found, expected)


def estimate_sums(X):
    samples = stages.prepare(X)
    return stages.fit_estimate(samples, stages.choose_bandwidth(samples)).sums()


def undecided(X):
    """Return the share of pairs that single precision cannot decide in the search for scales."""
    return _core.shares_for_scales(_core.Tree(X), 20.0, 8)[2]


def test_single_precision_decides_where_most_points_of_a_block_are_in_a_narrow_group():
    assert undecided(np.random.default_rng(1).normal(size=(3000, 10))) == 0
    # Relative to the centers of boxes, the share was above 0.2.
    assert undecided(narrow_group(3000, 10)) < 0.1


def test_pairs_that_single_precision_cannot_decide_are_counted():
    assert undecided(narrow_group(3000, 20, 0.4)) > 0.2
    far = narrow_group(3000, 10) * 1e-10  # squares of distances within the group underflow
    far[0] = 1e9
    assert undecided(far) > 0.2


def test_parents_are_searched_in_the_tree_where_single_precision_decides_little():
    even = np.random.default_rng(1).normal(size=(3000, 10))
    for X, blocks in ((even, True), (narrow_group(3000, 10), False)):
        sums = estimate_sums(X)
        assert _core.blocks_pay_for_parents(_core.Tree(X), sums, 36, False) == blocks


@pytest.mark.parametrize("share", [0.4, 0.9])
def test_scales_of_a_narrow_group_are_the_same_by_every_method(share):
    samples = stages.prepare(narrow_group(700, 8, share))
    found = [
        _core.local_scales(samples.tree, [20.0], 8, 8, threads, None, method)
        for method in _core.ScaleMethod
        for threads in (1, 2)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other[0][0], found[0][0][0])
        np.testing.assert_array_equal(other[1], found[0][1])


def test_a_narrow_group_is_clustered_as_by_the_reference():
    X = narrow_group(700, 8)
    model = QuickShift(n_clusters=5).fit(X)
    expected = reference.local_clusters(X, 2.0, n_clusters=5)
    assert model.n_clusters_ == 5
    np.testing.assert_array_equal(model.labels_, expected.labels)


def boxes_per_point(X, kernel):
    """Count the boxes that are visited to link a fit with automatic parameters."""
    samples = stages.prepare(X)
    h = stages.choose_bandwidth(samples, kernel=kernel)
    sums = stages.fit_estimate(samples, h, kernel=kernel).sums()
    graph = stages.climb(samples, sums)
    tau = stages.choose_tau(samples, h, kernel=kernel)
    forest = stages.cut(graph, tau)
    pieces = len(forest.roots)
    boxes = _core.boxes_for_saddles(samples.tree, sums, forest.labels, pieces, tau)
    return boxes / len(X)


@pytest.mark.parametrize("kernel", ["epanechnikov", "gaussian"])
def test_equal_densities_in_long_tails_cost_few_boxes(kernel):
    assert boxes_per_point(long_tails(20_000, 5, 7.5), kernel) < 200  # was 1400


def test_boxes_in_long_tails_grow_more_slowly_than_the_square_of_the_points():
    few, many = (boxes_per_point(long_tails(n, 5, 7.5), "epanechnikov") for n in (10_000, 40_000))
    assert many < 3 * few  # if quadratic: 4


def test_links_of_basins_with_many_features_cost_few_boxes():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100_000, 6))
    basins = KDTree(X[rng.integers(len(X), size=100)]).query(X)[1]
    heights = np.exp(-0.5 * np.square(X).sum(axis=1))
    samples = stages.prepare(X)
    boxes = _core.boxes_for_saddles(samples.tree, heights, basins, 100, 0.735)
    assert boxes < 3 * len(X)  # 15 per point if bounds are computed again for single leaves
