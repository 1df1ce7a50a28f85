import sys

import numpy as np
import pytest

import quickshift
from distributed_cases import SHAPES, blobs
from quickshift.distributed import QuickShift
from quickshift.distributed.executors import Inline
from quickshift.estimators import progress_bar

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

X = blobs(2000)


@pytest.fixture(autouse=True)
def _inline(monkeypatch):
    """Run tasks in this process."""
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: Inline())


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_neighbors": 9},
        {"tau": 0.7},
        {"n_clusters": 3},
        {"min_significance": 2.0},
        {"period": [9.0, np.inf]},
        {"bandwidth": 0.4, "tau": 0.5},
        {"bandwidth": 0.4, "tau": np.inf, "kernel": "tricube"},
        {"bandwidth": "auto"},
        {"bandwidth": "paper", "kernel": "epanechnikov", "n_clusters": 4},
        {"bandwidth": "silverman", "period": [np.inf, 11.0]},
        {"bandwidth": 0.3, "kernel": "exponential", "min_significance": 1.0},
    ],
    ids=str,
)
def test_a_fit_equals_one_in_memory(parameters):
    assert_same_fit(X, parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"tau": 0.1},
        {"n_clusters": 3},
        {"bandwidth": "auto"},
        {"bandwidth": 0.07, "tau": 0.09, "kernel": "epanechnikov"},
    ],
    ids=str,
)
@pytest.mark.parametrize("metric", ["haversine", "cosine"])
def test_metrics_on_spheres(metric, parameters):
    if metric == "haversine":
        points = blobs(1500) / 8 + [0.0, 3.0]  # across the date line
    else:
        points = blobs(1500, 3) + 1.0
        if parameters.get("bandwidth") == 0.07:
            parameters = {**parameters, "bandwidth": 0.2, "tau": 0.3}
    assert_same_fit(points, {"metric": metric, **parameters})


