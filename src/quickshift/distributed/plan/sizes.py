"""How many boxes a run needs, and how many rows a task may hold."""

import math

from quickshift.checks.numbers import check_positive, check_whole
from quickshift.distributed.executors import DaskWorkers, Executor
from quickshift.memory import available_memory, fit_bytes, local_fit_bytes, prepare_bytes

__all__ = [
    "PARTITIONS_EXPECTED",
    "check_memory",
    "memory_for",
    "number_of_boxes",
    "rows_per_box",
]

_MOST_ROWS = 4_000_000  # of a box; larger boxes only make tasks longer
_FEW_ROWS = 50_000  # a box with fewer rows is not worth a task of its own
_LEAST_ROWS = 100  # with fewer rows per box, halos and tasks cost far more than the boxes
_MOST_BOXES = 100_000  # each is a folder, and a task of every pass
PARTITIONS_EXPECTED = "a whole number of at least 1, or 'auto'"
_MOST_MEMORY = 2.0**60  # bytes, which no machine has; the size of a box stays a 64-bit number
_MARGIN = 2.0  # rows with their halo, in rows without


def memory_for(limit: float | str, executor: Executor) -> int:
    """Return the bytes that all tasks together may use.

    Parameters
    ----------
    limit : float or "auto"
        Bytes. "auto" is half of the memory that is available here or, on a Dask cluster, of the
        workers' own limits.
    executor : Executor
        What runs the tasks.

    Returns
    -------
    int
    """
    if not isinstance(limit, str):
        return int(min(check_positive(limit, "memory_limit"), _MOST_MEMORY))
    if limit != "auto":
        raise ValueError(f"memory_limit is {limit!r}, expected a number of bytes or 'auto'.")
    workers = executor.memory if isinstance(executor, DaskWorkers) else None
    return (available_memory() if workers is None else workers) // 2


def check_memory(memory: int, before: int) -> None:
    """Raise if a run is resumed with less memory than its boxes were made for."""
    if memory < before:
        raise ValueError(
            f"memory_limit is {memory} bytes, expected at least {before}: the run that is resumed "
            f"has divided the rows for this limit. Raise memory_limit, or fit with resume=False to "
            f"divide them again."
        )


def rows_per_box(
    memory: int, slots: int, n_features: int, *, local: bool, n_rows: int | None = None
) -> int:
    """Return how many rows a box may have, so that a task with its halo fits into memory.

    If the number of all rows is given, a memory that would need very many tiny boxes is refused.

    Examples
    --------
    >>> rows_per_box(4 << 30, 2, 2, local=True) > rows_per_box(2 << 30, 2, 2, local=True)
    True
    """
    rows = 1_000_000
    if local:
        needed = local_fit_bytes(rows, n_features, None, links=True)
    else:
        needed = fit_bytes(rows, n_features, "gaussian", rules=False, links=True)
    points = 8 * rows * (2 * n_features + 8)  # arrays that a task reads besides
    per_row = (needed + points + prepare_bytes(rows, n_features)) / rows
    found = int(memory / slots / per_row / _MARGIN)
    if n_rows is not None:
        least = min(max(_LEAST_ROWS, math.ceil(1.2 * n_rows / _MOST_BOXES)), n_rows)
        if found < least:
            raise ValueError(
                f"memory_limit is {memory} bytes, enough for {found} rows in each of {slots} tasks "
                f"at a time; expected at least {math.ceil(least * slots * per_row * _MARGIN) + 1} "
                f"bytes for {n_rows} rows. Raise memory_limit, or leave it out to use half of the "
                f"memory that is available."
            )
    return max(found, 1)


def number_of_boxes(n_partitions: int | str, n_rows: int, most_rows: int, slots: int) -> int:
    """Return the number of boxes: enough to fit into memory, and to keep all slots busy.

    Examples
    --------
    >>> number_of_boxes("auto", 100, 1_000_000, 2), number_of_boxes("auto", 10**7, 10**6, 2)
    (1, 12)
    """
    if not isinstance(n_partitions, str):
        return min(
            check_whole(n_partitions, "n_partitions", 1, expected=PARTITIONS_EXPECTED), n_rows
        )
    if n_partitions != "auto":
        raise ValueError(f"n_partitions is {n_partitions!r}, expected {PARTITIONS_EXPECTED}.")
    fitting = math.ceil(1.2 * n_rows / min(most_rows, _MOST_ROWS))  # boxes are not quite equal
    return max(fitting, min(2 * slots, n_rows // _FEW_ROWS), 1)
