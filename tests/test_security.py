"""What SECURITY.md promises: no pickles, no network, limits before decoding, private files."""

import io
import os
import pickle
import re
import socket
import stat
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

import quickshift as qs
from cli_cases import csv_text, points, run
from quickshift import distributed
from quickshift.cli.files.outputs import opened_output, replaced_file, scratch_folder
from quickshift.distributed.plan.records import from_bytes, to_bytes
from quickshift.distributed.tasks.linking import Saddles

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "quickshift"
UNSAFE = re.compile(r"\bpickle\.loads?\b|\beval\(|\bexec\(|os\.system|shell=True|allow_pickle=True")


@pytest.fixture
def no_pickle(monkeypatch):
    def refuse(*_, **__):
        pytest.fail("a pickle was read")

    for name in ("load", "loads"):
        monkeypatch.setattr(pickle, name, refuse)


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_, **__):
        pytest.fail("a connection was opened")

    for name in ("connect", "connect_ex", "bind"):
        monkeypatch.setattr(socket.socket, name, refuse, raising=False)


def test_source_neither_loads_pickles_nor_runs_text():
    for path in SOURCE.rglob("*.py"):
        assert not UNSAFE.search(path.read_text(encoding="utf-8")), path


@pytest.mark.usefixtures("no_pickle", "no_network")
def test_commands_and_saved_trees_need_neither_pickles_nor_a_network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("points.csv").write_text(csv_text(points(60)))
    for command in (
        ("cluster", "points.csv", "-o", "labels.csv"),
        ("cluster", "points.csv", "-o", "labels.npy"),
        ("tree", "points.csv", "-o", "tree.npz"),
        ("explore", "points.csv", "-o", "page.html"),
    ):
        result = run(monkeypatch, *command)
        assert result.code == 0, result.err
    for file in Path().iterdir():
        content = file.read_bytes()
        assert not content.startswith(b"\x80\x04")  # the first bytes of a pickle
        assert b"pickle" not in content
    assert len(qs.ClusterTree.load("tree.npz")) > 0


@pytest.mark.usefixtures("no_pickle")
def test_resumed_runs_read_no_pickles(tmp_path):
    X = points(200)
    fits = [
        distributed.QuickShift(directory=tmp_path, resume=resume).fit(X) for resume in (False, True)
    ]
    np.testing.assert_array_equal(*(np.asarray(fit.labels_) for fit in fits))
    assert not list(tmp_path.rglob("*.pickle"))
    assert list(tmp_path.rglob("passes/*.npz"))


def test_results_of_passes_are_the_same_after_writing():
    saddles = Saddles(np.array([[0, 1]]), np.array([1.5]), np.array([2.0]))
    value = [(1, -2.5, "ü"), np.float64(np.nan), np.int64(3), None, True, [np.inf], saddles]
    again = from_bytes(to_bytes(value))
    assert again[0] == value[0]
    assert [type(item) for item in again] == [type(item) for item in value]
    np.testing.assert_array_equal(again[-1].pieces, saddles.pieces)
    with pytest.raises(TypeError, match="expected plain data"):
        to_bytes([object()])
    with pytest.raises(TypeError, match="expected plain data"):
        to_bytes(np.array([object()]))


@pytest.mark.parametrize(
    "name", ["os:system", "quickshift.cli:main", "quickshift.stages.forest:cut", "subprocess:Popen"]
)
def test_records_name_no_other_code(name):
    hostile = to_bytes(Saddles(np.zeros((1, 2)), np.zeros(1), np.zeros(1)))
    with np.load(io.BytesIO(hostile)) as file:
        arrays = dict(file)
    text = str(arrays["json"])
    arrays["json"] = np.array(re.sub(r'"record": "[^"]*"', f'"record": "{name}"', text))
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    with pytest.raises(ValueError, match=r"is not a record of this package.*resume=False"):
        from_bytes(buffer.getvalue())


# Pictures


def bomb(width, height):
    """Return a small .png file that declares a huge picture."""

    def chunk(kind, body):
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    data = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + header + data + chunk(b"IEND", b"")


def test_decompression_bombs_are_refused_before_they_are_decoded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bomb.png").write_bytes(bomb(30_000, 30_000))
    result = run(monkeypatch, "segment", "bomb.png", "-o", "out.npy")
    assert result.code == 1
    assert "30000 x 30000 pixels has more than the 178956970 of --max-pixels" in result.err
    assert "--max-pixels 900000000" in result.err
    assert not Path("out.npy").exists()


def test_limit_of_pixels_can_be_chosen(tmp_path, monkeypatch):
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    Image.fromarray(np.zeros((8, 9), dtype=np.uint8)).save("small.png")
    for most, code in ((71, 1), (72, 0)):
        arguments = ("segment", "small.png", "-o", f"{most}.npy", "--max-pixels", str(most))
        assert run(monkeypatch, *arguments).code == code
    assert run(monkeypatch, "segment", "small.png", "--max-pixels", "0").code == 2


# Files


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.skipif(sys.platform == "win32", reason="no modes of files")
def test_outputs_are_private_until_they_are_complete(tmp_path):
    before = os.umask(0o022)
    try:
        target = tmp_path / "out.csv"
        with opened_output(str(target), force=False) as file:
            (partial,) = tmp_path.iterdir()
            file.write(b"x")
            assert mode_of(partial) == 0o600
        assert mode_of(target) == 0o644
        with replaced_file(str(target), force=True) as partial:
            partial.write_bytes(b"y")
            assert mode_of(partial) == 0o600
        assert mode_of(target) == 0o644
        with scratch_folder() as folder:
            assert mode_of(folder) == 0o700
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)


# Pages


def test_pages_escape_text_and_allow_no_connection(tmp_path):
    attack = "</script><img src=x onerror=alert(1)>"
    X = points(30)
    model = qs.QuickShift().fit(X)
    page = qs.explore(model, tmp_path / "page.html", names=[attack, "b"]).read_text()
    assert attack not in page
    assert "onerror" not in page
    policy = re.search(r'http-equiv="Content-Security-Policy"\s+content="([^"]*)"', page)[1]
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    assert not re.search(r'(src|href)="https?:', page)


def test_promises_are_written_down():
    text = (ROOT / "SECURITY.md").read_text()
    for word in ("Reporting", "--max-pixels", "never executed", "no network"):
        assert word in text
