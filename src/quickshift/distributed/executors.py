"""Executors: what runs tasks. A plan needs no more than five methods."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import uuid4

from quickshift.bundles import counted

__all__ = ["DaskWorkers", "Executor", "Inline", "Processes", "check_open", "local_executor"]

_PATIENCE = 600  # seconds; a Dask cluster may be without workers for a while if it scales itself
_TRIES = 3  # how often a task is started again after its process was killed


class Executor(Protocol):
    """Runs tasks somewhere, in any order."""

    @property
    def slots(self) -> int:
        """Number of tasks that run at the same time."""
        ...

    def submit(self, function: Callable[..., Any], *arguments: Any, name: str) -> Any:
        """Start a task, and return something that stands for it."""
        ...

    def completed(self, futures: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the index of each task when it ends, with its result or the exception it raised."""
        ...

    def cancel(self, futures: Sequence[Any]) -> None:
        """Do not start the tasks that have not been started."""
        ...

    def close(self) -> None:
        """Release everything that the executor has started."""
        ...


class Inline:
    """Runs each task in the calling process when its result is asked for."""

    slots = 1

    def submit(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        name: str,  # noqa: ARG002
    ) -> Any:
        """Remember a task."""
        return function, arguments

    def completed(self, futures: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Run the tasks one after the other."""
        for i, (function, arguments) in enumerate(futures):
            try:
                result = function(*arguments)
            except Exception as error:
                result = error
            yield i, result

    def cancel(self, futures: Sequence[Any]) -> None:
        """Do nothing: no task runs that was not asked for."""

    def close(self) -> None:
        """Do nothing."""


@dataclass
class _Task:
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    future: "Future[Any]"
    tries: int = 0


class Processes:
    """Runs tasks in processes of this machine.

    The processes are started anew ("spawn") when the first task is submitted, and end with `close`.
    If one of them is killed, all of them are replaced, and the tasks that were not complete are
    started again.

    Parameters
    ----------
    n_processes : int
        Number of processes.
    """

    def __init__(self, n_processes: int) -> None:
        self.slots = n_processes
        self._pool: ProcessPoolExecutor | None = None

    def submit(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        name: str,  # noqa: ARG002
    ) -> _Task:
        """Start a task."""
        return _Task(function, arguments, self._start(function, arguments))

    def _start(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> "Future[Any]":
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(
                self.slots, mp_context=context, initializer=_end_with_parent
            )
        try:
            return self._pool.submit(function, *arguments)
        except BrokenProcessPool:
            self.close()
            return self._start(function, arguments)

    def completed(self, futures: Sequence[_Task]) -> Iterator[tuple[int, Any]]:
        """Yield the index and the outcome of each task when it ends."""
        running = dict(enumerate(futures))
        while running:
            wait([task.future for task in running.values()], return_when=FIRST_COMPLETED)
            ended = {i: task for i, task in running.items() if task.future.done()}
            broken = any(_is_lost(t.future) and t.tries < _TRIES for t in ended.values())
            if broken:
                # All other tasks of these processes end now, too. They are started again together:
                # one that was noticed later would end the processes that replace these.
                self.close()
                wait([task.future for task in running.values()])
                ended = dict(running)
            for i, task in ended.items():
                if _is_lost(task.future) and task.tries < _TRIES:
                    task.tries += 1
                    task.future = self._start(task.function, task.arguments)
                else:
                    del running[i]
                    yield i, _outcome(task)

    def cancel(self, futures: Sequence[_Task]) -> None:
        """Do not start the tasks that have not been started."""
        for task in futures:
            task.future.cancel()

    def close(self) -> None:
        """End the processes.

        They are killed, because a pool that has lost a process may wait for the others forever. No
        task is needed any more, and files are complete whenever they have their names. Tasks that
        have not ended fail with BrokenProcessPool. The pool is not told to cancel them, because
        `wait` would never return for tasks that are cancelled before they start.
        """
        if self._pool is None:
            return
        pool: Any = self._pool
        self._pool = None
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=False)
        for process in processes:
            process.kill()
        for process in processes:
            process.join()


def local_executor(n_processes: int) -> Inline | Processes:
    """Return what runs tasks on this machine.

    Processes that may not start others, such as those of a `multiprocessing.Pool` and the workers
    of Dask, run the tasks themselves.
    """
    daemon = multiprocessing.current_process().daemon
    return Inline() if daemon else Processes(n_processes)


def _end_with_parent() -> None:
    """Let this process end when the one that started it does, however that ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait_for_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait_for_parent, daemon=True).start()


