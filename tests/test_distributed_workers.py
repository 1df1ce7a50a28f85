"""Processes and Dask workers that are really started and killed; `make faults` runs this."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import quickshift
from distributed_cases import Killing, KillingDask, Passing, blobs, record
from quickshift.distributed import QuickShift, executors, segment, segmentation
from quickshift.distributed.executors import DaskWorkers, Processes
from quickshift.distributed.plan.passes import PassError, Passes
from quickshift.distributed.store import Store

X = blobs(1500)
PICTURE = np.random.default_rng(0).random((70, 90, 3))
EXPECTED = quickshift.QuickShift().fit(X).labels_


pytestmark = pytest.mark.workers


# Fits that have all passes of interest between them, with the names of some of these
FITS = [
    ({}, {"scan", "scatter", "gather", "scales", "climb", "cut", "link"}),
    (
        {"bandwidth": "auto", "scale": "iqr"},
        {"sample", "bins", "quantile", "moments", "density", "climb", "cut", "link"},
    ),
    ({"bandwidth": 0.1, "tau": np.inf}, {"density", "climb", "cut", "higher"}),
]


@pytest.fixture(params=FITS, ids=lambda fit: str(fit[0]))
def fit(request):
    """Return the parameters of a fit, the names of its passes in their order, and its labels."""
    parameters, some = request.param
    executor = Passing()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(QuickShift, "_executor", lambda *_: executor)
        QuickShift(n_partitions=3, **parameters).fit(X)
    assert some <= set(executor.names)
    return parameters, executor.names, quickshift.QuickShift(**parameters).fit(X).labels_


def record_fault(record_property, killed, parameters, passes):
    """Record in which passes something is killed, for the table that `make faults` writes."""
    fit = ", ".join(f"{name}={value}" for name, value in parameters.items()) or "default"
    record(record_property, killed=killed, fit=fit, passes=", ".join(dict.fromkeys(passes)))


# Processes


def test_a_process_that_is_killed_in_every_pass(fit, tmp_path, monkeypatch, record_property):
    parameters, passes, expected = fit
    record_fault(record_property, "process", parameters, passes)
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: Killing(tmp_path))
    found = QuickShift(n_partitions=3, **parameters).fit(X)
    np.testing.assert_array_equal(found.labels_, expected)
    assert {path.name for path in tmp_path.iterdir()} == set(passes)


def test_a_picture_whose_processes_are_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(segmentation, "_executor", lambda *_: Killing(tmp_path))
    found = segment(PICTURE, tile=40)
    np.testing.assert_array_equal(found, quickshift.segment(PICTURE))
    assert {path.name for path in tmp_path.iterdir()} == {"density", "climb", "cut"}


def test_a_task_that_always_dies_fails_with_one_error():
    executor = Processes(1)
    try:
        task = executor.submit(signal.raise_signal, signal.SIGKILL, name="exit-0")
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
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=":0",
        memory_limit="1 GiB",
    )
    # A local cluster gives up workers that are away for this long, even if they are restarting.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    with patient, cluster, distributed.Client(cluster) as client:
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


def test_a_dask_worker_that_is_killed_in_every_pass(
    client, fit, tmp_path, monkeypatch, record_property
):
    parameters, passes, expected = fit
    record_fault(record_property, "Dask worker", parameters, passes)
    killed = tmp_path / "killed"
    killed.mkdir()
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: KillingDask(client, killed))
    model = QuickShift(client=client, directory=tmp_path / "runs", n_partitions=3, **parameters)
    np.testing.assert_array_equal(model.fit(X).labels_, expected)
    assert {path.name for path in killed.iterdir()} == set(passes)


def test_a_task_that_always_kills_its_dask_worker_fails_with_one_error(client, tmp_path):
    passes = Passes(Store(str(tmp_path)), DaskWorkers(client))
    with pytest.raises(PassError, match=r"the pass 'exit' failed in partition 0: KilledWorker"):
        passes.run("exit", signal.raise_signal, [(signal.SIGKILL,)])


def pretend_versions(client, monkeypatch, **packages):
    """Let one worker of a cluster report other versions of some packages."""
    client.wait_for_workers(2, timeout=60)  # other tests kill them
    found = client.get_versions(packages=["quickshift"])
    first = next(iter(found["workers"].values()))["packages"]
    assert first.keys() >= packages.keys()
    first.update(packages)
    monkeypatch.setattr(client, "get_versions", lambda **_: found)


def test_a_dask_worker_with_another_version_of_quickshift_is_refused(client, tmp_path, monkeypatch):
    pretend_versions(client, monkeypatch, quickshift="0.0.1")
    with pytest.raises(RuntimeError, match=r"1 of 2 Dask workers .* has 0\.0\.1, this process"):
        QuickShift(client=client, directory=tmp_path).fit(X)


def test_a_dask_worker_with_other_versions_that_completes_a_trial_is_used(
    client, tmp_path, monkeypatch
):
    pretend_versions(client, monkeypatch, numpy="1.26.4", distributed="2024.8.0")
    found = QuickShift(client=client, directory=tmp_path, n_partitions=4).fit(X)
    np.testing.assert_array_equal(found.labels_, EXPECTED)


def test_a_cluster_without_workers_fails_with_one_error(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "_PATIENCE", 2)
    empty = distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=":0")
    message = r"the pass 'scan' failed in partition 0: .* the Dask cluster has no workers. Start"
    with empty, distributed.Client(empty) as client, pytest.raises(PassError, match=message):
        QuickShift(client=client, directory=tmp_path, memory_limit=1e9).fit(X)


def test_a_cluster_whose_workers_are_paused_fails_with_one_error(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "_PATIENCE", 2)
    # Without a limit, nothing watches the memory of a worker, and it stays paused.
    cluster = distributed.LocalCluster(
        n_workers=1, host="127.0.0.1", dashboard_address=":0", memory_limit=0, threads_per_worker=1
    )
    message = r"no task was completed .* has 1 paused worker and no others\. .* lower memory_limit"
    with cluster, distributed.Client(cluster) as client:
        client.run(lambda dask_worker: setattr(dask_worker, "status", distributed.Status.paused))
        with pytest.raises(PassError, match=message):
            QuickShift(client=client, directory=tmp_path, memory_limit=1e9).fit(X)


def test_dask_workers_need_a_folder(client):
    with pytest.raises(ValueError, match="directory is None but a client is given"):
        QuickShift(client=client).fit(X)


# The driver

DRIVER = """
import json, os, signal, sys
import numpy as np
from quickshift.distributed import QuickShift

