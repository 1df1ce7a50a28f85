"""`quickshift cluster`: tables in and out give what the estimator gives."""

import gzip
import io
import json
import os
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather
from pyarrow import parquet as pq
from rich.console import Console

import quickshift as qs
from cli_cases import csv_text, points, run
from quickshift.cli.clusters import cluster_lines

X = points()
LABELS = qs.QuickShift().fit(X).labels_


@pytest.fixture
def command(monkeypatch):
    return lambda *arguments, given=b"": run(monkeypatch, "cluster", *arguments, given=given)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "points.csv").write_text(csv_text(X))
    return tmp_path


def table():
    return pa.table({"x": X[:, 0], "y": X[:, 1]})


WRITERS = {
    "csv": lambda path: csv.write_csv(table(), path),
    "tsv": lambda path: csv.write_csv(table(), path, csv.WriteOptions(delimiter="\t")),
    "parquet": lambda path: pq.write_table(table(), path),
    "arrow": lambda path: feather.write_feather(table(), path, compression="uncompressed"),
    "feather": lambda path: feather.write_feather(table(), path, compression="lz4"),
    "npy": lambda path: np.save(path, X),
    "npz": lambda path: np.savez(path, X),
}
READERS = {
    "csv": lambda path: csv.read_csv(path)["label"].to_numpy(),
    "tsv": lambda path: csv.read_csv(path, parse_options=csv.ParseOptions(delimiter="\t"))[
        "label"
    ].to_numpy(),
    "parquet": lambda path: pq.read_table(path)["label"].to_numpy(),
    "arrow": lambda path: feather.read_table(path)["label"].to_numpy(),
    "feather": lambda path: feather.read_table(path)["label"].to_numpy(),
    "npy": np.load,
    "npz": lambda path: np.load(path)["label"],
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_input_format_gives_the_labels_of_the_estimator(suffix, command, folder):
    WRITERS[suffix](str(folder / f"in.{suffix}"))
    assert command(f"in.{suffix}", "-o", "out.npy", "-q").code == 0
    np.testing.assert_array_equal(np.load("out.npy"), LABELS)


@pytest.mark.parametrize("suffix", READERS)
def test_every_output_format_has_the_labels_of_the_estimator(suffix, command, folder):
    result = command("points.csv", "-o", f"out.{suffix}", "-q")
    assert (result.code, result.out, result.err) == (0, "", "")
    np.testing.assert_array_equal(READERS[suffix](str(folder / f"out.{suffix}")), LABELS)


def test_labels_are_added_to_the_table(command, folder):
    assert command("points.csv", "-o", "out.csv", "-q").code == 0
    first = (folder / "out.csv").read_text().splitlines()[:2]
    assert first == ["x,y,label", f"{X[0, 0]},{X[0, 1]},{LABELS[0]}"]


def test_labels_alone_keep_the_identifiers(command, folder):
    names = pa.array([f"row {i}" for i in range(len(X))])
    pq.write_table(table().append_column("name", names), "in.parquet")
    arguments = ("in.parquet", "--id", "name", "--labels-only", "-o", "out.parquet", "-q")
    assert command(*arguments).code == 0
    written = pq.read_table("out.parquet")
    assert written.column_names == ["name", "label"]
    assert written["name"].to_pylist() == names.to_pylist()


def test_standard_input_and_output(command, folder):
    result = command("-", "-o", "-", given=csv_text(X).encode())
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0] == "x,y,label"
    assert [int(line.rsplit(",", 1)[1]) for line in lines[1:]] == LABELS.tolist()
    assert "3 clusters of 300 samples" in result.err


@pytest.mark.parametrize("name", ["parquet", "arrow", "npy", "npz"])
def test_binary_formats_on_standard_input(name, command, folder):
    WRITERS[name](str(folder / f"in.{name}"))
    given = (folder / f"in.{name}").read_bytes()
    assert command("-", "--from", name, "-o", "out.npy", "-q", given=given).code == 0
    np.testing.assert_array_equal(np.load("out.npy"), LABELS)


def test_an_arrow_stream_on_standard_input(command, folder):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table().schema) as writer:
        writer.write_table(table())
    given = sink.getvalue().to_pybytes()
    assert command("-", "--from", "arrow", "-o", "out.npy", "-q", given=given).code == 0
    np.testing.assert_array_equal(np.load("out.npy"), LABELS)


def test_compressed_csv(command, folder):
    (folder / "in.csv.gz").write_bytes(gzip.compress(csv_text(X).encode()))
    assert command("in.csv.gz", "-o", "out.npy", "-q").code == 0
    np.testing.assert_array_equal(np.load("out.npy"), LABELS)


