"""Identifiers: they come out of `write_labels` as they were in the input."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from distributed_cases import blobs
from quickshift.distributed import QuickShift, results
from quickshift.distributed.executors import Inline

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N = 160
X = blobs(N)
MOMENTS = [datetime(2026, 3, 29, tzinfo=UTC) + timedelta(minutes=i) for i in range(N)]


@pytest.fixture(autouse=True)
def _inline(monkeypatch):
    """Run tasks in this process."""
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: Inline())


def written(ids, folder, kind="parquet"):
    """Fit a table in two files, one of its rows without weight, and return its written labels."""
    weights = np.where(np.arange(N) % 9, 1.0, 0.0)
    table = pa.table({"x": X[:, 0], "y": X[:, 1], "w": weights, "id": ids})
    for i, part in enumerate((table[:50], table[50:])):
        if kind == "parquet":
            pq.write_table(part, folder / f"{i}.parquet", row_group_size=30)
        else:
            with pa.ipc.new_file(str(folder / f"{i}.arrow"), part.schema) as writer:
                writer.write_table(part, max_chunksize=30)
    model = QuickShift(0.4, 0.5, n_partitions=4)
    model.fit(folder, weight_column="w", id_column="id").write_labels(folder / "labels")
    found = pq.read_table(folder / "labels")
    expected = dict(zip(ids.to_pylist(), model.labels_.tolist(), strict=True))
    assert dict(zip(found["id"].to_pylist(), found["label"].to_pylist(), strict=True)) == expected
    return found


@pytest.mark.parametrize(
    "ids",
    [
        pa.array(range(N), pa.uint16()),
        pa.array([f"row {i}" for i in range(N)]),
        pa.array([f"row {i}\0\0" for i in range(N)]),
        pa.array([bytes([255, i, 0]) for i in range(N)]),
        pa.array([bytes([255, i, 0]) for i in range(N)], pa.binary(3)),
        pa.array([Decimal(i) / 100 for i in range(N)], pa.decimal128(9, 2)),
        pa.array([date(2026, 1, 1) + timedelta(i) for i in range(N)]),
        pa.array(MOMENTS, pa.timestamp("us", "Europe/Vienna")),
    ],
    ids=lambda ids: str(ids.type),
)
@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_identifiers_keep_type_and_value(ids, kind, tmp_path):
    assert written(ids, tmp_path, kind)["id"].type == ids.type


def test_time_zones_stay(tmp_path):
    found = written(pa.array(MOMENTS, pa.timestamp("us", "Europe/Vienna")), tmp_path)
    assert found["id"].type.tz == "Europe/Vienna"
    assert found["id"][0].as_py().utcoffset() == ZoneInfo("Europe/Vienna").utcoffset(MOMENTS[0])


def test_categories_are_written_as_their_values(tmp_path):
    names = pa.array([f"row {i}" for i in range(N)])
    assert written(names.dictionary_encode(), tmp_path)["id"].type == pa.string()


def test_a_category_that_is_missing_is_refused(tmp_path):
    codes = pa.array([0] * 7 + [1] * (N - 7))
    names = pa.DictionaryArray.from_arrays(codes, pa.array(["a", None]))
    with pytest.raises(ValueError, match=r"column 'id' of .*0\.arrow has no value at row 7, "):
        written(names, tmp_path, "arrow")


@pytest.mark.skipif(not hasattr(pa, "string_view"), reason="needs views of pyarrow")
@pytest.mark.parametrize("name", ["string", "binary"])
def test_views_of_texts_are_written_as_texts(name, tmp_path):
    plain = getattr(pa, name)()
    names = pa.array([f"row {i}" for i in range(N)]).cast(plain).cast(getattr(pa, f"{name}_view")())
    assert written(names, tmp_path, "arrow")["id"].type == plain


def test_one_long_identifier_does_not_lengthen_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "data").mkdir()
    names = ["x" * 300_000, *(f"row {i}" for i in range(1, N))]
    table = pa.table({"x": X[:, 0], "y": X[:, 1], "id": names})
    pq.write_table(table, tmp_path / "data" / "x.parquet")
    model = QuickShift(0.4, 0.5).fit(tmp_path / "data", id_column="id")
    (run,) = tmp_path.glob("quickshift-*")
    assert sum(path.stat().st_size for path in run.rglob("*") if path.is_file()) < 1e6
    model.write_labels(tmp_path / "labels")
    assert sorted(pq.read_table(tmp_path / "labels")["id"].to_pylist()) == sorted(names)


def test_long_identifiers_are_written_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "_NARROW_BYTES", 100)
    assert written(pa.array([f"row {i}" for i in range(N)]), tmp_path)["id"].type == pa.string()


@pytest.mark.parametrize("order", ["<", ">"])
def test_numbers_of_an_array_are_identifiers(order, tmp_path):
    table = np.column_stack([X, 7000 + np.arange(N)]).astype(f"{order}f4")
    QuickShift(0.4, 0.5).fit(table, id_column=2).write_labels(tmp_path / "labels")
    assert sorted(pq.read_table(tmp_path / "labels")["id"].to_pylist()) == list(range(7000, 7160))
