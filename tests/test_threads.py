"""The number of threads that a call uses."""

import os
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from quickshift import threads
from quickshift.stages import estimate_density
from quickshift.threads import resolve_threads


@pytest.fixture
def six_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_available_cores", lambda: 6)
    monkeypatch.delitem(sys.modules, "distributed", raising=False)


@pytest.mark.parametrize("n_jobs", [1, 2, 64, np.int64(3)])
def test_positive_numbers_are_taken_as_they_are(n_jobs: int) -> None:
    assert resolve_threads(n_jobs) == int(n_jobs)
    assert type(resolve_threads(n_jobs)) is int


@pytest.mark.usefixtures("six_cores")
def test_none_uses_every_core() -> None:
    assert resolve_threads(None) == 6


@pytest.mark.usefixtures("six_cores")
@pytest.mark.parametrize(("n_jobs", "expected"), [(-1, 6), (-2, 5), (-6, 1), (-7, 1), (-100, 1)])
def test_negative_numbers_count_back_from_all_cores(n_jobs: int, expected: int) -> None:
    assert resolve_threads(n_jobs) == expected


def test_zero_is_refused_with_what_to_use_instead() -> None:
    with pytest.raises(ValueError, match=r"n_jobs must not be 0\. Use None for all cores or 1"):
        resolve_threads(0)


@pytest.mark.parametrize("n_jobs", ["2", "all", 2.0, True, [1], (2,), np.ones(2)], ids=repr)
def test_what_is_no_integer_is_refused_and_repeated(n_jobs: object) -> None:
    with pytest.raises(TypeError, match=r"n_jobs must be an integer or None, got .*Use None for"):
        resolve_threads(n_jobs)


# The cores that the process may use


def test_there_is_at_least_one_core() -> None:
    assert threads._available_cores() >= 1


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity on this system")
def test_affinity_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_cgroup_limit", lambda _: sys.maxsize)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5})
    assert threads._available_cores() == 3


def test_all_cores_count_where_there_is_no_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_cgroup_limit", lambda _: sys.maxsize)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 12)
    assert threads._available_cores() == 12
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert threads._available_cores() == 1


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity on this system")
@pytest.mark.parametrize(("granted", "expected"), [(1, 1), (2, 2), (99, 4), (0, 1)])
def test_the_smaller_of_affinity_and_control_group_counts(
    monkeypatch: pytest.MonkeyPatch, granted: int, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(threads, "_cgroup_limit", lambda _: granted)
    assert threads._available_cores() == expected


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        ("200000 100000\n", 2),
        ("100000 100000", 1),
        ("150000 100000\n", 2),  # one and a half cores keep two threads busy
        ("50000 100000\n", 1),
        ("1000 100000\n", 1),
        ("800000 50000\n", 16),
    ],
)
def test_control_group_grants_its_quota_rounded_up(tmp_path: Path, text: str, cores: int) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(text)
    assert threads._cgroup_limit(file) == cores


@pytest.mark.parametrize("text", ["max 100000\n", "max\n", "", "100000 0\n", "a b c\n", "1 2 3\n"])
def test_control_group_without_a_limit_grants_everything(tmp_path: Path, text: str) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(text)
    assert threads._cgroup_limit(file) == sys.maxsize


def test_missing_control_group_grants_everything(tmp_path: Path) -> None:
    assert threads._cgroup_limit(tmp_path / "cpu.max") == sys.maxsize
    assert threads._cgroup_limit(tmp_path) == sys.maxsize


# Inside Dask


def pretend_distributed(monkeypatch: pytest.MonkeyPatch, get_worker: object) -> None:
    distributed = ModuleType("distributed")
    if get_worker is not None:
        distributed.get_worker = get_worker
    monkeypatch.setitem(sys.modules, "distributed", distributed)


def no_worker() -> None:
    raise ValueError("No worker found")


@pytest.mark.usefixtures("six_cores")
def test_inside_a_dask_worker_one_thread_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_distributed(monkeypatch, lambda: "worker")
    assert resolve_threads(None) == 1


@pytest.mark.usefixtures("six_cores")
def test_a_number_counts_inside_a_dask_worker_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_distributed(monkeypatch, lambda: "worker")
    assert resolve_threads(3) == 3
    assert resolve_threads(-1) == 6


@pytest.mark.usefixtures("six_cores")
@pytest.mark.parametrize("get_worker", [no_worker, None])
def test_dask_imported_but_not_working_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, get_worker: object
) -> None:
    pretend_distributed(monkeypatch, get_worker)
    assert resolve_threads(None) == 6


@pytest.mark.usefixtures("six_cores")
def test_dask_is_not_imported_to_find_out() -> None:
    resolve_threads(None)
    assert "distributed" not in sys.modules


def test_more_threads_than_the_machine_has_are_no_matter() -> None:
    X = np.random.default_rng(0).normal(size=(3000, 2))
    np.testing.assert_array_equal(
        estimate_density(X, 0.5, n_jobs=1), estimate_density(X, 0.5, n_jobs=64)
    )
