"""Count what a fit over partitions reads, writes and moves, pass by pass.

All tasks run in this process, so that everything is counted: the bytes that tasks read from the
input and from the files of the run, those that they write, and those of their pickled arguments and
results, which move between the client and the workers. Files that are opened without being loaded
count as a whole, so the bytes read are an upper bound.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from quickshift.distributed import QuickShift, store
from quickshift.distributed.executors import Inline
from quickshift.distributed.plan import passes
from quickshift.distributed.tasks import boxes, regions

Counts = dict[str, dict[str, int]]


class Account:
    """Counts of bytes and tasks, by pass."""

    def __init__(self) -> None:
        self.by_pass: Counts = {}
        self._current = {"tasks": 0, "read": 0, "written": 0, "moved": 0}

    @contextmanager
    def of_pass(self, name: str) -> Iterator[None]:
        """Count for a pass."""
        before = self._current
        zero = {"tasks": 0, "read": 0, "written": 0, "moved": 0}
        self._current = self.by_pass.setdefault(name, zero)
        yield
        self._current = before

    def add(self, what: str, amount: int) -> None:
        """Count something for the current pass."""
        self._current[what] += amount

    def reading(
        self, function: Callable[..., Any], size: Callable[[Any], int]
    ) -> Callable[..., Any]:
        """Return a function that counts what it reads by its result, and nothing that it calls."""

        def counted(*arguments: Any, **named: Any) -> Any:
            before = self._current["read"]
            result = function(*arguments, **named)
            self._current["read"] = before + size(result)
            return result

        return counted


class Counting(Inline):
    """Runs tasks in this process, and counts what would move."""

    slots = 2

    def __init__(self, account: Account) -> None:
        self._account = account

    def submit(self, function: Callable[..., Any], *arguments: Any, name: str) -> Any:
        """Remember a task."""
        self._account.add("tasks", 1)
        self._account.add("moved", len(pickle.dumps(arguments)))
        return super().submit(function, *arguments, name=name)

    def completed(self, futures: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Run the tasks one after the other."""
        for i, result in super().completed(futures):
            self._account.add("moved", len(pickle.dumps(result)))
            yield i, result


def account_for(data: str, **parameters: Any) -> Counts:
    """Fit, and return what each pass has read, written and moved, in bytes, and its tasks."""
    account = Account()

    def published(publish: Callable[..., None]) -> Callable[..., None]:
        def counted(path: Any, content: Any) -> None:
            publish(path, content)
            account.add("written", path.stat().st_size)

        return counted

    run = passes.Passes.run

    def counted_run(self: Any, name: str, *arguments: Any) -> Any:
        with account.of_pass(name):
            return run(self, name, *arguments)

    rows_near = regions._rows_near

    def counted_rows(files: Any, box: int, reach: float) -> Iterator[Any]:
        before = account._current["read"]
        found = list(rows_near(files, box, reach))
        width = 8 * files.bounds.shape[2]
        account._current["read"] = before + sum(width * len(at) for _, at, _ in found)
        yield from found

    def nbytes(array: Any) -> int:
        return int(array.nbytes)

    def chunk_bytes(chunk: Any) -> int:
        return sum(array.nbytes for array in chunk if array is not None)

    reading = account.reading
    replaced = [
        (store, "publish", published(store.publish)),
        (boxes, "publish", published(boxes.publish)),
        (passes, "publish_bytes", published(passes.publish_bytes)),
        (store.Store, "read", reading(store.Store.read, nbytes)),
        (store.Store, "read_at", reading(store.Store.read_at, nbytes)),
        (regions.Region, "read", reading(regions.Region.read, nbytes)),
        (regions, "_rows_near", counted_rows),
        (boxes, "_gathered", reading(boxes._gathered, nbytes)),
        (boxes, "read_chunk", reading(boxes.read_chunk, chunk_bytes)),
        (passes.Passes, "run", counted_run),
        (QuickShift, "_executor", lambda *_: Counting(account)),
    ]
    with ExitStack() as stack:
        for owner, name, function in replaced:
            stack.enter_context(patch.object(owner, name, function))
        QuickShift(**parameters).fit(data)
    return account.by_pass