@pytest.mark.parametrize("columns", [["-c", "x,y"], ["-c", "1,2"], ["-c", "x", "-c", "-1"]])
def test_columns_by_name_or_number(columns, command, folder):
    ids = pa.array(np.arange(len(X)) * 1000)
    pq.write_table(table().add_column(0, "id", ids), "in.parquet")
    assert command("in.parquet", *columns, "-o", "out.npy", "-q").code == 0
    np.testing.assert_array_equal(np.load("out.npy"), LABELS)


def test_options_are_those_of_the_estimator(command, folder):
    weights = np.arange(len(X)) % 3 + 1
    pq.write_table(table().append_column("w", pa.array(weights)), "in.parquet")
    options = "--bandwidth 2 --tau 4 --kernel epanechnikov --scale std --weights w --n-jobs 1"
    assert command("in.parquet", *options.split(), "-o", "out.npy", "-q").code == 0
    model = qs.QuickShift(2.0, 4.0, kernel="epanechnikov", scale="std")
    expected = model.fit(X, sample_weight=weights).labels_
    np.testing.assert_array_equal(np.load("out.npy"), expected)


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ("--n-clusters 2", {"n_clusters": 2}),
        ("--n-neighbors 10 --min-significance 3", {"n_neighbors": 10, "min_significance": 3.0}),
        ("--period 40,inf", {"period": [40.0, np.inf]}),
        ("--metric cosine", {"metric": "cosine"}),
        ("--bandwidth auto --tau inf", {"bandwidth": "auto", "tau": np.inf}),
    ],
)
def test_more_options_are_those_of_the_estimator(options, parameters, command, folder):
    assert command("points.csv", *options.split(), "-o", "out.npy", "-q").code == 0
    expected = qs.QuickShift(**parameters).fit(X).labels_
    np.testing.assert_array_equal(np.load("out.npy"), expected)


def test_missing_values_are_counted(command, folder):
    (folder / "in.csv").write_text("x,y\n1,2\n,3\n4,nan\n5,6\n")
    result = command("in.csv")
    assert result.code == 1
    assert "2 of 4 rows have missing values in 'x', 'y', the first is row 1" in result.err
    assert "--drop-missing" in result.err


def test_dropped_rows_are_absent_from_the_output(command, folder):
    lines = csv_text(X).splitlines()
    lines[5] = ",1"
    (folder / "in.csv").write_text("\n".join(lines))
    result = command("in.csv", "--drop-missing", "-o", "out.csv")
    assert "1 rows with missing values" in result.out
    expected = qs.QuickShift().fit(np.delete(X, 4, axis=0)).labels_
    np.testing.assert_array_equal(READERS["csv"]("out.csv"), expected)


def test_json_has_what_the_summary_has(command, folder):
    facts = json.loads(command("points.csv", "--json").out)
    assert facts["n_clusters"] == 3
    assert facts["features"] == ["x", "y"]
    assert sum(cluster["size"] for cluster in facts["clusters"]) == len(X)
    assert facts["clusters"][0]["significance"] is None  # infinite
    assert set(facts["seconds"]) >= {"read", "fit", "total"}


def test_summary_speaks_of_options(command, folder):
    out = command("points.csv").out
    assert "3 clusters of 300 samples by x, y" in out
    assert "--n-clusters 2" in out
    assert "labels_for" not in out
    assert "recut" not in out


@pytest.mark.parametrize(
    ("width", "names"),
    [(90, "label row size share density significance nearest denser mode"), (40, None)],
)
def test_short_lines_leave_columns_out(width, names):
    model = qs.QuickShift().fit(np.column_stack([X, X[:, 0] * 1e-4]))
    console = Console(file=io.StringIO(), width=width)
    table = cluster_lines(model.summary(), len(X), width)[2]
    console.print(table)
    lines = console.file.getvalue().splitlines()
    if names is None:
        assert "nearest" not in lines[0]
    else:
        assert lines[0].split() == names.split()
        assert len(lines) == 2 + model.n_clusters_


def test_options_to_reproduce_give_the_same_labels(command, folder):
    remarks = json.loads(command("points.csv", "--json").out)["remarks"]
    options = next(text for text in remarks if text.startswith("To reproduce: ")).split()[2:]
    assert command("points.csv", *options, "-o", "out.npy", "-q").code == 0
    np.testing.assert_array_equal(np.load("out.npy"), LABELS)


def one_column():
    """200 samples for which the default number of neighbors finds a single cluster."""
    r = np.random.default_rng(30)
    return np.r_[r.normal(0, 1, 100), r.normal(3.2, 1, 100)]


