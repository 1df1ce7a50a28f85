"""Stages report their progress in the calling thread, and stop if the callback raises."""

import threading
import time
from itertools import groupby, pairwise

import numpy as np
import pytest
from sklearn.base import clone

from quickshift import QuickShift, stages

X = np.random.default_rng(0).normal(size=(3000, 2))
LARGE = np.random.default_rng(1).normal(size=(100_000, 2))  # takes seconds with rtol=0


class Reports(list):
    """A ``progress`` callback that records every report and the thread that made it."""

    def __init__(self):
        super().__init__()
        self.threads = set()

    def __call__(self, stage, done):
        self.append((stage, done))
        self.threads.add(threading.get_ident())

    @property
    def stages(self):
        return [stage for stage, _ in groupby(self, key=lambda report: report[0])]

    def parts(self, stage):
        return [done for name, done in self if name == stage]


class EnoughError(Exception):
    pass


def stop_at(stage, after=0.0):
    def progress(name, done):
        if name == stage and done > after:
            raise EnoughError

    return progress


def every_stage(progress):
    samples = stages.prepare(X, progress=progress)
    h = stages.choose_bandwidth(samples, "cv", progress=progress)
    density = stages.estimate_density(samples, h, progress=progress)
    graph = stages.climb(samples, density, progress=progress)
    tau = stages.choose_tau(samples, h, progress=progress)
    scale = stages.local_scale(samples, progress=progress)
    return (
        h,
        scale.r,
        scale.tau,
        density,
        graph.parent,
        tau,
        stages.cut(graph, tau, progress=progress).labels,
        stages.cut_into(graph, 5, progress=progress).labels,
    )


def test_every_stage_rises_and_ends_with_one():
    reports = Reports()
    every_stage(reports)
    assert reports.stages == [
        "prepare",
        "choose_bandwidth",
        "estimate_density",
        "climb",
        "choose_tau",
        "local_scale",
        "cut",
        "cut_into",
    ]
    for stage in reports.stages:
        parts = reports.parts(stage)
        assert parts[-1] == 1.0
        assert all(0.0 <= part <= 1.0 for part in parts)
        assert all(a <= b for a, b in pairwise(parts))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_long_stage_tells_several_times_in_the_calling_thread(n_jobs):
    reports = Reports()
    stages.estimate_density(LARGE, 1.0, rtol=0.0, n_jobs=n_jobs, progress=reports)
    parts = reports.parts("estimate_density")
    assert len(parts) >= 4
    assert len(set(parts)) >= 3
    assert all(a <= b for a, b in pairwise(parts))
    assert min(parts) < 0.5
    assert reports.threads == {threading.get_ident()}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_local_scales_tell_several_times_and_stop_if_they_are_told_to(n_jobs):
    samples, reports = stages.prepare(LARGE), Reports()
    stages.local_scale(samples, 2000, n_jobs=n_jobs, progress=reports)
    parts = reports.parts("local_scale")
    assert len(set(parts)) >= 3
    assert all(a <= b for a, b in pairwise(parts))
    assert parts[-1] == 1.0
    assert reports.threads == {threading.get_ident()}
    begin = time.perf_counter()
    with pytest.raises(EnoughError):
        stages.local_scale(
            samples, 39_999, n_jobs=n_jobs, progress=stop_at("local_scale", after=-1.0)
        )
    assert time.perf_counter() - begin < 20  # all of it would take minutes


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_slow_listener_leaves_time_to_work_in_between(n_jobs):
    begun, ended = [], []

    def progress(stage, done):
        if stage == "estimate_density" and done < 1.0:
            begun.append(time.perf_counter())
            time.sleep(0.15)
            ended.append(time.perf_counter())

    stages.estimate_density(LARGE, 1.0, rtol=0.0, n_jobs=n_jobs, progress=progress)
    assert len(begun) >= 2
    assert all(later - earlier > 0.09 for earlier, later in zip(ended, begun[1:], strict=False))


def test_cross_validation_moves_with_every_evaluation():
    reports = Reports()
    stages.choose_bandwidth(stages.prepare(X), "cv", progress=reports)
    parts = reports.parts("choose_bandwidth")
    assert len(parts) > 30
    assert all(b - a < 0.1 for a, b in pairwise(parts))


def test_results_are_the_same_with_and_without():
    for a, b in zip(every_stage(Reports()), every_stage(None), strict=True):
        np.testing.assert_array_equal(a, b)


def test_nothing_is_printed(capfd):
    every_stage(None)
    for bandwidth in ("local", "auto"):
        QuickShift(bandwidth).fit(X)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_exception_stops_the_stage_before_its_end(n_jobs):
    reports = Reports()

    def progress(stage, done):
        reports(stage, done)
        stop_at("estimate_density")(stage, done)

    with pytest.raises(EnoughError):
        stages.estimate_density(LARGE, 1.0, rtol=0.0, n_jobs=n_jobs, progress=progress)
    assert len(reports.parts("estimate_density")) == 1
    assert reports.parts("estimate_density")[0] < 1.0


