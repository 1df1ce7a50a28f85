"""Failures that users of other libraries have met: one test for each, named after the failure."""

import ast
import multiprocessing
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import quickshift as qs
from quickshift import QuickShift, _core
from quickshift.memory import local_fit_bytes

HERE = Path(__file__).parent
MODES = pytest.mark.parametrize("bandwidth", ["local", "auto"])


def two_groups(n=200, d=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 12.0 * (np.arange(n) % 2)[:, None]


# Trees of points


@MODES
@pytest.mark.parametrize("copies", [1, 31, 32, 33, 34, 65])
def test_duplicates_crash_the_tree(copies, bandwidth):  # kiddo, with 33 points
    X = np.repeat(two_groups(16), copies, axis=0)
    assert QuickShift(bandwidth).fit(X).n_clusters_ >= 1
    assert QuickShift(bandwidth).fit(np.ones((copies, 3))).n_clusters_ == 1


def test_duplicates_make_every_step_slower():  # MeanShift, scikit-learn's trees before 1.9
    X = np.repeat(two_groups(16), 100, axis=0)
    tree = qs.stages.prepare(X).tree
    assert tree.n_locations == 16  # so every step has the work of 16 points
    assert _core.comparisons_for_duplicates(X) < 4 * len(X)


@MODES
def test_constant_column_makes_the_tree_slow(bandwidth):  # SciPy, scikit-learn before 1.9
    X = two_groups(4000)
    wide = np.column_stack([np.full(len(X), 7.0), X])
    nodes, wide_nodes = (qs.stages.prepare(each).tree for each in (X, wide))
    assert wide_nodes.n_varying == nodes.n_varying
    # The points are in the same order, so the tree was never divided along the constant column.
    np.testing.assert_array_equal(wide_nodes.locations()[0][:, 1:], nodes.locations()[0])
    a, b = QuickShift(bandwidth).fit(X), QuickShift(bandwidth).fit(wide)
    np.testing.assert_array_equal(a.labels_, b.labels_)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_crashes_the_tree(value):  # SciPy
    X = two_groups()
    X[7, 1] = value
    with pytest.raises(ValueError, match="1 of 200 rows, the first at row 7"):
        QuickShift().fit(X)
    with pytest.raises(ValueError, match="1 of 200 rows, the first at row 7"):
        QuickShift().fit(two_groups()).predict(X)


# Sizes


def test_products_of_two_row_numbers_overflow_32_bits():  # pydpc, with 46 000 points
    n = 46_400
    assert n * n > 2**31
    X = np.arange(n, dtype=float)[:, None]
    graph = qs.stages.climb(X, np.arange(1.0, n + 1))
    np.testing.assert_array_equal(graph.parent[:-1], np.arange(1, n))
    np.testing.assert_array_equal(qs.stages.cut(graph, 0.5).labels, np.arange(n)[::-1])


def test_recursion_over_the_data_is_too_deep():  # fast_hdbscan, with 50 million points
    n = 20_000
    X, density = np.arange(float(n))[:, None], np.arange(1.0, n + 1)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    try:
        graph = qs.stages.climb(X, density)
        tree = qs.stages.link(X, density, qs.stages.cut(graph, 0.5), 1.5)
        assert len(tree) == n
        assert len(tree.to_linkage()) == n - 1
        assert len(tree.prune(prominence=2.0)) == 1
    finally:
        sys.setrecursionlimit(limit)


def test_memory_grows_with_the_neighbors():  # scikit-learn's DBSCAN: 48 GB for 500 000 points
    n = 500_000
    needed = [local_fit_bytes(n, 2, k, links=True) for k in (8, 127, 2000)]
    assert max(needed) < 400 * n


# Results


@MODES
def test_order_of_rows_changes_the_number_of_clusters(bandwidth):  # hdbscan: 596 and 1169
    X = np.random.default_rng(0).integers(0, 30, size=(1500, 2)).astype(float)
    model = QuickShift(bandwidth).fit(X)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(X))
        np.testing.assert_array_equal(
            QuickShift(bandwidth).fit(X[order]).labels_, model.labels_[order]
        )