@pytest.mark.parametrize(
    ("fitted", "parameters", "advice"),
    [
        ("", {}, "--n-neighbors 18 --n-clusters 3"),
        ("--n-neighbors 18", {"n_neighbors": 18}, "--n-neighbors 18 --n-clusters 3"),
        (
            "--min-significance 3 --n-neighbors 18",
            {"min_significance": 3.0, "n_neighbors": 18},
            "--n-neighbors 18 --n-clusters 3 in place of --min-significance",
        ),
    ],
)
def test_advice_on_other_clusters_gives_those_of_a_recut(
    fitted, parameters, advice, command, folder
):
    Z = one_column()[:, None]
    np.save("z.npy", Z)
    remarks = json.loads(command("z.npy", *fitted.split(), "--json").out)["remarks"]
    assert any(text.startswith(f"One cluster more: {advice}") for text in remarks)
    options = advice.partition(" in place")[0].split()
    assert command("z.npy", *options, "-o", "out.npy", "-q").code == 0
    expected = qs.QuickShift(**parameters).fit(Z).recut(n_clusters=int(options[-1])).labels_
    np.testing.assert_array_equal(np.load("out.npy"), expected)


def test_advice_after_a_given_tau_replaces_it(command, folder):
    np.save("z.npy", one_column())
    remarks = json.loads(command("z.npy", "--tau", "1", "--json").out)["remarks"]
    advice = "--n-clusters 4 in place of --tau. One fewer: --n-clusters 2 in place of --tau."
    assert f"One cluster more: {advice}" in remarks


def test_other_delimiters_and_files_without_names(command, folder):
    lines = csv_text(X).replace(",", ";").splitlines()[1:]
    (folder / "in.csv").write_text("\n".join(lines))
    arguments = ("in.csv", "--delimiter", ";", "--no-header", "-o", "out.npy", "-q")
    assert command(*arguments).code == 0
    np.testing.assert_array_equal(np.load("out.npy"), LABELS)


@pytest.mark.parametrize("kind", [">f8", "<f8", "f4", "i2", np.longdouble])
@pytest.mark.parametrize("memory", [[], ["--memory", "1GB"]])
def test_arrays_of_any_kind_of_number(kind, memory, command, folder):
    np.save("in.npy", X.round().astype(kind))
    arguments = ("--bandwidth", "2", "--tau", "4", *memory, "-o", "out.npy", "-q")
    assert command("in.npy", *arguments).code == 0
    expected = qs.QuickShift(2.0, 4.0).fit(X.round()).labels_
    np.testing.assert_array_equal(np.load("out.npy"), expected)


def test_text_is_in_quotes_only_if_it_has_to_be(command, folder):
    options = ("--bandwidth", "1", "--tau", "2", "-o", "-", "-q")
    out = command("-", *options, given=b"x,name\n1,a\n2,\n").out
    assert out == "x,name,label\n1,a,0\n2,,0\n"
    out = command("-", *options, given=b'x,name\n1,"a,b"\n2,"c""d"\n').out
    assert out == 'x,name,label\n1,"a,b",0\n2,"c""d",0\n'


def test_arrays_of_an_archive_are_columns(command, folder):
    np.savez("in.npz", x=X[:, 0], y=X[:, 1:], w=np.ones(len(X)))
    assert command("in.npz", "--weights", "w", "-o", "out.npy", "-q").code == 0
    np.testing.assert_array_equal(np.load("out.npy"), LABELS)


def test_names_of_columns_may_begin_with_a_space(command, folder):
    (folder / "in.csv").write_text(csv_text(X, ("x", " y")))
    for columns in ([], ["-c", "x, y"], ["-c", "x", "-c", " y"]):
        assert command("in.csv", *columns, "-o", "out.npy", "-q", "-f").code == 0
        np.testing.assert_array_equal(np.load("out.npy"), LABELS)


IDENTIFIERS = ["01000", "12345678901234567890123", "2024-01-01 10:00", "NA", ""]


def cells(path, column):
    """The cells of a column of a CSV file, without quotes."""
    lines = path.read_text().splitlines()[1:]
    return [line.split(",")[column].strip('"') for line in lines]


@pytest.mark.parametrize("memory", [[], ["--memory", "1GB"]])
@pytest.mark.parametrize("options", ["--id key", "--columns x,y", "--id 0 -c 1,2"])
@pytest.mark.parametrize("key", IDENTIFIERS)
def test_columns_without_a_role_are_written_as_they_were(key, options, memory, command, folder):
    lines = csv_text(X).splitlines()
    text = "\n".join([f"key,{lines[0]}", *(f"{key},{line}" for line in lines[1:])])
    (folder / "in.csv").write_text(text)
    assert command("in.csv", *options.split(), *memory, "-o", "out.csv", "-q").code == 0
    assert cells(folder / "out.csv", 0) == [key] * len(X)
    assert [int(label) for label in cells(folder / "out.csv", 3)] == LABELS.tolist()


