"""Files that are complete whenever they can be seen under their name."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOENT
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

__all__ = ["published"]


@contextmanager
def published(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name when it is complete.

    Until then, a file that already has the name stays as it is, and it does so for good if writing
    fails. Devices and pipes, which cannot be replaced, are written to directly.
    """
    path = Path(os.path.realpath(path))  # a link stays one
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    temporary = path.with_name(f".{path.name[:100]}.{os.getpid()}.{uuid4().hex[:8]}")
    if not path.parent.is_dir():
        message = "No such folder; create it first, or write to another one"
        raise FileNotFoundError(ENOENT, message, str(path.parent))
    try:
        with temporary.open("wb") as file:
            yield file
        if path.exists():
            shutil.copymode(path, temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
