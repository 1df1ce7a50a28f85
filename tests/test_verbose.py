"""The progress bar of ``verbose=1``: when it appears, what it shows, and that it is closed."""

import io
import os
import sys
import threading
from itertools import groupby

import numpy as np
import pytest

from quickshift import ModalRegressor, QuickShift
from quickshift.estimators import progress_bar
from quickshift.estimators.progress_bar import DelayedBar, Lines, open_bar, shown_progress

X = np.random.default_rng(0).normal(size=(400, 2))
STAGES = ["prepare", "estimate_density", "climb", "cut"]  # with a bandwidth and a tau
MODEL = {"bandwidth": 0.5, "tau": 1.0}


class Clock:
    """A clock that shows the time that a test has set."""

    now = 100.0

    def __call__(self):
        return self.now


class FakeBar:
    """A bar that records what it shows, and may raise an exception in a stage."""

    def __init__(self, fails_at=None, error=None):
        self.shown, self.closed, self.threads = [], 0, set()
        self.fails_at, self.error = fails_at, error

    def show(self, stage, done):
        assert not self.closed
        self.shown.append((stage, done))
        self.threads.add(threading.get_ident())
        if stage == self.fails_at:
            raise self.error

    def close(self):
        self.closed += 1

    @property
    def stages(self):
        return [stage for stage, _ in groupby(self.shown, key=lambda each: each[0])]


@pytest.fixture(name="at_once")
def fixture_at_once(monkeypatch):
    """Show bars at the first report, so that no test needs a long fit."""
    monkeypatch.setattr(progress_bar, "_DELAY", 0.0)


@pytest.fixture(name="bars")
def fixture_bars(monkeypatch, at_once):
    """Replace all bars by fake ones, and return the list of those that were opened."""
    bars = []

    def opened():
        bars.append(FakeBar())
        return bars[-1]

    monkeypatch.setattr(progress_bar, "open_bar", opened)
    return bars


def hide(monkeypatch, *packages):
    """Let imports of packages fail, as if they were not installed."""
    for name in [*sys.modules, *packages]:
        if name.split(".")[0] in packages:
            monkeypatch.setitem(sys.modules, name, None)
    for name in packages:
        for module in ("auto", "console", "progress"):
            monkeypatch.setitem(sys.modules, f"{name}.{module}", None)


# When a bar appears


def test_bar_appears_at_the_first_report_after_a_second():
    clock, bar = Clock(), FakeBar()
    progress = DelayedBar(lambda: bar, clock)
    clock.now += 0.999
    progress("prepare", 1.0)
    assert bar.shown == []
    clock.now += 0.002
    progress("climb", 0.25)
    progress("climb", 1.0)
    assert bar.shown == [("climb", 0.25), ("climb", 1.0)]
    progress.close()
    progress.close()
    assert bar.closed == 1


def test_nothing_is_opened_for_a_fit_that_ends_within_a_second():
    clock = Clock()
    progress = DelayedBar(lambda: pytest.fail("a bar was opened"), clock)
    for stage in STAGES:
        clock.now += 0.2
        progress(stage, 1.0)
    progress.close()


@pytest.mark.parametrize("model", [QuickShift(verbose=1), QuickShift(**MODEL, verbose=True)])
def test_nothing_is_printed_for_a_fit_that_ends_within_a_second(model, monkeypatch, capfd):
    monkeypatch.setattr(progress_bar, "_DELAY", 1e9)  # the machine may be slow
    model.fit(X)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("verbose", [0, False])
def test_there_is_no_bar_without_verbose(verbose, bars):
    QuickShift(verbose=verbose).fit(X)
    ModalRegressor("cv", verbose=verbose).fit(X[:, :1], X[:, 1])
    assert bars == []


# What a bar shows


