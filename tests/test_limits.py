"""Sizes and magnitudes at which other libraries overflow, recurse too deep or run out of memory.

`make scale` runs them in full. Without it, ``pytest -m scale tests/test_limits.py`` runs the same
tests with sizes that take seconds.
"""

import os

import numpy as np
import pytest

from quickshift import QuickShift, stages
from quickshift.datasets import lattice
from quickshift.memory import available_memory

pytestmark = pytest.mark.scale

NEEDED = 52e9  # bytes
FULL = bool(os.environ.get("QUICKSHIFT_SCALE"))


def size(full, small):
    return full if FULL else small


def test_more_than_two_billion_numbers():
    """Indices of 32 bits overflow at 2^31 numbers; the array has 8.6 GB, the fit 43 GB."""
    if FULL and available_memory() < NEEDED:
        pytest.skip(f"needs {NEEDED / 1e9:.0f} GB of memory")
    n, d = size(2**21 + 1, 2**11 + 1), 1024
    distinct = np.random.default_rng(0).normal(size=(40, d)).astype(np.float32)
    distinct[20:] += 50
    rows = np.arange(n) % len(distinct)
    X = np.empty((n, d), dtype=np.float32)
    for start in range(0, n, 4096):
        X[start : start + 4096] = distinct[rows[start : start + 4096]]
    assert not FULL or X.size > 2**31
    model = QuickShift(bandwidth=60.0, tau=80.0).fit(X)
    few = QuickShift(bandwidth=60.0, tau=80.0).fit(distinct, sample_weight=np.bincount(rows))
    np.testing.assert_array_equal(model.labels_, few.labels_[rows])
    np.testing.assert_allclose(model.log_density_[:40], few.log_density_)
    assert model.n_clusters_ == 2


def test_more_than_two_billion_numbers_in_queries(tmp_path):
    """They are read where they are: most of this file of 8.6 GB is a hole, and takes no disk."""
    n, d = size(2**21 + 1, 2**11 + 1), 1024
    far = [1, n // 2, n - 2, n - 1]
    queries = np.memmap(tmp_path / "queries", dtype=np.float32, mode="w+", shape=(n, d))
    queries[far] = 50.0
    queries.flush()
    queries = np.memmap(tmp_path / "queries", dtype=np.float32, mode="r", shape=(n, d))
    assert not FULL or queries.size > 2**31
    samples = np.arange(8)[:, None] * 0.01 + np.repeat([[0.0], [50.0]], 4, axis=0) + np.zeros(d)
    graph = stages.climb(samples, [3.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0])
    expected = np.zeros(n)
    expected[far] = 4
    found = stages.assign(graph, queries, density=np.zeros(n), tau=1000.0)
    np.testing.assert_array_equal(found, expected)


def test_chain_of_parents():
    """Every sample is the parent of the one before it; recursion would need as many frames."""
    n = size(10**6, 10**4)
    X, density = np.arange(float(n))[:, None], np.arange(1.0, n + 1)
    graph = stages.climb(X, density)
    np.testing.assert_array_equal(graph.parent[:-1], np.arange(1, n))
    forest = stages.cut(graph, 1.0)
    assert len(forest) == 1
    tree = stages.link(X, density, forest, 1.5)
    assert len(tree) == 1
    assert (tree.components_at(n / 2) >= 0).sum() == n // 2
    assert len(stages.linkage(graph)) == n - 1


@pytest.mark.parametrize("bandwidth", ["local", "auto"])
def test_duplicates_are_one_location(bandwidth):
    n = size(10**6, 10**4)
    X = np.zeros((n, 3))
    assert QuickShift(bandwidth).fit(X).n_clusters_ == 1
    rng = np.random.default_rng(0)
    two = rng.integers(0, 2, size=n)[:, None] * [[9.0, 9.0, 9.0]] + rng.integers(0, 4, (n, 3)) * 0.1
    model = QuickShift(bandwidth).fit(two)
    distinct, first, counts = np.unique(two, axis=0, return_index=True, return_counts=True)
    few = QuickShift(bandwidth).fit(distinct, sample_weight=counts)
    np.testing.assert_array_equal(model.labels_[first], few.labels_)


def test_very_many_clusters():
    side = size(317, 32)  # of a square lattice: 1e5 clusters
    X = lattice(side) * 10.0
    model = QuickShift(bandwidth=1.0, tau=5.0).fit(X)
    assert model.n_clusters_ == side**2
    np.testing.assert_array_equal(np.sort(model.labels_), np.arange(side**2))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.recut(tau=np.inf).n_clusters_ == 1
    top = model.predict_proba(X[:100], top=1)
    np.testing.assert_array_equal(top.labels[:, 0], model.labels_[:100])


@pytest.mark.parametrize("bandwidth", ["local", "auto", 300.0])
def test_very_many_features(bandwidth):
    n, d = size(1000, 100), 10_000
    rng = np.random.default_rng(0)
    group = np.arange(n) % 2
    X = rng.normal(size=(n, d)) + 3.0 * group[:, None]
    model = QuickShift(bandwidth, n_clusters=2).fit(X)
    assert len(np.unique(np.column_stack([group, model.labels_]), axis=0)) == 2
    assert np.isfinite(model.log_density_).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("exponent", [-150, -100, 100, 150])
@pytest.mark.parametrize("bandwidth", ["local", "auto", "given"])
def test_extreme_units(bandwidth, exponent):
    """Squares of these distances underflow or overflow; peers find one cluster in silence."""
    n = size(100_000, 2000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2)) + 12.0 * rng.integers(0, 3, size=(n, 1))
    unit = 2.0 ** round(exponent * np.log2(10.0))
    plain, given = ({"bandwidth": bandwidth},) * 2
    if bandwidth == "given":
        plain, given = ({"bandwidth": 0.5 * u, "tau": 2.0 * u} for u in (1.0, unit))
    a, b = QuickShift(**plain).fit(X), QuickShift(**given).fit(X * unit)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert a.n_clusters_ > 1
    np.testing.assert_allclose(
        b.log_density_, a.log_density_ - 2 * np.log(unit), rtol=1e-9, atol=1e-9
    )