@pytest.mark.parametrize(
    "parameters",
    [
        {"scale": "std"},
        {"scale": "iqr"},
        {"scale": [2.0, 0.5, 1.0, 7.0], "tau": 0.4},
        {"scale": "iqr", "bandwidth": "auto"},
        {"scale": "std", "period": [np.inf, 9.0, np.inf, np.inf], "bandwidth": 0.3, "tau": 0.4},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_scales(parameters, weighted):
    points = np.column_stack([X[:900] * [1.0, 1e5], np.round(X[900:1800, 0]), np.ones(900)])
    weights = np.random.default_rng(3).integers(0, 3, 900).astype(float) if weighted else None
    found, expected = assert_same_fit(points, parameters, weights)
    np.testing.assert_allclose(found.scale_, expected.scale_, rtol=1e-12)


def test_a_feature_with_an_iqr_of_zero_is_divided_by_its_deviation():
    points = np.column_stack([X[:900, 0], np.where(np.arange(900) % 5, 0.0, X[:900, 1])])
    found = QuickShift(scale="iqr", n_partitions=3).fit(points)
    expected = quickshift.QuickShift(scale="iqr").fit(points)
    np.testing.assert_allclose(found.scale_, expected.scale_, rtol=1e-12)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_rows_outside_the_space_are_named(tmp_path):
    degrees = X[:50] / 8
    degrees[20, 0] = 45.0
    np.save(tmp_path / "x.npy", degrees)
    with pytest.raises(ValueError, match=r"latitude 45.0 in row 20 .* X is .*x.npy, and its rows"):
        QuickShift(metric="haversine").fit(tmp_path / "x.npy")
    with pytest.raises(ValueError, match="scale is 'std' but metric is 'cosine'"):
        QuickShift(metric="cosine", scale="std").fit(X)


def assert_same_fit(points, parameters, weights=None):
    """Fit in partitions and in memory, compare everything, and return both estimators."""
    table, column = points, None
    if weights is not None:
        table, column = np.column_stack([points, weights]), points.shape[1]
    found = QuickShift(n_partitions=5, **parameters).fit(table, weight_column=column)
    expected = quickshift.QuickShift(**parameters).fit(points, sample_weight=weights)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.modes_, expected.modes_)
    np.testing.assert_array_equal(found.mode_indices_, expected.mode_indices_)
    assert (found.n_clusters_, found.n_partitions_) == (expected.n_clusters_, 5)
    assert found.n_features_in_ == expected.n_features_in_
    densities = expected.density_[expected.mode_indices_]
    np.testing.assert_allclose(found.mode_densities_, densities, rtol=1e-8)
    np.testing.assert_allclose(found.bandwidth_, expected.bandwidth_, rtol=1e-12)
    np.testing.assert_allclose(found.tau_, expected.tau_, rtol=1e-12)
    np.testing.assert_allclose(found.significance_, expected.significance_, rtol=1e-6)
    np.testing.assert_allclose(found.min_significance_, expected.min_significance_, rtol=1e-6)
    assert_same_leaves(found.tree_, expected.tree_)
    return found, expected


def assert_same_leaves(tree, expected):
    """Compare a tree that has one row per leaf with one that has one per sample."""
    np.testing.assert_array_equal(tree.towards, expected.towards)
    np.testing.assert_allclose(tree.sizes, expected.sizes)
    np.testing.assert_allclose(tree.births, expected.births, rtol=1e-8)
    np.testing.assert_array_equal(tree.merges[:, :2], expected.merges[:, :2])
    np.testing.assert_allclose(tree.merges[:, 2], expected.merges[:, 2], rtol=1e-8)
    taus = expected.tau
    if not isinstance(taus, float):
        taus = np.asarray(taus)[expected.leaf_indices]
    np.testing.assert_allclose(tree.tau, taus, rtol=1e-12)


def test_local_scales_are_the_same_bits():
    found, expected = QuickShift(n_partitions=7).fit(X), quickshift.QuickShift().fit(X)
    np.testing.assert_array_equal(found.bandwidth_, expected.bandwidth_)
    np.testing.assert_array_equal(found.tau_, expected.tau_)
    assert found.n_neighbors_ == expected.n_neighbors_


@pytest.mark.parametrize(
    ("kernel", "period"),
    [("gaussian", None), ("exponential", [9.0, np.inf]), ("epanechnikov", None)],
)
def test_bandwidths_of_the_largest_likelihood(kernel, period):
    points = np.concatenate([X[:250], np.round(X[250:350] * 2) / 2])
    points[7] = [60.0, 45.0]  # a sum that is far below those of its box
    weights = np.random.default_rng(8).integers(0, 3, 350).astype(float)
    table = np.column_stack([points, weights])
    parameters = {"bandwidth": "cv", "kernel": kernel, "period": period}
    found = QuickShift(n_partitions=3, **parameters).fit(table, weight_column=2)
    expected = quickshift.QuickShift(**parameters).fit(points, sample_weight=weights)
    np.testing.assert_allclose(found.bandwidth_, expected.bandwidth_, rtol=1e-6)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


@pytest.mark.parametrize("n_features", [1, 3, 7])
def test_automatic_parameters_with_weights(n_features):
    points = blobs(900, n_features, seed=9)
    points[5] = 1e5
    weights = np.random.default_rng(0).integers(0, 4, 900).astype(float)
    table = np.column_stack([points, weights])
    found = QuickShift("auto", n_partitions=4).fit(table, weight_column=n_features)
    expected = quickshift.QuickShift("auto").fit(points, sample_weight=weights)
    np.testing.assert_allclose(found.bandwidth_, expected.bandwidth_, rtol=1e-12)
    np.testing.assert_allclose(found.tau_, expected.tau_, rtol=1e-12)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"tau": 1.5}, {"bandwidth": 0.4}, {"bandwidth": 0.4, "tau": 0.2, "ties": "strict"}],
    ids=str,
)
def test_rows_of_weight_zero_are_labeled_as_new_points(parameters, tmp_path):
    points = np.concatenate([np.round(blobs(600) * 2) / 2, blobs(300, seed=5) * 3])
    weights = np.random.default_rng(0).integers(0, 3, 900).astype(float)
    table = np.column_stack([points, weights, 7000 + np.arange(900)])
    model = QuickShift(n_partitions=6, **parameters)
    found = model.fit(table, [0, 1], weight_column=2, id_column=3)
    expected = quickshift.QuickShift(**parameters).fit(points, sample_weight=weights)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.bandwidth_, expected.bandwidth_)
    np.testing.assert_allclose(found.tau_, expected.tau_, rtol=1e-12)
    found.write_labels(tmp_path / "labels.parquet")
    written = pq.read_table(tmp_path / "labels.parquet").to_pydict()
    order = np.argsort(written["id"])
    np.testing.assert_array_equal(np.array(written["label"])[order], expected.labels_)
    np.testing.assert_allclose(np.array(written["density"])[order], expected.density_, rtol=1e-8)
    if "bandwidth" in parameters:
        np.testing.assert_array_equal(found.labels_at(0.1), expected.labels_at(0.1))


