"""Ctrl-C stops a computation inside the native code and leaves the estimator unchanged.

The computations would take many minutes. They run in a separate process with a watchdog that ends
it after some seconds, so that an ignored signal makes the test fail instead of hang.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

PRELUDE = """
    import faulthandler
    import signal

    import numpy as np
    from quickshift import QuickShift, stages

    X = np.random.default_rng(0).normal(size=(200_000, 2))

    class Stop(Exception):
        pass

    def stop(number, frame):
        raise Stop

    def snapshot(model):
        return {name: id(value) for name, value in vars(model).items()}

    def attempt(name, compute, seconds, expected=KeyboardInterrupt):
        faulthandler.dump_traceback_later(seconds, exit=True)
        print("ready", name, flush=True)
        try:
            compute()
        except expected:
            print("heard", name, flush=True)
        faulthandler.cancel_dump_traceback_later()

    def attempt_method(name, model, method="fit", expected=KeyboardInterrupt):
        before = snapshot(model)
        attempt(name, lambda: [getattr(model, method)(X) for _ in range(1000)], 60, expected)
        if snapshot(model) == before:
            print("unchanged", name, flush=True)
"""
ESTIMATORS = """
    slow = dict(bandwidth=1.0, tau=1.0, rtol=0.0)
    attempt_method("fit with one thread", QuickShift(**slow, n_jobs=1))
    attempt_method("fit with two threads", QuickShift(**slow, n_jobs=2))
    attempt_method("refit", QuickShift(**slow).fit(X[:200]))
    attempt_method("cross-validation", QuickShift(bandwidth="cv", rtol=0.0))
    attempt_method("local fit with one thread", QuickShift(n_neighbors=2000, n_jobs=1))
    attempt_method("local fit with two threads", QuickShift(n_neighbors=2000, n_jobs=2))
    model = QuickShift(n_neighbors=100).fit(X[:200]).set_params(n_neighbors=2000)
    attempt_method("local refit", model)
    model = QuickShift(**slow).fit(X[:20_000])
    attempt_method("predict", model, "predict")
    attempt_method("score_samples", model, "score_samples")
    local = QuickShift(n_neighbors=1000, tau=1.0).fit(X[:5000])
    attempt_method("predict by local scale", local, "predict")
    attempt_method("score_samples by local scale", local, "score_samples")
    signal.signal(signal.SIGINT, stop)
    attempt_method("own handler", QuickShift(**slow), expected=Stop)
    if QuickShift(bandwidth=1.0, tau=1.0).fit(X[:200]).labels_.size == 200:
        print("fitted afterwards")
"""
STAGES = """
    samples = stages.prepare(np.concatenate([X + k / 8 for k in range(8)]))
    attempt("density", lambda: stages.estimate_density(samples, 1.0, rtol=0.0), 20)
"""
UNCAUGHT = """
    faulthandler.dump_traceback_later(60, exit=True)
    print("ready", flush=True)
    QuickShift(bandwidth=1.0, rtol=0.0).fit(X)
"""


def interrupt(code):
    """Run code in a new process and send it SIGINT half a second after each "ready".

    Returns the lines of its standard output, its exit code and its standard error.
    """
    said = []
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(PRELUDE) + textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            for line in process.stdout:
                said.append(line.strip())
                if line.startswith("ready"):
                    time.sleep(0.5)
                    os.kill(process.pid, signal.SIGINT)
            errors = process.stderr.read()
            process.wait(timeout=60)
        finally:
            if process.poll() is None:
                process.kill()
    return said, process.returncode, errors


def test_interrupted_calls_leave_the_estimator_as_it_was():
    lines, code, errors = interrupt(ESTIMATORS)
    assert code == 0, errors
    names = [line.removeprefix("ready ") for line in lines if line.startswith("ready ")]
    assert names == [
        "fit with one thread",
        "fit with two threads",
        "refit",
        "cross-validation",
        "local fit with one thread",
        "local fit with two threads",
        "local refit",
        "predict",
        "score_samples",
        "predict by local scale",
        "score_samples by local scale",
        "own handler",
    ]
    for name in names:
        assert f"heard {name}" in lines
        assert f"unchanged {name}" in lines
    assert lines[-1] == "fitted afterwards"


def test_interrupt_is_heard_however_many_points_there_are():
    lines, code, errors = interrupt(STAGES)
    assert code == 0, errors
    assert lines == ["ready density", "heard density"]


def test_uncaught_interrupt_ends_the_process():
    lines, code, errors = interrupt(UNCAUGHT)
    assert lines == ["ready"]
    assert code == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")
