"""Fits work wherever they run: in threads with small stacks, in forks, in pools, side by side."""

import os
import subprocess
import sys
import textwrap
import threading

import joblib
import numpy as np
import pytest

from clustering_cases import assert_same_fit, blobs
from quickshift import QuickShift

MANY = 100_000


def run_python(code, *before):
    """Run code in a new interpreter and return its output; it may take ten minutes."""
    command = [*before, sys.executable, "-W", "error", "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_small_stack_of_a_thread_is_enough():
    chain = np.cumsum(np.arange(1.0, MANY + 1))[:, None]
    found = []

    def fit():
        for X in (chain, np.zeros((MANY, 2)), 2.0 ** np.arange(-200.0, 200.0)[:, None]):
            model = QuickShift(bandwidth=0.5, tau=np.inf, kernel="uniform", n_jobs=1).fit(X)
            found.append((model.n_clusters_, model.predict(X).max(), len(model.to_linkage()) + 1))

    default = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=fit)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(default)
    assert found == [(1, 0, MANY), (1, 0, MANY), (1, 0, 400)]


@pytest.mark.skipif(
    sys.platform != "linux", reason="only glibc takes the stack size of threads from ulimit"
)
def test_small_stacks_of_native_threads_are_enough():
    code = """
        import numpy as np
        from quickshift import QuickShift
        X = np.cumsum(np.arange(1.0, 200_001.0))[:, None]
        model = QuickShift(bandwidth=0.5, tau=np.inf, kernel="uniform", n_jobs=2).fit(X)
        print(model.n_clusters_, model.parent_[0], len(model.to_linkage()))
    """
    small_stacks = ("sh", "-c", 'ulimit -S -s 1024 && exec "$@"', "sh")
    assert run_python(code, *small_stacks) == "1 1 199999"


def test_fits_in_several_threads_do_not_disturb_each_other():
    data = [blobs(seed, 400) for seed in range(8)]
    for bandwidth in ("local", "auto"):
        alone = [QuickShift(bandwidth, n_jobs=1).fit(X) for X in data]
        together = joblib.Parallel(n_jobs=4, backend="threading")(
            joblib.delayed(QuickShift(bandwidth, n_jobs=2).fit)(X) for X in data
        )
        for a, b in zip(alone, together, strict=True):
            assert_same_fit(a, b)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_child_of_a_fork_can_fit_too():
    code = """
        import os
        import numpy as np
        from quickshift import QuickShift
        X = np.random.default_rng(0).normal(size=(50_000, 2))
        def fit(**settings):
            return QuickShift(**settings, n_jobs=4).fit(X)
        kde = {"bandwidth": 0.2, "tau": 0.2, "kernel": "epanechnikov"}
        model, local = fit(**kde), fit()
        child = os.fork()
        if child == 0:
            same = np.array_equal(fit(**kde).labels_, model.labels_)
            same = same and np.array_equal(model.predict(X), model.labels_)
            same = same and np.array_equal(fit().labels_, local.labels_)
            same = same and np.array_equal(local.predict(X), local.labels_)
            os._exit(0 if same else 7)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), np.array_equal(fit().labels_, local.labels_))
    """
    assert run_python(code) == "0 True"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_workers_of_a_pool_can_fit_and_send_models_back():
    code = """
        import multiprocessing
        import numpy as np
        from quickshift import QuickShift
        X = np.random.default_rng(0).normal(size=(20_000, 2))
        def fit(bandwidth):
            return QuickShift(bandwidth, 0.2, kernel="epanechnikov", n_jobs=2).fit(X)
        here = [fit(h) for h in (0.1, 0.2, 0.4)]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            there = pool.map(fit, (0.1, 0.2, 0.4))
        print(all(np.array_equal(a.labels_, b.predict(X)) for a, b in zip(here, there)))
    """
    assert run_python(code) == "True"
