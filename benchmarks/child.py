"""The process in which one function is timed, so that a crash does not end the benchmark.

Started by `worker.Worker`, which sends the function to load and then one request after the other
over a pair of pipes. Every answer is ``(value, None)``, or ``(None, reason)`` after an error.
"""

from __future__ import annotations

import gc
import math
import os
import resource
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

SHORT = 0.05  # seconds: a shorter call is repeated until this time has passed
WARM_UP = 500  # points of the untimed first call

Call = Callable[..., object]


class Child:
    """A loaded function, and the points that it is called with."""

    def __init__(self, load: Callable[[], Call]) -> None:
        self.call = load()

    def points(self, file: str) -> None:
        """Read the points, and call the function on a few of them to finish all lazy setup."""
        self.X = np.load(file)
        self.call(self.X[:WARM_UP].copy())

    def seconds(self, **settings: Any) -> float:
        """Time a call; its result is freed after the clock has stopped."""
        gc.collect()
        elapsed = self._timed(1, settings)
        return elapsed if elapsed >= SHORT else self._timed(math.ceil(SHORT / elapsed), settings)

    def peak(self, **settings: Any) -> float:
        """Return the number of bytes by which a call raises the peak memory of this process."""
        gc.collect()
        before = peak_bytes()
        result = self.call(self.X, **settings)
        after = peak_bytes()
        del result
        return after - before

    def _timed(self, calls: int, settings: dict[str, Any]) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            result = self.call(self.X, **settings)
        elapsed = time.perf_counter() - start
        del result
        return elapsed / calls


def peak_bytes() -> int:
    """Return the peak memory of this process so far."""
    try:
        # On Linux, ru_maxrss of a child starts at its parent's peak; VmHWM does not.
        with open("/proc/self/status") as status:
            return next(1024 * int(line.split()[1]) for line in status if "VmHWM" in line)
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else 1024 * peak


def serve(requests: Connection, answers: Connection) -> None:
    """Answer requests ``(method, arguments, settings)`` until the other side closes the pipe."""
    child: Child | None = None
    while True:
        try:
            method, arguments, settings = requests.recv()
        except EOFError:
            return
        try:
            if method == "load":
                child, value = Child(*arguments), None
            else:
                value = getattr(child, method)(*arguments, **settings)
            answers.send((value, None))
        except Exception as error:
            answers.send((None, f"{type(error).__name__}: {error}".splitlines()[0][:200]))


if __name__ == "__main__":
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    serve(
        Connection(int(sys.argv[1]), writable=False), Connection(int(sys.argv[2]), readable=False)
    )
