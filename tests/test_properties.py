"""Properties that hold for any data, with a bandwidth per sample and with one for all.

Each is asked of the whole fitted estimator: labels, strengths, shares, predictions and recuts.
"""

import multiprocessing
import os
import pickle
import threading

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from cases import make, same_partition
from clustering_cases import blobs
from quickshift import QuickShift

MODES = ("local", "auto")
EXAMPLES = int(os.environ.get("QUICKSHIFT_EXAMPLES", "15"))
KINDS = ("random", "lattice", "duplicated", "clustered", "constant_column", "offset")

every_mode = pytest.mark.parametrize("bandwidth", MODES)
several = settings(max_examples=EXAMPLES)


@st.composite
def points(draw, kinds=KINDS, least=9):
    """Draw points of some kind; fewer than nine have rules of their own."""
    kind, d = draw(st.sampled_from(kinds)), draw(st.sampled_from((1, 2, 3)))
    return make(kind, draw(st.integers(least, 90)), d, seed=draw(st.integers(0, 2**16))).X


def queries_of(X):
    """Return queries among the points, equal to them and far away."""
    middle = X.mean(axis=0)
    return np.concatenate([X[::3], (X[:5] + X[-5:]) / 2, [middle + 100 * (X[0] - middle)]])


def answers(model, queries):
    """Return everything that a fitted estimator says about its samples and about queries."""
    few = max(1, model.n_clusters_ // 2)
    return {
        "labels": model.labels_,
        "strength": model.strength_,
        "predicted": model.predict(queries),
        "shares": model.predict_proba(queries),
        "strength at": model.strength(queries),
        "log density": model.score_samples(queries),
        "fewer": model.recut(n_clusters=few).labels_,
        "shares of fewer": model.recut(n_clusters=few).predict_proba(queries),
        "cut": model.labels_at(np.nanmedian(model.parent_distance_)),
        "larger": model.recut(min_cluster_size=3).labels_,
    }


PER_SAMPLE = {"labels", "strength", "fewer", "cut", "larger"}


def assert_same(a, b, rows=slice(None), exact=False):
    """Check two sets of answers; entry i of the first belongs to entry rows[i] of the second."""
    for name, found in a.items():
        expected = b[name][rows] if name in PER_SAMPLE else b[name]
        if exact or found.dtype.kind == "i":
            np.testing.assert_array_equal(found, expected, err_msg=name)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12, err_msg=name)