def _is_lost(future: "Future[Any]") -> bool:
    """Return whether a task ended because a process was killed."""
    return isinstance(future.exception(), BrokenProcessPool)


def _outcome(task: _Task) -> Any:
    if _is_lost(task.future):
        return RuntimeError(
            f"its process ended {_TRIES + 1} times without an answer. If it was killed because "
            f"memory ran out, lower memory_limit and fit with resume=False, which divides the rows "
            f"into smaller boxes. In a script, the call of fit must be inside `if __name__ == "
            f"'__main__':`, because processes import the script"
        )
    error = task.future.exception()
    return task.future.result() if error is None else error


def check_open(client: Any) -> None:
    """Raise if a client of Dask is closed."""
    if getattr(client, "status", "") in ("closing", "closed"):
        raise RuntimeError(
            "client is closed, expected one that is connected. Set the parameter `client` to "
            "another one, or to None for processes of this machine."
        )


def _no_workers(n_paused: int) -> RuntimeError:
    has, advice = "has no workers", "Start some"
    if n_paused:
        has = f"has {counted(n_paused, 'paused worker')} and no others"
        advice = (
            "Workers pause when their memory is nearly full: restart them, give them more memory, "
            "or lower memory_limit"
        )
    return RuntimeError(
        f"no task was completed within {_PATIENCE} seconds, and the Dask cluster {has}. {advice}"
    )


class DaskWorkers:
    """Runs tasks on the workers of a Dask client.

    Parameters
    ----------
    client : dask.distributed.Client
        The client. It stays open.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    @property
    def slots(self) -> int:
        """Number of threads of all workers."""
        return max(int(sum(self._client.nthreads().values())), 1)

    @property
    def memory(self) -> int | None:
        """Bytes that the workers may use, None if they have no limit."""
        # Recent versions describe only some of the workers, so the smallest limit stands for all.
        workers = self._client.scheduler_info()["workers"].values()
        limits = [worker["memory_limit"] for worker in workers]
        known = bool(limits) and all(limits)
        return int(min(limits)) * len(self._client.nthreads()) if known else None

    def submit(self, function: Callable[..., Any], *arguments: Any, name: str) -> Any:
        """Start a task, under a name that the dashboard shows."""
        check_open(self._client)
        key = f"quickshift-{name}-{uuid4().hex[:8]}"
        return self._client.submit(function, *arguments, key=key, pure=False, retries=1)

    def completed(self, futures: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the index and the outcome of each task when it ends."""
        import distributed

        as_completed: Any = distributed.as_completed
        running = {future.key: (i, future) for i, future in enumerate(futures)}
        while running:
            try:
                for future in as_completed([f for _, f in running.values()], timeout=_PATIENCE):
                    i, _ = running.pop(future.key)
                    error = future.exception()
                    yield i, future.result() if error is None else error
            except TimeoutError:
                n_paused = self._waits_for_nobody()
                if n_paused is not None:
                    yield next(iter(running.values()))[0], _no_workers(n_paused)
                    return

    def _waits_for_nobody(self) -> int | None:
        """Return the number of workers if all of them are paused and idle, otherwise None.

        A worker that is paused completes its tasks and starts no others.
        """
        n_workers = len(self._client.nthreads())
        described = self._client.scheduler_info()["workers"].values()  # in some versions, of five
        idle = [
            worker["status"] == "paused" and not worker["metrics"].get("executing")
            for worker in described
        ]
        return n_workers if all(idle) and len(idle) == n_workers else None

    def cancel(self, futures: Sequence[Any]) -> None:
        """Do not start the tasks that have not been started."""
        self._client.cancel(list(futures))

    def close(self) -> None:
        """Do nothing: the client is the user's."""
