"""Bad inputs end in one line that says how to fix them, and leave nothing behind."""

import errno
import os
import signal
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from cli_cases import Stream, csv_text, hear_interrupts, points, run
from quickshift.cli.clusters import _as_options
from quickshift.cli.files.outputs import opened_output, scratch_folder
from quickshift.cli.outcome import CommandError

X = points()
HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 2), }"
HUGE = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(HEADER)) + HEADER.encode() + bytes(100)
JUNK = np.random.default_rng(0).bytes(5000)
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "points.csv").write_text(csv_text(X))
    (tmp_path / "labeled.csv").write_text(csv_text(X, ("x", "label")))
    (tmp_path / "word.csv").write_text("x,y\n1,2\n3,abc\n")
    (tmp_path / "semicolons.csv").write_text("x;y\n1;2\n")
    (tmp_path / "ragged.csv").write_text("x,y\n1,2\n3,4\n5,6,7\n8,9\n")
    (tmp_path / "ragged.tsv").write_text("x\ty\n1\t2\n3\t4\t5\n")
    (tmp_path / "latin.csv").write_bytes("x,y\n1,2\ncafé,4,5\n".encode("latin-1"))
    (tmp_path / "twice.csv").write_text("x,x\n1,2\n")
    (tmp_path / "utf16.csv").write_bytes("x,y\n1,2\n".encode("utf-16"))
    (tmp_path / "missing.csv").write_text("x,y\n,1\n,2\n")
    (tmp_path / "gaps.csv").write_text("x,y\n,1\n2,\n")
    (tmp_path / "names.csv").write_text("x,y\n")
    (tmp_path / "infinite.csv").write_text("x,y\n1,2\n3,inf\n")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    (tmp_path / "empty.csv").touch()
    (tmp_path / "huge.npy").write_bytes(HUGE)
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    np.save(tmp_path / "scalar.npy", 1.0)
    np.save(tmp_path / "complex.npy", np.ones((3, 2), dtype=complex))
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object))
    np.savez(tmp_path / "unequal.npz", a=np.zeros(3), b=np.zeros(4))
    np.savez(tmp_path / "nothing.npz")
    np.save(tmp_path / "nothing.npy", np.zeros((0, 2)))
    words = {"word": [None, "1.5", "abc"], "number": ["1", None, "2"], "flag": [b"1", b"2", b""]}
    parquet.write_table(pa.table(words), tmp_path / "words.parquet")
    np.savez(tmp_path / "same.npz", a=np.zeros((3, 2)), a0=np.zeros(3))
    with zipfile.ZipFile(tmp_path / "huge.npz", "w") as archive:
        archive.writestr("X.npy", HUGE)
    (tmp_path / "moved.npz").write_bytes(moved_archive(tmp_path / "unequal.npz"))
    (tmp_path / "header.npy").write_bytes(b"\x93NUMPY\x01\x00\x02\x00((" + bytes(20))
    for suffix in ("csv", "parquet", "arrow", "npy", "npz"):
        (tmp_path / f"junk.{suffix}").write_bytes(JUNK)
    return tmp_path


def moved_archive(path):
    """Return an archive whose directory says that a member begins before the file."""
    content = bytearray(path.read_bytes())
    end = content.rindex(b"PK\x05\x06")
    directory = int.from_bytes(content[end + 16 : end + 20], "little")
    content[end + 16 : end + 20] = (directory + 1000).to_bytes(4, "little")
    return content


