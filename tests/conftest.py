"""Settings of all tests: profiles of hypothesis, and a backend of matplotlib without windows.

`quickshift`, the default, draws the same examples in every run, so that `make test` fails only
when the code has changed. `explore` draws new examples in every run, many more of them; `make
explore` uses it to look for failures that nobody has met yet. It prints how to reproduce a failure
and keeps the example in `.hypothesis/`, from which the next run of `explore` replays it first.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

# Machines differ too much in speed for deadlines, and large examples are slow to draw.
UNTIMED = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("quickshift", derandomize=True, database=None, max_examples=60, **UNTIMED)
settings.register_profile(
    "explore",
    settings.get_profile("default"),
    derandomize=False,
    max_examples=int(os.environ.get("QUICKSHIFT_EXAMPLES", "1000")),
    print_blob=True,
    **UNTIMED,
)
settings.load_profile("quickshift")

# Doctests are looked for in every file, but these need a browser or arguments.
collect_ignore = ["browser.py", "js", "soak.py"]

os.environ["MPLBACKEND"] = "Agg"  # read when matplotlib is first imported


def pytest_configure(config):
    """Let workers write what `make coverage` has recorded in them.

    They do so when they exit. pytest-xdist kills workers that have not exited after ten seconds,
    without a word, and all that they have recorded is lost.
    """
    if "COVERAGE_PROCESS_CONFIG" in os.environ and config.pluginmanager.hasplugin("xdist"):
        from xdist.workermanage import NodeManager

        NodeManager.EXIT_TIMEOUT = 600


@pytest.fixture
def closed_figures():
    """Close the figures that a test has opened."""
    from matplotlib import pyplot

    yield
    pyplot.close("all")


@pytest.fixture
def use_set():
    """Return a function that sets the instruction set; the old one is restored after the test."""
    from quickshift import _core

    before = _core.instruction_set()
    yield _core.set_instruction_set
    _core.set_instruction_set(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder for pages and downloads."""
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def page(folder):
    """Return a page of a browser."""
    from browser import browser

    with browser(folder) as opened:
        yield opened


@pytest.fixture
def quiet(page):
    """Check after a test that nothing was said on the console and nothing requested."""
    page.errors()
    page.requests()
    yield page
    assert page.errors() == []
    away = [url for url in page.requests() if not url.startswith(("file:", "data:", "blob:"))]
    assert away == []
