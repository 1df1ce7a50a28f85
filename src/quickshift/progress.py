"""Reporting the progress of a stage to a callback."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Progress", "Report", "reporting"]

Progress = Callable[[str, float], object]
Report = Callable[[float], object]


@contextmanager
def reporting(progress: Progress | None, stage: str) -> Iterator[Report | None]:
    """Wrap a callback for one stage, and report 1 when the stage completes without an exception.

    Parameters
    ----------
    progress : callable or None
        Called as ``progress(stage, done)`` about ten times per second and when a stage is complete;
        ``done`` rises to 1. An exception that it raises stops the computation and propagates to the
        caller of the stage. All calls come from the thread that runs the stage. With None, nothing
        is reported.
    stage : str
        Name of the stage: the function that users call.

    Yields
    ------
    callable or None
        Function that the compiled core calls with the completed share.

    Examples
    --------
    >>> with reporting(print, "climb") as report:
    ...     report(0.5)
    climb 0.5
    climb 1.0
    """
    if progress is None:
        yield None
        return
    if not callable(progress):
        raise TypeError(
            f"progress is {progress!r}, expected a callable that takes the name of a stage and the "
            f"completed share of it. Use None for no reports."
        )
    # 1 is reported only when the stage is complete, so the core's reports are kept below 1.
    yield lambda done: progress(stage, min(done, math.nextafter(1.0, 0.0)))
    progress(stage, 1.0)