BAD_DATA = {
    "moved.npz": "moved.npz cannot be read as npz: [Errno 22] Invalid argument",
    "header.npy": "header.npy cannot be read as npy",
    "nowhere.csv": "nowhere.csv does not exist. Check the path.",
    "points.csv -c z": "there is no column 'z', expected one of 'x', 'y'",
    "points.csv -c 7": "or a number from 0 to 1",
    "points.csv --weights w": "there is no column 'w'",
    "empty.csv": "empty.csv is empty",
    "names.csv": "names.csv has no rows",
    "ragged.csv": "line 4: Expected 2 columns, got 3: 5,6,7.",
    "word.csv -c x,y": "column 'y' has the type string, with 'abc' in row 1",
    "semicolons.csv": "use --delimiter",
    "twice.csv": "several columns 'x'",
    "utf16.csv": "utf16.csv is in UTF-16, expected UTF-8. Convert it.",
    "missing.csv -c x --drop-missing": "every row has missing values",
    "junk.csv": "It is not UTF-8 text: convert it, or say by --from which format it has.",
    "latin.csv": "line 3: Expected 2 columns, got 3. It is not UTF-8 text",
    "ragged.tsv": "line 3: Expected 2 columns, got 3: 3 4 5. Correct the file",
    "junk.parquet": "junk.parquet cannot be read as parquet",
    "junk.arrow": "junk.arrow cannot be read as arrow",
    "junk.npy": "it does not begin as an .npy file does",
    "junk.npz": "junk.npz cannot be read as npz",
    "huge.npy": "it declares 16000000000000 bytes of data, but has",
    "huge.npz": "X.npy declares 16000000000000 bytes of data, but has",
    "scalar.npy": "it has shape (), expected (n_samples, n_features)",
    "complex.npy": "it has values of the type complex128, expected real numbers",
    "infinite.csv": "column 'y' has inf in row 1, expected finite numbers",
    "infinite.csv --memory 1GB": "column 'y' has inf in row 1, expected finite numbers",
    "points.csv -o loop.csv": "loop.csv is a link that leads to itself",
    "objects.npy": "objects.npy cannot be read as npy",
    "nothing.npz": "it has no arrays, expected at least one",
    "nothing.npy --memory 1GB": "it has no values, expected at least one row and one column",
    "words.parquet -c word": "column 'word' has the type string, with 'abc' in row 2, expected",
    "words.parquet -c number": "column 'number' has the type string, expected numbers",
    "words.parquet -c flag": "column 'flag' has the type binary, expected numbers",
    "gaps.csv --drop-missing --memory 1GB": "gaps.csv has no rows without missing values",
    "cube.npy": "it has shape (2, 2, 2), expected (n_samples, n_features)",
    "unequal.npz": "expected equal numbers of rows",
    "same.npz": "same.npz has two columns 'a0', expected different names",
    ".": ". is a folder, expected a file",
    "points.csv -o nowhere/out.csv": "nowhere does not exist. Create it, or write elsewhere",
    "points.csv -o .": ". is a folder, expected the path of a file",
    "points.csv -o points.csv": "points.csv exists. Use --force to overwrite it",
    "labeled.csv -o out.csv": "the table already has a column 'label'",
    "labeled.csv --id label --labels-only -o out.csv": "a column of identifiers 'label'. Choose",
    "labeled.csv --id label -o out.npy": "a column of identifiers 'label'. Choose another name",
    "labeled.csv --id label --memory 1GB -o out.npz": "a column of identifiers 'label'. Choose",
    "points.csv --tau -1": "tau is -1.0, expected a length of at least 0",
    "points.csv --bandwidth none": "bandwidth is 'none'",
    "points.csv --n-clusters 5000": "n_clusters is 5000",
    "points.csv --period 1": "period is [1.0]",
}
BAD_USAGE = {
    "": "Missing argument 'FILE'",
    "points.csv --bogus": "--bogus",
    "points.csv --kernel box": "gaussian",
    "points.csv --period a": "'a' is not a list of lengths",
    "points.csv -o out.xyz": "out.xyz has the suffix '.xyz', expected one of .csv",
    "points.csv --labels-only": "need an --output",
    "points.csv --n-clusters two": "--n-clusters",
    "points.csv --memory 1kB": "'1kB' is too little memory for any part, expected 1MB or more",
}


@pytest.mark.parametrize("arguments", [*BAD_DATA, *BAD_USAGE])
def test_errors_are_one_line_that_says_how_to_fix_it(arguments, folder, monkeypatch):
    before = sorted(os.listdir(folder))
    result = run(monkeypatch, "cluster", *arguments.split())
    assert result.code == (1 if arguments in BAD_DATA else 2)
    assert result.out == ""
    assert result.err.startswith("Error: ")
    assert result.err.count("\n") == 1
    assert {**BAD_DATA, **BAD_USAGE}[arguments] in result.err
    assert sorted(os.listdir(folder)) == before


def test_debug_shows_the_traceback(folder, monkeypatch):
    result = run(monkeypatch, "cluster", "nowhere.csv", "--debug")
    assert result.code == 1
    assert "Traceback" in result.err
    assert result.err.splitlines()[-1] == "Error: nowhere.csv does not exist. Check the path."


