"""The number of threads that a call uses."""

import math
import os
import sys
from functools import lru_cache
from operator import index
from pathlib import Path
from typing import Any

__all__ = ["resolve_threads"]

_DIGITS = 18  # of a number of threads; more are nonsense
_MOST = 1024  # more threads would only wait for each other


def resolve_threads(n_jobs: int | None) -> int:
    """Turn ``n_jobs`` into a number of threads.

    Parameters
    ----------
    n_jobs : int or None
        None means all cores that are available to the process, within its CPU affinity and the
        limits of its control group, and no more than ``OMP_NUM_THREADS`` and ``threadpoolctl``
        allow. Inside a worker of joblib it means the worker's share of the cores, and inside a Dask
        worker a single thread. A number overrides all these limits. Negative numbers count back
        from all cores, as in joblib: -1 means all cores, -2 all except one.

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
        return 1 if _inside_dask_worker() else _allowed_threads()
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


def _allowed_threads() -> int:
    """Return the number of cores, within the limits that the user has set for other libraries.

    joblib tells its loky workers their share of the cores by ``OMP_NUM_THREADS``. It does not tell
    the workers of its other backends how many they are, so these use a single thread each, unless
    the user has set that variable.
    """
    named = _openmp_limit(os.environ.get("OMP_NUM_THREADS", ""))
    if named is None and _inside_joblib_worker():
        return 1
    return max(1, min(_available_cores(), named or _MOST, _pool_limit() or _MOST))


def _openmp_limit(text: str) -> int | None:
    """Return the first number of a list such as "4,2", or None if it is not positive.

    No error is caught here: while Python formats the message of an error that has a repr, it can
    lose a Ctrl-C.
    """
    first = text.split(",", maxsplit=1)[0].strip().removeprefix("+")
    return (int(first) or None) if first.isdecimal() and len(first) <= _DIGITS else None


def _pool_limit() -> int | None:
    """Return the number of threads that other libraries may use, as set by threadpoolctl.

    A limit for everything is a limit of every OpenMP library, so the largest of their numbers is
    taken: a library may have set a smaller one for itself. BLAS is only asked if no OpenMP library
    is loaded, because scikit-learn limits BLAS inside its own loops.

    Returns None if threadpoolctl has not been imported, because then nobody can have used it.
    """
    if "threadpoolctl" not in sys.modules:
        return None
    try:
        pools = _pools(len(sys.modules))
        known: list[tuple[str, int | None]] = [
            (pool.user_api, pool.get_num_threads()) for pool in pools
        ]
    except Exception:  # whatever it cannot read, a fit must not fail because of it
        return None
    for api in ("openmp", "blas"):
        counts = [count for name, count in known if name == api and count]
        if counts:
            return max(counts)
    return None


@lru_cache(maxsize=1)
def _pools(n_modules: int) -> list[Any]:  # noqa: ARG001 (the key of the cache)
    """Return threadpoolctl's handles of the libraries that have thread pools.

    Finding the libraries takes 2 ms, because threadpoolctl reads the memory map of the process; to
    ask a library takes less than 1 µs (both measured with threadpoolctl 3.8 on Linux). So the
    handles are kept until the number of imported modules changes, which means that there may be a
    new library. `threadpoolctl.get_cached_controller` does the same from version 3.8 on.
    """
    handles: list[Any] = sys.modules["threadpoolctl"].ThreadpoolController().lib_controllers
    return handles


def _inside_joblib_worker() -> bool:
    joblib = sys.modules.get("joblib.parallel")
    if joblib is None:
        return False
    try:
        backend, _ = joblib.get_active_backend()
        return bool(backend.nesting_level)
    except (AttributeError, TypeError, ValueError):
        return False


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
