"""The number of threads that a call uses."""

import math
import os
import sys
from operator import index
from pathlib import Path

__all__ = ["resolve_threads"]

_MOST = 1024  # more threads would only wait for each other


def resolve_threads(n_jobs: int | None) -> int:
    """Turn ``n_jobs`` into a number of threads.

    Parameters
    ----------
    n_jobs : int or None
        None means all cores that are available to the process, within its CPU affinity and the
        limits of its control group; inside a Dask worker it means a single thread. Negative numbers
        count back from all cores, as in joblib: -1 means all cores, -2 all except one.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> resolve_threads(3)
    3
    >>> resolve_threads(None) >= 1
    True
    """
    if n_jobs is None:
        return 1 if _inside_dask_worker() else _available_cores()
    try:
        count = index(n_jobs)
    except TypeError:
        count = None
    if count is None or isinstance(n_jobs, bool):
        raise TypeError(
            f"n_jobs must be an integer or None, got {n_jobs!r}. Use None for all cores."
        )
    if count == 0:
        raise ValueError("n_jobs must not be 0. Use None for all cores or 1 for a single thread.")
    return min(count, _MOST) if count > 0 else max(1, _available_cores() + 1 + count)


def _available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min(cores, _cgroup_limit(Path("/sys/fs/cgroup/cpu.max"))))


def _cgroup_limit(file: Path) -> int:
    """Return the number of cores that a control group (version 2) grants.

    The file holds the quota and the period in microseconds.
    """
    try:
        quota, period = file.read_text().split()
        return math.ceil(int(quota) / int(period))
    except (OSError, ValueError, ZeroDivisionError):  # no such file, or no limit ("max")
        return sys.maxsize


def _inside_dask_worker() -> bool:
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except (AttributeError, ValueError):
        return False
    return True