@every_mode
@several
@given(X=points(), seed=st.integers(0, 2**16))
def test_order_of_rows_does_not_matter(bandwidth, X, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    queries = queries_of(X)
    a, b = (QuickShift(bandwidth).fit(rows) for rows in (X[order], X))
    assert_same(answers(a, queries), answers(b, queries), order)


@every_mode
@several
@given(X=points(kinds=("random", "clustered", "lattice")), seed=st.integers(0, 2**16))
def test_weights_are_repetitions(bandwidth, X, seed):
    weights = np.random.default_rng(seed).integers(1, 4, size=len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    queries = queries_of(X)
    weighted = answers(QuickShift(bandwidth).fit(X, sample_weight=weights), queries)
    repeated = answers(QuickShift(bandwidth).fit(X[rows]), queries)
    for by_number in ("cut", "larger"):  # medians of rows, and numbers of rows, are others
        del weighted[by_number], repeated[by_number]
    assert_same(repeated, weighted, rows)


@every_mode
@several
@given(X=points(least=20), seed=st.integers(0, 2**16))
def test_weight_zero_is_removal(bandwidth, X, seed):
    kept = np.random.default_rng(seed).random(len(X)) < 0.7
    assume(kept.sum() >= 9)
    queries = queries_of(X)
    weighted = QuickShift(bandwidth).fit(X, sample_weight=kept.astype(float))
    removed = QuickShift(bandwidth).fit(X[kept])
    np.testing.assert_array_equal(weighted.labels_, removed.predict(X))
    a, b = answers(weighted, queries), answers(removed, queries)
    for name in PER_SAMPLE:
        a[name] = a[name][kept]
    assert_same(a, b)


@every_mode
@several
@given(X=points(), shares=st.tuples(st.floats(0, 2), st.floats(0, 2)))
def test_clusters_of_a_smaller_tau_lie_within_those_of_a_larger(bandwidth, X, shares):
    model = QuickShift(bandwidth).fit(X)
    longest = model.parent_distance_[np.isfinite(model.parent_distance_)].max(initial=1.0)
    small, large = (model.labels_at(share * longest) for share in sorted(shares))
    assert len(np.unique(np.column_stack([small, large]), axis=0)) == small.max() + 1
    again = model.recut(tau=max(shares) * longest)
    np.testing.assert_array_equal(again.labels_, large)


@every_mode
@several
@given(X=points())
def test_roots_are_the_highest_of_their_clusters(bandwidth, X):
    model = QuickShift(bandwidth).fit(X)
    for fit in (model, model.recut(n_clusters=1), model.recut(min_cluster_size=2)):
        roots = fit.mode_indices_
        np.testing.assert_array_equal(fit.labels_[roots], np.arange(fit.n_clusters_))
        np.testing.assert_array_equal(fit.modes_, X[roots])
        highest = fit.log_density_[roots]
        assert (fit.log_density_ <= highest[fit.labels_] + 1e-7).all()
        assert (np.diff(highest) <= 1e-7).all()
        assert ((fit.strength_ >= 0) & (fit.strength_ <= 1 + 1e-7)).all()
        np.testing.assert_allclose(fit.strength_[roots], 1.0)


@every_mode
@several
@given(X=points())
def test_shares_sum_to_one_and_the_label_of_a_mode_has_some(bandwidth, X):
    model = QuickShift(bandwidth).fit(X)
    shares = model.predict_proba(queries_of(X))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares >= 0).all()
    own = model.predict_proba(model.modes_)[
        np.arange(model.n_clusters_), model.predict(model.modes_)
    ]
    assert (own > 0).all()


@every_mode
@several
@given(X=points(kinds=("random", "clustered")), seed=st.integers(0, 2**16))
def test_order_of_features_does_not_matter(bandwidth, X, seed):
    order = np.random.default_rng(seed).permutation(X.shape[1])
    a, b = QuickShift(bandwidth).fit(X), QuickShift(bandwidth).fit(X[:, order])
    assert same_partition(a.labels_, b.labels_)
    np.testing.assert_allclose(a.log_density_, b.log_density_, rtol=1e-9, atol=1e-9)


@every_mode
@several
@given(X=points(kinds=("random", "clustered", "lattice")))
def test_float32_is_a_storage_type(bandwidth, X):
    single = X.astype(np.float32)
    queries = queries_of(X).astype(np.float32)
    a = answers(QuickShift(bandwidth).fit(single), queries)
    b = answers(QuickShift(bandwidth).fit(single.astype(float)), queries.astype(float))
    assert_same(a, b, exact=True)


def strided(X):
    wide = np.full((2 * len(X), 3 * X.shape[1]), np.nan)
    wide[::2, 1::3] = X
    return wide[::2, 1::3]


def read_only(X):
    copy = X.copy()
    copy.flags.writeable = False
    return copy


def unaligned(X):
    raw = np.empty(X.nbytes + 1, dtype=np.uint8)[1:]
    found = raw.view(np.float64).reshape(X.shape)
    found[...] = X
    return found


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "strided": strided,
    "reversed": lambda X: X[::-1].copy()[::-1],
    "byte-swapped": lambda X: X.astype(X.dtype.newbyteorder()),
    "read-only": read_only,
    "unaligned": unaligned,
    "list": np.ndarray.tolist,
}


