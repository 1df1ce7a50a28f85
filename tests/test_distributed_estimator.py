"""The estimator as an object: before its fit, between fits, and as a copy."""

import copy
import gc
import multiprocessing
import pickle
import shutil

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from distributed_cases import blobs
from quickshift.distributed import QuickShift
from quickshift.distributed.executors import DaskWorkers, Inline, Processes, local_executor

X = blobs(300)


@pytest.fixture(autouse=True)
def _inline(monkeypatch):
    """Run tasks in this process."""
    monkeypatch.setattr(QuickShift, "_executor", lambda *_: Inline())


@pytest.mark.parametrize("name", ["labels_", "tree_", "bandwidth_", "tau_", "significance_"])
def test_results_before_a_fit_are_refused(name):
    with pytest.raises(NotFittedError, match="QuickShift instance is not fitted yet"):
        getattr(QuickShift(), name)


def test_cuts_and_files_before_a_fit_are_refused(tmp_path):
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        QuickShift().labels_at(1.0)
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        QuickShift().write_labels(tmp_path / "labels.parquet")
    assert not list(tmp_path.iterdir())


def test_a_fit_that_fails_leaves_the_earlier_one(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    model = QuickShift(0.4, 0.5).fit(X)
    expected = QuickShift(0.4, 0.5).fit(X).labels_
    folders = list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError):
        model.fit("nosuch*.npy")
    model.metric = "haversine"  # refused in the first pass
    with pytest.raises(ValueError, match="latitude"):
        model.fit(X * 100)
    assert list(tmp_path.iterdir()) == folders
    assert (model.n_samples_, model.tau_, model.bandwidth_) == (300, 0.5, 0.4)
    np.testing.assert_array_equal(model.labels_, expected)
    np.testing.assert_array_equal(model.labels_at(0.5), expected)


def test_a_fit_that_succeeds_removes_the_files_of_the_earlier_one(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    model = QuickShift(0.4, 0.5).fit(X)
    (first,) = tmp_path.iterdir()
    model.fit(X[:90])
    (second,) = tmp_path.iterdir()
    assert second != first
    assert model.labels_.size == 90
    del model
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, lambda model: clone(model, safe=False)])
def test_a_copy_keeps_the_temporary_files(made, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    expected = QuickShift(0.4, 0.5).fit(X).labels_
    model = QuickShift(0.4, 0.5).fit(X)
    other = made(model)
    del model
    gc.collect()
    np.testing.assert_array_equal(other.labels_, expected)
    del other
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_a_pickle_of_temporary_files_is_refused(tmp_path):
    model = QuickShift(0.4, 0.5)
    assert pickle.loads(pickle.dumps(model)).tau == 0.5  # nothing has been fitted yet
    model.fit(X)
    with pytest.raises(pickle.PicklingError, match=r"temporary folder .* with directory=\.\.\."):
        pickle.dumps(model)
    model.directory = tmp_path
    again = pickle.loads(pickle.dumps(model.fit(X)))
    np.testing.assert_array_equal(again.labels_, model.labels_)


class Client:
    """Pretends to be a client of Dask, which holds a connection."""

    def __init__(self, status):
        self.status = status

    def get_versions(self, packages):
        raise AssertionError(packages)  # a closed client answers nothing

    def __reduce__(self):
        raise TypeError("cannot pickle a connection")


def test_pickles_have_no_client(tmp_path):
    model = QuickShift(0.4, 0.5, client=Client("running"), directory=tmp_path)
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    again.fit(X)
    again.client = model.client
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).labels_, again.labels_)


def test_closed_clients_are_named(tmp_path):
    message = "client is closed, expected one that is connected. Set the parameter `client`"
    client = Client("closed")
    with pytest.raises(RuntimeError, match=message):
        QuickShift(client=client, directory=tmp_path).fit(X)
    with pytest.raises(RuntimeError, match=message):
        DaskWorkers(client).submit(len, "", name="trial")


def test_processes_that_may_start_no_others_run_tasks_themselves(monkeypatch):
    assert isinstance(local_executor(2), Processes)
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    assert isinstance(local_executor(2), Inline)


def test_results_whose_files_are_gone_are_refused(tmp_path):
    model = QuickShift(directory=tmp_path / "runs").fit(X)
    shutil.rmtree(tmp_path / "runs")
    for name in ("labels_", "bandwidth_", "tau_"):
        with pytest.raises(FileNotFoundError, match=r"the folder .*run-.* does not exist.*fit a"):
            getattr(model, name)
    with pytest.raises(FileNotFoundError, match="does not exist, expected the files of the run"):
        model.write_labels(tmp_path / "labels.parquet")
    assert model.significance_.size == model.n_clusters_  # small results do not need the files


def test_equal_parameters_of_other_types_resume_a_run(tmp_path):
    for tau, scale in [(1, [1, 2]), (1.0, (1.0, 2.0)), (np.float64(1.0), np.array([1.0, 2.0]))]:
        model = QuickShift(0.4, tau, scale=scale, directory=tmp_path / "runs", resume=True)
        model.fit(X)
    assert len(list(tmp_path.glob("runs/run-*"))) == 1