@pytest.mark.parametrize("memory", [[], ["--memory", "1GB"]])
def test_columns_that_a_csv_file_cannot_hold_are_named_before_the_fit(memory, command, folder):
    pq.write_table(table().append_column("lists", pa.array([[1]] * len(X))), "in.parquet")
    result = command("in.parquet", *memory, "--n-clusters", "9999", "-o", "out.csv")
    assert result.err.startswith("Error: column 'lists' has the type list<element: int64>, which a")
    assert command("in.parquet", *memory, "-o", "out.csv", "--labels-only").code == 0


def test_times_are_written_as_they_were(command, folder):
    lines = [f"{line},2024-01-01 10:00" for line in csv_text(X).splitlines()[1:]]
    (folder / "in.csv").write_text("\n".join(["x,y,time", *lines]))
    assert command("in.csv", "-o", "out.csv", "-q").code == 0
    assert cells(folder / "out.csv", 2) == ["2024-01-01 10:00"] * len(X)


@pytest.mark.parametrize("memory", [[], ["--memory", "1GB"]])
def test_arrays_hold_identifiers_that_are_numbers(memory, command, folder):
    lines = [f"{i:05},{line}" for i, line in enumerate(csv_text(X).splitlines()[1:])]
    (folder / "in.csv").write_text("\n".join(["key,x,y", *lines]))
    assert command("in.csv", "--id", "key", *memory, "-o", "out.npy", "-q").code == 0
    np.testing.assert_array_equal(np.load("out.npy"), np.c_[np.arange(len(X)), LABELS])


@pytest.mark.parametrize("delimiter", ["\t", r"\t"])
def test_tabs_as_delimiters(delimiter, command, folder):
    (folder / "in.csv").write_text(csv_text(X).replace(",", "\t"))
    assert command("in.csv", "--delimiter", delimiter, "-o", "out.npy", "-q").code == 0
    np.testing.assert_array_equal(np.load("out.npy"), LABELS)


@pytest.mark.parametrize("delimiter", ["ab", "", "é"])
def test_delimiters_are_single_characters(delimiter, command, folder):
    result = command("points.csv", "--delimiter", delimiter)
    assert result.code == 2
    assert "expected one ASCII character" in result.err


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
@pytest.mark.parametrize("memory", [[], ["--memory", "1GB"]])
@pytest.mark.parametrize("name", ["csv", "parquet", "npy"])
def test_pipes_are_read_once(name, memory, command, folder):
    WRITERS[name](str(folder / f"in.{name}"))
    reading, writing = os.pipe()
    os.write(writing, (folder / f"in.{name}").read_bytes())
    os.close(writing)
    path = f"/dev/fd/{reading}"
    try:
        result = command(path, "--from", name, "-c", "0,1", *memory, "-o", "out.npy", "-q")
    finally:
        os.close(reading)
    assert (result.code, result.err) == (0, "")
    np.testing.assert_array_equal(np.load("out.npy"), LABELS)


@pytest.mark.parametrize("memory", [[], ["--memory", "1GB"]])
@pytest.mark.parametrize("before", ["", "\n\n"])
def test_blank_lines_of_a_single_column_are_missing_values(before, memory, command, folder):
    Z = one_column()
    lines = ["x", *map(repr, Z.tolist())]
    lines.insert(3, "")
    (folder / "in.csv").write_text(before + "\n".join(lines) + "\n")
    result = command("in.csv", *memory)
    assert result.code == 1
    assert "1 of 201 rows have missing values" in result.err
    assert "the first is row 2" in result.err
    assert command("in.csv", "--drop-missing", *memory, "-o", "out.csv", "-q").code == 0
    assert [float(cell) for cell in cells(folder / "out.csv", 0)] == Z.tolist()


def test_blank_lines_between_rows_of_several_columns_are_skipped(command, folder):
    (folder / "in.csv").write_text(csv_text(X).replace("\n", "\n\n"))
    assert command("in.csv", "-o", "out.npy", "-q").code == 0
    np.testing.assert_array_equal(np.load("out.npy"), LABELS)


def test_cells_that_are_all_na_are_written_as_they_were(command, folder):
    lines = [f"{line},NA" for line in csv_text(X).splitlines()[1:]]
    (folder / "in.csv").write_text("\n".join(["x,y,remark", *lines]))
    assert command("in.csv", "-o", "out.csv", "-q").code == 0
    assert cells(folder / "out.csv", 2) == ["NA"] * len(X)
