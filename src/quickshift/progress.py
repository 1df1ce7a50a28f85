"""Reports of the progress of a stage to a callback."""

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
        Called with the name of the stage and the completed share of it, which never decreases from
        0 to 1. Calls come from the thread that runs the stage, about ten times per second, and once
        with 1 at the end. An exception that it raises stops the stage and propagates to its caller.
        With None nothing is reported.
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
    # 1 is reported only at the end of a stage, so smaller values are limited to below 1.
    yield lambda done: progress(stage, min(done, math.nextafter(1.0, 0.0)))
    progress(stage, 1.0)
