"""The share of each cluster in the density at a point, and in the nearest samples of a point."""

import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import COMPACT, DIMENSIONS, INFINITE, KERNELS, distances, make, variations
from clustering_cases import DATA, EVERY_DATA, EVERY_KERNEL, queries_for
from quickshift import QuickShift, reference
from quickshift.datasets import blobs
from quickshift.stages import TopShares

FITS = {
    "local": {},
    "gaussian": {"bandwidth": "auto"},
    "epanechnikov": {"bandwidth": 1.5, "tau": 2.0, "kernel": "epanechnikov"},
}
EVERY_FIT = pytest.mark.parametrize("settings", FITS.values(), ids=FITS)


@pytest.fixture(name="X", scope="module")
def some_blobs():
    return blobs(400, centers=4, seed=1)[0]


def expected_shares(model, X, queries, sample_weight=None, period=None):
    """Evaluate the definition over all pairs of query and sample."""
    weighted = {"sample_weight": sample_weight, "period": period}
    if isinstance(model.bandwidth_, float):
        kernel = {"kernel": model.kernel, **weighted}
        shares = reference.kernel_shares(X, model.labels_, queries, model.bandwidth_, **kernel)
    else:
        shares = reference.neighbor_shares(
            X, model.labels_, queries, model.n_neighbors_, **weighted
        )
    vanished = ~shares.any(axis=1)
    if vanished.any():
        shares[vanished, model.predict(np.asarray(queries)[vanished])] = 1.0
    return shares


def assert_equals_definition(model, X, queries, **given):
    expected = expected_shares(model, X, queries, **given)
    np.testing.assert_allclose(model.predict_proba(queries), expected, rtol=0, atol=5e-9)


# The definition


@EVERY_KERNEL
@EVERY_DATA
def test_shares_of_the_density_equal_the_definition(kernel, X):
    model = QuickShift(bandwidth=1.3, tau=1.5, kernel=kernel).fit(X)
    assert_equals_definition(model, X, queries_for(X))


@EVERY_DATA
@pytest.mark.parametrize("n_neighbors", ["auto", 1, 7, 30, 59])
def test_shares_of_neighbors_equal_the_definition(n_neighbors, X):
    k = min(n_neighbors, len(X) - 1) if isinstance(n_neighbors, int) else n_neighbors
    model = QuickShift(n_neighbors=k, min_significance=0.0).fit(X)
    assert_equals_definition(model, X, queries_for(X))


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("kind", ["random", "lattice", "duplicated", "clustered", "constant"])
@pytest.mark.parametrize("local", [True, False])
def test_shares_equal_the_definition_with_weights_and_periods(kind, d, local):
    for case, kernel in zip(variations(kind, d), 2 * KERNELS, strict=False):
        if local and case.sample_weight is not None and case.sample_weight.sum() < 8:
            continue
        settings = {} if local else {"bandwidth": case.bandwidth(kernel), "kernel": kernel}
        tau = np.median(distances(case.X, case.X, case.period))
        model = QuickShift(**settings, tau=tau / 2, period=case.period)
        model.fit(case.X, sample_weight=case.sample_weight)
        queries = np.concatenate([case.X, 1.1 * case.X[:9]])
        assert_equals_definition(model, case.X, queries, **case.given)


@given(st.integers(0, 2**16), st.sampled_from([*KERNELS, "local"]), st.booleans())
def test_shares_equal_the_definition_on_lattices(seed, kernel, weighted):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(rng.integers(9, 60), 2)).astype(float)
    weights = rng.integers(1, 4, size=len(X)).astype(float) if weighted else None
    settings = {} if kernel == "local" else {"bandwidth": 2.0, "kernel": kernel}
    model = QuickShift(tau=1.0, **settings).fit(X, sample_weight=weights)
    queries = rng.integers(-2, 16, size=(40, 2)) / 2
    assert_equals_definition(model, X, queries, sample_weight=weights)


def test_samples_at_the_same_distance_share_the_last_place():
    X = np.array([[-1.0], [-1.0], [0.0], [1.0]])
    model = QuickShift(n_neighbors=2, tau=0.0).fit(X)
    left, middle, right = model.labels_[[0, 2, 3]]
    shares = model.predict_proba([[0.0]])[0]
    np.testing.assert_allclose(shares[[left, middle, right]], [1 / 3, 1 / 2, 1 / 6])


