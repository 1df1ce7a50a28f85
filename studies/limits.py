"""CPU time, and a limit of it for slow peers."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

MINUTE = 60.0


def cpu_seconds() -> float:
    """Return the CPU time of this process, user and system.

    `time.process_time` is not used: while the timer of `limited` is set, Linux counts it in ticks
    of some milliseconds, and shorter work seems to take no time at all.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class TooSlow(Exception):  # noqa: N818 (not a mistake of anybody)
    """A peer has used more CPU time than it may."""


@contextmanager
def limited(seconds: float = MINUTE) -> Iterator[None]:
    """Raise TooSlow if the block takes more CPU time than this; main thread of Unix only.

    The exception is raised as soon as the interpreter is back from compiled code.
    """

    def stop(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001 (the signature of signals)
        raise TooSlow(f"stopped after {seconds:g} s of CPU time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
