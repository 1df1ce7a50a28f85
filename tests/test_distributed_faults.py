from pathlib import Path

import numpy as np
import pytest

import quickshift
from distributed_cases import blobs
from quickshift.distributed import QuickShift, quick_shift
from quickshift.distributed.executors import Inline
from quickshift.distributed.plan import forest
from quickshift.distributed.plan.forest import parents_beyond
from quickshift.distributed.plan.passes import PassError

X = blobs(1500)
EXPECTED = quickshift.QuickShift().fit(X).labels_


@pytest.fixture
def _inline(monkeypatch):
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: Inline())


def collection(kind):
    """Return the points as an array, a dask array or a dask data frame."""
    if kind == "dask array":
        return pytest.importorskip("dask.array").from_array(X, chunks=(500, 2))
    if kind == "dask data frame":
        frames = pytest.importorskip("dask.dataframe")
        pandas = pytest.importorskip("pandas")
        return frames.from_pandas(pandas.DataFrame({"a": X[:, 0], "b": X[:, 1]}), npartitions=3)
    return X


# Interrupted runs


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("stopped", ["gather", "scales", "climb", "link"])
@pytest.mark.usefixtures("_inline")
def test_a_resumed_run_does_not_repeat_passes(stopped, tmp_path):
    def stop(name, done):
        if name == stopped and done == 1.0:
            raise StoppedError

    np.save(tmp_path / "x.npy", X)
    given = {"directory": tmp_path, "n_partitions": 4}
    with pytest.raises(StoppedError):
        QuickShift(progress=stop, **given).fit(tmp_path / "x.npy")
    seen = []
    model = QuickShift(progress=lambda name, _: seen.append(name), resume=True, **given)
    found = model.fit(tmp_path / "x.npy")
    np.testing.assert_array_equal(found.labels_, EXPECTED)
    order = ["scan", "scatter", "gather", "scales", "climb", "cut", "link"]
    assert not set(seen) & set(order[: order.index(stopped)])
    assert stopped in seen


@pytest.mark.parametrize("kind", ["array", "dask array", "dask data frame"])
@pytest.mark.usefixtures("_inline")
def test_a_resumed_run_recognizes_data_that_are_not_in_files(kind, tmp_path):
    def stop(name, _):
        if name == "climb":
            raise StoppedError

    given = {"directory": tmp_path, "n_partitions": 4}
    with pytest.raises(StoppedError):
        QuickShift(progress=stop, **given).fit(collection(kind))
    seen = []
    model = QuickShift(progress=lambda name, _: seen.append(name), resume=True, **given)
    np.testing.assert_array_equal(model.fit(collection(kind)).labels_, EXPECTED)
    assert seen[0] == "climb"


@pytest.mark.parametrize("stopped", ["climb", "higher", "cut"])
@pytest.mark.usefixtures("_inline")
def test_a_resumed_run_with_an_infinite_tau(stopped, tmp_path):
    np.save(tmp_path / "x.npy", X)
    calls = []

    def stop(name, done):
        calls.append(name)
        if name == stopped and done == 1.0 and (stopped != "cut" or calls.count("cut") > 12):
            raise StoppedError

    given = {"bandwidth": 0.1, "tau": np.inf, "directory": tmp_path, "n_partitions": 8}
    with pytest.raises(StoppedError):
        QuickShift(progress=stop, **given).fit(tmp_path / "x.npy")
    found = QuickShift(resume=True, **given).fit(tmp_path / "x.npy")
    expected = quickshift.QuickShift(0.1, np.inf).fit(X)
    for tau in (0.2, np.inf):
        np.testing.assert_array_equal(found.labels_at(tau), expected.labels_at(tau))


@pytest.mark.usefixtures("_inline")
def test_a_directory_may_be_the_url_of_a_local_folder(tmp_path):
    url = f"file://{tmp_path}/runs"
    found = QuickShift(directory=url, n_partitions=3).fit(X)
    np.testing.assert_array_equal(found.labels_, EXPECTED)
    assert list((tmp_path / "runs").glob("run-*/box-00002/points.npy"))


@pytest.mark.usefixtures("_inline")
def test_passes_of_another_version_are_repeated(tmp_path, monkeypatch):
    QuickShift(0.4, 0.5, directory=tmp_path).fit(X)
    for version, expected in [(quickshift.__version__, []), ("9.9", ["scan", "climb"])]:
        seen = []
        monkeypatch.setattr(quick_shift, "__version__", version)
        given = {"directory": tmp_path, "progress": lambda name, _, to=seen: to.append(name)}
        QuickShift(0.4, 0.5, resume=True, **given).fit(X)
        assert [name for name in ("scan", "climb") if name in seen] == expected


