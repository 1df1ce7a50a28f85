"""The progress bar that ``verbose=1`` shows during a long fit.

A bar shows the name of the current stage and the completed share of it. It is drawn by tqdm or, if
that is not installed, by rich; without both, lines of text are written to standard error.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Protocol, TextIO

from quickshift.checks.numbers import check_verbose
from quickshift.progress import Progress

__all__ = ["DelayedBar", "open_bar", "shown_progress"]

_DELAY = 1.0  # seconds after which a fit is long enough for a bar
_BETWEEN_LINES = 5.0  # least number of seconds from one line of text to the next


class Bar(Protocol):
    """A bar that is visible from its creation until it is closed."""

    def show(self, stage: str, done: float) -> None:
        """Show the completed share of a stage."""

    def close(self) -> None:
        """Remove the bar."""


@contextmanager
def shown_progress(verbose: object, report: Progress | None) -> Iterator[Progress | None]:
    """Yield a ``progress`` callable that shows a bar, and close the bar at the end.

    Parameters
    ----------
    verbose : int
        With 0, there is no bar.
    report : callable or None
        Another ``progress`` callable, which receives all reports as well.

    Yields
    ------
    callable or None
        None if there is neither a bar nor a report.
    """
    if not check_verbose(verbose) or sys.stderr is None:
        yield report
        return
    bar = DelayedBar()

    def both(stage: str, done: float) -> None:
        bar(stage, done)
        if report is not None:
            report(stage, done)

    try:
        yield both
    finally:  # also after KeyboardInterrupt
        bar.close()


class DelayedBar:
    """A ``progress`` callable that opens a bar at the first report after a delay.

    Parameters
    ----------
    opened : callable
        Returns a new bar.
    clock : callable
        Returns the time in seconds.
    """

    def __init__(
        self,
        opened: Callable[[], Bar] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._opened = open_bar if opened is None else opened
        self._clock = clock
        self._begin = clock()
        self._bar: Bar | None = None

    def __call__(self, stage: str, done: float) -> None:
        """Show that the share ``done`` of a stage is complete."""
        if self._bar is None and self._clock() - self._begin >= _DELAY:
            self._bar = self._opened()
        if self._bar is not None:
            self._bar.show(stage, done)

    def close(self) -> None:
        """Close the bar if it was opened."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def open_bar() -> Bar:
    """Return a bar of tqdm if it is installed, else of rich, else lines of text."""
    for opened in (TqdmBar, _open_rich):
        try:
            return opened()
        except ImportError:
            continue
    return Lines()


def _open_rich() -> Bar:
    """Return a bar of rich, or lines of text outside of terminals, where rich draws nothing."""
    console = import_module("rich.console").Console(stderr=True)
    return RichBar(console) if console.is_terminal else Lines()


class TqdmBar:
    """A bar drawn by tqdm, in a notebook as a widget."""

    def __init__(self) -> None:
        tqdm = import_module("tqdm.auto").tqdm
        # Without tqdm's monitor, no thread outlives the fit, so that forking stays safe.
        silent: Any = type("tqdm", (tqdm,), {"monitor_interval": 0})
        layout = "{desc} {percentage:3.0f}%|{bar}|"
        self._bar = silent(total=1.0, leave=False, bar_format=layout, file=sys.stderr)

    def show(self, stage: str, done: float) -> None:
        """Show the completed share of a stage."""
        self._bar.n = done
        self._bar.set_description_str(stage)  # draws the bar

    def close(self) -> None:
        """Remove the bar."""
        self._bar.close()


class RichBar:
    """A bar drawn by rich in a terminal.

    Parameters
    ----------
    console : rich.console.Console
        Where the bar is drawn. Each bar has a console of its own, because a console shows only one
        bar at a time and several fits may run in threads.
    """

    def __init__(self, console: Any) -> None:
        rich = import_module("rich.progress")
        self._progress = rich.Progress(
            rich.TextColumn("{task.description}"),
            rich.BarColumn(),
            rich.TaskProgressColumn(),
            console=console,
            auto_refresh=False,  # drawing on request needs no thread
            transient=True,
            redirect_stdout=False,  # else output of others would go to standard error
            redirect_stderr=False,
        )
        self._task = self._progress.add_task("", total=1.0, visible=False)
        self._progress.start()

    def show(self, stage: str, done: float) -> None:
        """Show the completed share of a stage."""
        self._progress.update(
            self._task, description=stage, completed=done, visible=True, refresh=True
        )

    def close(self) -> None:
        """Remove the bar."""
        self._progress.stop()


class Lines:
    """Lines of text on standard error, at most one every few seconds.

    Parameters
    ----------
    out : file, optional
        Where the lines are written; standard error by default.
    clock : callable
        Returns the time in seconds.
    """

    def __init__(
        self, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._out = sys.stderr if out is None else out
        self._clock = clock
        self._next = clock()

    def show(self, stage: str, done: float) -> None:
        """Write a line, unless the last one was written only a few seconds ago."""
        now = self._clock()
        if now >= self._next:
            self._next = now + _BETWEEN_LINES
            self._out.write(f"quickshift: {stage} {done:.0%}\n")
            self._out.flush()

    def close(self) -> None:
        """Do nothing: lines stay."""
