"""Calls that need more memory than there is are refused before they allocate it."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import quickshift as qs
from quickshift import QuickShift, _core, memory, stages
from quickshift.memory import require_memory

MIB = 1 << 20


# The memory that a call needs


@pytest.mark.parametrize("d", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 33, 100, 1000, 4097, 50_000])
def test_bytes_of_the_tree_are_those_of_its_arrays(n, d):
    tree = _core.Tree(np.random.default_rng(0).normal(size=(n, d)))
    state = tree.__getstate__()
    arrays = [part for part in state if isinstance(part, np.ndarray)]
    # The state has the period, which `tree_bytes` does not count, and lacks the weights of the
    # leaves, which are computed again when it is restored.
    period, weights_of_leaves = 8 * d, 8 << state[4]
    expected = sum(array.nbytes for array in arrays) - period + weights_of_leaves
    assert memory.tree_bytes(n, d) == expected


PEAK = """
    import sys
    import numpy as np
    from quickshift import QuickShift
    from quickshift.memory import fit_bytes

    def status(name):
        lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
        return 1024 * int(lines[name].split()[0])

    kernel, n, d, h = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    X = np.random.default_rng(0).normal(size=(n, d))
    rules = h == "auto"
    settings = {"bandwidth": "auto"} if rules else {"bandwidth": float(h), "tau": 1.0}
    model = QuickShift(kernel=kernel, **settings)
    model.fit(X[:1000])
    before = status("VmRSS")
    model.fit(X)
    print((status("VmHWM") - before) / fit_bytes(n, d, kernel, rules=rules))