def test_bandwidth_of_zero_divides_by_zero():
    with pytest.raises(ValueError, match="bandwidth is 0, expected a positive"):
        QuickShift(bandwidth=0).fit(two_groups())


@MODES
@pytest.mark.parametrize("n", range(1, 13))
def test_few_points_are_an_error(n, bandwidth):  # among them 11
    X = two_groups(12)[:n]
    model = QuickShift(bandwidth).fit(X)
    assert 1 <= model.n_clusters_ <= n
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@MODES
@pytest.mark.parametrize("n", [1, 2, 11, 1000])
def test_equal_points_are_an_error(n, bandwidth):
    model = QuickShift(bandwidth).fit(np.full((n, 2), 0.1))
    assert model.n_clusters_ == 1
    assert not model.labels_.any()


@MODES
@pytest.mark.parametrize("unit", [2.0**-664, 2.0**664])  # 1e-200 and 1e200
def test_tiny_data_are_one_cluster_in_silence(unit, bandwidth):
    X = two_groups()
    expected = QuickShift(bandwidth).fit(X)
    assert expected.n_clusters_ == 2
    np.testing.assert_array_equal(QuickShift(bandwidth).fit(X * unit).labels_, expected.labels_)


def test_noise_against_ties_splits_a_constant_picture():  # scikit-image: more than 15 segments
    image = np.full((40, 40, 3), 0.5)
    assert qs.segment(image, tau=5.0).max() == 0


def test_parents_beyond_a_small_window_are_not_found():  # scikit-image, whatever max_dist
    image = np.random.default_rng(0).random((30, 40, 3))
    assert qs.segment(image, bandwidth=1.0, tau=1e3).max() == 0  # all but the highest have a parent


def test_gray_pictures_are_an_error():  # scikit-image, by default
    assert qs.segment(np.random.default_rng(0).random((9, 9))).shape == (9, 9)


def test_pictures_have_no_mask_no_depth_and_no_recut():  # scikit-image
    volume = np.zeros((6, 8, 10))
    volume[:, :, 5:] = 1.0
    mask = np.ones(volume.shape, dtype=bool)
    mask[0] = False
    forest = qs.segment_forest(volume, mask=mask, channel_axis=None)
    coarse, fine = forest.labels_at(1e9), forest.labels_at(0.0)
    assert (coarse[0] == -1).all()
    assert set(np.unique(coarse[1:])) == {0}
    assert len(np.unique(fine[mask])) == mask.sum()


def test_parents_are_the_highest_neighbors():  # GUDHI's ToMATo
    graph = qs.stages.climb([[0.0], [1.0], [2.0]], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(graph.parent, [1, 2, 2])  # the nearest that is higher


def test_densities_must_be_supplied():  # scikit-matter, whose points may be periodic too
    X = np.array([[0.1], [9.9], [5.0], [5.2], [0.2]])
    model = QuickShift(bandwidth=0.3, tau=1.0, period=[10.0]).fit(X)
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.labels_[0] == model.labels_[1] == model.labels_[4] != model.labels_[2]


def test_levels_of_a_tree_lie_on_a_grid():  # DeBaCl
    X = np.arange(7.0)[:, None]
    density = [3.0, 1.0, 3.0, 1.0 + 1e-9, 3.0, 1.0 + 2e-9, 3.0]
    graph = qs.stages.climb(X, density, significant_bits=53)
    tree = qs.stages.link(X, density, qs.stages.cut(graph, 0.5), 1.5)
    levels = np.unique(tree.merges[:, 2])
    np.testing.assert_array_equal(levels, [1.0, 1.0 + 1e-9, 1.0 + 2e-9])


def test_densities_far_from_the_data_are_wrong():  # scikit-learn's KernelDensity
    model = QuickShift(bandwidth=0.5).fit(two_groups())
    far = np.array([[1e3, 0.0], [1e6, 1e6]])
    log_density = model.score_samples(far)
    assert np.isfinite(log_density).all()
    nearest = np.min(((far[:, None] - two_groups()) ** 2).sum(axis=2), axis=1)
    np.testing.assert_allclose(log_density, -2.0 * nearest, rtol=1e-4)


def test_modal_regression_takes_one_feature_only():  # hdrcde, lpme
    X = two_groups(d=3)
    model = qs.ModalRegressor().fit(X, X[:, :2])
    assert model.predict(X[:5]).shape == (5, 2)


def test_points_that_are_new_have_no_cluster():  # density peaks: CLUEstering, pydpc, DADApy
    X = two_groups()
    model = QuickShift().fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.predict(X + 1e-3), model.labels_)


