"""Passes: one function run for every box, with progress, resumption and one clear error."""

import hashlib
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from quickshift.distributed.executors import Executor
from quickshift.distributed.plan.records import from_bytes, to_bytes
from quickshift.distributed.store import Store, publish_bytes
from quickshift.progress import Progress, reporting

__all__ = ["PassError", "Passes"]

T = TypeVar("T")


class PassError(RuntimeError):
    """A task failed: the message names the pass, the partition and the cause."""


@dataclass
class Passes:
    """Runs passes on an executor, and remembers their results.

    Attributes
    ----------
    store : Store
        The files of the run.
    executor : Executor
        What runs the tasks.
    progress : callable or None
        Called as ``progress(name, done)`` when tasks of a pass complete.
    resume : bool
        Whether results that an earlier, interrupted run has written are used.
    keeps : bool
        Whether results are written, so that a later run can use them.
    done : set of str
        Names of steps that need not be repeated in this run.
    """

    store: Store
    executor: Executor
    progress: Progress | None = None
    resume: bool = False
    keeps: bool = True
    done: set[str] = field(default_factory=set)
    _names: dict[str, int] = field(default_factory=dict)

    def run(
        self, name: str, function: Callable[..., T], arguments: Sequence[tuple[Any, ...]]
    ) -> list[T]:
        """Call a function once per tuple of arguments, and return the results in order.

        Parameters
        ----------
        name : str
            Name of the pass, for progress and messages.
        function : callable
            A task.
        arguments : sequence of tuple
            The arguments of each call.

        Returns
        -------
        list
        """
        path = self._path_of(name, arguments)
        if self.resume and self.keeps and path.exists():
            known: list[T] = from_bytes(path.read_bytes())
            return known
        futures = [
            self.executor.submit(function, *some, name=f"{name}-{i}")
            for i, some in enumerate(arguments)
        ]
        results: dict[int, T] = {}
        with reporting(self.progress, name) as report:
            for i, outcome in self.executor.completed(futures):
                if isinstance(outcome, BaseException):
                    self.executor.cancel(futures)
                    raise _explained(outcome, name, i) from outcome
                results[i] = outcome
                if report is not None:
                    report(len(results) / len(futures))
        ordered = [results[i] for i in range(len(futures))]
        if not self.keeps:
            return ordered
        # What a resumed run would read, so that the arguments of later passes are the same bytes.
        content = to_bytes(ordered)
        publish_bytes(path, content)
        again: list[T] = from_bytes(content)
        return again

    def each_box(self, name: str, function: Callable[..., T], *arguments: Any) -> list[T]:
        """Call a task for every box, with the store, the number of the box, and more arguments."""
        boxes = range(len(self.store.counts))
        return self.run(name, function, [(self.store, box, *arguments) for box in boxes])

    def _path_of(self, name: str, arguments: Sequence[tuple[Any, ...]]) -> Path:
        """Return the file of a pass's results: it differs if the arguments differ.

        The limit of memory is left out, because it may be raised when a run is resumed.
        """
        count = self._names[name] = self._names.get(name, -1) + 1
        stores = {id(a): a for some in arguments for a in some if isinstance(a, Store)}
        plain = {key: replace(store, most_rows=None) for key, store in stores.items()}
        named = [tuple(plain.get(id(a), a) for a in some) for some in arguments]
        # Compared with the digest of another run, and never loaded.
        digest = hashlib.sha256(pickle.dumps(named)).hexdigest()[:16]
        return Path(self.store.directory) / "passes" / f"{name}-{count}-{digest}.npz"


def _explained(error: BaseException, name: str, partition: int) -> BaseException:
    """Return the error that users see. What is wrong with their data needs no partition."""
    if isinstance(error, ValueError | TypeError | KeyboardInterrupt):
        return error
    return PassError(
        f"the pass {name!r} failed in partition {partition}: {type(error).__name__}: {error}. "
        f"If a directory was given, the passes before it are kept there: after removing the cause, "
        f"fit again with resume=True."
    )
