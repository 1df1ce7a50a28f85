"""Outputs that appear under their name only when they are complete, and scratch folders.

A temporary file is made beside the target and renamed. Its name is chosen before it is created, and
it is removed in a ``finally``, so Ctrl-C at any time leaves nothing behind.
"""

import errno
import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4

from quickshift.cli.outcome import CommandError, note_output, raise_if_interrupted, uninterrupted

__all__ = [
    "STANDARD",
    "check_length",
    "check_target",
    "opened_output",
    "replaced_file",
    "scratch_folder",
    "writing",
]

_SHOWN = 40  # characters of a name that is too long
_NEARLY_FULL = 1 << 20  # bytes
_PRIVATE = 0o077  # what others may not do

STANDARD = "-"  # standard input or output in place of a path


def check_target(target: str | None, *, force: bool) -> None:
    """Raise if an output cannot be written, before any work is done.

    Parameters
    ----------
    target : str or None
        Path of the output; None and "-" are always fine.
    force : bool
        Whether an existing file may be overwritten.
    """
    if target is None or target == STANDARD:
        return
    if not target:
        raise CommandError("the path of the output is empty. Give one such as -o labels.csv.")
    check_length(target)
    path = Path(target)
    if path.is_dir():
        raise CommandError(f"{target} is a folder, expected the path of a file. Add a file name.")
    folder = _resolved(target).parent
    if not folder.is_dir():
        raise CommandError(f"the folder {folder} does not exist. Create it, or write elsewhere.")
    if _is_special(path):
        return
    if path.exists() and not force:
        raise CommandError(f"{target} exists. Use --force to overwrite it, or write elsewhere.")
    if not os.access(folder, os.W_OK):
        raise CommandError(f"the folder {folder} cannot be written to. Write elsewhere.")


def check_length(path: str) -> None:
    """Raise if a path is longer than the file system allows."""
    try:
        Path(path).lstat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise CommandError(
                f"the name {Path(path).name[:_SHOWN]}… has {len(Path(path).name)} characters, "
                f"which with its folder is more than the file system allows. Choose a shorter one."
            ) from error


@contextmanager
def replaced_file(target: str, *, force: bool) -> Iterator[Path]:
    """Yield the path of a temporary file that becomes the target if the block succeeds.

    Parameters
    ----------
    target : str
        Path of the output.
    force : bool
        Whether an existing file may be overwritten.

    Yields
    ------
    Path
        Where to write; it has the suffix of the target.
    """
    path = _resolved(target)  # a symbolic link stays, and the file that it names is replaced
    partial = path.with_name(f".quickshift-{uuid4().hex[:12]}{path.suffix}")
    usual = os.umask(_PRIVATE)  # until it is complete, the file is for its owner alone
    try:
        with writing(target):
            check_target(target, force=force)
            yield partial
            partial.chmod(0o666 & ~usual)
            _publish(partial, path, force=force)
            note_output(target)
    finally:
        with uninterrupted():
            os.umask(usual)
            # Databases have journals beside them.
            for file in path.parent.glob(f"{glob.escape(partial.name)}*"):
                file.unlink(missing_ok=True)


@contextmanager
def opened_output(target: str, *, force: bool) -> Iterator[IO[bytes]]:
    """Yield a binary file for standard output, a device or a file that is replaced at the end.

    Parameters
    ----------
    target : str
        Path of the output, or "-" for standard output.
    force : bool
        Whether an existing file may be overwritten.

    Yields
    ------
    file
    """
    if target == STANDARD:
        if sys.stdout is None:
            raise CommandError("standard output is closed. Write to a file.")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif _is_special(Path(target)):
        with writing(target), Path(target).open("wb") as file:
            yield file
    else:
        with replaced_file(target, force=force) as partial, partial.open("wb") as file:
            yield file


@contextmanager
def writing(target: str) -> Iterator[None]:
    """Say which output could not be written, and why."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise
        full = _is_full(error, Path(target).resolve().parent)
        reason = "its disk is full" if full else (error.strerror or str(error))
        advice = "Free some space, or write elsewhere" if full else "Write elsewhere"
        raise CommandError(f"{target} cannot be written: {reason}. {advice}.") from error


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a new folder for temporary files, below ``TMPDIR``, and remove it at the end."""
    folder = Path(tempfile.gettempdir()) / f"quickshift-{uuid4().hex[:12]}"
    try:
        folder.mkdir(mode=0o700)
        yield folder
    except OSError as error:
        if not _is_full(error, folder.parent):
            raise
        raise CommandError(
            f"the disk of the temporary folder {folder.parent} is full. Set TMPDIR to a folder on "
            f"a larger disk."
        ) from error
    finally:
        with uninterrupted():
            shutil.rmtree(folder, ignore_errors=True)


def _is_full(error: OSError, folder: Path) -> bool:
    """Return whether an error is due to a full disk; some libraries do not pass its number on."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    return error.errno is None and shutil.disk_usage(folder).free < _NEARLY_FULL


def _resolved(target: str) -> Path:
    """Return the file that a path leads to."""
    path = Path(os.path.realpath(target))  # Path.resolve raises RuntimeError for loops, until 3.12
    if path.is_symlink():
        raise CommandError(f"{target} is a link that leads to itself. Write elsewhere.")
    return path


def _is_special(path: Path) -> bool:
    """Return whether a path is a device or a pipe, which cannot be replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _publish(partial: Path, path: Path, *, force: bool) -> None:
    """Give a complete file its name; without force, a file that has appeared meanwhile is kept."""
    raise_if_interrupted()
    if force:
        partial.replace(path)
        return
    try:
        os.link(partial, path)  # unlike a renamed file, a link never replaces another one
    except FileExistsError:
        raise CommandError(f"{path} has appeared meanwhile. Use --force to overwrite it.") from None
    except OSError:  # this file system has no hard links
        partial.replace(path)
