"""Versions that differ between a Dask client and its workers, by a client that only pretends."""

import numpy as np
import pytest

from distributed_cases import blobs
from quickshift.distributed import QuickShift, segment, versions
from quickshift.distributed.versions import check_versions

OWN = {
    "python": "3.12.1.final.0",
    "dask": "2026.8.0",
    "distributed": "2026.8.0",
    "msgpack": "1.1.0",
    "numpy": "2.4.0",
    "quickshift": "1.0",
}


class Trial:
    """The future of a trial task; it has a result only if its status is "finished"."""

    def __init__(self, status, result=None):
        self.status = status
        self.result = lambda: result
        self.exception = lambda: ModuleNotFoundError("No module named 'dask._task_spec'")


class PretendedClient:
    """Answers as a client whose workers have some other versions.

    Parameters
    ----------
    *others : dict
        What differs on each worker.
    scheduler : dict
        What differs on the scheduler.
    outcome : Trial, optional
        What becomes of trial tasks; None runs them.
    ends : bool
        Whether the workers end when trial tasks reach them.
    """

    def __init__(self, *others, scheduler=None, outcome=None, ends=False):
        self.workers = {f"tcp://127.0.0.1:{i}": OWN | other for i, other in enumerate(others)}
        self.scheduler = OWN | (scheduler or {})
        self.outcome = outcome
        self.ends = ends
        self.tried = []

    def get_versions(self, packages):
        assert packages == ["quickshift"]
        workers = {address: {"packages": each} for address, each in self.workers.items()}
        packages_of = {"client": {"packages": OWN}, "scheduler": {"packages": self.scheduler}}
        return packages_of | {"workers": workers}

    def submit(self, function, argument, *, key, workers, pure):
        assert key.startswith("quickshift-trial-")
        assert not pure
        self.tried += workers
        return self.outcome or Trial("finished", function(argument))

    def nthreads(self):
        return {} if self.ends else dict.fromkeys(self.workers, 1)

    def cancel(self, futures):
        assert len(futures) == len(self.tried)


def test_equal_versions_need_no_trial():
    client = PretendedClient({}, {})
    check_versions(client)
    assert not client.tried


def test_a_cluster_without_workers_has_no_versions_to_check():
    check_versions(PretendedClient())


@pytest.mark.parametrize("theirs", ["0.9", None])
def test_another_version_of_quickshift_is_refused(theirs):
    client = PretendedClient({}, {"quickshift": theirs})
    message = (
        rf"1 of 2 Dask workers .*tcp://127.0.0.1:1 has {theirs or 'none'}, this process 1\.0\. "
        r".*pip install quickshift==1\.0"
    )
    with pytest.raises(RuntimeError, match=message):
        check_versions(client)
    assert not client.tried


@pytest.mark.parametrize("name", ["python", "numpy", "dask", "distributed"])
def test_other_versions_are_used_if_a_trial_succeeds(name):
    client = PretendedClient({}, {name: "1.0"})
    check_versions(client)
    assert client.tried == ["tcp://127.0.0.1:1"]


def test_all_workers_are_tried_if_the_scheduler_differs():
    client = PretendedClient({}, {}, scheduler={"distributed": "2024.8.0", "quickshift": None})
    check_versions(client)
    assert client.tried == list(client.workers)


@pytest.mark.parametrize(
    ("outcome", "ends", "what"),
    [
        (Trial("pending"), True, "ended"),
        (Trial("pending"), False, "did not answer within 0 seconds"),
        (Trial("cancelled"), False, "did not get the task, which is cancelled"),
        (Trial("error"), False, r"failed with ModuleNotFoundError\(.*_task_spec"),
        (Trial("finished", np.arange(2)), False, r"returned array\(\[0, 1\]\)"),
    ],
)
def test_a_trial_that_fails_names_the_versions(outcome, ends, what, monkeypatch):
    monkeypatch.setattr(versions, "_PATIENCE", 0)
    client = PretendedClient({}, {"dask": "2024.8.0"}, outcome=outcome, ends=ends)
    message = rf"1 of 2 .*tcp://127.0.0.1:1 {what}.*dask 2026.8.0 and 2024.8.0\. Install the same"
    with pytest.raises(RuntimeError, match=message):
        check_versions(client)


def test_a_run_writes_nothing_if_versions_differ(tmp_path):
    client = PretendedClient({"quickshift": "0.9"})
    with pytest.raises(RuntimeError, match="another version of quickshift"):
        QuickShift(client=client, directory=tmp_path / "runs").fit(blobs(100))
    with pytest.raises(RuntimeError, match="another version of quickshift"):
        segment(np.zeros((9, 9, 3)), client=client, directory=tmp_path / "runs")
    assert not list(tmp_path.iterdir())


def test_an_address_is_no_client(tmp_path):
    with pytest.raises(TypeError, match=r"client is of type str, expected .* Write client=C"):
        QuickShift(client="tcp://127.0.0.1:8786", directory=tmp_path).fit(np.zeros((3, 1)))
