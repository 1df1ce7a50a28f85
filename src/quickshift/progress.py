"""Telling a caller how far a stage is."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Progress", "Report", "reporting"]

Progress = Callable[[str, float], object]
Report = Callable[[float], object]


@contextmanager
def reporting(progress: Progress | None, stage: str) -> Iterator[Report | None]:
    """Give a stage what it reports to, and tell that it is done if it comes to its end.

    Parameters
    ----------
    progress : callable or None
        Called with the name of the stage and the part of it that is done, from 0 to 1 and never
        falling: from the thread that called, about ten times a second, and with 1 at the end.
        What it raises stops the stage and is raised there. None for nobody.
    stage : str
        Name of the stage, the function that users call.

    Yields
    ------
    callable or None
        What the compiled core calls with the part that is done.

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
            f"part of it that is done. Use None to be told nothing."
        )
    # Only the end of a stage says 1.
    yield lambda done: progress(stage, min(done, math.nextafter(1.0, 0.0)))
    progress(stage, 1.0)