@pytest.mark.usefixtures("_inline")
def test_two_writers_of_one_file_do_not_meet(tmp_path, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet")
    target = tmp_path / "labels.parquet"
    model = QuickShift(0.4, 0.5).fit(X)
    open_writer = pq.ParquetWriter

    def interrupting(*arguments, **options):
        monkeypatch.setattr(pq, "ParquetWriter", open_writer)
        writer = open_writer(*arguments, **options)
        model.write_labels(target)  # while the first call has opened its file
        return writer

    monkeypatch.setattr(pq, "ParquetWriter", interrupting)
    model.write_labels(target)
    assert pq.read_table(target).num_rows == len(X)
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.usefixtures("_inline")
def test_labels_that_cannot_be_written_leave_no_file(tmp_path, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet")
    model = QuickShift(0.4, 0.5).fit(X)

    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(OSError, match="No space"):
        model.write_labels(tmp_path / "labels.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("_inline")
def test_files_of_another_run_are_never_read(tmp_path):
    QuickShift(0.4, 0.5, directory=tmp_path).fit(X + 1.0)
    QuickShift(0.4, 0.9, directory=tmp_path).fit(X)
    found = QuickShift(0.4, 0.5, directory=tmp_path, resume=True).fit(X)
    expected = quickshift.QuickShift(0.4, 0.5).fit(X)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


@pytest.mark.usefixtures("_inline")
def test_a_second_run_may_have_another_number_of_partitions(tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X)
    counts = []
    for n_boxes in (2, 5, 3):
        monkeypatch.setattr(quick_shift, "number_of_boxes", lambda *_, n=n_boxes: n)
        found = QuickShift(directory=tmp_path).fit(tmp_path / "x.npy")
        np.testing.assert_array_equal(found.labels_, EXPECTED)
        counts.append(found.n_partitions_)
    assert counts == [2, 5, 3]


# Failures that end a fit


@pytest.mark.usefixtures("_inline")
def test_a_full_disk_names_the_pass_and_the_partition(tmp_path, monkeypatch):
    save = np.save

    def full(file, array, **kwargs):
        if "heights" in str(getattr(file, "name", "")):
            raise OSError(28, "No space left on device")
        save(file, array, **kwargs)

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(PassError, match=r"'density' failed in partition 0.*No space left"):
        QuickShift(0.4, 0.5, directory=tmp_path, n_partitions=2).fit(X)
    assert not list(tmp_path.rglob("box-*/.*"))
    assert not list(tmp_path.rglob("heights.npy"))


def write_input(kind, path, points):
    """Write points, and return what is fitted: a path, a memory map or a dask array."""
    if kind in ("parquet", "arrow"):
        pa = pytest.importorskip("pyarrow")
        table = pa.table({"a": points[:, 0], "b": points[:, 1]})
        if kind == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, path)
        else:
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
        return path
    np.save(path, points)
    return np.load(path, mmap_mode="r") if kind == "map" else path


@pytest.mark.parametrize("how", ["rewritten", "removed"])
@pytest.mark.parametrize("kind", ["npy", "parquet", "arrow", "map"])
@pytest.mark.usefixtures("_inline")
def test_an_input_that_changes_is_noticed(kind, how, tmp_path):
    path = tmp_path / f"x.{'npy' if kind == 'map' else kind}"
    data = write_input(kind, path, X)

    def change(name, done):
        if name == "scan" and done == 1.0:
            path.unlink()  # maps of the old file stay valid
            if how == "rewritten":
                write_input(kind, path, X[::-1])

    with pytest.raises(PassError, match=r"'scatter' failed .*x\.\w+ was changed or removed during"):
        QuickShift(0.4, 0.5, progress=change).fit(data)


@pytest.mark.parametrize("kind", ["array", "dask array", "dask data frame"])
@pytest.mark.usefixtures("_inline")
def test_a_copy_of_the_input_that_changes_is_noticed(kind, tmp_path):
    def change(name, done):
        if name == "scan" and done == 1.0:
            max((tmp_path / "input").iterdir()).write_bytes(b"other")

    with pytest.raises(PassError, match=r"'scatter' failed .*input\S* was changed or removed"):
        QuickShift(0.4, 0.5, directory=tmp_path, progress=change).fit(collection(kind))


@pytest.mark.usefixtures("_inline")
def test_a_halo_that_does_not_fit_into_memory_is_refused():
    with pytest.raises(PassError, match=r"'climb' failed in partition \d: MemoryError.*halo"):
        QuickShift(0.5, 2.0, n_partitions=8, memory_limit=2e5).fit(X)


@pytest.mark.usefixtures("_inline")
def test_a_run_that_lacked_memory_is_resumed_with_more(tmp_path):
    given = {"bandwidth": 0.5, "tau": 2.0, "n_partitions": 8, "directory": tmp_path}
    with pytest.raises(PassError, match="Raise memory_limit"):
        QuickShift(memory_limit=2e5, **given).fit(X)
    with pytest.raises(ValueError, match="memory_limit is 100000 bytes, expected at least 200000"):
        QuickShift(memory_limit=1e5, resume=True, **given).fit(X)
    with pytest.raises(PassError, match="Raise memory_limit"):
        QuickShift(resume=True, **given).fit(X)  # "auto" stands for the limit of the first run
    seen = []
    more = QuickShift(memory_limit=2e8, resume=True, progress=lambda n, _: seen.append(n), **given)
    expected = quickshift.QuickShift(0.5, 2.0).fit_predict(X)
    np.testing.assert_array_equal(more.fit(X).labels_, expected)
    assert seen[0] == "climb"  # the passes before it are not repeated


@pytest.mark.usefixtures("_inline")
@pytest.mark.parametrize("d", [1, 2, 3])
def test_many_isolated_points_are_done_without_moving_them_to_the_client(d, monkeypatch):
    rng = np.random.default_rng(0)
    side = round(4096 ** (1 / d))
    grid = np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d)
    points = rng.permutation(grid) * 10.0 + rng.random((side**d, d))
    searched = []

    def counted(passes, positions, order):
        searched.append(positions.size)
        return parents_beyond(passes, positions, order)

    monkeypatch.setattr(forest, "parents_beyond", counted)
    found = QuickShift(1.0, np.inf, kernel="uniform", n_partitions=4).fit(points)
    expected = quickshift.QuickShift(1.0, np.inf, kernel="uniform").fit(points)
    assert found.n_clusters_ == 1
    for tau in (5.0, 10.0, 12.0, np.inf):
        np.testing.assert_array_equal(found.labels_at(tau), expected.labels_at(tau))
    near_faces = 4 * 2 * side ** (d - 1)  # rows of four boxes within two rows of a face
    assert len(searched) == 1
    assert searched[0] <= 2 * near_faces


# Bad input


@pytest.mark.usefixtures("_inline")
class TestBadInput:
    def test_no_such_file(self):
        with pytest.raises(FileNotFoundError, match="matches no file"):
            QuickShift().fit("nothing/*.parquet")

    def test_unknown_suffix(self, tmp_path):
        (tmp_path / "x.csv").write_text("1,2")
        with pytest.raises(ValueError, match=r"suffix '.csv', expected one of .npy"):
            QuickShift().fit(tmp_path / "x.csv")

    def test_unreadable_file(self, tmp_path):
        (tmp_path / "x.npy").write_bytes(b"nonsense")
        with pytest.raises(ValueError, match=r"x.npy cannot be read as npy"):
            QuickShift().fit(tmp_path / "x.npy")

    def test_empty_file(self, tmp_path):
        np.save(tmp_path / "x.npy", np.empty((0, 2)))
        with pytest.raises(ValueError, match="no rows"):
            QuickShift().fit(tmp_path / "x.npy")

    def test_one_axis(self):
        with pytest.raises(ValueError, match=r"shape \(3,\), expected \(n_samples, n_features\)"):
            QuickShift().fit(np.zeros(3))

    def test_an_object(self):
        with pytest.raises(TypeError, match="data is of type dict, expected a path or glob"):
            QuickShift().fit({"a": 1})

    def test_nan_names_file_and_row(self, tmp_path):
        for i in range(2):
            part = X[i * 100 : i * 100 + 100].copy()
            part[7 * i, 0] = [0.0, np.inf][i]
            np.save(tmp_path / f"{i}.npy", part)
        with pytest.raises(ValueError, match=r"1.npy has inf at row 7, column 0"):
            QuickShift().fit(tmp_path)

    def test_weights(self):
        table = np.column_stack([X, np.ones(len(X))])
        table[4, 2] = -1
        with pytest.raises(ValueError, match=r"has -1\.0 at row 4, expected frequencies"):
            QuickShift().fit(table, weight_column=2)
        table[:, 2] = 0
        with pytest.raises(ValueError, match="all zero"):
            QuickShift().fit(table, weight_column=2)

    def test_tables(self, tmp_path):
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), tmp_path / "1.parquet")
        with pytest.raises(ValueError, match="has no column 'c', expected one of"):
            QuickShift().fit(tmp_path, columns=["a", "c"])
        pq.write_table(pa.table({"a": X[:, 0]}), tmp_path / "2.parquet")
        with pytest.raises(ValueError, match=r"2.parquet has the feature columns \['a'\]"):
            QuickShift().fit(tmp_path)
        pq.write_table(pa.table({"t": ["x"]}), tmp_path / "2.parquet")
        with pytest.raises(ValueError, match="has no numeric column"):
            QuickShift().fit(tmp_path / "2.parquet")
        pq.write_table(pa.table({"a": [1.0, None]}), tmp_path / "2.parquet")
        with pytest.raises(ValueError, match=r"2.parquet has nan at row 1, column 'a'"):
            QuickShift().fit(tmp_path / "2.parquet")

    def test_identifiers_need_not_be_distinct(self, tmp_path):
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        ids = np.arange(len(X)) // 2 % 500
        for i, rows in enumerate(np.split(np.arange(len(X)), 3)):
            names = [f"row {number}" for number in ids[rows]]
            table = pa.table({"a": X[rows, 0], "b": X[rows, 1], "id": names})
            pq.write_table(table, tmp_path / f"{i}.parquet")
        model = QuickShift(n_partitions=4).fit(tmp_path, id_column="id")
        model.write_labels(tmp_path / "labels")
        written = pq.read_table(tmp_path / "labels")
        found = zip(written["id"].to_pylist(), written["label"].to_pylist(), strict=True)
        expected = zip((f"row {number}" for number in ids), EXPECTED.tolist(), strict=True)
        assert sorted(found) == sorted(expected)

    def test_identifiers_of_different_types(self, tmp_path):
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({"a": [1.0, 2.0], "id": [1, 2]}), tmp_path / "0.parquet")
        pq.write_table(pa.table({"a": [3.0], "id": ["x"]}), tmp_path / "1.parquet")
        message = r"column 'id' of .*1.parquet has the type string, expected int64 as in the first"
        with pytest.raises(ValueError, match=message):
            QuickShift().fit(tmp_path, id_column="id")

    def test_missing_identifiers(self, tmp_path):
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({"a": [1.0, 2.0], "id": [1, 2]}), tmp_path / "0.parquet")
        pq.write_table(pa.table({"a": [3.0, 4.0], "id": [7, None]}), tmp_path / "1.parquet")
        with pytest.raises(
            ValueError, match=r"'id' of .*1.parquet has no value at row 1, expected"
        ):
            QuickShift(0.4, 0.5).fit(tmp_path, id_column="id")

    def test_the_least_memory_limit_is_accepted(self):
        with pytest.raises(ValueError, match="expected at least") as refused:
            QuickShift(0.4, 0.5, memory_limit=1).fit(X[:160])
        least = int(str(refused.value).split("at least ")[1].split()[0])
        assert QuickShift(0.4, 0.5, memory_limit=least).fit(X[:160]).n_samples_ == 160

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"directory": "s3://bucket/runs"}, "expected the path of a folder or a file:// URL"),
            ({"directory": Path("s3://bucket/runs")}, "directory is 's3:/bucket/runs', expected"),
            ({"directory": "file://runs"}, "expected the path of a folder or a file:// URL"),
            ({"bandwidth": "CV"}, "bandwidth is 'CV'"),
            ({"bandwidth": -1.0}, "bandwidth"),
            ({"kernel": "tricube"}, "kernel"),
            ({"n_clusters": 2, "tau": 1.0}, "expected at most one"),
            ({"n_clusters": 10**6}, "n_clusters is 1000000, expected"),
            ({"n_partitions": 0}, "n_partitions"),
            ({"n_partitions": "many"}, "n_partitions is 'many'"),
            ({"memory_limit": "1 GB"}, "memory_limit is '1 GB'"),
            ({"memory_limit": 1}, r"memory_limit is 1 bytes, .* at least \d+ bytes for 1500"),
            ({"memory_limit": 1e3, "n_partitions": 3}, "memory_limit is 1000 bytes"),
            ({"n_neighbors": 1500}, "n_neighbors"),
            ({"period": [1.0]}, "period"),
        ],
        ids=str,
    )
    def test_parameters(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            QuickShift(**parameters).fit(X)
