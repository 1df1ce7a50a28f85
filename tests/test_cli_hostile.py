"""Damaged and hostile files: every reader of the command line takes them or says what is wrong."""

import io
import os
from contextlib import redirect_stderr

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from cli_cases import csv_text, points, run
from hostile_files import mutated_archive, mutated_bytes

CASES = int(os.environ.get("QUICKSHIFT_EXAMPLES", "400")) // 10
X = points(40)
COMMANDS = {
    "csv": "cluster {}",
    "tsv": "regress {} -y y",
    "parquet": "cluster {}",
    "arrow": "tree {}",
    "npy": "cluster {}",
    "npz": "cluster {}",
    "png": "segment {} -o out.npy --force",
    "jpg": "segment {} -o out.npy --force",
    "tif": "segment {} -o out.npy --force",
    "picture.npy": "segment {} -o out.npy --force",
    "parts.csv": "cluster {} --memory 1GB",
    "parts.npy": "cluster {} --memory 1GB",
    "parts.arrow": "cluster {} --memory 1GB",
    "parts.parquet": "cluster {} --memory 1GB",
}
# Cells as they occur in files of others; one of them replaces a cell.
CELLS = ("", " ", "NA", "nan", "inf", "-1e999", "1e400", "0x10", "1,5", '"', '"a', "2026-11-18")
CELLS += ("true", "é", "1" * 400, "\uff11", "-", "+", "\r", "\n", "\ufeff", "=1+1", "1_000", ",")
CELLS += (";", "\t", "\0")
FORMATS = {"png": "PNG", "jpg": "JPEG", "tif": "TIFF"}


def good(name):
    """Return the bytes of a file that can be read."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    suffix, picture = name.rpartition(".")[2], np.arange(12 * 13 * 3, dtype=np.uint8)
    picture = picture.reshape(12, 13, 3)
    table = pa.table({"x": X[:, 0], "y": X[:, 1]})
    buffer = io.BytesIO()
    match suffix:
        case "csv":
            return csv_text(X).encode()
        case "tsv":
            return csv_text(X).replace(",", "\t").encode()
        case "parquet":
            parquet.write_table(table, buffer)
        case "arrow":
            feather.write_feather(table, buffer, compression="uncompressed")
        case "npy":
            np.save(buffer, picture if name == "picture.npy" else X)
        case "npz":
            np.savez_compressed(buffer, x=X[:, 0], y=X[:, 1])
        case _:
            Image.fromarray(picture).save(
                buffer, {"jpg": "JPEG", "tif": "TIFF"}.get(suffix, suffix)
            )
    return buffer.getvalue()


def spoiled(rng, name):
    """Return the bytes of such a file with damage, or with content that is well-formed but odd."""
    content = good(name)
    kind = rng.random()
    if name.endswith(("csv", "tsv")) and kind < 0.7:
        return spoiled_text(rng, content.decode()).encode()
    if name.endswith("npz") and kind < 0.5:
        return mutated_archive(rng, content)
    if name.endswith("npy") and kind < 0.5:
        return spoiled_header(rng, content)
    return mutated_bytes(rng, content)


def spoiled_text(rng, text):
    """Replace a few cells or lines of a CSV file."""
    lines = text.split("\n")
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(lines)))
        cell = CELLS[int(rng.integers(len(CELLS)))]
        cells = lines[at].split(",")
        cells[int(rng.integers(len(cells)))] = cell
        lines[at] = (",".join(cells), cell, lines[at] + cell, "")[int(rng.integers(4))]
    return "\n".join(lines)


def spoiled_header(rng, content):
    """Replace a part of the header of an .npy file by one of the same length."""
    fields = {b"<f8": (b">f8", b"|O8", b"<c8", b"<i8", b"|S8", b"|V8", b"<M8", b"<f9")}
    fields |= {b"(40, 2)": (b"(80, 1)", b"(40,-2)", b"(99, 9)", b"(2, 40)", b"(80,)  ", b"()     ")}
    fields |= {b"|u1": (b"|b1", b"|i1", b"|S1", b"|V1")}
    fields |= {b"False": (b"True ", b"None ", b"12345")}
    for field, others in fields.items():
        if rng.random() < 0.5:
            content = content.replace(field, others[int(rng.integers(len(others)))], 1)
    return content


@pytest.mark.parametrize("name", COMMANDS)
@settings(max_examples=CASES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**63 - 1))
def test_damaged_files_are_read_or_refused_in_one_line(name, seed, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"in.{name}").write_bytes(spoiled(np.random.default_rng(seed), name))
    if name.startswith("parts"):
        monkeypatch.setattr("quickshift.distributed.quick_shift.QuickShift.fit", refuse)
    with redirect_stderr(io.StringIO()):
        result = run(monkeypatch, *COMMANDS[name].format(f"in.{name}").split())
    errors = [line for line in result.err.splitlines() if not line.startswith("Warning: ")]
    assert result.code in (0, 1)
    assert len(errors) == result.code, result.err
    assert "--debug" not in result.err
    words = (f"in.{name}", "column", "row", "the table was read", "image is of type")
    assert not errors or any(word in errors[0] for word in words), errors


def refuse(*_, **__):
    """Stand for a fit in parts, whose processes would take most of the time."""
    raise ValueError("the table was read")