def test_bar_shows_the_name_and_the_share_of_each_stage(bars):
    QuickShift(**MODEL, verbose=1).fit(X)
    (bar,) = bars
    assert bar.stages == STAGES
    assert [done for _, done in bar.shown if done == 1.0] == [1.0] * len(STAGES)
    assert bar.closed == 1


def test_bar_shows_the_stages_of_a_fit_without_parameters(bars):
    QuickShift(verbose=2).fit(X)
    assert bars[0].stages[:5] == ["prepare", "local_scale", "climb", "cut", "link"]
    assert bars[0].closed == 1


@pytest.mark.parametrize(
    ("rule", "stage"),
    [("cv", "choose_bandwidth"), ("prediction_set", "choose_joint_bandwidth")],
)
def test_bar_shows_how_modal_regression_chooses_its_bandwidths(rule, stage, bars):
    plain = ModalRegressor(rule).fit(X[:, :1], X[:, 1])
    model = ModalRegressor(rule, verbose=1).fit(X[:, :1], X[:, 1])
    (bar,) = bars
    assert stage in bar.stages
    parts = [done for name, done in bar.shown if name == stage]
    assert parts == sorted(parts)
    assert parts[-1] == 1.0
    assert len(parts) > 5
    assert bar.closed == 1
    assert model.bandwidth_ == plain.bandwidth_


def test_bar_does_not_change_the_result(bars):
    for settings in (MODEL, {}):
        shown = QuickShift(**settings, verbose=1).fit(X)
        plain = QuickShift(**settings).fit(X)
        np.testing.assert_array_equal(shown.labels_, plain.labels_)
        np.testing.assert_array_equal(shown.density_, plain.density_)
        assert vars(shown).keys() == vars(plain).keys()
    assert len(bars) == 2


def test_every_thread_has_a_bar_of_its_own(bars):
    threads = [
        threading.Thread(target=QuickShift(**MODEL, verbose=1, n_jobs=1).fit, args=(X,))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(bars) == 4
    for bar in bars:
        assert bar.stages == STAGES
        assert bar.closed == 1
        assert len(bar.threads) == 1


def test_callbacks_of_scikit_learn_hear_of_the_fit_as_well(bars):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    ended = []

    class Recorder:
        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context, *, X=None, metadata=None):
            pass

        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            if context.task_name != "part":
                ended.append(context.task_name)

    QuickShift(**MODEL, verbose=1).set_callbacks(Recorder()).fit(X)
    assert ended == [*STAGES, "fit"]
    assert bars[0].stages == STAGES


# Closing


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("stage", ["prepare", "climb"])
def test_exception_closes_the_bar_and_leaves_the_estimator_as_it_was(
    stage, error, monkeypatch, at_once
):
    bar = FakeBar(stage, error())
    monkeypatch.setattr(progress_bar, "open_bar", lambda: bar)
    model = QuickShift(**MODEL, verbose=1)
    before = dict(vars(model))
    with pytest.raises(error):
        model.fit(X)
    assert bar.closed == 1
    assert vars(model) == before


def test_exception_outside_of_reports_closes_the_bar(bars):
    def interrupted():
        with shown_progress(1, None) as progress:
            progress("climb", 0.5)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert bars[0].closed == 1


# How a bar is drawn

WITHOUT = {"tqdm": (), "rich": ("tqdm",), "lines": ("tqdm", "rich")}


@pytest.mark.parametrize("kind", WITHOUT)
def test_nothing_is_written_to_standard_output(kind, monkeypatch, capfd, at_once):
    if kind != "lines":
        pytest.importorskip(kind)
    hide(monkeypatch, *WITHOUT[kind])
    QuickShift(**MODEL, verbose=1).fit(X)
    out, err = capfd.readouterr()
    assert out == ""
    assert "prepare" in err


@pytest.mark.parametrize("kind", WITHOUT)
def test_no_thread_is_left_behind(kind, monkeypatch, at_once):
    if kind != "lines":
        pytest.importorskip(kind)
    hide(monkeypatch, *WITHOUT[kind])
    before = threading.enumerate()
    QuickShift(**MODEL, verbose=1).fit(X)
    assert threading.enumerate() == before