@pytest.mark.parametrize(
    "stage", ["prepare", "choose_bandwidth", "estimate_density", "climb", "local_scale"]
)
def test_exception_at_the_end_of_a_stage_propagates(stage):
    with pytest.raises(EnoughError):
        every_stage(stop_at(stage))


@pytest.mark.parametrize("progress", [True, "yes", 3])
def test_what_cannot_be_called_is_refused(progress):
    with pytest.raises(TypeError, match=r"progress is .*, expected a callable .* Use None"):
        stages.prepare(X, progress=progress)


# scikit-learn's callbacks


class Recorder:
    """A callback in scikit-learn's protocol that records all events and may raise in a task."""

    def __init__(self, fails_at=None):
        self.events = []
        self.fails_at = fails_at

    def setup(self, estimator, context):
        self.events.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.events.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context, *, X=None, metadata=None):
        self.events.append(("begin", context.task_name))
        if context.task_name == "fit":
            self.given = X, metadata

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.events.append(("end", context.task_name))
        if context.task_name == self.fails_at:
            raise EnoughError
        if context.task_name == "fit":
            self.fitted = fitted_estimator

    def ended(self):
        return [name for event, name in self.events if event == "end" and name != "part"]


@pytest.fixture
def sklearn_callbacks():
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")


GIVEN = ["prepare", "estimate_density", "climb", "cut"]
RULED = ["prepare", "choose_bandwidth", "estimate_density", "climb", "choose_tau", "cut", "link"]
LOCAL = ["prepare", "local_scale", "climb", "cut"]
ONE_SCALE = [*LOCAL, "link"]
# If no scale finds two clusters, the cluster tree of the first scale is linked once more.
# The second and the third are measured together.
THREE_SCALES = ["prepare", *2 * ONE_SCALE[1:], *ONE_SCALE[2:], "cut", "link"]
SETTINGS = [
    (QuickShift("auto"), RULED),
    (QuickShift(bandwidth=0.5, tau=1.0), GIVEN),
    (QuickShift("auto", n_clusters=3), RULED),
    (QuickShift("auto", n_clusters=50), RULED),
    (QuickShift(min_significance=0.0), ONE_SCALE),
    (QuickShift(min_significance=1e9), THREE_SCALES),
    (QuickShift(min_significance=1e9, n_neighbors=20), ONE_SCALE),
    (QuickShift(n_clusters=3), ONE_SCALE),
    (QuickShift(n_clusters=2000), ONE_SCALE),
    (QuickShift(tau=1.0), LOCAL),
]


@pytest.mark.usefixtures("sklearn_callbacks")
@pytest.mark.parametrize(("model", "names"), SETTINGS)
def test_callbacks_hear_of_every_stage(model, names):
    recorder = Recorder()
    model = clone(model).set_callbacks(recorder).fit(X)
    assert recorder.ended() == [*names, "fit"]
    assert recorder.events[:2] == [("setup", "fit"), ("begin", "fit")]
    assert recorder.events[-2:] == [("end", "fit"), ("teardown", "fit")]
    assert recorder.events.count(("end", "part")) == 20 * len(names)
    np.testing.assert_array_equal(recorder.fitted.labels_, model.labels_)
    np.testing.assert_array_equal(recorder.given[0], X)


@pytest.mark.usefixtures("sklearn_callbacks")
def test_callbacks_change_no_result_and_leave_nothing_behind():
    for bandwidth in ("local", "auto"):
        plain = QuickShift(bandwidth).fit(X)
        reporting = QuickShift(bandwidth).set_callbacks(Recorder()).fit(X)
        np.testing.assert_array_equal(reporting.labels_, plain.labels_)
        np.testing.assert_array_equal(reporting.density_, plain.density_)
        assert set(vars(reporting)) - set(vars(plain)) == {"_skl_callbacks"}


@pytest.mark.usefixtures("sklearn_callbacks")
@pytest.mark.parametrize("bandwidth", [0.5, "local"])
@pytest.mark.parametrize("stage", ["part", "prepare", "climb", "cut", "fit"])
def test_exception_in_a_callback_leaves_the_estimator_as_it_was(stage, bandwidth):
    recorder = Recorder()
    model = QuickShift(bandwidth, tau=1.0).fit(X[:100]).set_callbacks(recorder)
    before = dict(vars(model))
    recorder.fails_at = stage
    with pytest.raises(EnoughError):
        model.fit(X)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)
    assert recorder.events[-1] == ("teardown", "fit")


def test_fit_does_without_callbacks():
    samples = stages.prepare(X)
    estimate = stages.fit_estimate(samples, 0.5)
    graph = stages.climb(samples, estimate.sums(), significant_bits=estimate.significant_bits)
    model = QuickShift(bandwidth=0.5, tau=1.0).fit(X)
    np.testing.assert_array_equal(model.labels_, stages.cut(graph, 1.0).labels)
