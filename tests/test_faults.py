"""Allocations that fail, threads that cannot be started and little address space.

`make faults` runs these tests with the library of cpp/faults.cpp, which replaces operator new and
the creation of threads.
"""

import ctypes
import gc
import pickle
import subprocess
import sys
import textwrap
import traceback

import numpy as np
import pytest

import quickshift as qs
from quickshift import stages

pytestmark = pytest.mark.faults

PROCESS = ctypes.CDLL(None)
RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(90, 2)), 1)  # with duplicates and ties
Y = RNG.normal(size=90)
WEIGHTS = RNG.integers(0, 3, size=90).astype(float)
QUERIES = RNG.normal(size=(30, 2))
WIDE = RNG.normal(size=(200, 40))
MANY = RNG.normal(size=(30_000, 2))
PICTURE = RNG.uniform(size=(300, 300, 3))
IMAGE = RNG.uniform(size=(12, 13, 3))
KDE = qs.QuickShift(0.5, 1.0).fit(X)
LOCAL = qs.QuickShift().fit(X, sample_weight=WEIGHTS)
MODAL = qs.ModalRegressor(0.5, 0.5).fit(X, Y)
CUT = stages.cut(stages.climb(X, KDE.density_), 1.0)
FOREST = qs.segment_forest(IMAGE)

CALLS = {
    "fit": lambda: qs.QuickShift(n_jobs=1).fit(X).labels_,
    "fit with weights": lambda: qs.QuickShift(n_clusters=3).fit(X, sample_weight=WEIGHTS).labels_,
    "fit with a period": lambda: qs.QuickShift(0.3, period=[9.0, np.inf]).fit(X).labels_,
    "fit with many features": lambda: qs.QuickShift(4.0).fit(WIDE).labels_,
    "local fit with many features": lambda: qs.QuickShift().fit(WIDE).labels_,
    "predict": lambda: KDE.predict(QUERIES),
    "predict by local scale": lambda: LOCAL.predict(QUERIES),
    "predict_proba": lambda: KDE.predict_proba(QUERIES),
    "predict_proba by local scale": lambda: LOCAL.predict_proba(QUERIES),
    "score_samples": lambda: KDE.score_samples(QUERIES),
    "score_samples by local scale": lambda: LOCAL.score_samples(QUERIES),
    "labels_at": lambda: KDE.labels_at(0.4),
    "labels_for": lambda: LOCAL.labels_for(4),
    "recut": lambda: KDE.recut(tau=0.4).labels_,
    "to_linkage": KDE.to_linkage,
    "link": lambda: stages.link(X, KDE.density_, CUT, 1.0).merges,
    "cross-validation": lambda: qs.QuickShift("cv").fit(X).bandwidth_,
    "modal fit": lambda: qs.ModalRegressor().fit(X, Y).bandwidth_,
    "predict_modes": lambda: MODAL.predict_modes(QUERIES).values,
    "modes of two columns": lambda: (
        qs.ModalRegressor(0.5, 0.5).fit(X, np.column_stack([Y, Y**2])).predict(QUERIES[:3])
    ),
    "segment": lambda: qs.segment(IMAGE),
    "segment_forest": lambda: qs.segment_forest(IMAGE).parent,
    "boundary_strength": lambda: qs.boundary_strength(FOREST),
    "skimage": lambda: qs.compat.skimage.quickshift(IMAGE, rng=0),
    "pickle": lambda: pickle.loads(pickle.dumps(KDE)).labels_,
    **{
        f"{kernel} sums": lambda kernel=kernel: stages.estimate_density(X, 0.7, kernel=kernel)
        for kernel in qs.kernels.KERNELS
    },
}
# Calls with too many allocations to let each fail.
SAMPLED = {
    "fit with two threads": lambda: qs.QuickShift(0.5, 1.0, n_jobs=2).fit(MANY).labels_,
    "segment with two threads": lambda: qs.segment(PICTURE, n_jobs=2),
    "local fit with two threads": lambda: qs.QuickShift(n_jobs=2).fit(MANY).labels_,
}


@pytest.fixture(autouse=True)
def _loaded():
    if not hasattr(PROCESS, "fail_at"):
        pytest.skip("run by make faults")
    yield
    PROCESS.fail_at(0)
    PROCESS.refuse_threads(0)


def failing(call, k):
    """Run a call whose k-th allocation fails; return its result, or None after a MemoryError."""
    PROCESS.fail_at(k)
    try:
        return call()
    except MemoryError:
        return None
    finally:
        PROCESS.fail_at(0)


def fails_at(call, k):
    """Run such a call; return whether there was a k-th allocation and the blocks that SciPy lost.

    `cKDTree.query` of SciPy allocates a block and then appends its address to a list. If the list
    cannot grow, the block is lost.
    """
    lost = 0
    PROCESS.fail_at(k)
    try:
        call()
    except MemoryError as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        lost = int(frame.name.startswith("scipy.spatial._ckdtree.cKDTree.query."))
    return PROCESS.fail_at(0) == 0, lost


def live():
    gc.collect()
    return PROCESS.live_allocations()


def state_of(model):
    return {name: id(value) for name, value in vars(model).items()}


@pytest.mark.parametrize("name", CALLS)
def test_each_failed_allocation_is_a_memory_error_and_leaks_nothing(name):
    call = CALLS[name]
    expected = call()
    call()  # twice, so that everything that is kept has been allocated
    states = [state_of(model) for model in (KDE, LOCAL, MODAL)]
    gc.freeze()  # collections after each failure then take no time
    before, k = live(), 0
    failed = True
    while failed:
        k += 1
        failed, lost = fails_at(call, k)
        after = live()
        assert 0 <= after - before <= lost, f"allocation {k}"
        before = after
    assert k > 1
    assert [state_of(model) for model in (KDE, LOCAL, MODAL)] == states
    np.testing.assert_array_equal(call(), expected)


@pytest.mark.parametrize("name", SAMPLED)
def test_sampled_failed_allocations_are_memory_errors(name):
    call = SAMPLED[name]
    expected = call()
    for k in np.unique(np.geomspace(1, 20_000, 20).astype(int)).tolist():
        result = failing(call, k)  # a thread that cannot be started is no error
        assert result is None or np.array_equal(result, expected), f"allocation {k}"


@pytest.mark.parametrize("name", SAMPLED)
def test_threads_that_cannot_be_started_are_done_without(name):
    expected = SAMPLED[name]()
    PROCESS.refuse_threads(1)
    np.testing.assert_array_equal(SAMPLED[name](), expected)


LIMITED = """
    import resource
    import numpy as np
    from quickshift import QuickShift, segment
    X, image = np.random.default_rng(0).normal(size=(200_000, 2)), np.zeros((300, 300, 3))
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + {extra}, resource.RLIM_INFINITY))
    for call in (lambda: QuickShift(n_jobs=2).fit(X), lambda: QuickShift(0.1).fit(X),
                 lambda: segment(image, convert2lab=False)):
        try:
            call()
        except MemoryError:
            print("MemoryError", end=" ")
        else:
            print("done", end=" ")
"""


@pytest.mark.parametrize("extra", [int(x) for x in np.geomspace(1e6, 4e8, 20)])
def test_little_address_space_is_a_memory_error_or_enough(extra):
    code = textwrap.dedent(LIMITED).format(extra=extra)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert len(ran.stdout.split()) == 3
