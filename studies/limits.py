"""A limit of CPU time for slow peers."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

MINUTE = 60.0


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