def test_errors_on_a_terminal_are_broken_between_words(folder, monkeypatch):
    monkeypatch.setattr(Stream, "isatty", lambda _: True)
    monkeypatch.setenv("COLUMNS", "60")
    lines = run(monkeypatch, "cluster", "ragged.csv").err.splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 60
    assert " ".join(lines).endswith("say by --delimiter what separates the cells.")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("points.csv", "-o", ""), "the path of the output is empty"),
        (("",), "the path of the input is empty"),
        (("points.csv", "-c", ""), "--columns names no column, expected at least one of 'x', 'y'"),
        (("points.csv", "-c", ",", "--memory", "1GB"), "--columns names no column, expected"),
        (("-",), "standard input is empty, expected data"),
        (("-", "--memory", "1GB"), "standard input is empty, expected data"),
    ],
)
def test_what_is_empty_is_named(arguments, text, folder, monkeypatch):
    result = run(monkeypatch, "cluster", *arguments)
    assert result.code in (1, 2)
    assert text in result.err


@POSIX
@pytest.mark.parametrize("arguments", ["points.csv -o {}.csv", "{}.csv"])
def test_a_name_that_is_too_long_is_said_to_be(arguments, folder, monkeypatch):
    result = run(monkeypatch, "cluster", *arguments.format("a" * 300).split())
    assert result.code == 1
    assert f"the name {'a' * 40}… has 304 characters" in result.err
    assert "Choose a shorter one." in result.err


