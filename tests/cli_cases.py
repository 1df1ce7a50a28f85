"""Running commands of the command line in this process, and files for them."""

import io
import signal
import sys
from dataclasses import dataclass

import numpy as np

from quickshift.cli.app import app
from quickshift.cli.outcome import exit_code_of, show_traceback
from quickshift.datasets import blobs


@dataclass(frozen=True)
class Result:
    """What a command returned and printed."""

    code: int
    out: str
    err: str


class Stream(io.TextIOWrapper):
    """A text stream that remembers its bytes."""

    def __init__(self, content=b""):
        super().__init__(io.BytesIO(content), encoding="utf-8", write_through=True)

    def text(self):
        return self.buffer.getvalue().decode(errors="replace")


def run(monkeypatch, *arguments, given=b""):
    """Run one command, with these bytes as standard input."""
    out, err = Stream(), Stream()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["quickshift", *map(str, arguments)])
        for name, stream in {"stdin": Stream(given), "stdout": out, "stderr": err}.items():
            patch.setattr(sys, name, stream)
        try:
            code = exit_code_of(app)
        finally:
            show_traceback(False)
    return Result(code, out.text(), err.text())


def hear_interrupts():
    """Let a process hear Ctrl-C, which shells ignore in commands that they start in the background.

    As `preexec_fn` of a process.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def points(n=300, seed=1):
    """Samples of three groups, rounded so that CSV files are short."""
    return blobs(n, centers=3, seed=seed)[0].round(3)


def csv_text(X, names=("x", "y")):
    """The text of a CSV file."""
    lines = [",".join(names), *(",".join(map(repr, row)) for row in np.asarray(X).tolist())]
    return "\n".join(lines) + "\n"