def test_recuts_equal_those_of_a_fit_in_memory():
    found = QuickShift(0.4, np.inf, n_partitions=5).fit(X)
    expected = quickshift.QuickShift(0.4, np.inf).fit(X)
    for tau in (0.0, 0.3, 2.0, np.inf):
        np.testing.assert_array_equal(found.labels_at(tau), expected.labels_at(tau))
    np.testing.assert_array_equal(found.labels_, expected.labels_)


@pytest.mark.parametrize("parameters", [{}, {"n_clusters": 3}, {"n_clusters": 400}], ids=str)
def test_recuts_of_local_scales(parameters):
    weights = np.random.default_rng(2).integers(0, 3, len(X)).astype(float)
    table = np.column_stack([X, weights])
    found = QuickShift(n_partitions=5, **parameters).fit(table, weight_column=2)
    expected = quickshift.QuickShift(**parameters).fit(X, sample_weight=weights)
    for tau in (0.0, 0.2, 2.0, np.inf):
        np.testing.assert_array_equal(found.labels_at(tau), expected.labels_at(tau))
    np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_moves_that_were_not_searched_for_are_refused():
    with pytest.raises(ValueError, match=r"tau is 0.6, expected at most 0.5"):
        QuickShift(0.4, 0.5, n_partitions=2).fit(X).labels_at(0.6)


@pytest.mark.parametrize("bandwidth", ["local", 0.4])
@pytest.mark.parametrize("shape", ["blobs", "lattice", "duplicates", "outlier"])
def test_more_clusters_than_modes(bandwidth, shape):
    points = SHAPES[shape]()
    fitted = quickshift.QuickShift(bandwidth).fit(points)
    n_modes = len(fitted.tree_.births)
    weights = np.random.default_rng(4).integers(1, 3, len(points)).astype(float)
    weights[::7] = 0.0
    for more, used in ((1, None), (90, None), (5, weights)):
        assert_same_fit(points, {"bandwidth": bandwidth, "n_clusters": n_modes + more}, used)
    most = len(np.unique(points, axis=0))
    with pytest.raises(ValueError, match=f"n_clusters is {most + 1}, expected .* {most}"):
        QuickShift(bandwidth, n_clusters=most + 1, n_partitions=3).fit(points)


def test_more_clusters_than_modes_where_a_box_has_no_edge():
    points = np.array([[0.0], [1.0], [2.0], [100.0], [101.5]])
    for n_clusters in (2, 3, 4, 5):  # with five boxes, one has only the highest row
        assert_same_fit(points, {"n_clusters": n_clusters}, None)


def test_one_row_and_equal_rows():
    assert QuickShift().fit(np.array([[1.0, 2.0]])).labels_.tolist() == [0]
    assert QuickShift("auto").fit(np.ones((5, 2))).labels_.tolist() == [0] * 5


def as_npy(folder):
    np.save(folder / "x.npy", X)
    return folder / "x.npy"


def as_memmap(folder):
    return np.load(as_npy(folder), mmap_mode="r")


def as_raw(folder):
    (folder / "x.raw").write_bytes(b"header" + X.tobytes())
    return np.memmap(folder / "x.raw", dtype=float, mode="r", shape=X.shape, offset=6)


def tables():
    return [
        pa.table({"b": part[:, 0], "name": ["n"] * len(part), "a": part[:, 1]})
        for part in np.split(X, [700, 701, 1500])
    ]


