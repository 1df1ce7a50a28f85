"""Data made up against an algorithm: the number of elementary steps stays near that of random data.

The steps are counted, so that these tests do not depend on the speed of the machine.
benchmarks/adversarial.py searches for such data.
"""

import numpy as np
import pytest

from quickshift import QuickShift, _core, reference, stages


def unmixed(hashes):
    """Invert the hash of one coordinate that cpp/tree/distinct.cpp uses."""
    bits = np.asarray(hashes, dtype=np.uint64) * np.uint64(pow(0xC4CEB9FE1A85EC53, -1, 2**64))
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64(pow(0xFF51AFD7ED558CCD, -1, 2**64))
    return (bits ^ np.uint64(0x9E3779B97F4A7C15)).view(np.float64)


def colliding(n):
    """Return n different numbers in (-2, 2) whose hashes agree in all bits that a table uses."""
    low, high = np.meshgrid(np.arange(2**16), np.arange(2**3))
    found = unmixed((low + (high << 48)).ravel())
    found = found[np.abs(found) < 2]  # not scaled, if the largest is at least 1
    assert len(np.unique(found)) >= n
    return np.append(found[: n - 1], 1.5)[:, None]


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


def against_median(n):
    """Return an order of 0..n-1 that makes every pivot of the selection in the tree a small one.

    The 63 keys that are sampled are always the smallest of those that remain. The places follow the
    block partition of cpp/tree/select.hpp: the keys below a pivot go to the front one by one.
    """
    places, keys, key = np.arange(n), np.full(n, -1), 0
    begin = 0
    while n - begin > 4096 and n // 2 - begin > 64:
        count = n - begin
        sampled = begin + (2 * np.arange(63) + 1) * count // 126
        wanted = (n // 2 - begin) * 63 // count
        fresh = sampled[keys[places[sampled]] < 0]
        keys[places[fresh]] = key + np.arange(len(fresh))
        key += len(fresh)
        pivot = np.sort(keys[places[sampled]])[wanted]
        begin = partitioned(places, keys, begin, pivot)
    rest = places[begin:][keys[places[begin:]] < 0]
    keys[rest] = key + np.random.default_rng(0).permutation(len(rest))
    return keys.astype(float)


def partitioned(places, keys, begin, pivot):
    """Move the keys below a pivot to the front as `partition_long` does; return their end."""
    first = lambda at: 0 <= keys[places[at]] < pivot  # noqa: E731
    block, start, end = 64, begin, len(places)
    late, early = [], []
    below = np.flatnonzero((keys[places[begin:]] >= 0) & (keys[places[begin:]] < pivot)) + begin
    while end - start >= 2 * block:
        if not late:
            late = [start + i for i in range(block) if not first(start + i)]
        if not early:
            early = [at for at in below[::-1] if end - block <= at < end and first(at)]
        swaps = min(len(late), len(early))
        for a, b in zip(late[:swaps], early[:swaps], strict=True):
            places[[a, b]] = places[[b, a]]
        late, early = late[swaps:], early[swaps:]
        if not late:
            start += block
        if not early:
            end -= block
    for at in range(start, end):
        if first(at):
            places[[start, at]] = places[[at, start]]
            start += 1
    return start


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


def tight_core(n, d):
    """Return a sample of which nine tenths are in a group 1e8 times narrower than the rest.

    The median of every axis divides the group, so that each block of the tree has points of both
    kinds. In single precision, relative to the center of such a block, all points of the group
    coincide.
    """
    X = np.random.default_rng(1).normal(size=(n, d))
    X[n // 10 :] *= 1e-8
    return X


def estimate_sums(X):
    samples = stages.prepare(X)
    return stages.fit_estimate(samples, stages.choose_bandwidth(samples)).sums()


def test_the_tree_is_searched_where_single_precision_decides_little():
    n, d = 3000, 10
    even, tight = np.random.default_rng(1).normal(size=(n, d)), tight_core(n, d)
    assert _core.shares_for_scales(_core.Tree(even), 20.0, 8)[2] == 0
    assert _core.shares_for_scales(_core.Tree(tight), 20.0, 8)[2] > 0.2
    far = tight_core(n, d) * 1e-10  # squares of distances within the group underflow, too
    far[0] = 1e9
    assert _core.shares_for_scales(_core.Tree(far), 20.0, 8)[2] > 0.2
    for X, blocks in ((even, True), (tight, False)):
        sums = estimate_sums(X)
        assert _core.blocks_pay_for_parents(_core.Tree(X), sums, 36, False) == blocks


def test_scales_of_a_tight_core_are_the_same_by_every_method():
    samples = stages.prepare(tight_core(700, 8))
    found = [
        _core.local_scales(samples.tree, [20.0], 8, 8, threads, None, method)
        for method in _core.ScaleMethod
        for threads in (1, 2)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other[0][0], found[0][0][0])
        np.testing.assert_array_equal(other[1], found[0][1])


def test_a_tight_core_is_clustered_as_by_the_reference():
    X = tight_core(700, 8)
    model = QuickShift(n_clusters=5).fit(X)
    expected = reference.local_clusters(X, 2.0, n_clusters=5)
    assert model.n_clusters_ == 5
    np.testing.assert_array_equal(model.labels_, expected.labels)