data, directory, killed_in, parameters = sys.argv[1:]

def progress(name, done):
    if name == killed_in:
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    model = QuickShift(
        directory=directory, n_partitions=3, progress=progress, **json.loads(parameters)
    )
    model.fit(data)
"""


def killed_driver(folder, data, killed_in, parameters):
    """Fit in another process, which kills itself when a task of a pass is complete."""
    script = folder / "script.py"
    script.write_text(DRIVER)
    arguments = [data, folder / "runs", killed_in, json.dumps(parameters)]
    run = subprocess.run(
        [sys.executable, str(script), *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": ":".join(sys.path)},
        check=False,
    )
    assert run.returncode == -signal.SIGKILL


def test_a_run_whose_driver_was_killed_is_resumed_in_every_pass(
    fit, tmp_path, monkeypatch, record_property
):
    parameters, passes, expected = fit
    record_fault(record_property, "driver, and the run is resumed", parameters, passes)
    np.save(tmp_path / "x.npy", X)
    for killed_in in dict.fromkeys(passes):
        folder = tmp_path / killed_in
        folder.mkdir()
        killed_driver(folder, tmp_path / "x.npy", killed_in, parameters)
        executor = Passing()
        monkeypatch.setattr(QuickShift, "_executor", lambda *_, found=executor: found)
        given = parameters | {"directory": folder / "runs", "n_partitions": 3, "resume": True}
        found = QuickShift(**given).fit(tmp_path / "x.npy")
        assert executor.names == passes[passes.index(killed_in) :], killed_in
        np.testing.assert_array_equal(found.labels_, expected, err_msg=killed_in)


def test_a_run_whose_driver_was_killed_is_resumed_in_processes(tmp_path):
    np.save(tmp_path / "x.npy", X)
    killed_driver(tmp_path, tmp_path / "x.npy", "climb", {})
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