def test_a_sample_at_the_point_itself_counts():
    model = QuickShift(n_neighbors=1, tau=0.5).fit([[0.0], [1.0], [3.0]])
    np.testing.assert_array_equal(model.predict_proba([[0.0], [1.0], [3.0]]).max(axis=1), 1.0)


@pytest.mark.parametrize("settings", [{}, {"bandwidth": 1.0}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_rows_of_different_clusters_divide_their_location(settings, weighted):
    X = DATA["duplicates"]
    weights = np.random.default_rng(0).integers(1, 5, size=len(X)) if weighted else None
    model = QuickShift(tau=1.0, ties="strict", **settings).fit(X, sample_weight=weights)
    assert model.n_clusters_ > len(np.unique(X, axis=0)) / 2
    assert_equals_definition(model, X, queries_for(X), sample_weight=weights)
    top = model.predict_proba(X, top=3)
    full = model.predict_proba(X)
    np.testing.assert_array_equal(np.take_along_axis(full, top.labels, axis=1), top.shares)


# What a row is


@EVERY_FIT
def test_rows_sum_to_one(settings, X):
    model = QuickShift(**settings).fit(X)
    shares = model.predict_proba(queries_for(X))
    assert shares.shape == (len(queries_for(X)), model.n_clusters_)
    assert shares.dtype == np.float64
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@EVERY_FIT
def test_one_cluster_has_all_shares(settings):
    model = QuickShift(**{**settings, "tau": np.inf}).fit(blobs(100, centers=1, seed=0)[0])
    np.testing.assert_array_equal(model.predict_proba([[0.0, 0.0], [1e9, 1e9]]), 1.0)


@EVERY_FIT
def test_far_points_belong_to_the_cluster_that_predict_returns(settings, X):
    model = QuickShift(**settings).fit(X)
    far = 1e5 * np.random.default_rng(0).normal(size=(50, 2))
    if settings:
        expected = np.eye(model.n_clusters_)[model.predict(far)]
        np.testing.assert_array_equal(model.predict_proba(far), expected)
        top = model.predict_proba(far, top=2)
        np.testing.assert_array_equal(top.labels[:, 0], model.predict(far))
        np.testing.assert_array_equal(top.labels[:, 1], np.where(top.labels[:, 0] == 0, 1, 0))
        np.testing.assert_array_equal(top.shares, [[1.0, 0.0]] * 50)
    else:
        assert_equals_definition(model, X, far)


@pytest.mark.parametrize("kernel", INFINITE)
def test_shares_are_accurate_until_the_kernels_underflow(kernel, X):
    model = QuickShift(bandwidth=0.5, tau=2.0, kernel=kernel).fit(X)
    way = np.linspace(1.0, 400.0, 300)[:, None]
    assert_equals_definition(model, X, X.mean(axis=0) + way * [[0.6, 0.8]])


@pytest.mark.parametrize("kernel", COMPACT)
def test_no_share_outside_the_support(kernel, X):
    model = QuickShift(bandwidth=1.0, tau=2.0, kernel=kernel).fit(X)
    expected = expected_shares(model, X, X)
    np.testing.assert_array_equal(model.predict_proba(X) == 0, expected == 0)


def test_every_pair_is_summed_without_tolerance(X):
    model = QuickShift(bandwidth=1.0, tau=2.0, rtol=0.0).fit(X)
    shares, expected = model.predict_proba(X), expected_shares(model, X, X)
    np.testing.assert_allclose(shares, expected, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("kernel", [*KERNELS, "local"])
@pytest.mark.parametrize(("n", "d"), [(20000, 2), (3000, 1), (3000, 3), (2000, 9)])
def test_many_samples_equal_the_definition(n, d, kernel):
    X, _ = blobs(n, d, centers=12, seed=2)
    settings = {} if kernel == "local" else {"bandwidth": "auto", "kernel": kernel}
    model = QuickShift(**settings).fit(X)
    assert model.n_clusters_ > 1
    queries = np.concatenate([X[:: n // 100], queries_for(X)])
    assert_equals_definition(model, X, queries)
    together = model.predict_proba(np.concatenate([queries, X]))
    alone = model.predict_proba(queries)
    np.testing.assert_allclose(together[: len(queries)], alone, rtol=0, atol=5e-9)


# The largest shares


@EVERY_FIT
@pytest.mark.parametrize("top", [1, 2, 5, 1000])
def test_top_agrees_with_the_full_table(settings, top):
    X, _ = blobs(1500, centers=7, seed=3)
    model = QuickShift(**settings).fit(X)
    queries = queries_for(X)
    table = model.predict_proba(queries)
    largest = model.predict_proba(queries, top=top)
    assert isinstance(largest, TopShares)
    order = np.argsort(-table, axis=1, kind="stable")[:, :top]
    np.testing.assert_array_equal(largest.labels, order)
    np.testing.assert_array_equal(largest.shares, np.take_along_axis(table, order, axis=1))
    assert largest.labels.shape == (len(queries), min(top, model.n_clusters_))


MANY_CLUSTERS = """
    import sys
    import numpy as np
    from quickshift import QuickShift

    def status(name):
        lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
        return 1024 * int(lines[name].split()[0])

    rng = np.random.default_rng(0)
    X = rng.uniform(size=(20_000, 2))
    settings = {"bandwidth": 0.001} if sys.argv[1] == "kernel" else {}
    model = QuickShift(tau=0.003, **settings).fit(X)
    queries = rng.uniform(size=(100_000, 2))
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # forgets the peak of the fit
    before = status("VmRSS")
    model.predict_proba(queries, top=3)
    assert model.n_clusters_ > 10_000, model.n_clusters_
    print((status("VmHWM") - before) / len(queries))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read in /proc")
@pytest.mark.parametrize("density", ["kernel", "local"])
def test_memory_of_the_largest_shares_does_not_grow_with_the_clusters(density):
    command = [sys.executable, "-c", textwrap.dedent(MANY_CLUSTERS), density]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 500  # bytes per query; all shares would need 8 per cluster


@pytest.mark.parametrize("settings", [{"bandwidth": 0.02}, {"bandwidth": 0.3}, {}], ids=str)
def test_many_clusters_equal_the_definition(settings):
    X = np.random.default_rng(0).uniform(size=(2000, 2))
    model = QuickShift(**settings, tau=0.01).fit(X)
    assert model.n_clusters_ > 800
    queries = np.random.default_rng(1).uniform(size=(50, 2))
    assert_equals_definition(model, X, queries)
    full, top = model.predict_proba(queries), model.predict_proba(queries, top=5)
    np.testing.assert_array_equal(np.argsort(-full, axis=1, kind="stable")[:, :5], top.labels)


@pytest.mark.parametrize("top", [0, -1])
def test_top_must_be_positive(top, X):
    with pytest.raises(ValueError, match=r"top is .*, expected a whole number of at least 1"):
        QuickShift().fit(X).predict_proba(X, top=top)
    with pytest.raises(TypeError, match=r"top is 1\.5, expected a whole number"):
        QuickShift().fit(X).predict_proba(X, top=1.5)


# What does not matter


@EVERY_FIT
def test_threads_do_not_change_any_bit(settings):
    X, _ = blobs(5000, centers=6, seed=0)
    one, three = (QuickShift(**settings, n_jobs=n).fit(X) for n in (1, 3))
    np.testing.assert_array_equal(one.predict_proba(X), three.predict_proba(X))
    for a, b in zip(one.predict_proba(X, top=2), three.predict_proba(X, top=2), strict=True):
        np.testing.assert_array_equal(a, b)


@EVERY_FIT
@pytest.mark.parametrize("name", ["blobs", "duplicates", "lattice"])
def test_order_of_the_samples_does_not_matter(settings, name):
    X = DATA[name]
    order = np.random.default_rng(0).permutation(len(X))
    shares = QuickShift(**settings).fit(X).predict_proba(queries_for(X))
    permuted = QuickShift(**settings).fit(X[order]).predict_proba(queries_for(X))
    np.testing.assert_allclose(permuted, shares, rtol=0, atol=1e-12)


@EVERY_FIT
def test_integer_weights_equal_repeated_rows(settings):
    X = DATA["blobs"]
    weights = np.random.default_rng(0).integers(0, 4, size=len(X))
    weighted = QuickShift(**settings).fit(X, sample_weight=weights)
    repeated = QuickShift(**settings).fit(np.repeat(X, weights, axis=0))
    queries = queries_for(X)
    np.testing.assert_allclose(
        weighted.predict_proba(queries), repeated.predict_proba(queries), rtol=0, atol=1e-12
    )


@EVERY_FIT
def test_rows_of_weight_zero_have_no_share(settings, X):
    weights = np.ones(len(X))
    weights[::3] = 0.0
    model = QuickShift(**settings).fit(X, sample_weight=weights)
    assert_equals_definition(model, X, X, sample_weight=weights)


@EVERY_FIT
def test_scaling_by_a_power_of_two_changes_nothing(settings, X):
    model = QuickShift(**settings).fit(X)
    lengths = {"tau": 2.0**41} if "tau" in settings else {}
    if lengths:
        lengths["bandwidth"] = 2.0**40 * 1.5
    scaled = QuickShift(**{**settings, **lengths}).fit(2.0**40 * X)
    np.testing.assert_array_equal(scaled.predict_proba(2.0**40 * X), model.predict_proba(X))


def test_the_nearest_image_of_a_sample_counts():
    X = np.array([[1.0], [2.0], [359.0], [180.0], [182.0]])
    for settings in ({"bandwidth": 5.0}, {"n_neighbors": 3}):
        model = QuickShift(tau=10.0, period=[360.0], **settings).fit(X)
        assert_equals_definition(model, X, [[-0.5], [180.0], [90.0], [721.0]], period=[360.0])
        assert model.predict_proba([[-0.5]]).max() > 0.999


# Fits and inputs


@EVERY_FIT
def test_shares_follow_a_recut(settings):
    X, _ = blobs(800, centers=6, seed=0)
    model = QuickShift(**settings).fit(X)
    recut = model.recut(n_clusters=3)
    assert recut.predict_proba(X).shape == (800, 3)
    assert_equals_definition(recut, X, queries_for(X))
    assert model.predict_proba(X).shape == (800, model.n_clusters_)
    finer = model.recut(tau=0.3)
    assert_equals_definition(finer, X, queries_for(X))


@EVERY_FIT
def test_single_precision_and_names_are_read_as_in_predict(settings, X):
    table = pd.DataFrame(X, columns=["a", "b"])
    model = QuickShift(**settings).fit(table)
    np.testing.assert_array_equal(
        model.predict_proba(table), model.predict_proba(table[["a", "b"]])
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict_proba(table[["b", "a"]])
    with pytest.raises(ValueError, match="features"):
        QuickShift(**settings).fit(X).predict_proba([[1.0]])
    rough = X.astype(np.float32)
    model = QuickShift(**settings).fit(rough)
    np.testing.assert_array_equal(
        model.predict_proba(rough), model.predict_proba(rough.astype(np.float64))
    )


def test_equal_points_have_equal_rows(X):
    model = QuickShift(bandwidth="auto").fit(X)
    shares = model.predict_proba(np.repeat(X[:50], 3, axis=0))
    np.testing.assert_array_equal(shares[::3], shares[1::3])
    np.testing.assert_array_equal(shares[::3], shares[2::3])


def test_a_heavy_sample_outweighs_light_ones():
    case = make("random", 200, 2, weights="heavy")
    model = QuickShift(bandwidth=case.h, tau=0.5).fit(case.X, sample_weight=case.sample_weight)
    assert_equals_definition(model, case.X, case.X, sample_weight=case.sample_weight)


def test_a_pipeline_passes_the_call_on(X):
    pipeline = make_pipeline(StandardScaler(), QuickShift()).fit(X)
    scaled = pipeline[0].transform(X)
    np.testing.assert_array_equal(pipeline.predict_proba(X), pipeline[1].predict_proba(scaled))
    top = pipeline.predict_proba(X, top=1)
    np.testing.assert_array_equal(top.shares, pipeline[1].predict_proba(scaled, top=1).shares)


def test_heavy_samples_do_not_hide_those_between_them_and_light_ones():
    X = np.concatenate(
        [np.linspace(0, 1, 400), np.linspace(1.2, 5, 3000), np.linspace(100, 101, 40)]
    )
    weights = np.repeat([0.05, 100.0], [3400, 40])
    model = QuickShift(tau=0.1, n_neighbors=60).fit(X[:, None], sample_weight=weights)
    query = [[0.5]]
    expected = reference.neighbor_shares(
        X[:, None], model.labels_, query, 60, sample_weight=weights
    )
    np.testing.assert_allclose(model.predict_proba(query), expected, atol=1e-12)


def test_many_clusters_in_reach_are_as_accurate_as_few():
    X = 10 * np.random.default_rng(0).normal(size=(1000, 1))
    rough = QuickShift(bandwidth=8.0, tau=1e-9, rtol=1e-3).fit(X)
    exact = QuickShift(bandwidth=8.0, tau=1e-9, rtol=0).fit(X)
    assert rough.n_clusters_ == 1000
    difference = rough.predict_proba([[0.0]])[0][rough.labels_]
    difference -= exact.predict_proba([[0.0]])[0][exact.labels_]
    assert np.abs(difference).max() < 1e-3
