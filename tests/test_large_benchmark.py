"""benchmarks/large.py at a small size: what it measures, and the tables that it writes."""

import importlib
import re
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def large(monkeypatch, tmp_path):
    """Return the script, which writes to copies of its results and of its page."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    script = importlib.import_module("large")
    page = tmp_path / "page.md"
    page.write_text((ROOT / "docs" / "large_cost.md").read_text())
    monkeypatch.setattr(script.large_page, "PAGE", page)
    monkeypatch.setattr(script.large_page, "RESULTS", tmp_path / "results.json")
    return script


def run(script, monkeypatch, tmp_path, *arguments):
    given = ["large.py", "--points", "2e4", "--folder", str(tmp_path), "--write", *arguments]
    monkeypatch.setattr("sys.argv", given)
    script.main()
    return script.large_page.results(), script.large_page.PAGE.read_text()


def rows_of(page, name):
    """Return the rows of a table of the page, without its header."""
    table = page.partition(f"<!-- {name} -->\n")[2].partition(f"\n<!-- end of {name} -->")[0]
    return [re.split(r" *\| *", line.strip("| ")) for line in table.splitlines()[2:]]


def test_fits_over_partitions_are_compared_with_fits_in_memory(large, monkeypatch, tmp_path):
    results, page = run(large, monkeypatch, tmp_path)
    assert [each["kind"] for each in results] == ["kernel", "default", "neighbors"]
    for each in results:
        assert each["equal"]
        assert each["passes"]["climb"]["tasks"] == each["partitions"]
        assert each["others"] < each["cores"]
    assert [row[:2] for row in rows_of(page, "runs")] == [
        ["Epanechnikov, 500 neighbors", "2e4"],
        ["default, 43 neighbors", "2e4"],
        ["n_neighbors=345", "2e4"],
    ]
    assert "No run has been recorded yet." in page


def test_throughput_is_compared_with_a_fit_in_memory_of_the_same_kind_and_neighbors(large):
    def run_of(kind, points, neighbors, **seconds):
        return {"kind": kind, "points": points, "neighbors": neighbors, **seconds}

    in_memory = {"seconds": 60.0, "seconds in memory": 20.0}
    runs = [
        run_of("kernel", 10**6, 500, **in_memory),
        run_of("kernel", 10**7, 500, **in_memory),
        run_of("kernel", 10**8, 500, seconds=400.0),
        run_of("default", 10**7, 345, **in_memory),
        run_of("default", 10**8, 743, seconds=400.0),
        run_of("neighbors", 10**8, 345, seconds=400.0),
    ]
    found = [large.large_page.relative_throughput(run, runs) for run in runs]
    assert found == [None, pytest.approx(1 / 3), pytest.approx(0.5), found[1], None, None]


def test_files_are_read_and_copied_once(large, tmp_path):
    cluster = importlib.import_module("large_cluster")
    (tmp_path / "a").write_bytes(b"x" * 100)
    (tmp_path / "b").write_bytes(b"y" * 50)
    scratch = tmp_path / "copy"
    assert cluster.seconds_for_files([tmp_path / "a"], [tmp_path / "b"], scratch) > 0
    assert not scratch.exists()


@pytest.mark.workers
def test_fits_on_a_local_cluster(large, monkeypatch, tmp_path, capsys):
    pytest.importorskip("distributed")
    arguments = ["--workers", "2", "--worker-memory", "1e9", "--kind", "default"]
    (result,), page = run(large, monkeypatch, tmp_path, *arguments)
    assert result["equal"]
    assert result["workers"] == 2
    assert 0 < result["largest"] < 1e9
    ((kind, points, workers, *_, limit, _),) = rows_of(page, "cluster")
    assert (kind, points, workers, limit) == ("default, 43 neighbors", "2e4", "2", "1000 MB")
    assert not rows_of(page, "runs")
    assert "at most 3 times the fit in memory and the files" in capsys.readouterr().out
