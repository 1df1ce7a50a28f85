"""`quickshift cluster --memory`: parts of a table give the labels of a fit in memory."""

import json
import os
import tempfile

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather
from pyarrow import parquet as pq

import quickshift as qs
from cli_cases import csv_text, points, run

X = points(600)
LABELS = qs.QuickShift().fit(X).labels_
NAMES = pa.array([f"row {i}" for i in range(len(X))])


@pytest.fixture
def command(monkeypatch, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    def call(*arguments, given=b""):
        result = run(monkeypatch, "cluster", *arguments, given=given)
        assert os.listdir(scratch) == []
        return result

    return call


def table():
    return pa.table({"name": NAMES, "x": X[:, 0], "y": X[:, 1]})


WRITERS = {
    "csv": lambda path: csv.write_csv(table(), path),
    "parquet": lambda path: pq.write_table(table(), path, row_group_size=100),
    "feather": lambda path: feather.write_feather(table(), path, chunksize=100),
    "npy": lambda path: np.save(path, X),
    "npz": lambda path: np.savez(path, x=X[:, 0], y=X[:, 1]),
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_parts_of_every_format_give_the_same_labels(suffix, command):
    WRITERS[suffix](f"in.{suffix}")
    result = command(f"in.{suffix}", "--memory", "1GB", "-o", "out.npy")
    assert result.code == 0, result.err
    np.testing.assert_array_equal(np.load("out.npy"), LABELS)
    assert "3 clusters of 600 samples by " in result.out
    assert "Fitted" in result.out


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz"])
def test_tables_are_written_with_their_labels(suffix, command):
    WRITERS["parquet"]("in.parquet")
    assert command("in.parquet", "--memory", "1GB", "-o", f"out.{suffix}", "-q").code == 0
    if suffix == "npz":
        np.testing.assert_array_equal(np.load("out.npz")["label"], LABELS)
        return
    written = csv.read_csv("out.csv") if suffix == "csv" else pq.read_table("out.parquet")
    assert written.column_names == ["name", "x", "y", "label"]
    assert written["name"].to_pylist() == NAMES.to_pylist()
    np.testing.assert_array_equal(written["label"], LABELS)


def test_standard_input_and_identifiers(command):
    given = csv_text(X).encode()
    arguments = ("-", "--memory", "1GB", "-o", "-", "--labels-only", "--id", "x", "-c", "x,y", "-q")
    lines = command(*arguments, given=given).out.splitlines()
    assert lines[0] == "x,label"
    assert [int(line.split(",")[1]) for line in lines[1:]] == LABELS.tolist()


def test_columns_that_begin_with_integers_are_numbers(command, tmp_path):
    filler = "a" * 1000  # so that the last line is in the second block of the file
    lines = ["x,text", *(f"{i % 2},{filler}" for i in range(1200)), "9.5,end"]
    (tmp_path / "in.csv").write_text("\n".join(lines))
    assert command("in.csv", "--memory", "1GB", "--bandwidth", "1", "--tau", "2", "-q").code == 0


@pytest.mark.parametrize("memory", [[], ["--memory", "1GB"]])
def test_the_index_of_pandas_is_no_feature(memory, command):
    pandas = pytest.importorskip("pandas")
    rows = np.arange(len(X))[::-1] * 1000
    pandas.DataFrame(X, index=rows, columns=["x", "y"]).to_parquet("in.parquet")
    result = command("in.parquet", *memory, "-o", "out.npy")
    np.testing.assert_array_equal(np.load("out.npy"), LABELS)
    assert memory or "__index_level_0__, the index of a pandas data frame" in result.out


def test_truth_values_are_features(command, tmp_path):
    lines = ["x,on", *(f"{x},{str(x > 0).lower()}" for x in X[:, 0])]
    (tmp_path / "in.csv").write_text("\n".join(lines))
    for name, memory in (("whole.npy", []), ("parts.npy", ["--memory", "1GB"])):
        result = command("in.csv", *memory, "-o", name, "-q")
        assert (result.code, result.err) == (0, "")
    np.testing.assert_array_equal(np.load("parts.npy"), np.load("whole.npy"))


def test_wrong_weights_are_named_by_the_column_and_the_row_of_the_file(command, tmp_path):
    (tmp_path / "in.csv").write_text("x,w\n,1\n1,1\n2,-3\n")
    result = command("in.csv", "--weights", "w", "--drop-missing", "--memory", "1GB")
    assert result.err.startswith("Error: column 'w' has -3.0 in row 2, expected weights: 0 leaves")


@pytest.mark.parametrize("more", [[], ["--drop-missing"]])
def test_errors_of_the_fit_name_the_input_and_not_its_copy(more, command, tmp_path):
    (tmp_path / "in.csv").write_text("x,y\n1,1\n0,0\n" + (",\n" if more else ""))
    result = command("in.csv", "--metric", "cosine", "--memory", "1GB", *more)
    shown = "in.csv, without the rows that were dropped," if more else "in.csv,"
    assert f"X is {shown} and its rows are counted from row 0" in result.err


@pytest.mark.parametrize("options", [[], ["-c", "x"]])
def test_columns_that_begin_empty_may_have_text_later(options, command, tmp_path):
    filler = "a" * 15_000  # so that the last line is in the second block of the file
    lines = ["x,text,note", *(f"{i % 2},{filler}," for i in range(1200)), "1,end,late"]
    (tmp_path / "in.csv").write_text("\n".join(lines))
    arguments = ("--memory", "1GB", "--bandwidth", "1", "--tau", "2", "-o", "out.parquet", "-q")
    result = command("in.csv", *options, *arguments)
    assert (result.code, result.err) == (0, "")
    assert pq.read_table("out.parquet")["note"].to_pylist()[-1] == "late"


@pytest.mark.parametrize("memory", [[], ["--memory", "1GB"]])
def test_large_integers_become_floats(memory, command):
    large = pa.array(np.arange(50) + (2**53 + 1))
    pq.write_table(pa.table({"x": large}), "in.parquet")
    result = command("in.parquet", *memory, "--bandwidth", "5", "--tau", "5", "-q")
    assert (result.code, result.err) == (0, "")


def test_weights_and_parameters_are_those_of_the_fit(command):
    weights = np.arange(len(X)) % 3
    pq.write_table(table().append_column("w", pa.array(weights)), "in.parquet")
    options = "--bandwidth 2 --tau 4 --kernel epanechnikov --weights w --memory 1GB"
    assert command("in.parquet", *options.split(), "-o", "out.npy", "-q").code == 0
    model = qs.QuickShift(2.0, 4.0, kernel="epanechnikov").fit(X, sample_weight=weights)
    np.testing.assert_array_equal(np.load("out.npy"), model.labels_)


def test_sizes_are_sums_of_weights_in_both_fits(command):
    weights = np.arange(len(X)) % 3 + 0.5
    pq.write_table(table().append_column("w", pa.array(weights)), "in.parquet")
    arguments = ("in.parquet", "--weights", "w", "--bandwidth", "2", "--tau", "4", "--json")
    whole = json.loads(command(*arguments).out)
    parts = json.loads(command(*arguments, "--memory", "1GB").out)
    for facts in (whole, parts):
        sizes = [cluster["size"] for cluster in facts["clusters"]]
        assert facts["n_samples"] == len(X)
        assert sum(sizes) == weights.sum()
        assert sizes == [cluster["size"] for cluster in whole["clusters"]]


def test_missing_values_are_counted_or_dropped(command, tmp_path):
    lines = csv_text(X).splitlines()
    lines[5] = ",1"
    lines[9] = "1,nan"
    (tmp_path / "in.csv").write_text("\n".join(lines))
    error = command("in.csv", "--memory", "1GB").err
    assert "2 of 600 rows have missing values, the first is row 4" in error
    arguments = ("in.csv", "--memory", "1GB", "--drop-missing", "-o", "out.npy", "--json")
    assert json.loads(command(*arguments).out)["n_dropped"] == 2
    expected = qs.QuickShift().fit(np.delete(X, [4, 8], axis=0)).labels_
    np.testing.assert_array_equal(np.load("out.npy"), expected)


def test_an_input_that_does_not_fit_is_fitted_in_parts(command, monkeypatch):
    from quickshift.cli import partitions

    for suffix in ("csv", "parquet", "feather", "npy"):
        WRITERS[suffix](f"in.{suffix}")
        assert "Fitted" not in command(f"in.{suffix}").out
    monkeypatch.setattr(partitions, "available_memory", lambda: 10_000)
    for suffix in ("csv", "parquet", "feather", "npy"):
        assert "Fitted" in command(f"in.{suffix}").out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("points.csv --memory lots", "'lots' is not a size in bytes, expected one such as 2GB"),
        ("points.csv --memory 1GB --n-jobs 2", "--n-jobs is not available for a fit in parts"),
        ("points.csv --memory 1GB -c z", "there is no column 'z'"),
        ("ragged.csv --memory 1GB", "line 3: Expected 2 columns, got 3"),
        ("word.csv --memory 1GB -c x,y", "expected numbers"),
        ("junk.parquet --memory 1GB", "junk.parquet cannot be read as parquet"),
        ("labeled.csv --memory 1GB -o out.csv", "already has a column 'label'"),
        ("nowhere.csv --memory 1GB", "nowhere.csv does not exist"),
    ],
)
def test_errors_of_parts_are_one_line(arguments, text, command, tmp_path):
    (tmp_path / "points.csv").write_text(csv_text(X))
    (tmp_path / "labeled.csv").write_text(csv_text(X, ("x", "label")))
    (tmp_path / "ragged.csv").write_text("x,y\n1,2\n3,4,5\n")
    (tmp_path / "word.csv").write_text("x,y\n1,2\n3,abc\n")
    (tmp_path / "junk.parquet").write_bytes(b"junk" * 100)
    result = command(*arguments.split())
    assert result.code in (1, 2)
    assert text in result.err
    assert result.err.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()