def as_parquet(folder):
    for i, table in enumerate(tables()):
        pq.write_table(table, folder / f"part-{i}.parquet", row_group_size=100)
    return str(folder / "part-*.parquet")


def as_folder(folder):
    as_parquet(folder)
    return folder


def as_arrow(folder):
    with (
        pa.OSFile(str(folder / "x.arrow"), "wb") as sink,
        pa.ipc.new_file(sink, tables()[0].schema) as writer,
    ):
        for table in tables():
            writer.write_table(table)
    return folder / "x.arrow"


def as_dask_array(folder):
    return pytest.importorskip("dask.array").from_array(X, chunks=(300, 1))


def as_dask_frame(folder):
    pandas = pytest.importorskip("pandas")
    frame = pytest.importorskip("dask.dataframe")
    return frame.from_pandas(pandas.DataFrame({"a": X[:, 0], "b": X[:, 1]}), npartitions=3)


@pytest.mark.parametrize(
    "made",
    [
        as_npy,
        as_memmap,
        as_raw,
        as_parquet,
        as_folder,
        as_arrow,
        as_dask_array,
        as_dask_frame,
    ],
)
def test_inputs(made, tmp_path):
    expected = quickshift.QuickShift(0.4, 0.5).fit(X).labels_
    found = QuickShift(0.4, 0.5, n_partitions=3).fit(made(tmp_path)).labels_
    np.testing.assert_array_equal(found, expected)


def test_columns_weights_and_identifiers(tmp_path):
    weights = np.random.default_rng(1).integers(1, 3, len(X)).astype(float)
    names = np.array([f"row {i}" for i in range(len(X))])
    table = pa.table({"w": weights, "x": X[:, 0], "other": X[:, 0] * 0, "y": X[:, 1], "id": names})
    pq.write_table(table, tmp_path / "x.parquet")
    model = QuickShift(0.4, 0.5, n_partitions=3)
    model.fit(tmp_path / "x.parquet", ["x", "y"], weight_column="w", id_column="id")
    expected = quickshift.QuickShift(0.4, 0.5).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    model.write_labels(tmp_path / "labels.parquet")
    written = pq.read_table(tmp_path / "labels.parquet").to_pydict()
    order = np.argsort([int(name.split()[1]) for name in written["id"]])
    np.testing.assert_array_equal(np.array(written["label"])[order], expected.labels_)
    np.testing.assert_allclose(np.array(written["density"])[order], expected.density_, rtol=1e-8)
    assert not list(tmp_path.glob(".*"))


def test_written_labels_have_row_numbers_without_an_id_column(tmp_path):
    model = QuickShift(n_partitions=3).fit(X)
    model.write_labels(tmp_path / "labels.parquet")
    written = pq.read_table(tmp_path / "labels.parquet").to_pydict()
    labels = np.empty(len(X), dtype=int)
    labels[written["id"]] = written["label"]
    np.testing.assert_array_equal(labels, model.labels_)


def test_temporary_files_are_removed_with_the_estimator(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    model = QuickShift(0.4, 0.5).fit(X)
    assert list(tmp_path.iterdir())
    del model
    assert not list(tmp_path.iterdir())


def test_progress_names_the_passes():
    seen = []
    QuickShift(0.4, 0.5, progress=lambda name, done: seen.append((name, done))).fit(X)
    names = list(dict.fromkeys(name for name, _ in seen))
    assert names == ["scan", "scatter", "gather", "density", "climb", "cut"]
    assert seen[-1] == ("cut", 1.0)


def test_a_terminal_shows_the_passes(monkeypatch):
    shown = []

    class Bar:
        def show(self, stage, done):
            shown.append(stage)

        def close(self):
            shown.append("closed")

    monkeypatch.setattr(progress_bar, "_DELAY", 0.0)
    monkeypatch.setattr(progress_bar, "open_bar", Bar)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    QuickShift(0.4, 0.5).fit(X)
    assert shown[0] == "scan"
    assert shown[-2:] == ["cut", "closed"]


def test_a_second_fit_replaces_the_first():
    model = QuickShift(0.4, 0.5).fit(X)
    assert model.labels_.size == len(X)
    model.fit(X[:100])
    assert model.labels_.size == 100