@every_mode
@settings(max_examples=max(1, EXAMPLES // 3))
@given(X=points())
@example(X=blobs())
def test_layout_of_the_input_does_not_matter(bandwidth, X):
    queries = queries_of(X)
    expected = answers(QuickShift(bandwidth).fit(X), queries)
    for name, convert in LAYOUTS.items():
        given_as = answers(QuickShift(bandwidth).fit(convert(X)), convert(queries))
        assert_same(given_as, expected, exact=True), name


@every_mode
def test_memory_mapped_input_gives_the_same_answers(bandwidth, tmp_path):
    X = blobs(n=200)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    queries = np.load(tmp_path / "X.npy", mmap_mode="r")[::2]
    a = answers(QuickShift(bandwidth).fit(mapped), queries)
    assert_same(a, answers(QuickShift(bandwidth).fit(X), X[::2]), exact=True)


@every_mode
@several
@given(X=points())
def test_copies_and_clones_give_the_same_answers(bandwidth, X):
    queries, model = queries_of(X), QuickShift(bandwidth).fit(X)
    expected = answers(model, queries)
    assert_same(answers(pickle.loads(pickle.dumps(model)), queries), expected, exact=True)
    assert_same(answers(clone(model).fit(X), queries), expected, exact=True)
    few = max(1, model.n_clusters_ // 2)
    recut = pickle.loads(pickle.dumps(model.recut(n_clusters=few)))
    np.testing.assert_array_equal(recut.labels_, expected["fewer"])
    assert_same(answers(model, queries), expected, exact=True)  # nothing has changed it


# Settings of NumPy


@pytest.mark.parametrize("settings", [{}, {"bandwidth": 0.01}, {"metric": "haversine"}], ids=str)
def test_settings_of_numpy_for_floating_point_errors_do_not_matter(settings):
    X = blobs(0, 60) * 0.1 - 0.5
    queries = np.concatenate([X[:5] + 0.05, X[:5] + 0.5])
    many = {"n_clusters": 50}
    expected = answers(QuickShift(**settings).fit(X), queries)
    expected_cut = QuickShift(**settings, **many).fit(X).labels_at(0.0)
    with np.errstate(all="raise"):
        assert_same(answers(QuickShift(**settings).fit(X), queries), expected, exact=True)
        found = QuickShift(**settings, **many).fit(X).labels_at(0.0)
    np.testing.assert_array_equal(found, expected_cut)


# Threads and processes


def fit_and_ask(bandwidth, seed):
    X = blobs(seed, 300)
    return answers(QuickShift(bandwidth, n_jobs=2).fit(X), X[::4])


@every_mode
def test_eight_threads_at_once_get_their_own_answers(bandwidth):
    expected = [fit_and_ask(bandwidth, seed) for seed in range(8)]
    shared = QuickShift(bandwidth).fit(blobs(0, 300))
    found, asked = [None] * 8, [None] * 8
    barrier = threading.Barrier(8)

    def work(i):
        barrier.wait()
        found[i] = fit_and_ask(bandwidth, i)
        asked[i] = answers(shared, blobs(0, 300)[::4])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(8):
        assert_same(found[i], expected[i], exact=True)
        assert_same(asked[i], expected[0], exact=True)


def ask_in_child(connection, model):
    connection.send([fit_and_ask(mode, 3) for mode in MODES] + [answers(model, model.modes_)])


@pytest.mark.parametrize(
    "method", sorted({"fork", "spawn"} & set(multiprocessing.get_all_start_methods()))
)
def test_processes_of_every_kind_give_the_same_answers(method):
    expected = [fit_and_ask(mode, 3) for mode in MODES]  # so threads have run before the fork
    model = QuickShift().fit(blobs(3, 300))
    context = multiprocessing.get_context(method)
    here, there = context.Pipe()
    child = context.Process(target=ask_in_child, args=(there, model))
    child.start()
    try:
        assert here.poll(300)
        found = here.recv()
    finally:
        child.join(300)
    for a, b in zip(found, [*expected, answers(model, model.modes_)], strict=True):
        assert_same(a, b, exact=True)
    assert child.exitcode == 0
    assert_same(fit_and_ask("local", 3), expected[0], exact=True)  # in the parent, afterwards
