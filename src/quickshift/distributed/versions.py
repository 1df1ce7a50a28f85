"""Versions of packages on the workers of a Dask cluster: errors before any task runs."""

import time
from typing import Any
from uuid import uuid4

import numpy as np

from quickshift.arrays import Indices
from quickshift.checks.numbers import described

__all__ = ["check_versions"]

_PATIENCE = 600  # seconds; a worker may be busy with tasks of other programs for a while
_STEP = 0.1  # seconds between two looks at a trial


def check_versions(client: Any) -> None:
    """Raise an error if the workers of a Dask cluster cannot run the tasks of this process.

    All workers must have the same version of quickshift, because tasks exchange its private
    records, which may change with every version. No other version has to match exactly: arrays and
    functions are pickled in formats that many versions of Python, NumPy and Dask share, and the
    heights that they compute are rounded before they are compared. Dask does not promise which of
    its versions understand each other. Some workers end when they receive a task of another
    version, and a run would then wait for them in vain. Therefore, each worker whose packages
    differ from those of this process runs a trial task first. Workers that join later are not
    checked.

    Parameters
    ----------
    client : dask.distributed.Client
        The client.

    Raises
    ------
    TypeError
        If it is no client.
    RuntimeError
        If a worker has another version of quickshift or none, or cannot run the trial task.
    """
    if not hasattr(client, "get_versions"):
        raise TypeError(
            f"client is {described(client)}, expected a dask.distributed.Client. Write "
            f"client=Client(...) with the address of the scheduler or the cluster."
        )
    found = client.get_versions(packages=["quickshift"])
    own, scheduler = found["client"]["packages"], found["scheduler"]["packages"]
    workers = {address: each["packages"] for address, each in found["workers"].items()}
    mine = own["quickshift"]
    wrong = {a: each for a, each in workers.items() if each["quickshift"] != mine}
    if wrong:
        address, theirs = next(iter(wrong.items()))
        raise RuntimeError(
            f"{len(wrong)} of {len(workers)} Dask workers have another version of quickshift or "
            f"none: {address} has {theirs['quickshift'] or 'none'}, this process {mine}. Expected "
            f"the same version everywhere. Run `pip install quickshift=={mine}` on all workers, or "
            f"install their version here, and restart them."
        )
    relayed = _differences(own, scheduler, ("dask", "distributed", "msgpack"))
    differing = {a: {**_differences(own, each, own), **relayed} for a, each in workers.items()}
    failed = _failed_trials(client, [a for a, versions in differing.items() if versions])
    if failed:
        address, reason = next(iter(failed.items()))
        versions = ", ".join(f"{name} {both}" for name, both in differing[address].items())
        raise RuntimeError(
            f"{len(failed)} of {len(workers)} Dask workers cannot run tasks of this process, "
            f"expected versions that understand each other. The worker {address} {reason}. "
            f"Packages that differ, here and there: {versions}. Install the same versions here, on "
            f"the scheduler and on the workers, above all of dask and distributed, and restart "
            f"them."
        )


def _differences(own: dict[str, Any], theirs: dict[str, Any], names: Any) -> dict[str, str]:
    """Return the versions of packages that differ, as text."""
    return {
        name: f"{own[name] or 'none'} and {theirs.get(name) or 'none'}"
        for name in names
        if own[name] != theirs.get(name)
    }


def _failed_trials(client: Any, addresses: list[str]) -> dict[str, str]:
    """Run a task on each of some workers, and return what happened to those that failed."""
    trials = {
        address: client.submit(
            _doubled,
            np.arange(3),
            key=f"quickshift-trial-{uuid4().hex[:8]}",
            workers=[address],
            pure=False,
        )
        for address in addresses
    }
    end = time.monotonic() + _PATIENCE
    failed = {}
    for address, future in trials.items():
        while future.status == "pending" and address in client.nthreads():
            if time.monotonic() > end:
                break
            time.sleep(_STEP)
        if future.status == "error":
            failed[address] = f"failed with {future.exception()!r}"
        elif future.status == "pending":
            gone = address not in client.nthreads()
            failed[address] = "ended" if gone else f"did not answer within {_PATIENCE} seconds"
        elif future.status != "finished":  # the scheduler did not understand the task
            failed[address] = f"did not get the task, which is {future.status}"
        elif not np.array_equal(future.result(), _doubled(np.arange(3))):
            failed[address] = f"returned {future.result()!r} in place of an array"
    client.cancel(list(trials.values()))
    return failed


def _doubled(numbers: Indices) -> Indices:
    """Return an array, as tasks do."""
    return 2 * numbers
