"""What a command prints at its end: tables for readers, or JSON for programs."""

import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from quickshift.cli.outcome import WIDEST, raise_if_interrupted

__all__ = ["Report", "bold", "dim", "keyed", "shows_progress", "table_of"]

_WIDTH = 100  # characters per line if the output does not go to a terminal
_LONGEST_KEY = 18  # characters
_TEXTS = ("mode", "name")  # columns that are aligned to the left


class Report:
    """The summary of a command and the seconds of its steps.

    Parameters
    ----------
    as_json : bool
        Whether the summary is printed as JSON.
    quiet : bool
        Whether nothing is printed.
    to_stderr : bool
        Whether it is printed to standard error, because the output goes to standard output.
    """

    def __init__(self, *, as_json: bool, quiet: bool, to_stderr: bool = False) -> None:
        self._stream = sys.stderr if to_stderr else sys.stdout
        self.as_json, self.quiet = as_json, quiet or self._stream is None
        self._begin = time.perf_counter()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Measure the seconds of a step."""
        raise_if_interrupted()
        begin = time.perf_counter()
        yield
        self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - begin

    def show(self, facts: dict[str, Any], lines: Sequence[Any]) -> None:
        """Print the facts as JSON, or the lines: texts and tables of rich."""
        total = time.perf_counter() - self._begin
        if self.quiet:
            return
        if self.as_json:
            seconds = {**self.seconds, "total": total}
            rounded = {step: round(value, 4) for step, value in seconds.items()}
            text = json.dumps(_plain({**facts, "seconds": rounded}), allow_nan=False)
            print(text, file=self._stream, flush=True)
            return
        for line in lines:
            self._console.print(line, markup=False)
        steps = ", ".join(f"{step} {value:.2f}" for step, value in self.seconds.items())
        self._console.print(f"{total:.2f} s ({steps})" if steps else f"{total:.2f} s", style="dim")

    @property
    def width(self) -> int:
        """Number of characters per line."""
        return int(self._console.width)

    @cached_property
    def _console(self) -> Any:
        from rich.console import Console

        console = Console(file=self._stream, highlight=False)
        console.width = min(console.width, WIDEST) if self._stream.isatty() else _WIDTH
        return console


def shows_progress(quiet: bool) -> bool:
    """Return whether progress is shown: on standard error, if that is a terminal."""
    return not quiet and sys.stderr is not None and sys.stderr.isatty()


def _plain(value: Any) -> Any:
    """Return arrays as lists, and numbers that JSON does not have as null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def bold(text: str) -> Any:
    """Return a text of rich in bold letters, the title of a summary."""
    from rich.text import Text

    return Text(text, style="bold")


def dim(text: str) -> Any:
    """Return a text of rich in pale letters, the legend of a table."""
    from rich.text import Text

    return Text(text, style="dim")


def table_of(columns: dict[str, list[str]]) -> Any:
    """Return a table of rich from the cells of its columns.

    Parameters
    ----------
    columns : dict of list of str
        Cells by the name of the column.

    Returns
    -------
    rich.table.Table
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        left = name in _TEXTS
        table.add_column(
            name,
            justify="left" if left else "right",
            no_wrap=not left and " " not in name,
            overflow="fold",
        )
    for cells in zip(*columns.values(), strict=True):
        table.add_row(*cells)
    return table


def keyed(lines: Sequence[str]) -> Any:
    """Return sentences such as "Modes: 3 found" as a table of rich with two columns.

    Parameters
    ----------
    lines : sequence of str
        The sentences. What stands before the first colon, or else before the first comma, is in
        the first column if it is short.

    Returns
    -------
    rich.table.Table
    """
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for line in lines:
        for separator in (": ", ", "):
            key, found, text = line.partition(separator)
            if found and len(key) <= _LONGEST_KEY:
                break
        else:
            key, text = "", line
        table.add_row(key, Text(text))
    return table
