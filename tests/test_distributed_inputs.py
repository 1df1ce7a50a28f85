"""Inputs and outputs that are unusual or wrong: what is taken, and what errors say."""

import os
import stat
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import quickshift
from distributed_cases import blobs
from quickshift.distributed import QuickShift
from quickshift.distributed.executors import Inline

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

X = blobs(160)


@pytest.fixture(autouse=True)
def _inline(monkeypatch):
    """Run tasks in this process."""
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: Inline())


def test_columns_of_the_same_name_are_refused_if_they_are_used(tmp_path):
    table = pa.table([X[:, 0], X[:, 1], X[:, 1]], names=["x", "y", "x"])
    pq.write_table(table, tmp_path / "x.parquet")
    message = r"x.parquet has several columns of the name 'x', expected one. Rename"
    for columns in (None, ["x", "y"]):
        with pytest.raises(ValueError, match=message):
            QuickShift().fit(tmp_path, columns)
    with pytest.raises(ValueError, match=message):
        QuickShift().fit(tmp_path, ["y"], id_column="x")
    assert QuickShift(0.4, 0.5).fit(tmp_path, ["y"]).n_features_in_ == 1


@pytest.mark.parametrize("columns", [[0, 1, 0], np.array([1, 1])], ids=str)
def test_a_feature_that_is_named_twice_is_refused(columns):
    with pytest.raises(ValueError, match=r"columns has .*[01].* twice, expected distinct columns"):
        QuickShift().fit(X, columns)


@pytest.mark.parametrize("columns", [[True, False], np.array([True, True])], ids=str)
def test_truth_values_are_no_columns(columns):
    with pytest.raises(ValueError, match=r"array has no column (np\.)?True_?, expected one"):
        QuickShift().fit(X, columns)


def test_any_finite_memory_limit_is_taken():
    for limit in (1e30, 10**30):
        assert QuickShift(0.4, 0.5, memory_limit=limit).fit(X).n_partitions_ == 1


