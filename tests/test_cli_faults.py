"""Disks that are full or read-only, inputs that change while they are read, and SIGKILL.

`make interrupts` tries kills and changing inputs often; `QUICKSHIFT_INTERRUPTS` says how often.
"""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cli_cases import csv_text, points, run
from quickshift.cli.files import outputs
from quickshift.cli.files.arrays import NpyFile

TRIES = int(os.environ.get("QUICKSHIFT_INTERRUPTS", "1"))
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="mounts and signals of Linux")
OFTEN = TRIES > 1
X = points(20_000)
# Commands with one output each, which {} stands for.
COMMANDS = {
    "csv": "cluster points.csv -o {}.csv",
    "parquet": "cluster points.csv -o {}.parquet",
    "arrow": "cluster points.csv -o {}.arrow",
    "npy": "cluster points.csv --labels-only -o {}.npy",
    "npz": "cluster points.csv -o {}.npz",
    "parts": "cluster points.csv --memory 1GB -o {}.csv",
    "tree": "tree points.csv -o {}.npz",
    "explore": "explore points.csv -o {}.html",
    "png": "segment photo.png -o {}.png",
    "pixels": "segment photo.png -o {}.npy",
    "tif": "segment photo.png -o {}.tif",
    "polygons": "segment photo.png --polygons {}.gpkg",
}
GEO = ("tif", "polygons")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path)
    return tmp_path


def write_inputs(folder):
    (folder / "points.csv").write_text(csv_text(X))
    colors = np.random.default_rng(0).integers(0, 256, (120, 150, 3), np.uint8)
    Image.fromarray(colors).save(folder / "photo.png")


def need(name):
    if name in GEO:
        pytest.importorskip("rasterio", reason="needs the extra geo")
        pytest.importorskip("pyogrio", reason="needs the extra geo")


@contextmanager
def mounted(path, *options):
    """Mount a file system in memory, where that is allowed."""
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(path)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield path
    finally:
        # Lazily, because old versions of GDAL keep a file open that they could not write.
        subprocess.run(["umount", "--lazy", str(path)], check=True)


# Disks


# Old versions of NumPy leave an archive open that they could not write.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@LINUX
@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_named_and_left_as_it_was(name, folder, monkeypatch):
    need(name)
    with mounted(folder / "small", "size=8k") as small:
        result = run(monkeypatch, *COMMANDS[name].format("small/out").split())
        assert (result.code, os.listdir(small)) == (1, [])
    assert "its disk is full" in result.err
    assert result.err.count("\n") == 1


@LINUX
@pytest.mark.parametrize("name", COMMANDS)
def test_a_read_only_folder_is_named(name, folder, monkeypatch):
    need(name)
    with mounted(folder / "fixed", "ro"):
        result = run(monkeypatch, *COMMANDS[name].format("fixed/out").split())
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert "fixed cannot be written to. Write elsewhere." in result.err


@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_that_becomes_read_only_is_named(name, folder, monkeypatch):
    need(name)

    def refuse(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    before = sorted(os.listdir(folder))
    monkeypatch.setattr(outputs, "_publish", refuse)
    result = run(monkeypatch, *COMMANDS[name].format("out").split())
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert "cannot be written: Read-only file system. Write elsewhere." in result.err
    assert sorted(os.listdir(folder)) == before


# Signals


def start(command, folder):
    return subprocess.Popen(
        [sys.executable, "-m", "quickshift", *command.split()],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder / "scratch")},
        start_new_session=True,
    )


def content(path):
    """Return what a file holds; .gpkg files also hold the time at which they were written."""
    if path.suffix != ".gpkg":
        return path.read_bytes()
    import pyogrio

    meta, fields, geometry, columns = pyogrio.raw.read(path)
    return [part.tolist() for part in (meta["fields"], geometry, *columns)], fields


def killed(command, folder, delay):
    """Kill a command and its processes after a while; return its exit code."""
    process = start(command, folder)
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=300)
    return process.returncode


@LINUX
@pytest.mark.parametrize(
    "name", ["csv", "parts", "tif", "polygons", "explore", "npz"] if OFTEN else ["csv"]
)
def test_killed_commands_leave_outputs_that_are_absent_or_complete(name, folder):
    need(name)
    (folder / "scratch").mkdir()
    command = f"{COMMANDS[name].format('out')} --force"
    inputs = {*os.listdir(folder)}
    begin = time.perf_counter()
    with start(command, folder) as process:
        assert process.communicate(timeout=300)[1] == ""
    duration = time.perf_counter() - begin
    [output] = {*os.listdir(folder)} - inputs
    path = folder / output
    expected = content(path)
    complete = 0
    for delay in np.random.default_rng(TRIES).uniform(0.3, 1.2, TRIES) * duration:
        path.unlink(missing_ok=True)
        assert killed(command, folder, delay) in (0, -signal.SIGKILL)
        if path.exists():
            complete += 1
            assert content(path) == expected, f"after {delay:.3f} s"
        for rest in {*os.listdir(folder)} - inputs - {output}:
            assert rest.startswith(".quickshift-"), f"after {delay:.3f} s"
            (folder / rest).unlink()
        shutil.rmtree(folder / "scratch")
        (folder / "scratch").mkdir()
    print(f"{name}: killed {TRIES} times, {complete} outputs, all complete")  # noqa: T201