def test_tqdm_comes_before_rich_and_rich_before_lines(monkeypatch):
    hide(monkeypatch, "tqdm", "rich")
    assert type(open_bar()) is Lines
    order = []

    def opened(name, error):
        def bar():
            order.append(name)
            if error:
                raise ImportError(name)
            return FakeBar()

        return bar

    monkeypatch.setattr(progress_bar, "TqdmBar", opened("tqdm", True))
    monkeypatch.setattr(progress_bar, "_open_rich", opened("rich", False))
    assert type(open_bar()) is FakeBar
    assert order == ["tqdm", "rich"]
    monkeypatch.setattr(progress_bar, "TqdmBar", opened("tqdm", False))
    open_bar()
    assert order == ["tqdm", "rich", "tqdm"]


def test_tqdm_draws_the_stage_and_removes_the_bar(capfd):
    pytest.importorskip("tqdm")
    bar = progress_bar.TqdmBar()
    bar.show("climb", 0.25)
    shown = capfd.readouterr().err
    assert "climb  25%" in shown
    bar.show("cut", 1.0)
    assert "cut 100%" in capfd.readouterr().err
    bar.close()
    assert capfd.readouterr().err.endswith("\r")  # the line is blank


def test_rich_draws_the_stage_in_a_terminal():
    console = pytest.importorskip("rich.console").Console(
        file=io.StringIO(), force_terminal=True, width=80
    )
    stdout = sys.stdout
    bar = progress_bar.RichBar(console)
    bar.show("climb", 0.25)
    assert sys.stdout is stdout
    assert "climb" in console.file.getvalue()
    assert "25%" in console.file.getvalue()
    bar.close()


def test_rich_bars_of_several_fits_are_shown_together():
    console = pytest.importorskip("rich.console").Console
    bars = [progress_bar.RichBar(console(file=io.StringIO(), force_terminal=True)) for _ in "ab"]
    for bar in bars:
        bar.show("climb", 0.5)
        bar.close()


def test_rich_is_replaced_by_lines_outside_of_terminals(monkeypatch):
    pytest.importorskip("rich")
    hide(monkeypatch, "tqdm")
    for name in ("FORCE_COLOR", "TTY_INTERACTIVE", "TTY_COMPATIBLE"):
        monkeypatch.delitem(os.environ, name, raising=False)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert type(open_bar()) is Lines


def test_lines_are_written_every_five_seconds_at_most():
    clock, out = Clock(), io.StringIO()
    lines = Lines(out, clock)
    for stage, done, wait in [
        ("estimate_density", 0.1, 4.9),
        ("estimate_density", 0.6, 0.2),
        ("climb", 0.07, 1.0),
        ("climb", 1.0, 10.0),
        ("cut", 1.0, 0.0),
    ]:
        lines.show(stage, done)
        clock.now += wait
    lines.close()
    assert out.getvalue().splitlines() == [
        "quickshift: estimate_density 10%",
        "quickshift: climb 7%",
        "quickshift: cut 100%",
    ]


def test_program_without_standard_error_shows_nothing(monkeypatch, bars):
    monkeypatch.setattr(sys, "stderr", None)
    QuickShift(**MODEL, verbose=1).fit(X)
    assert bars == []


# Values that are refused


@pytest.mark.parametrize(
    ("verbose", "error"),
    [(-1, ValueError), (0.5, TypeError), ("yes", TypeError), (None, TypeError)],
)
def test_verbose_is_a_number_from_0(verbose, error):
    message = rf"verbose is {verbose!r}, expected 0 for no output or 1 for a progress bar"
    with pytest.raises(error, match=message):
        QuickShift(verbose=verbose).fit(X)
    with pytest.raises(error, match=message):
        ModalRegressor(verbose=verbose).fit(X, X[:, 0])