def test_decimal_columns_are_numbers(tmp_path):
    rounded = np.round(X, 2)
    columns = [pa.array([Decimal(str(v)) for v in c], pa.decimal128(9, 2)) for c in rounded.T]
    pq.write_table(pa.table(columns, names=["x", "y"]), tmp_path / "x.parquet")
    found = QuickShift(0.4, 0.5).fit(tmp_path)
    np.testing.assert_array_equal(
        found.labels_, quickshift.QuickShift(0.4, 0.5).fit_predict(rounded)
    )
    pq.write_table(pa.table({"x": pa.array([Decimal(1), None])}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="nan at row 1, column 'x'"):
        QuickShift(0.4, 0.5).fit(tmp_path)


@pytest.mark.parametrize("name", [None, "number"])
def test_the_index_of_pandas_is_no_feature(name, tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = pandas.Index(np.arange(len(X))[::-1] * 1000, name=name)
    pandas.DataFrame(X, index=rows, columns=["x", "y"]).to_parquet(tmp_path / "x.parquet")
    assert QuickShift(0.4, 0.5).fit(tmp_path).n_features_in_ == 2
    if name is not None:
        found = QuickShift(0.4, 0.5).fit(tmp_path, ["x", name])
        assert found.n_features_in_ == 2


@pytest.mark.parametrize("noted", [b"{", b"[1]", b'{"index_columns": 5}'])
def test_damaged_notes_of_pandas_are_ignored(noted, tmp_path):
    table = pa.table({"x": X[:, 0]}).replace_schema_metadata({b"pandas": noted})
    pq.write_table(table, tmp_path / "x.parquet")
    assert QuickShift(0.4, 0.5).fit(tmp_path).n_features_in_ == 1


def test_suffixes_in_capitals_are_found_in_a_folder(tmp_path):
    pq.write_table(pa.table({"x": X[:, 0]}), tmp_path / "A.PARQUET")
    assert QuickShift(0.4, 0.5).fit(tmp_path).n_samples_ == len(X)


def test_labels_need_the_name_of_a_file_in_a_folder(tmp_path):
    model = QuickShift(0.4, 0.5).fit(X)
    with pytest.raises(IsADirectoryError, match=r"path is '\.', which is a folder; expected"):
        model.write_labels(".")
    missing = tmp_path / "missing" / "labels.parquet"
    with pytest.raises(FileNotFoundError, match=r"labels.parquet', but there is no folder '.*miss"):
        model.write_labels(missing)
    assert not list(tmp_path.iterdir())


def test_labels_follow_links_and_leave_devices_alone(tmp_path):
    model = QuickShift(0.4, 0.5).fit(X)
    target, link = tmp_path / "labels.parquet", tmp_path / "link.parquet"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    model.write_labels(link)
    assert link.is_symlink()
    assert pq.read_table(target).num_rows == len(X)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    model.write_labels(os.devnull)
    assert not Path(os.devnull).is_file()


def test_messages_about_arrays_name_no_temporary_file():
    wrong = X.copy()
    wrong[7, 1] = np.nan
    with pytest.raises(ValueError, match=r"^the given array has nan at row 7, column 1; "):
        QuickShift().fit(wrong)
    with pytest.raises(ValueError, match=r"^the given array has no column 5, expected one of"):
        QuickShift().fit(X, [0, 5])
    with pytest.raises(ValueError, match=r"^the given array cannot be used: it has shape \(3,\)"):
        QuickShift().fit(np.zeros(3))
    with pytest.raises(ValueError, match=r"with at least one feature\. Make .*reshape\(-1, 1\)"):
        QuickShift().fit(np.zeros(3))
    with pytest.raises(ValueError, match=r"latitude .* X is the given array, and its rows"):
        QuickShift(metric="haversine").fit(X * 100)
    dask = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"^partition 1 of the given dask .* at row 7, column 1"):
        QuickShift().fit(dask.from_array(np.concatenate([X, wrong]), chunks=(160, 2)))


def test_dask_collections_need_rows_and_columns():
    delayed, array = pytest.importorskip("dask").delayed, pytest.importorskip("dask.array")
    frames, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    series = frames.from_pandas(pandas.Series(X[:, 0], name="x"), npartitions=2)
    with pytest.raises(ValueError, match=r"of type Series, expected .* Use data\.to_frame\(\)"):
        QuickShift().fit(series)
    with pytest.raises(ValueError, match=r"has shape \(160,\), .* Use data\.reshape\(-1, 1\)"):
        QuickShift().fit(array.from_array(X[:, 0]))
    with pytest.raises(TypeError, match=r"data is of type Delayed.*, expected a path or glob"):
        QuickShift().fit(delayed(X))
    assert QuickShift(0.4, 0.5).fit(series.to_frame()).n_features_in_ == 1


def test_dask_arrays_need_numbers_that_are_not_masked():
    array = pytest.importorskip("dask.array")
    masked = array.ma.masked_greater(array.from_array(X, chunks=(40, 1)), X.max() - 1e-9)
    message = r"partition \d of the given dask collection has masked entries, .*dask\.array\.ma"
    with pytest.raises(ValueError, match=message):
        QuickShift().fit(masked)
    for kind in (object, complex):
        with pytest.raises(TypeError, match=r"a dask array of type .*, expected real numbers"):
            QuickShift().fit(array.from_array(X.astype(kind), chunks=(40, 2)))


@pytest.mark.skipif(os.name == "nt", reason="URLs of Windows begin with a drive")
def test_urls_of_folders_are_unquoted(tmp_path):
    folder = tmp_path / "sp ace"
    QuickShift(0.4, 0.5, directory=folder.as_uri()).fit(X)
    assert [path.name for path in tmp_path.iterdir()] == ["sp ace"]


def test_a_file_is_no_folder_for_the_files_of_a_run(tmp_path):
    (tmp_path / "runs").write_text("")
    with pytest.raises(NotADirectoryError, match="which is a file; expected a folder for the"):
        QuickShift(directory=tmp_path / "runs").fit(X)
