"""Memory of large arrays: some of it is kept when they are freed, and whoever comes next has it."""

import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from quickshift import QuickShift

linux_only = pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere large arrays are the allocator's"
)
X = np.random.default_rng(0).normal(size=(600_000, 2))  # arrays of a number a row are large


def fit(rows=X):
    return QuickShift(bandwidth=0.05, tau=0.1, kernel="epanechnikov").fit(rows)


def results(model):
    return model.labels_, model.parent_, model.density_


def assert_equal(some, others):
    for one, other in zip(some, others, strict=True):
        np.testing.assert_array_equal(one, other)


def test_arrays_keep_what_they_hold_while_others_come_and_go():
    model = fit()
    copies = [array.copy() for array in results(model)]
    for _ in range(2):
        fit(X[:550_000] + 1.0)
    assert_equal(results(model), copies)


def test_fits_of_several_threads_do_not_share_memory():
    parts = [X, X[:550_000], X[50_000:], X[:520_000]]
    expected = [results(fit(part)) for part in parts]
    with ThreadPoolExecutor(len(parts)) as pool:
        for _ in range(2):
            for found, alone in zip(pool.map(fit, parts), expected, strict=True):
                assert_equal(results(found), alone)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_child_has_its_own_copy_of_what_was_kept():
    expected = results(fit())
    child = os.fork()
    if child == 0:
        same = all(map(np.array_equal, results(fit()), expected))
        os._exit(0 if same else 1)
    fit(X[::-1])
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert_equal(results(fit()), expected)


KEPT = """
    import numpy as np
    from quickshift import QuickShift

    def resident():
        lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
        return int(lines["VmRSS"].split()[0]) / 1024

    X = np.random.default_rng(0).normal(size=(2_000_000, 2))
    QuickShift(bandwidth=0.05, tau=0.1, kernel="epanechnikov").fit(X[:1000])
    before = resident()
    for _ in range(3):
        QuickShift(bandwidth=0.05, tau=0.1, kernel="epanechnikov").fit(X)
        print(resident() - before)
"""


@linux_only
def test_at_most_64_mib_are_kept():
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(KEPT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    kept = [float(line) for line in done.stdout.split()]
    assert len(kept) == 3
    assert max(kept) < 64 + 40  # and what the allocator of small arrays keeps


LIMITED = """
    import resource
    import numpy as np
    from quickshift import QuickShift, _core
    from quickshift.memory import fit_bytes

    def limit_data(more):
        lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
        used = 1024 * int(lines["VmData"].split()[0])
        resource.setrlimit(resource.RLIMIT_DATA, (used + more,) * 2)

    def fit(X):
        QuickShift(bandwidth=0.05, tau=0.1, kernel="epanechnikov", n_jobs=1).fit(X)

    X = np.random.default_rng(0).normal(size=(3_000_000, 2))
    fit(X[:1000])
"""
REPEATED = {
    "trees, which need nearly all": """
        limit_data(225 << 20)
        for _ in range(3):
            _core.Tree(X)
    """,
    "fits, which are told to need nearly all": """
        limit_data(fit_bytes(*X.shape, "epanechnikov", rules=False) + (30 << 20))
        for _ in range(3):
            fit(X)
    """,
}


@linux_only
@pytest.mark.parametrize("what", REPEATED)
def test_what_is_kept_does_not_stand_in_the_way_of_a_repetition(what):
    code = textwrap.dedent(LIMITED) + textwrap.dedent(REPEATED[what])
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
