"""Each argument is checked once per call: checked data go to entries that do not check again."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import quickshift as qs

PACKAGE = str(Path(qs.__file__).parent)
CHECKS = str(Path(PACKAGE, "checks"))
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
IMAGE = rng.random((12, 14, 3))


def checks_of(call):
    """Count the checks that are called from outside of quickshift.checks, by name and argument."""
    seen = Counter()

    def note(frame, event, _):
        code, caller = frame.f_code, frame.f_back.f_code.co_filename
        if event != "call" or not code.co_filename.startswith(CHECKS):
            return
        if code.co_name.startswith("check_") and not caller.startswith(CHECKS):
            seen[code.co_name, str(frame.f_locals.get("name", ""))] += 1

    def memory(frame, event, _):
        note(frame, event, _)
        if event == "call" and frame.f_code.co_name == "require_memory":
            seen["require_memory", ""] += 1

    sys.setprofile(memory)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen


MODEL = qs.QuickShift(0.5, 1.0).fit(X)
REGRESSOR = qs.ModalRegressor().fit(X[:, :1], X[:, 1])
CALLS = {
    "explicit fit": lambda: qs.QuickShift(0.5, 1.0).fit(X),
    "automatic fit": lambda: qs.QuickShift().fit(X),
    "weighted periodic fit": lambda: qs.QuickShift(metric="periodic", period=[9.0, np.inf]).fit(
        X, sample_weight=np.arange(60) % 3
    ),
    "fit with a tree": lambda: qs.QuickShiftTree(0.5, 1.0).fit(X),
    "predict": lambda: MODEL.predict(X[:5] + 0.1),
    "score_samples": lambda: MODEL.score_samples(X[:5] + 0.1),
    "labels_at": lambda: MODEL.labels_at(2.0),
    "modal fit": lambda: qs.ModalRegressor().fit(X[:, :1], X[:, 1]),
    "modal fit with bandwidths": lambda: qs.ModalRegressor((0.5, 0.3), 0.1).fit(X[:, :1], X[:, 1]),
    "predict_modes": lambda: REGRESSOR.predict_modes(X[:5, :1]),
    "predict_set": lambda: REGRESSOR.predict_set(X[:5, :1]),
    "segment": lambda: qs.segment(IMAGE),
    "segment_forest": lambda: qs.segment_forest(IMAGE, mask=np.ones((12, 14), dtype=bool)),
}


@pytest.mark.parametrize("call", CALLS)
def test_each_argument_is_checked_once(call):
    CALLS[call]()  # imports, and whatever is computed on first access
    seen = checks_of(CALLS[call])
    assert seen, "no check was seen"
    assert {check: count for check, count in seen.items() if count > 1} == {}
