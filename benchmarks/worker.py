"""A function in a process of its own, timed on request, killed when it takes too long."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).resolve().parent
LIMIT = 200.0  # seconds for one request: a peer's largest data take about a minute
STARTING = 400.0  # seconds to import and to compile what is compiled at the first call


class FailedError(Exception):
    """Why there is no number: an error, a crash or too long a time."""


def interpreter(environment: str | None) -> Path:
    """Return the Python of an environment beside the source, or this one."""
    return HERE.parent / f".venv-{environment}/bin/python" if environment else Path(sys.executable)


class Worker:
    """A child process that holds ``load()`` and calls it.

    Parameters
    ----------
    load : callable
        Imports what it needs and returns the function to time. It is sent by name, so it is a
        function of a module of this folder, or a partial of one.
    name : str
        What errors call it.
    environment : str, optional
        Name of an environment other than this one, for peers that cannot live in it.
    """

    def __init__(self, load: Callable[[], Any], name: str, environment: str | None = None) -> None:
        self._name = name
        python = interpreter(environment)
        if not python.exists():
            raise FailedError(f"its environment {environment} was not made")
        their_requests, request = os.pipe()
        answer, their_answers = os.pipe()
        self._process = subprocess.Popen(
            [python, HERE / "child.py", str(their_requests), str(their_answers)],
            pass_fds=(their_requests, their_answers),
        )
        os.close(their_requests)
        os.close(their_answers)
        self._requests = Connection(request, readable=False)
        self._answers = Connection(answer, writable=False)
        try:
            self._ask("load", load, limit=STARTING)
        except FailedError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def points(self, file: Path) -> None:
        """Let the function be called with the points in ``file`` from now on."""
        self._ask("points", str(file), limit=STARTING)

    def seconds(self, **settings: Any) -> float:
        """Time one call, or the mean of several if it is short."""
        return float(self._ask("seconds", **settings))

    def peak(self, **settings: Any) -> float:
        """Return by how many bytes the first call raises the peak of the process."""
        return float(self._ask("peak", **settings))

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._requests.close()
        self._answers.close()

    def _ask(self, method: str, *arguments: Any, limit: float = LIMIT, **settings: Any) -> Any:
        try:
            self._requests.send((method, arguments, settings))
            if not self._answers.poll(limit):
                self._process.kill()
                raise FailedError(f"{self._name} took more than {limit:.0f} s")
            value, reason = self._answers.recv()
        except (EOFError, BrokenPipeError):
            code = self._process.wait()
            how = f"crashed with signal {-code}" if code < 0 else f"ended with code {code}"
            raise FailedError(f"{self._name} {how}") from None
        if reason:
            raise FailedError(reason)
        return value


@contextlib.contextmanager
def closing_all() -> Iterator[list[Worker]]:
    """Yield a list; every worker put into it is closed in the end."""
    workers: list[Worker] = []
    try:
        yield workers
    finally:
        for worker in workers:
            worker.close()