@POSIX
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("info - <&-", "standard input is closed"),
        ("demo -o - -q >&-", "standard output is closed"),
    ],
)
def test_closed_streams_are_named(arguments, text):
    command = ["sh", "-c", f"{sys.executable} -m quickshift {arguments}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert text in done.stderr


@POSIX
@pytest.mark.parametrize("more", ["", "--debug"])
def test_errors_are_not_written_to_the_output_if_standard_error_is_closed(more):
    command = ["sh", "-c", f"{sys.executable} -m quickshift info nowhere.csv {more} 2>&-"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_summaries_need_no_unicode(folder):
    done = subprocess.run(
        [sys.executable, "-m", "quickshift", "cluster", "points.csv"],
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_unknown_commands_are_wrong_usage(monkeypatch):
    result = run(monkeypatch, "clutser")
    assert result.code == 2
    assert "clutser" in result.err


def test_existing_files_are_overwritten_by_force_only(folder, monkeypatch):
    (folder / "out.csv").write_text("precious")
    assert run(monkeypatch, "cluster", "points.csv", "-o", "out.csv").code == 1
    assert (folder / "out.csv").read_text() == "precious"
    assert run(monkeypatch, "cluster", "points.csv", "-o", "out.csv", "--force").code == 0
    assert (folder / "out.csv").read_text().startswith("x,y,label\n")


def test_a_file_that_appears_during_the_run_is_kept(folder):
    def write_late():
        with opened_output("out.csv", force=False) as file:
            file.write(b"new")
            (folder / "out.csv").write_text("precious")

    with pytest.raises(CommandError, match="has appeared meanwhile"):
        write_late()
    assert (folder / "out.csv").read_text() == "precious"
    assert not list(folder.glob(".quickshift-*"))


@POSIX
def test_a_link_stays_and_its_file_is_replaced(folder, monkeypatch):
    (folder / "target.csv").write_text("old")
    (folder / "link.csv").symlink_to("target.csv")
    assert run(monkeypatch, "cluster", "points.csv", "-o", "link.csv", "-f", "-q").code == 0
    assert (folder / "link.csv").is_symlink()
    assert (folder / "target.csv").read_text().startswith("x,y,label\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_named(folder, monkeypatch):
    result = run(monkeypatch, "cluster", "points.csv", "-o", "/dev/full", "--to", "csv")
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert "/dev/full cannot be written: its disk is full. Free some space" in result.err


# In processes of their own: signals, pipes and limits


def start(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "quickshift", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@POSIX
def test_a_file_that_cannot_be_completed_is_removed(folder):
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    process = start("cluster", "points.csv", "-o", "out.csv", cwd=folder, preexec_fn=limit)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert err == "Error: out.csv cannot be written: File too large. Write elsewhere.\n"
    assert not list(folder.glob("*out.csv"))
    assert not list(folder.glob(".quickshift-*"))


@POSIX
def test_a_closed_pipe_ends_in_silence(folder):
    reading, writing = os.pipe()
    os.close(reading)
    process = start("cluster", "points.csv", "-o", "-", "-q", stdout=writing, cwd=folder)
    os.close(writing)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (1, "")


@POSIX
@pytest.mark.parametrize(
    ("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)], ids=["Ctrl-C", "kill"]
)
def test_interrupted_commands_leave_nothing_behind(name, code, folder):
    before = sorted(os.listdir(folder))
    options = {"stdin": subprocess.PIPE, "preexec_fn": hear_interrupts}
    process = start("cluster", "-", "-o", "out.csv", cwd=folder, **options)
    time.sleep(2.0)  # it waits for standard input, or is still starting
    process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=120)
    assert process.returncode in (code, -getattr(signal, name))  # the last before main() runs
    if process.returncode == 130:
        assert err == "Interrupted; no output was written.\n"
    assert sorted(os.listdir(folder)) == before


@POSIX
def test_an_interrupt_names_the_outputs_that_are_complete(folder):
    code = (
        "import sys, quickshift.cli.report; from quickshift.cli import main, outcome\n"
        "def show(*arguments):\n"
        "    raise KeyboardInterrupt\n"
        "quickshift.cli.report.Report.show = show\n"
        "sys.argv = ['quickshift', 'cluster', 'points.csv', '-o', 'out.csv']\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 130
    assert done.stderr == "Interrupted after out.csv had been written.\n"
    assert (folder / "out.csv").read_text().count("\n") == len(X) + 1


def test_an_interrupt_that_a_library_has_lost_is_heard_at_the_next_step(folder):
    code = (
        "import sys; from quickshift.cli import main, outcome\n"
        "outcome._state['interrupted'] = True\n"
        "sys.argv = ['quickshift', 'cluster', 'points.csv', '-o', 'out.csv']\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "Interrupted; no output was written.\n"
    assert not (folder / "out.csv").exists()


@POSIX
def test_ignored_signals_stay_ignored():
    code = (
        "import signal; from quickshift.cli.outcome import prepare_process\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does\n"
        "prepare_process()\n"
        "assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN\n"
        "assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL\n"
    )
    subprocess.run([sys.executable, "-c", code], timeout=120, check=True)


@pytest.mark.parametrize("more", [[], ["--to", "csv"]])
def test_outputs_are_not_compressed(more, folder, monkeypatch):
    result = run(monkeypatch, "cluster", "points.csv", "-o", "labels.csv.gz", *more)
    assert result.code == 2
    assert "labels.csv.gz would not be compressed. Leave out .gz" in result.err
    assert not (folder / "labels.csv.gz").exists()


def test_suffixes_with_wildcards_leave_nothing_behind(tmp_path):
    with pytest.raises(KeyError), opened_output(str(tmp_path / "out.[a]"), force=False):
        raise KeyError
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_missing_pyarrow_is_named_with_its_extra(suffix, folder, monkeypatch):
    (folder / f"in.{suffix}").write_bytes((folder / "points.csv").read_bytes())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run(monkeypatch, "cluster", f"in.{suffix}")
    assert result.code == 1
    assert "pyarrow cannot be imported, but the command line needs it. Install" in result.err


def test_outputs_are_written_where_there_are_no_hard_links(folder, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    before = set(os.listdir(folder))
    assert run(monkeypatch, "cluster", "points.csv", "-o", "out.csv").code == 0
    assert set(os.listdir(folder)) - before == {"out.csv"}
    assert (folder / "out.csv").read_text().count("\n") == len(X) + 1


def test_a_full_disk_of_temporary_files_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for number, raised in ((errno.ENOSPC, CommandError), (errno.EIO, OSError)):
        with pytest.raises(raised, match=r"Set TMPDIR|error") as caught, scratch_folder():
            raise OSError(number, os.strerror(number))
        assert isinstance(caught.value, CommandError) == (number == errno.ENOSPC)
        assert os.listdir(tmp_path) == []


def test_arguments_of_an_estimator_are_typed_as_options():
    code = "QuickShift(n_neighbors=20, tau=numpy.inf, period=[1.0, 2.5]).fit(X)"
    assert _as_options(code) == "--n-neighbors 20 --tau inf --period 1.0,2.5"
