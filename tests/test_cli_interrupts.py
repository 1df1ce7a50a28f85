"""Ctrl-C at random times: the command ends with one line and code 130, and leaves nothing behind.

`make interrupts` tries it 50 times per command.
"""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

from cli_cases import csv_text, hear_interrupts, points

TRIES = int(os.environ.get("QUICKSHIFT_INTERRUPTS", "1"))
COMMANDS = {
    "cluster": "cluster points.csv -o labels.csv",
    "parts": "cluster points.csv --memory 1GB -o labels.parquet",
    "segment": "segment photo.png -o labels.tif --polygons outlines.gpkg",
    "explore": "explore points.csv -o page.html",
}
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")


@pytest.fixture
def folders(tmp_path):
    """A folder with inputs, and one for temporary files."""
    work, scratch = tmp_path / "work", tmp_path / "scratch"
    work.mkdir()
    scratch.mkdir()
    (work / "points.csv").write_text(csv_text(points(20_000)))
    colors = np.random.default_rng(0).integers(0, 256, (150, 200, 3), np.uint8)
    Image.fromarray(colors).save(work / "photo.png")
    return work, scratch


def start(command, folders):
    work, scratch = folders
    return subprocess.Popen(
        [sys.executable, "-m", "quickshift", *command.split()],
        cwd=work,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a terminal, too, sends the signal to a group of processes
        preexec_fn=hear_interrupts,  # noqa: PLW1509 (no threads here)
    )


def outputs_of(command):
    return {word for word in command.split() if word.endswith((".tif", ".gpkg", ".html"))} | {
        word for word in command.split() if word.startswith("labels.")
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_interrupts_at_random_times_leave_nothing_behind(name, folders):
    if name == "segment":
        pytest.importorskip("rasterio", reason="needs the extra geo")
        pytest.importorskip("pyogrio", reason="needs the extra geo")
    command, (work, scratch) = COMMANDS[name], folders
    inputs, outputs = set(os.listdir(work)), outputs_of(command)
    begin = time.perf_counter()
    with start(command, folders) as process:
        process.communicate(timeout=300)
    assert process.returncode == 0
    duration = time.perf_counter() - begin
    codes = {}
    for delay in np.random.default_rng(TRIES).uniform(0.0, duration, TRIES):
        for output in outputs:
            (work / output).unlink(missing_ok=True)
        process = start(command, folders)
        time.sleep(delay)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=300)
        code, left = process.returncode, set(os.listdir(work)) - inputs
        codes[code] = codes.get(code, 0) + 1
        context = f"after {delay:.3f} s: code {code}, {err!r}"
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
        assert os.listdir(scratch) == [], context
        assert left <= outputs, context
        if code == 0:
            assert left == outputs, context
        elif code == 130:
            assert err.count("\n") == 1, context
            assert all(output in err for output in left), context
        else:  # Python was starting, and main() had not been called
            assert code in (1, -signal.SIGINT), context
            assert not re.search(r'__init__.py", line \d+, in main', err), context
            assert not left, context
    print(name, dict(sorted(codes.items())))  # noqa: T201
