"""`quickshift tree`, `regress`, `explore`, `info` and `demo` give what the Python calls give."""

import json

import numpy as np
import pytest
from pyarrow import csv
from pyarrow import parquet as pq

import quickshift as qs
from cli_cases import csv_text, points, run

X = points()


@pytest.fixture
def command(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "points.csv").write_text(csv_text(X))
    return lambda *arguments: run(monkeypatch, *arguments)


@pytest.fixture(scope="module")
def samples():
    features, y = qs.datasets.two_branches().sample(300, seed=0)
    return features.round(3), y.round(3)


@pytest.fixture
def regression(command, samples, tmp_path):
    features, y = samples
    (tmp_path / "train.csv").write_text(csv_text(np.c_[features, y]))
    (tmp_path / "new.csv").write_text("x\n0.25\n0.5\n0.75\n")
    return lambda *arguments: command("regress", "train.csv", "-y", "y", *arguments)


QUERIES = [[0.25], [0.5], [0.75]]


def test_tree_is_that_of_the_estimator(command):
    assert command("tree", "points.csv", "-o", "tree.npz", "-q").code == 0
    assert qs.ClusterTree.load("tree.npz") == qs.QuickShift().fit(X).tree_


def test_leaves_of_a_pruned_tree(command):
    assert command("tree", "points.csv", "--significance", "2", "-o", "out.parquet", "-q").code == 0
    table = pq.read_table("out.parquet")
    tree = qs.QuickShift().fit(X).tree_.prune(significance=2.0)
    np.testing.assert_array_equal(table["row"], tree.leaf_indices)
    np.testing.assert_array_equal(table["birth"], tree.births)
    np.testing.assert_array_equal(table["significance"], tree.significance)


def test_tree_is_summarized(command):
    out = command("tree", "points.csv", "--min-size", "30").out
    tree = qs.QuickShift().fit(X).tree_.prune(min_size=30)
    assert f"Cluster tree of 300 samples: {len(tree)} leaves" in out
    facts = json.loads(command("tree", "points.csv", "--min-size", "30", "--json").out)
    assert facts["leaves"]["row"] == tree.leaf_indices.tolist()


@pytest.mark.parametrize("name", ["cluster", "tree"])
def test_large_sizes_are_shown_in_full(name, command, tmp_path):
    (tmp_path / "in.csv").write_text("x,w\n" + "".join(f"{i % 5},1234567\n" for i in range(10)))
    out = command(name, "in.csv", "--weights", "w", "--bandwidth", "1", "--tau", "2").out
    assert " 12345670 " in out


def test_predictions_are_added_to_the_queries(regression, samples):
    assert regression("--queries", "new.csv", "-o", "out.csv", "-q").code == 0
    written = csv.read_csv("out.csv")
    assert written.column_names == ["x", "prediction"]
    expected = qs.ModalRegressor().fit(*samples).predict(QUERIES)
    np.testing.assert_array_equal(written["prediction"], expected)


def test_rows_of_the_input_are_the_queries_by_default(regression, samples):
    assert regression("--bandwidth", "0.1,0.3", "--tau", "0.5", "-o", "out.csv", "-q").code == 0
    written = csv.read_csv("out.csv")
    assert written.column_names == ["x", "y", "prediction"]
    expected = qs.ModalRegressor((0.1, 0.3), 0.5).fit(*samples).predict(samples[0])
    np.testing.assert_array_equal(written["prediction"], expected)


def test_all_modes(regression, samples):
    assert regression("--queries", "new.csv", "--modes", "-o", "out.parquet", "-q").code == 0
    expected = qs.ModalRegressor().fit(*samples).predict_modes(QUERIES).to_pandas()
    assert pq.read_table("out.parquet").to_pandas().equals(expected)


def test_intervals(regression, samples):
    result = regression("--queries", "new.csv", "--coverage", "0.8", "-o", "out.parquet")
    assert "intervals of coverage 0.8" in result.out
    expected = qs.ModalRegressor().fit(*samples).predict_set(QUERIES, 0.8)
    table = pq.read_table("out.parquet")
    np.testing.assert_array_equal(table["query"], expected.queries)
    np.testing.assert_array_equal(table["lower"], expected.lower)
    np.testing.assert_array_equal(table["upper"], expected.upper)


def test_several_responses_are_coordinates(command, samples, tmp_path):
    features, y = samples
    (tmp_path / "in.csv").write_text(csv_text(np.c_[features, y, -y], ("x", "a", "b")))
    assert command("regress", "in.csv", "-y", "a,b", "-o", "out.csv", "-q").code == 0
    expected = qs.ModalRegressor().fit(features, np.c_[y, -y]).predict(features)
    written = csv.read_csv("out.csv")
    np.testing.assert_array_equal(written["prediction_0"], expected[:, 0])
    np.testing.assert_array_equal(written["prediction_1"], expected[:, 1])


def test_regression_says_what_is_missing(command, regression):
    assert "--response" in command("regress", "points.csv").err
    assert "Give one of them" in regression("--modes", "--coverage", "0.5").err
    assert "no column 'z'" in command("regress", "points.csv", "-y", "y", "-c", "z").err
    result = command("regress", "points.csv", "-y", "1", "-c", "x,y")
    assert "column 'y' is the response" in result.err


def test_explore_writes_the_page_of_the_library(command, tmp_path):
    result = command("explore", "points.csv", "-o", "page.html", "--n-clusters", "2")
    assert "2, of 300 samples by x, y" in result.out
    model = qs.QuickShift(n_clusters=2).fit(X)
    expected = qs.explore(model, "expected.html", names=["x", "y"])
    assert (tmp_path / "page.html").read_bytes() == expected.read_bytes()
    assert "page.html exists" in command("explore", "points.csv", "-o", "page.html").err
    assert command("explore", "points.csv", "-o", "page.png").code == 2
    assert command("explore", "points.csv").code == 2