# Inputs


INPUTS = {
    "points.csv": "cluster points.csv -o out.csv",
    "points.parquet": "cluster points.parquet -o out.csv",
    "points.arrow": "cluster points.arrow -o out.csv",
    "points.npy": "cluster points.npy -o out.csv",
    "points.npz": "cluster points.npz -o out.csv",
    "parts.npy": "cluster parts.npy --memory 1GB -o out.csv",
    "parts.csv": "cluster parts.csv --memory 1GB -o out.csv",
    "photo.png": "segment photo.png -o out.npy",
    "photo.npy": "segment photo.npy -o out.npy",
    "photo.tif": "segment photo.tif -o out.npy",
}


def write_input(folder, name):
    import pyarrow as pa
    from pyarrow import feather, parquet

    path = folder / name
    table = pa.table({"x": X[:, 0], "y": X[:, 1]})
    colors = np.random.default_rng(0).integers(0, 256, (120, 150, 3), np.uint8)
    match path.suffix, path.stem:
        case ".csv", _:
            path.write_text(csv_text(X))
        case ".parquet", _:
            parquet.write_table(table, path)
        case ".arrow", _:
            feather.write_feather(table, path, compression="uncompressed")
        case ".npy", "photo":
            np.save(path, colors)
        case ".npy", _:
            np.save(path, X)
        case ".npz", _:
            np.savez(path, X=X)
        case _:
            Image.fromarray(colors).save(path)


SHORTENED = {
    "segment": ((120, 150, 3), "segment in.npy -o out.npy"),
    "segment by tiles": ((120, 150, 3), "segment in.npy -o out.npy"),
    "fit in parts": ((20_000, 2), "cluster in.npy --memory 1GB -o out.csv"),
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", SHORTENED)
def test_arrays_that_become_shorter_do_not_end_the_process(name, order, folder, monkeypatch):
    """They were mapped, and reading beyond the end of a mapped file raises SIGBUS."""
    shape, command = SHORTENED[name]
    np.save("in.npy", np.asarray(np.random.default_rng(0).random(shape), order=order))
    if name == "segment by tiles":
        monkeypatch.setattr("quickshift.cli.files.pictures.available_memory", lambda: 0)
    begin = NpyFile.__init__

    def shorten(self, path):
        begin(self, path)
        os.truncate(path, 300_000)

    monkeypatch.setattr(NpyFile, "__init__", shorten)
    before = sorted(os.listdir(folder))
    result = run(monkeypatch, *command.split())
    assert result.code == 1
    assert "in.npy has become shorter while it was read. Use a file" in result.err
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(), (5,), (4, 6), (4, 6, 3), (0, 3), (3, 0)])
def test_boxes_of_an_array_in_a_file_are_those_of_the_array(shape, order, folder):
    array = np.asarray(np.random.default_rng(0).random(shape), order=order)
    np.save("in.npy", array)
    file = NpyFile("in.npy")
    assert file.shape == shape
    np.testing.assert_array_equal(file[()], array)
    for box in ((slice(1, 3),), (slice(None), slice(2, 9)), (slice(1, 3), slice(2, 4), slice(1))):
        if len(box) <= len(shape):
            np.testing.assert_array_equal(file[box], array[box])


def change(path: Path, rng):
    """Truncate, extend, overwrite or remove a file, as another program may do at any time."""
    size = path.stat().st_size
    match rng.integers(5):
        case 0:
            os.truncate(path, int(rng.integers(size)))
        case 1:
            os.truncate(path, 0)
        case 2:
            with path.open("ab") as file:
                file.write(rng.bytes(1000))
        case 3:
            with path.open("r+b") as file:
                file.seek(int(rng.integers(size)))
                file.write(rng.bytes(1000))
        case _:
            path.unlink()


@LINUX
@pytest.mark.parametrize("name", INPUTS if OFTEN else ["points.npy"])
def test_inputs_that_change_while_they_are_read_are_read_or_refused(name, folder):
    (folder / "scratch").mkdir()
    path, output = folder / name, folder / INPUTS[name].split()[-1]
    write_input(folder, name)
    begin = time.perf_counter()
    with start(INPUTS[name], folder) as process:
        assert process.communicate(timeout=300)[1] == ""
    duration = time.perf_counter() - begin
    codes = {}
    for i, share in enumerate(np.random.default_rng(TRIES).uniform(0.2, 1.0, TRIES)):
        output.unlink(missing_ok=True)
        write_input(folder, name)
        process = start(INPUTS[name], folder)
        time.sleep(share * duration)
        change(path, np.random.default_rng([TRIES, i]))
        _, err = process.communicate(timeout=300)
        context = f"after {share * duration:.3f} s: {err!r}"
        assert process.returncode in (0, 1), context
        assert err.count("\n") == process.returncode, context
        assert output.exists() == (process.returncode == 0), context
        assert "Traceback" not in err, context
        assert "--debug" not in err, context
        codes[process.returncode] = codes.get(process.returncode, 0) + 1
    print(f"{name}: exit codes {codes}")  # noqa: T201