@MODES
def test_many_points_are_left_without_a_cluster(bandwidth):  # HDBSCAN
    X = np.random.default_rng(0).uniform(size=(500, 2))
    labels = QuickShift(bandwidth).fit(X).labels_
    np.testing.assert_array_equal(np.unique(labels), np.arange(labels.max() + 1))


# Input


@MODES
def test_read_only_and_mapped_input_is_an_error(bandwidth, tmp_path):
    X = two_groups()
    expected = QuickShift(bandwidth).fit(X).labels_
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    frozen = X.copy()
    frozen.flags.writeable = False
    for given in (mapped, frozen):
        model = QuickShift(bandwidth).fit(given, sample_weight=np.ones(len(X)))
        np.testing.assert_array_equal(model.labels_, expected)
        np.testing.assert_array_equal(model.predict(given), expected)


def test_masked_entries_are_read_as_data():
    X = np.ma.masked_greater(two_groups(), 10.0)
    for call in (QuickShift().fit, QuickShift().fit(two_groups()).predict, qs.stages.prepare):
        with pytest.raises(ValueError, match="masked entries, expected none"):
            call(X)


@MODES
def test_arrays_of_the_caller_are_changed(bandwidth):  # scikit-matter
    X, weights = two_groups(), np.ones(200)
    before = X.copy()
    model = QuickShift(bandwidth, period=[1e3, 1e3]).fit(X, sample_weight=weights)
    model.predict(X)
    np.testing.assert_array_equal(X, before)
    assert (weights == 1).all()


def test_estimators_cannot_be_cloned():  # scikit-matter
    model = clone(QuickShift(bandwidth=0.5, tau=2.0, kernel="uniform"))
    assert model.get_params()["tau"] == 2.0
    assert not hasattr(model, "labels_")


# Failures that need processes, signals or files have their tests where their tools are.

ELSEWHERE = {
    "fork after threads": ("test_processes", "test_child_of_a_fork_can_fit_too"),
    "Ctrl-C ignored": ("test_interrupt", "test_interrupted_calls_leave_the_estimator_as_it_was"),
    "illegal instruction on older CPUs": (
        "test_instruction_sets",
        "test_set_that_the_machine_lacks_is_refused_and_changes_nothing",
    ),
    "decompression bombs": (
        "test_security",
        "test_decompression_bombs_are_refused_before_they_are_decoded",
    ),
    "pickled models": ("test_load_hostile", "test_pickles_in_files_are_never_loaded"),
}


@pytest.mark.parametrize(("module", "test"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_failure_has_its_test_elsewhere(module, test):
    tree = ast.parse((HERE / f"{module}.py").read_text(encoding="utf-8"))
    assert test in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_table_of_failures_names_tests_that_exist():
    page = HERE.parent / "docs" / "testing.md"
    named = set(re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8")))
    there = {
        name
        for file in HERE.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(named) > 30
    assert named - there == set()


def _labels(X):
    return QuickShift().fit(X).labels_


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="the system has no fork"
)
def test_fork_after_threads_hangs():
    X = two_groups(20_000)
    expected = _labels(X)  # with threads
    with multiprocessing.get_context("fork").Pool(1) as pool:
        found = pool.apply_async(_labels, (X,)).get(timeout=300)
    np.testing.assert_array_equal(found, expected)