"""


def run(code, *arguments):
    """Run code in a separate process and return what it printed."""
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code)]
    done = subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read in /proc")
@pytest.mark.parametrize(
    "case",
    [
        ("epanechnikov", 300_000, 2, 0.05),
        ("epanechnikov", 300_000, 2, "auto"),
        ("epanechnikov", 300_000, 1, 0.05),
        ("gaussian", 300_000, 2, "auto"),
        ("gaussian", 300_000, 3, 0.3),
        ("exponential", 300_000, 2, "auto"),
    ],
    ids=str,
)
def test_estimate_is_near_the_peak_of_a_fit(case):
    assert 0.75 <= float(run(PEAK, *case)) <= 1.1


SHARES_PEAK = """
    import sys
    import numpy as np
    from quickshift import QuickShift
    from quickshift.datasets import blobs
    from quickshift.memory import share_bytes

    def status(name):
        lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
        return 1024 * int(lines[name].split()[0])

    h, n, top = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    X, _ = blobs(n, centers=20, seed=0)
    queries = np.random.default_rng(0).permutation(np.tile(X, (300_000 // n, 1))) + 1e-3
    queries += 1e-6 * np.arange(len(queries))[:, None]
    model = QuickShift(h).fit(X)
    columns = 2 * top or model.n_clusters_
    needed = share_bytes(*queries.shape, n, columns, local=h == "local")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # forgets the peak of the fit
    before = status("VmRSS")
    model.predict_proba(queries, top=top or None)
    print((status("VmHWM") - before) / needed)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read in /proc")
@pytest.mark.parametrize("n", [30_000, 300_000])
@pytest.mark.parametrize("h", ["auto", "local"])
@pytest.mark.parametrize("top", [0, 3])
def test_estimate_is_near_the_peak_of_predict_proba(h, n, top):
    assert 0.5 <= float(run(SHARES_PEAK, h, n, top)) <= 1.1


LOCAL_PEAK = """
    import sys
    import numpy as np
    from quickshift import QuickShift
    from quickshift.memory import local_fit_bytes

    def status(name):
        lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
        return 1024 * int(lines[name].split()[0])

    n, d, parameter, value = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
    X = np.random.default_rng(0).normal(size=(n, d))
    model = QuickShift(**{parameter: value})
    model.fit(X[:1000])
    before = status("VmRSS")
    model.fit(X)
    links = parameter != "tau"
    print((status("VmHWM") - before) / local_fit_bytes(n, d, links=links))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read in /proc")
@pytest.mark.parametrize(
    "case",
    [
        (100_000, 2, "min_significance", 1e9),  # three scales, of which none finds two clusters
        (300_000, 2, "min_significance", 1e9),
        (1_000_000, 2, "min_significance", 1e9),
        (300_000, 2, "tau", 0.1),
        (10_000, 10, "min_significance", 1e9),
    ],
    ids=str,
)
def test_estimate_is_near_the_peak_of_a_local_fit(case):
    assert 0.75 <= float(run(LOCAL_PEAK, *case)) <= 1.1


SEGMENT_PEAK = """
    import numpy as np
    import quickshift as qs
    from quickshift.memory import segment_bytes

    def status(name):
        lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
        return 1024 * int(lines[name].split()[0])

    # With so many pixels, the large pages that the stacks and heaps of threads take are negligible.
    image = np.random.default_rng(0).random((2400, 2000, 3))
    qs.segment(image[:100, :100], bandwidth=1.0)
    before = status("VmRSS")
    qs.segment(image, bandwidth=1.0)
    print((status("VmHWM") - before) / segment_bytes(4_800_000, 3))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read in /proc")
def test_estimate_is_near_the_peak_of_segments():
    assert 0.75 <= float(run(SEGMENT_PEAK)) <= 1.15


GIVEN_BACK = """
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


@pytest.mark.skipif(sys.platform != "linux", reason="the resident memory is read in /proc")
def test_a_fit_that_is_forgotten_gives_its_memory_back():
    # MiB. A fit takes 200; the allocator of small arrays may keep some.
    assert float(run(GIVEN_BACK)) < 40


ENOUGH = """
    import resource
    import numpy as np
    from quickshift import QuickShift
    from quickshift.memory import fit_bytes

    def fit(X):
        QuickShift(bandwidth=0.05, tau=0.1, kernel="epanechnikov", n_jobs=1).fit(X)

    X = np.random.default_rng(0).normal(size=(1_000_000, 2))
    fit(X[:1000])
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    used = 1024 * int(lines["VmData"].split()[0])
    limit = used + fit_bytes(*X.shape, "epanechnikov", rules=False) + (25 << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    for _ in range(2):
        fit(X)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces RLIMIT_DATA")
def test_a_fit_and_its_repetition_succeed_within_the_memory_that_is_estimated():
    assert run(ENOUGH) == ""


NEIGHBORS = """
    import resource
    import numpy as np
    from quickshift import QuickShift

    X = np.random.default_rng(0).uniform(size=(500_000, 2))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for kernel in ("uniform", "epanechnikov"):
        QuickShift(bandwidth=5.0, tau=5.0, kernel=kernel).fit(X)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has other units elsewhere")
def test_memory_does_not_grow_with_the_neighbors():
    assert int(run(NEIGHBORS)) < 600  # MiB; the points take 8


def test_rules_and_columns_need_more():
    plain = memory.fit_bytes(10**6, 2, "gaussian", rules=False)
    assert memory.fit_bytes(10**6, 2, "gaussian", rules=True) > plain
    assert memory.fit_bytes(10**6, 3, "gaussian", rules=False) > plain
    plain = memory.local_fit_bytes(10**6, 2, links=False)
    assert memory.local_fit_bytes(10**6, 2, links=True) > plain
    assert memory.local_fit_bytes(10**6, 3, links=False) > plain


def test_local_fit_of_many_samples_needs_less_than_200_bytes_per_point():
    assert memory.local_fit_bytes(10**7, 2, links=True) <= 200 * 10**7


# Calls that are refused


@pytest.fixture
def limited(monkeypatch):
    """Return a function that limits the memory of the process, and check even small calls."""
    monkeypatch.setattr(memory, "_NEGLIGIBLE", 0)

    def limit(size):
        monkeypatch.setattr(memory, "_limits", lambda: iter([(size, "a limit"), (10**15, "more")]))

    return limit


X = np.random.default_rng(0).normal(size=(20_000, 2))


def test_message_says_what_is_needed_what_there_is_and_what_to_do(limited):
    limited(300 * MIB)
    with pytest.raises(MemoryError) as caught:
        require_memory(600 * MIB, "fit", (1000, 2))
    assert str(caught.value) == (
        "fit needs about 600 MiB beyond points of shape (1000, 2), but the process may use 300 MiB "
        "more (a limit). Free memory, raise the limit, or use a subsample: about 500 rows fit. "
        "Points of lower precision do not help, because they are converted to float64."
    )


def test_what_fits_is_not_refused(limited):
    limited(300 * MIB)
    require_memory(300 * MIB, "fit", (1000, 2))


def test_limit_that_is_exceeded_already_leaves_nothing(limited):
    limited(-5 * MIB)
    with pytest.raises(MemoryError, match=r"may use 0 MiB more .* about 0 rows fit"):
        require_memory(MIB, "fit", (1000, 2))


def test_no_limit_known_refuses_nothing(monkeypatch):
    monkeypatch.setattr(memory, "_limits", lambda: iter(()))
    require_memory(1 << 62, "fit", (1000, 2))


def test_small_calls_do_not_ask(monkeypatch):
    monkeypatch.setattr(memory, "_limits", lambda: pytest.fail("asked the system"))
    for bandwidth in ("local", "auto"):
        QuickShift(bandwidth).fit(X)


@pytest.mark.parametrize(
    "settings", [{"bandwidth": 0.3, "tau": 1.0}, {"bandwidth": "auto"}, {}, {"tau": 1.0}], ids=str
)
def test_fit_is_refused_before_anything_is_changed(limited, settings):
    model = QuickShift(**settings).fit(X[:100])
    before = dict(vars(model))
    limited(1 << 20)
    with pytest.raises(
        MemoryError, match=r"^fit needs about \d+ MiB beyond points of shape \(20000"
    ):
        model.fit(X)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


def test_every_stage_is_refused(limited):
    samples = stages.prepare(X)
    estimate = stages.fit_estimate(samples, 0.3)
    graph = stages.climb(samples, estimate.sums())
    scale = stages.local_scale(samples)
    limited(1000)
    for name, stage in {
        "prepare": lambda: stages.prepare(X),
        "choose_bandwidth": lambda: stages.choose_bandwidth(samples),
        "estimate_density": lambda: stages.estimate_density(samples, 0.3),
        "climb": lambda: stages.climb(samples, graph.heights),
        "choose_tau": lambda: stages.choose_tau(samples, 0.3),
        "cut": lambda: stages.cut(graph, 1.0),
        "the density at queries": lambda: estimate.density_at(X),
        "find_clusters": lambda: stages.find_clusters(estimate, graph),
        "local_scale": lambda: stages.local_scale(samples),
        "the local scale at queries": lambda: scale.scales_at(X),
        "find_local_clusters": lambda: stages.find_local_clusters(samples),
    }.items():
        with pytest.raises(MemoryError, match=f"^{name} needs about"):
            stage()


def test_pictures_are_refused(limited):
    limited(MIB)
    with pytest.raises(MemoryError, match=r"segment_forest needs .* or use segment_tiles"):
        qs.segment(np.zeros((2000, 2000)))


# Scratch memory


@pytest.fixture
def limited_core():
    """Return a function that sets the memory limit of the core, which is restored afterwards."""
    before = _core.memory_limit()
    yield _core.set_memory_limit
    _core.set_memory_limit(before)


def test_core_knows_the_memory_limit():
    assert _core.memory_limit() == memory.memory_limit()


def test_scratch_memory_follows_from_the_points_and_the_limit(limited_core):
    limited_core(1e12)
    assert _core.scratch_limit(1000, 2) == 256 * MIB
    assert _core.scratch_limit(10**7, 2) == 120 * 10**7
    assert _core.scratch_limit(10**7, 10) == 240 * 10**7
    limited_core(400.0)
    assert _core.scratch_limit(10**7, 2) == 100


def test_grid_that_would_take_too_much_memory_is_refused_and_reported(limited_core):
    tree = _core.Tree(np.random.default_rng(0).normal(size=(20_000, 3)))
    _, _, bytes_of_grid, refused = _core.grid_choice(tree, 0, 0.3, 1e-6)
    assert bytes_of_grid > 0
    assert refused == 0
    limited_core(4 * (4 << 20))  # the patches take 4 MiB, which leaves nothing for tiles
    _, seconds, _, refused = _core.grid_choice(tree, 0, 0.3, 1e-6)
    assert np.isnan(seconds)
    assert refused > 0


def test_memory_limit_is_that_of_the_tightest_control_group(monkeypatch, tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "inner" / "memory.max").write_text("max\n")
    names = ("memory.max", "memory.current", "")
    folders = [(tmp_path / "inner", names), (tmp_path, names), (tmp_path / "missing", names)]
    monkeypatch.setattr(memory, "_control_group_folders", lambda: iter(folders))
    assert memory.memory_limit() == 5000
    monkeypatch.setattr(memory, "_whole_memory", lambda: 4000)
    assert memory.memory_limit() == 4000


def test_memory_limit_is_infinite_if_the_system_tells_none(monkeypatch):
    monkeypatch.setattr(memory, "_totals", lambda: iter(()))
    assert memory.memory_limit() == np.inf


# The memory that is available


def test_memory_of_the_machine_counts_what_is_available_and_swap(tmp_path):
    file = tmp_path / "meminfo"
    file.write_text("MemTotal: 900 kB\nMemAvailable:     500 kB\nSwapFree:   20 kB\n")
    assert memory._physical(file) == 520 * 1024


NOT_TOLD = {"missing": None, "empty": "", "no available": "MemTotal: 900 kB\nSwapFree: 20 kB\n"}
UNREADABLE = pytest.mark.parametrize("meminfo", NOT_TOLD.values(), ids=NOT_TOLD)


@UNREADABLE
def test_machine_that_does_not_tell_what_is_available_has_all_of_its_memory(
    meminfo, tmp_path, monkeypatch
):
    file = tmp_path / "meminfo"
    if meminfo is not None:
        file.write_text(meminfo)
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert memory._physical(file) == 4_096_000


@pytest.mark.parametrize("error", [ValueError, OSError])
def test_machine_that_does_not_know_its_memory_has_no_limit(error, tmp_path, monkeypatch):
    def sysconf(name):
        raise error(name)

    monkeypatch.setattr(os, "sysconf", sysconf)
    assert memory._physical(tmp_path / "missing") is None


def test_machine_without_sysconf_has_no_limit(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "sysconf")
    assert memory._physical(tmp_path / "missing") is None


def write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


def test_control_groups_of_version_2_limit_with_all_that_are_above(tmp_path):
    membership = tmp_path / "cgroup"
    membership.write_text("0::/service/job\n")
    stat = "anon 5\nactive_file 10\ninactive_file 20\n"
    files = {"memory.current": "400\n", "memory.stat": stat}
    write(tmp_path / "fs/service/job", {**files, "memory.max": "max\n"})
    write(tmp_path / "fs/service", {**files, "memory.max": "1000\n"})
    assert list(memory._control_groups(membership, tmp_path / "fs")) == [1000 - 400 + 30]


def test_control_groups_of_version_1_limit_unless_the_number_is_huge(tmp_path):
    membership = tmp_path / "cgroup"
    membership.write_text("4:cpu,cpuacct:/x\n3:memory:/job\n0::/\n")
    stat = "active_file 1\ntotal_active_file 10\ntotal_inactive_file 20\n"
    files = {"memory.usage_in_bytes": "400\n", "memory.stat": stat}
    write(tmp_path / "fs/memory/job", {**files, "memory.limit_in_bytes": "1000\n"})
    write(tmp_path / "fs/memory", {**files, "memory.limit_in_bytes": f"{2**63 - 4096}\n"})
    assert list(memory._control_groups(membership, tmp_path / "fs")) == [1000 - 400 + 30]


def test_no_control_groups_are_no_limit(tmp_path):
    assert list(memory._control_groups(tmp_path / "missing", tmp_path)) == []


LIMITED = """
    import resource
    import numpy as np
    from quickshift import QuickShift, _core, stages

    X = np.random.default_rng(0).normal(size=(3_000_000, 2))
    QuickShift(bandwidth=0.01, tau=1.0, n_jobs=2).fit(X[:50_000])
    pages = int(open("/proc/self/statm").read().split()[0])
    most = pages * resource.getpagesize() + (150 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    for what in (
        lambda: QuickShift(bandwidth=0.01, tau=1.0).fit(X),
        lambda: stages.prepare(X),
        lambda: _core.Tree(X, threads=1),
        lambda: _core.Tree(X, threads=2),
    ):
        try:
            what()
        except MemoryError as error:
            print("MemoryError", error)
    print(QuickShift(bandwidth=0.01, tau=100.0, n_jobs=2).fit(X[:50_000]).n_clusters_)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces RLIMIT_AS")
def test_limit_of_the_process_gives_memory_errors_and_no_crash():
    lines = run(LIMITED).splitlines()
    assert lines[0].startswith("MemoryError fit needs about")
    assert "its limit of address space, ulimit -v" in lines[0]
    assert lines[1].startswith("MemoryError prepare needs about")
    assert [line.split()[0] for line in lines[2:4]] == ["MemoryError"] * 2  # raised by the core
    assert lines[4] == "1"


@pytest.mark.parametrize("bandwidth", [0.3, "local"])
def test_tree_of_a_fit_is_refused_when_it_is_first_needed(limited, bandwidth):
    model = QuickShift(bandwidth, tau=1.0).fit(X)
    limited(1000)
    with pytest.raises(MemoryError, match=r"^linking the cluster tree needs about"):
        model.significance_  # noqa: B018 (computed on access)
