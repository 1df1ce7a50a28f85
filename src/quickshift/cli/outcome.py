"""How a command ends: its exit code, and the line that says what went wrong.

The codes are 0 for success, 1 if a command failed, 2 if it was called in a wrong way, and 130 if it
was interrupted.
"""

import errno
import os
import shutil
import signal
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from types import FrameType
from typing import Any

__all__ = [
    "CommandError",
    "UsageError",
    "exit_code_of",
    "note_output",
    "prepare_process",
    "raise_if_interrupted",
    "show_traceback",
    "uninterrupted",
]

FAILED, USAGE, INTERRUPTED = 1, 2, 130
WIDEST = 120  # characters; longer lines are hard to read
INTERRUPTION = "Interrupted; no output was written."

# What was asked for; "stopped" is the number of a signal.
_state: dict[str, int] = dict.fromkeys(("traceback", "interrupted", "held", "stopped"), 0)
_written: list[str] = []  # outputs that are complete


class CommandError(Exception):
    """A problem that the user can fix; its text is shown without a traceback."""


class UsageError(CommandError):
    """Arguments that contradict each other or have no meaning."""


def show_traceback(wanted: bool) -> bool:
    """Choose whether an error shows its traceback: the callback of the option ``--debug``."""
    _state["traceback"] = wanted
    return wanted


def prepare_process() -> None:
    """Let signals that end the process clean up as Ctrl-C does, and warnings be lines.

    On a wide terminal, the help of typer has lines of a readable length.
    """
    if shutil.get_terminal_size().columns > WIDEST:
        os.environ.setdefault("TERMINAL_WIDTH", str(WIDEST))
    for name, handler in (("SIGINT", _interrupt), ("SIGTERM", _stop), ("SIGHUP", _stop)):
        number = getattr(signal, name, None)
        # Signals that were ignored stay so, as those of commands that `nohup` starts.
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # closed ones are None
            stream.reconfigure(errors="replace")  # dashes and lines, if it takes ASCII only
    warnings.showwarning = _show_warning  # type: ignore[assignment]  # fewer named parameters


def exit_code_of(app: Callable[..., Any]) -> int:
    """Run a typer application and return its exit code; errors are written to standard error.

    Parameters
    ----------
    app : typer.Typer
        The application.

    Returns
    -------
    int
    """
    try:
        code = app(prog_name="quickshift", standalone_mode=False)
        if sys.stdout is not None:  # it may have been closed by >&-
            sys.stdout.flush()
    except Exception as error:
        return _report(error)
    except KeyboardInterrupt:
        return _interrupted()
    if code == INTERRUPTED:  # typer's answer to Ctrl-C
        return _interrupted()
    return code if isinstance(code, int) else 0


def note_output(target: str) -> None:
    """Remember that an output is complete, for the message after an interrupt."""
    _written.append(target)


def raise_if_interrupted() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed before.

    Some libraries lose the exception while they are imported, or in functions that C code calls.
    Commands call this function before they compute for long or publish a file.
    """
    if _state["interrupted"]:
        raise KeyboardInterrupt


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let signals that end the process wait for work that takes no time, such as tidying up."""
    _state["held"] = True
    try:
        yield
    finally:
        _state["held"] = False
    raise_if_interrupted()
    if _state["stopped"]:
        raise SystemExit(128 + _state["stopped"])


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 (a signal handler)
    _state["interrupted"] = True
    if not _state["held"]:
        raise KeyboardInterrupt


def _stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 (a signal handler)
    _state["stopped"] = number
    if not _state["held"]:
        raise SystemExit(128 + number)


def _show_warning(message: Warning | str, *_: object) -> None:
    _say(_wrapped(f"Warning: {_one_line(message)}"))


def _say(text: str) -> None:
    """Write a line to standard error, or nowhere if that is closed: print would use the output."""
    if sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)  # noqa: T201


def _report(error: Exception) -> int:
    """Write what went wrong, and return the exit code."""
    if type(error).__name__ == "Abort":  # typer's, raised in place of KeyboardInterrupt
        return _interrupted()
    if type(error).__name__ == "NoArgsIsHelpError":  # typer's, after it has shown the help
        return USAGE
    if _is_closed_pipe(error):
        _discard_output()
        return FAILED
    if _state["traceback"]:
        _say("".join(traceback.format_exception(error)).rstrip("\n"))
    _say(_wrapped(f"Error: {_sentence(error)}"))
    return USAGE if hasattr(error, "format_message") or isinstance(error, UsageError) else FAILED


def _sentence(error: Exception) -> str:
    if hasattr(error, "format_message"):  # of typer: a wrong call
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "quickshift"
        text = _one_line(error.format_message()).replace("Value error, ", "").rstrip(".")
        return f"{text}. See {command} --help."
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        where = f" of {error.filename}" if error.filename else ""
        return f"the disk{where} is full. Free some space, or write to another disk."
    if isinstance(error, MemoryError) and not str(error):
        return (
            "there is not enough memory. Use fewer rows or columns; quickshift cluster can also "
            "work on parts of the data, by --memory."
        )
    expected = isinstance(error, CommandError | ValueError | TypeError | OSError | MemoryError)
    text = _one_line(error)
    if expected or isinstance(error, ImportError):
        return text
    return f"{type(error).__name__}: {text}. Use --debug to see where it comes from."


def _one_line(text: object) -> str:
    """Return a text without line breaks and characters that would confuse a terminal."""
    line = " ".join(str(text).replace("numpy.inf", "inf").split())
    return "".join(character if character.isprintable() else "?" for character in line)


def _wrapped(line: str) -> str:
    """Break a line between words if it is shown on a terminal, which would break it anywhere."""
    if sys.stderr is None or not sys.stderr.isatty():
        return line
    width = shutil.get_terminal_size().columns
    return textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)


def _is_closed_pipe(error: BaseException | None) -> bool:
    """Return whether the program that reads the output has ended, as ``head`` does."""
    return isinstance(error, OSError) and error.errno == errno.EPIPE


def _interrupted() -> int:
    _discard_output()
    complete = f"Interrupted after {', '.join(_written)} had been written."
    _say(complete if _written else INTERRUPTION)
    return INTERRUPTED


def _discard_output() -> None:
    """Keep Python from writing the rest of a buffer to a closed pipe when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
