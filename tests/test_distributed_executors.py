"""Executors with stand-ins for pools, clients and parents, and one with a process that is killed.

tests/test_distributed_workers.py starts many processes and Dask workers, and kills them.
"""

import multiprocessing
import os
import threading
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool

import pytest

from distributed_cases import killed_once
from quickshift.distributed import executors
from quickshift.distributed.executors import DaskWorkers, Processes


class Parent:
    def __init__(self):
        self.ended = threading.Event()

    def join(self):
        self.ended.wait()


def test_a_process_ends_when_the_one_that_started_it_does(monkeypatch):
    parent, codes, left = Parent(), [], threading.Event()

    def leave(code):
        codes.append(code)
        left.set()

    monkeypatch.setattr(multiprocessing, "parent_process", lambda: parent)
    monkeypatch.setattr(os, "_exit", leave)
    executors._end_with_parent()
    assert codes == []
    parent.ended.set()
    assert left.wait(60)
    assert codes == [1]


def ended(result=None, error=None):
    future = Future()
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
    return future


class Pool:
    """A pool of processes that are lost before the first task, or that run nothing."""

    def __init__(self, broken):
        self.broken, self.ended, self._processes = broken, False, None

    def submit(self, function, *arguments):
        if self.broken:
            raise BrokenProcessPool
        return ended(function(*arguments))

    def shutdown(self, *, wait):
        self.ended = True


def test_a_pool_that_has_lost_its_processes_is_replaced_when_a_task_starts(monkeypatch):
    pools = []

    def start(*_, **__):
        pools.append(Pool(broken=not pools))
        return pools[-1]

    monkeypatch.setattr(executors, "ProcessPoolExecutor", start)
    processes = Processes(2)
    task = processes.submit(max, 3, 5, name="most")
    assert list(processes.completed([task])) == [(0, 5)]
    assert [pool.ended for pool in pools] == [True, False]


def test_tasks_of_a_pool_that_is_replaced_before_they_start_are_not_waited_for_forever(tmp_path):
    processes = Processes(1)
    try:
        lost = processes.submit(killed_once, tmp_path / "flag", min, 3, 5, name="least")
        wait([lost.future])
        tasks = [processes.submit(divmod, 7, i, name=f"divide-{i}") for i in range(1, 7)]
        outcomes = dict(processes.completed([lost, *tasks]))
    finally:
        processes.close()
    assert outcomes == {0: 3} | {i: divmod(7, i) for i in range(1, 7)}


class Client:
    """A Dask client that knows its workers and no more."""

    def __init__(self, *workers, threads=2):
        self.workers = dict(enumerate(workers))
        self.threads = threads

    def nthreads(self):
        return dict.fromkeys(self.workers, self.threads)

    def scheduler_info(self):
        return {"workers": self.workers}


def worker(status="running", executing=0, memory_limit=8):
    return {
        "status": status,
        "metrics": {"executing": executing},
        "memory_limit": memory_limit,
    }


def test_slots_are_the_threads_of_all_workers_and_at_least_one():
    assert DaskWorkers(Client(worker(), worker())).slots == 4
    assert DaskWorkers(Client()).slots == 1


def test_the_smallest_limit_stands_for_the_memory_of_all_workers():
    assert DaskWorkers(Client(worker(memory_limit=8), worker(memory_limit=5))).memory == 10
    assert DaskWorkers(Client(worker(), worker(memory_limit=0))).memory is None
    assert DaskWorkers(Client()).memory is None


class Task:
    """A future of Dask."""

    def __init__(self, key, result=None, error=None):
        self.key, self._result, self._error = key, result, error

    def result(self):
        return self._result

    def exception(self):
        return self._error


@pytest.fixture
def completes(monkeypatch):
    """Return a list of turns: in each, Dask completes tasks of these keys, and then waits."""
    distributed = pytest.importorskip("distributed")
    turns = []

    def as_completed(futures, timeout):
        waiting = {future.key: future for future in futures}
        for key in turns.pop(0):
            yield waiting.pop(key)
        if waiting:
            raise TimeoutError

    monkeypatch.setattr(distributed, "as_completed", as_completed)
    return turns


def test_tasks_are_waited_for_while_a_worker_runs_one(completes):
    completes += [["b"], [], ["a", "c"]]
    error = ValueError("no")
    tasks = [Task("a", 1), Task("b", 2), Task("c", error=error)]
    clients = Client(worker("paused"), worker("paused", executing=1))
    assert list(DaskWorkers(clients).completed(tasks)) == [(1, 2), (0, 1), (2, error)]
    assert completes == []


@pytest.mark.parametrize(
    ("workers", "message"),
    [
        ([], "the Dask cluster has no workers. Start some"),
        ([worker("paused")], "has 1 paused worker and no others. Workers pause when"),
    ],
)
def test_tasks_that_nobody_will_run_end_with_one_error(workers, message, completes):
    completes += [["a"], []]
    tasks = [Task("a", 1), Task("b"), Task("c")]
    first, second = DaskWorkers(Client(*workers)).completed(tasks)
    assert first == (0, 1)
    assert second[0] == 1
    assert message in str(second[1])
