"""Processes and Dask workers that are really started and killed; `make faults` runs this."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import quickshift
from distributed_cases import Killing, KillingDask, blobs
from quickshift.distributed import QuickShift, segment, segmentation
from quickshift.distributed.executors import Processes

X = blobs(1500)
PICTURE = np.random.default_rng(0).random((70, 90, 3))
EXPECTED = quickshift.QuickShift().fit(X).labels_


pytestmark = pytest.mark.workers


# Processes


def test_a_process_that_is_killed_in_every_pass(tmp_path, monkeypatch):
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: Killing(tmp_path))
    found = QuickShift(n_partitions=3).fit(X)
    np.testing.assert_array_equal(found.labels_, EXPECTED)
    killed = {path.name for path in tmp_path.iterdir()}
    assert {"scan", "scatter", "gather", "scales", "climb", "cut", "link"} <= killed


def test_a_picture_whose_processes_are_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(segmentation, "_executor", lambda *_: Killing(tmp_path))
    found = segment(PICTURE, tile=40)
    np.testing.assert_array_equal(found, quickshift.segment(PICTURE))
    assert {path.name for path in tmp_path.iterdir()} == {"density", "climb", "cut"}


def test_a_task_that_always_dies_fails_with_one_error():
    executor = Processes(1)
    try:
        task = executor.submit(os._exit, 3, name="exit-0")
        outcomes = list(executor.completed([task]))
    finally:
        executor.close()
    assert "4 times" in str(outcomes[0][1])


def test_processes_report_errors_and_results():
    executor = Processes(2)
    try:
        tasks = [executor.submit(divmod, 7, i, name=f"divide-{i}") for i in range(3)]
        outcomes = dict(executor.completed(tasks))
        executor.cancel(tasks)
    finally:
        executor.close()
    assert isinstance(outcomes[0], ZeroDivisionError)
    assert (outcomes[1], outcomes[2]) == ((7, 0), (3, 1))


# Dask


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        memory_limit="1 GiB",
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.parametrize("parameters", [{}, {"bandwidth": 0.4, "tau": 0.5}])
def test_dask_workers_give_the_same_clusters(client, parameters, tmp_path):
    found = QuickShift(client=client, directory=tmp_path, n_partitions=4, **parameters).fit(X)
    expected = quickshift.QuickShift(**parameters).fit(X)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_dask_workers_segment_a_dask_array(client, tmp_path):
    image = pytest.importorskip("dask.array").from_array(PICTURE, chunks=(30, 90, 3))
    found = segment(image, client=client, directory=tmp_path, tile=40)
    np.testing.assert_array_equal(found, quickshift.segment(PICTURE))


def test_dask_workers_decide_the_memory(client, tmp_path):
    model = QuickShift(client=client, directory=tmp_path, bandwidth=0.4, tau=0.5).fit(X)
    assert model.n_partitions_ == 1


def test_an_error_on_a_dask_worker_is_the_users_error(client, tmp_path):
    bad = X.copy()
    bad[70, 1] = np.nan
    with pytest.raises(ValueError, match="has nan at row 70, column 1"):
        QuickShift(client=client, directory=tmp_path).fit(bad)


def test_a_dask_worker_that_is_killed(client, tmp_path, monkeypatch):
    flag = tmp_path / "killed"
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: KillingDask(client, flag))
    found = QuickShift(client=client, directory=tmp_path, n_partitions=4).fit(X)
    np.testing.assert_array_equal(found.labels_, EXPECTED)
    assert flag.exists()


def test_dask_workers_need_a_folder(client):
    with pytest.raises(ValueError, match="directory is None but a client is given"):
        QuickShift(client=client).fit(X)


# The driver


def test_a_run_whose_driver_was_killed_is_resumed(tmp_path):
    np.save(tmp_path / "x.npy", X)
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, signal, sys
            from quickshift.distributed import QuickShift

            def progress(name, done):
                if name == "climb":
                    os.kill(os.getpid(), signal.SIGKILL)

            if __name__ == "__main__":
                model = QuickShift(directory=sys.argv[1], n_partitions=3, progress=progress)
                model.fit(sys.argv[2])
            """
        )
    )
    arguments = [sys.executable, str(script), str(tmp_path / "runs"), str(tmp_path / "x.npy")]
    run = subprocess.run(
        arguments, env=os.environ | {"PYTHONPATH": ":".join(sys.path)}, check=False
    )
    assert run.returncode == -signal.SIGKILL
    seen = []
    found = QuickShift(
        directory=tmp_path / "runs",
        n_partitions=3,
        resume=True,
        progress=lambda name, _: seen.append(name),
    ).fit(tmp_path / "x.npy")
    np.testing.assert_array_equal(found.labels_, EXPECTED)
    assert "scales" not in seen
    assert "climb" in seen
