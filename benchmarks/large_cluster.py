"""A local Dask cluster for the fits of large.py, and the time that their files take."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BLOCK = 1 << 24  # bytes that are read or written at once
MOST_TIMES = 3  # as long as a fit in memory, besides reading and writing files


@contextmanager
def local_cluster(n_workers: int, memory: float) -> Iterator[Any]:
    """Yield the client of a cluster of processes of this machine; None for no workers.

    Parameters
    ----------
    n_workers : int
        Number of workers, each with one thread.
    memory : float
        Bytes that each worker may use. Dask restarts a worker that uses more.
    """
    if not n_workers:
        yield None
        return
    import distributed

    cluster: Any = distributed.LocalCluster  # its annotations are incomplete
    client: Any = distributed.Client
    environment = dict(os.environ)
    with (
        cluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=":0",
            memory_limit=int(memory),
        ) as started,
        client(started) as connected,
    ):
        # Dask limits the threads of its workers by variables that it sets in this process, too.
        # Fits in memory, with which the cluster is compared, must have all threads.
        os.environ.clear()
        os.environ.update(environment)
        yield connected


def seconds_for_files(read: Iterable[Path], copied: Iterable[Path], scratch: Path) -> float:
    """Return the time that it takes to read some files, and to read and write others.

    Parameters
    ----------
    read : iterable of Path
        Files that are read once: the input.
    copied : iterable of Path
        Files that are read and written once: those of a run.
    scratch : Path
        A file that is overwritten by each copy, and removed.

    Returns
    -------
    float
    """
    begin = time.perf_counter()
    for path in read:
        for _ in _blocks(path):
            pass
    for path in copied:
        with scratch.open("wb") as copy:
            for block in _blocks(path):
                copy.write(block)
    scratch.unlink(missing_ok=True)
    return time.perf_counter() - begin


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block
