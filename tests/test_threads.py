"""The number of threads that a call uses."""

import json
import os
import subprocess
import sys
import sysconfig
import threading
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import joblib
import numpy as np
import pytest
import threadpoolctl

from quickshift import QuickShift, threads
from quickshift.stages import estimate_density
from quickshift.threads import resolve_threads


@pytest.fixture
def six_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six cores, and no limits except those that a test sets."""
    monkeypatch.setattr(threads, "_available_cores", lambda: 6)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    for module in ("distributed", "joblib.parallel", "threadpoolctl"):
        monkeypatch.delitem(sys.modules, module, raising=False)


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


# The environment


@pytest.mark.usefixtures("six_cores")
@pytest.mark.parametrize(
    ("text", "expected"), [("1", 1), ("4", 4), (" 2 ", 2), ("4,2", 4), ("2,8,1", 2), ("99", 6)]
)
def test_none_respects_omp_num_threads(
    monkeypatch: pytest.MonkeyPatch, text: str, expected: int
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert resolve_threads(None) == expected


def test_an_interrupt_is_not_lost_if_the_number_of_threads_is_not_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # In Python 3.11, an error of int() can replace the KeyboardInterrupt of a signal that arrives
    # while its message is formatted, so no such error may be caught.
    converted: list[str] = []
    monkeypatch.setattr(threads, "int", converted.append, raising=False)
    for text in ("", "all", "-3", "2.5"):
        assert threads._openmp_limit(text) is None
    assert converted == []


@pytest.mark.usefixtures("six_cores")
@pytest.mark.parametrize("text", ["", "all", "0", "-3", ",4", "2.5", "0x2", "9" * 5000])
def test_nonsense_in_omp_num_threads_is_ignored(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert resolve_threads(None) == 6


@pytest.mark.usefixtures("six_cores")
def test_a_number_overrides_omp_num_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert resolve_threads(3) == 3
    assert resolve_threads(-1) == 6


# Limits set by threadpoolctl


class Pool:
    """A library as threadpoolctl describes it."""

    def __init__(self, user_api: str, count: int | None) -> None:
        self.user_api = user_api
        self.count = count

    def get_num_threads(self) -> int | None:
        return self.count


def pretend_threadpoolctl(monkeypatch: pytest.MonkeyPatch, *pools: Pool) -> list[None]:
    """Replace threadpoolctl; the list that is returned has one element per search for pools."""
    searches: list[None] = []

    def search() -> SimpleNamespace:
        searches.append(None)
        return SimpleNamespace(lib_controllers=list(pools))

    module = ModuleType("threadpoolctl")
    module.ThreadpoolController = search
    monkeypatch.setitem(sys.modules, "threadpoolctl", module)
    monkeypatch.setattr(threads, "_pools", threads.lru_cache(1)(threads._pools.__wrapped__))
    return searches


@pytest.mark.parametrize("limits", [1, {"openmp": 1}])
@pytest.mark.parametrize("user_api", [None, "openmp"])
def test_none_respects_the_limits_of_threadpoolctl(limits: object, user_api: str | None) -> None:
    QuickShift().fit([[0.0], [1.0]])  # loads scikit-learn, and OpenMP with it
    with threadpoolctl.threadpool_limits(limits, user_api=user_api):
        assert resolve_threads(None) == 1
        assert resolve_threads(3) == 3


def test_limits_end_with_their_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_available_cores", lambda: 6)
    before = resolve_threads(None)
    with threadpoolctl.threadpool_limits(1):
        pass
    assert resolve_threads(None) == before


@pytest.mark.usefixtures("six_cores")
def test_a_limit_of_blas_alone_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_threadpoolctl(monkeypatch, Pool("blas", 1), Pool("openmp", 4), Pool("blas", 2))
    assert resolve_threads(None) == 4


@pytest.mark.usefixtures("six_cores")
def test_without_openmp_the_limit_of_blas_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_threadpoolctl(monkeypatch, Pool("blas", 1), Pool("blas", None))
    assert resolve_threads(None) == 1


@pytest.mark.usefixtures("six_cores")
def test_a_library_that_limits_only_itself_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_threadpoolctl(monkeypatch, Pool("openmp", 1), Pool("openmp", 5))
    assert resolve_threads(None) == 5


@pytest.mark.usefixtures("six_cores")
@pytest.mark.parametrize("pools", [[], [Pool("openmp", None)], [Pool("openmp", 0)], [object()]])
def test_unknown_numbers_of_threadpoolctl_change_nothing(
    monkeypatch: pytest.MonkeyPatch, pools: list[Pool]
) -> None:
    pretend_threadpoolctl(monkeypatch, *pools)
    assert resolve_threads(None) == 6


@pytest.mark.usefixtures("six_cores")
def test_pools_are_searched_again_only_after_an_import(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool("openmp", 4)
    searches = pretend_threadpoolctl(monkeypatch, pool)
    assert [resolve_threads(None) for _ in range(3)] == [4, 4, 4]
    pool.count = 2
    assert resolve_threads(None) == 2
    assert len(searches) == 1
    monkeypatch.setitem(sys.modules, "just_imported", ModuleType("just_imported"))
    assert resolve_threads(None) == 2
    assert len(searches) == 2


def test_asking_for_limits_takes_far_less_than_a_small_fit() -> None:
    QuickShift().fit([[0.0], [1.0]])
    times = []
    for _ in range(50):
        begin = time.perf_counter()
        resolve_threads(None)
        times.append(time.perf_counter() - begin)
    assert min(times) < 1e-4  # 15 µs on an idle machine, a small fit takes 4 ms


def test_nothing_is_imported_to_find_the_limits() -> None:
    code = (
        "import json, sys; from quickshift.threads import resolve_threads\n"
        "before = set(sys.modules); resolve_threads(None)\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert json.loads(done.stdout) == []


# Inside joblib


def run_in_workers(backend: str, n_jobs: int = 2, **config: int) -> list[int]:
    """Return what None means in each of the workers of joblib."""
    with joblib.parallel_config(backend=backend, n_jobs=n_jobs, **config):
        return joblib.Parallel()(joblib.delayed(resolve_threads)(None) for _ in range(2))


def test_a_loky_worker_uses_its_share_of_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    share = min(max(1, joblib.cpu_count() // 2), threads._available_cores())
    assert run_in_workers("loky") == [share, share]


def test_a_loky_worker_respects_inner_max_num_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert run_in_workers("loky", inner_max_num_threads=1) == [1, 1]
    expected = min(2, threads._available_cores())
    assert run_in_workers("loky", inner_max_num_threads=2) == [expected, expected]


def test_a_worker_thread_of_joblib_uses_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads, "_available_cores", lambda: 6)
    assert run_in_workers("threading") == [1, 1]


def test_a_worker_thread_of_joblib_uses_omp_num_threads_if_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "_available_cores", lambda: 6)
    monkeypatch.setattr(threads, "_pool_limit", lambda: None)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert run_in_workers("threading") == [3, 3]


def test_one_job_of_joblib_uses_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads, "_available_cores", lambda: 6)
    monkeypatch.setattr(threads, "_pool_limit", lambda: None)
    assert run_in_workers("threading", n_jobs=1) == [6, 6]


def test_a_thread_outside_joblib_uses_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads, "_available_cores", lambda: 6)
    monkeypatch.setattr(threads, "_pool_limit", lambda: None)
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(resolve_threads(None)))
    thread.start()
    thread.join()
    assert found == [6]


@pytest.mark.usefixtures("six_cores")
@pytest.mark.parametrize("found", [None, (SimpleNamespace(), 1), 3])
def test_a_joblib_that_does_not_tell_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, found: object
) -> None:
    joblib_parallel = ModuleType("joblib.parallel")
    joblib_parallel.get_active_backend = lambda: found
    monkeypatch.setitem(sys.modules, "joblib.parallel", joblib_parallel)
    assert resolve_threads(None) == 6


def test_more_threads_than_the_machine_has_are_no_matter() -> None:
    X = np.random.default_rng(0).normal(size=(3000, 2))
    np.testing.assert_array_equal(
        estimate_density(X, 0.5, n_jobs=1), estimate_density(X, 0.5, n_jobs=64)
    )


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="needs free-threaded Python"
)
def test_importing_quickshift_leaves_the_gil_off() -> None:
    code = "import sys, quickshift; sys.exit(sys._is_gil_enabled())"
    environment = {**os.environ, "PYTHON_GIL": ""}
    found = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert found.returncode == 0