def test_info_shows_the_columns(command):
    out = command("info", "points.csv").out
    assert "points.csv: 300 rows, 2 columns" in out
    columns = json.loads(command("info", "points.csv", "--json").out)["columns"]
    assert [column["name"] for column in columns] == ["x", "y"]
    assert columns[0]["least"] == X[:, 0].min()
    assert columns[1]["largest"] == X[:, 1].max()


def test_info_shows_the_installation(command):
    assert qs.__version__ in command("info").out
    assert json.loads(command("info", "--json").out)["threads"] >= 1


def test_demo_writes_points_that_can_be_clustered(command):
    result = command("demo", "--rows", "200", "--groups", "2", "-o", "demo.csv")
    assert "Try" in result.out
    points, _ = qs.datasets.blobs(200, centers=2, seed=1)
    written = csv.read_csv("demo.csv")
    np.testing.assert_array_equal(np.c_[written["x"], written["y"]], points)
    assert json.loads(command("cluster", "demo.csv", "--json").out)["n_clusters"] == 2


MISSING = np.insert(X, [0, 50], np.nan, axis=0)  # rows 0 and 51 are dropped


def test_leaves_have_the_rows_of_the_file(command, tmp_path):
    (tmp_path / "in.csv").write_text(csv_text(MISSING))
    arguments = ("tree", "in.csv", "--drop-missing")
    leaves = qs.QuickShift().fit(X).tree_.leaf_indices
    facts = json.loads(command(*arguments, "-o", "out.parquet", "--json").out)
    rows = pq.read_table("out.parquet")["row"].to_numpy()
    np.testing.assert_array_equal(MISSING[rows], X[leaves])
    assert facts["leaves"]["row"] == rows.tolist()
    assert facts["n_dropped"] == 2
    assert "counted without" not in command(*arguments).out
    assert "counted without" in command(*arguments, "-o", "tree.npz").out


def test_explore_says_how_rows_are_counted(command, tmp_path):
    (tmp_path / "in.csv").write_text(csv_text(MISSING))
    assert "counted without" in command("explore", "in.csv", "--drop-missing", "-o", "a.html").out
    assert "counted without" not in command("explore", "points.csv", "-o", "b.html").out


def test_a_whole_tree_on_standard_output(monkeypatch, command, tmp_path):
    streams = []
    monkeypatch.setattr("cli_cases.Stream.text", lambda self: streams.append(self) or "")
    assert command("tree", "points.csv", "--to", "npz", "-o", "-", "-q").code == 0
    (tmp_path / "tree.npz").write_bytes(streams[0].buffer.getvalue())
    assert qs.ClusterTree.load("tree.npz") == qs.QuickShift().fit(X).tree_


@pytest.mark.parametrize("kind", [["--modes"], ["--coverage", "0.8"]])
def test_queries_have_the_rows_of_the_file(kind, regression, tmp_path):
    (tmp_path / "gaps.csv").write_text("x\nnan\n0.25\n\nnan\n0.75\n")
    arguments = ("--queries", "gaps.csv", "--drop-missing", *kind, "-o", "out.parquet", "--force")
    assert "Queries dropped" in regression(*arguments).out
    assert set(pq.read_table("out.parquet")["query"].to_pylist()) == {1, 4}
    facts = json.loads(regression(*arguments, "--json").out)
    assert (facts["n_dropped"], facts["n_queries_dropped"]) == (0, 3)


def test_queries_without_a_suffix_have_the_format_of_the_input(regression, tmp_path):
    (tmp_path / "new.dat").write_bytes((tmp_path / "new.csv").read_bytes())
    assert regression("--queries", "new.dat", "-q").code == 2
    assert regression("--queries", "new.dat", "--from", "csv", "-o", "out.csv", "-q").code == 0
    assert csv.read_csv("out.csv").column_names == ["x", "prediction"]


def test_names_of_predictions_are_checked_before_the_fit(regression, tmp_path, monkeypatch):
    (tmp_path / "again.csv").write_text("x,prediction\n0.25,1\n")
    monkeypatch.setattr(qs.ModalRegressor, "fit", None)
    result = regression("--queries", "again.csv", "-o", "out.csv")
    assert "the queries already have a column 'prediction'. Rename that column." in result.err


YEARS = "2019,2020,y\n" + "".join(f"{i},{i * i % 7},{i % 5}\n" for i in range(30))


def test_queries_that_lack_a_feature_whose_name_is_a_number_are_refused(command, tmp_path):
    (tmp_path / "train.csv").write_text(YEARS.replace("2019", "0").replace("2020", "1"))
    (tmp_path / "new.csv").write_text("0,other\n1,2\n")
    result = command("regress", "train.csv", "-y", "y", "--queries", "new.csv")
    assert result.code == 1
    assert "the queries have no column '1', expected all features of the input" in result.err


def test_queries_without_any_feature_name_all_that_are_lacking(command, tmp_path):
    (tmp_path / "train.csv").write_text(YEARS)
    (tmp_path / "new.csv").write_text("a,b\n1,2\n")
    result = command("regress", "train.csv", "-y", "y", "--queries", "new.csv")
    assert result.code == 1
    assert "the queries have no column '2019', '2020'" in result.err
    assert "Their columns are 'a', 'b'" in result.err


def test_queries_of_an_array_are_taken_by_position(command, tmp_path):
    (tmp_path / "train.csv").write_text(YEARS.replace("2019", "0").replace("2020", "1"))
    np.save(tmp_path / "new.npy", [[1.0, 2.0]])
    assert command("regress", "train.csv", "-y", "y", "--queries", "new.npy").code == 0
