"""Run a function in a process of its own; time it on request, and kill it if it takes too long."""

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
LIMIT = 200.0  # seconds per request; the largest data of a peer take about a minute
INSTRUCTION_SET = "QUICKSHIFT_INSTRUCTION_SET"
STARTING = 400.0  # seconds for imports and for compilation at the first call


class FailedError(Exception):
    """The reason why a number could not be measured: an error, a crash or a timeout."""


def interpreter(environment: str | None) -> Path:
    """Return the Python of a virtual environment in the source folder, or the current one."""
    return HERE.parent / f".venv-{environment}/bin/python" if environment else Path(sys.executable)


class Worker:
    """A child process that calls and times the function that ``load()`` returns.

    Parameters
    ----------
    load : callable
        Imports its dependencies and returns the function to time. It is pickled by name, so it
        must be a function of a module in this folder, or a partial of one.
    name : str
        Name for error messages.
    environment : str, optional
        Name of another virtual environment, for peers that cannot be installed in this one.
    instruction_set : str, optional
        Name of the instruction set that our core uses in the process; the default is the fastest.
    """

    def __init__(
        self,
        load: Callable[[], Any],
        name: str,
        environment: str | None = None,
        instruction_set: str | None = None,
    ) -> None:
        self._name = name
        python = interpreter(environment)
        if not python.exists():
            raise FailedError(
                f"its environment .venv-{environment} does not exist; run `make bench`"
            )
        their_requests, request = os.pipe()
        answer, their_answers = os.pipe()
        self._process = subprocess.Popen(
            [python, HERE / "child.py", str(their_requests), str(their_answers)],
            pass_fds=(their_requests, their_answers),
            env=os.environ | ({INSTRUCTION_SET: instruction_set} if instruction_set else {}),
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
        """Load the points of ``file``; later calls use them."""
        self._ask("points", str(file), limit=STARTING)

    def seconds(self, **settings: Any) -> float:
        """Time one call; of a short call, the mean over several."""
        return float(self._ask("seconds", **settings))

    def peak(self, **settings: Any) -> float:
        """Return the bytes by which the first call raises the peak memory of the process."""
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
    """Yield a list; all workers that are put into it are closed at the end."""
    workers: list[Worker] = []
    try:
        yield workers
    finally:
        for worker in workers:
            worker.close()
