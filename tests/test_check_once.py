"""Each argument is checked exactly once per call.

Functions that take checked data pass them on to functions that do not check them again.
"""

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
    """Count the calls of checks from outside quickshift.checks, by name of check and argument."""
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
LOCAL_MODEL = qs.QuickShift().fit(X)
SAMPLES = qs.stages.prepare(X)
REGRESSOR = qs.ModalRegressor().fit(X[:, :1], X[:, 1])
FIT = {
    "check_points",
    "check_weights",
    "check_bandwidth",
    "check_cut",
    "check_metric",
    "check_ties",
    "check_rtol",
    "require_memory",
}
LOCAL_FIT = {
    "check_points",
    "check_weights",
    "check_cut",
    "check_metric",
    "check_min_significance",
    "check_local",
    "check_n_neighbors",
    "check_ties",
    "require_memory",
}
MODAL_FIT = {
    "check_points",
    "check_responses",
    "check_weights",
    "check_bandwidth",
    "check_period",
    "check_min_density_ratio",
    "check_rtol",
    "require_memory",
}
PICTURE = {
    "check_image",
    "check_mask",
    "check_channel_axis",
    "check_pixel_bandwidth",
    "check_window",
    "check_color_ratio",
    "check_blur",
    "check_spacing",
    "require_memory",
}
NEEDED = {  # some of the checks that a call cannot do without
    "explicit fit": FIT,
    "automatic fit": FIT,
    "weighted periodic fit": FIT,
    "fit with a tree": FIT,
    "fit on the globe": FIT | {"check_places", "check_arc"},
    "fit by direction": FIT | {"check_not_zero"},
    "scaled local fit": LOCAL_FIT | {"check_scale", "check_scaled"},
    "local fit": LOCAL_FIT,
    "local fit of three scales": LOCAL_FIT,
    "local fit with neighbors": LOCAL_FIT,
    "local fit with tau": LOCAL_FIT,
    "local fit of clusters": LOCAL_FIT,
    "weighted periodic local fit": LOCAL_FIT | {"check_frequencies"},
    "local fit with a tree": LOCAL_FIT,
    "local_scale": {"check_n_neighbors", "require_memory"},
    "find_local_clusters": LOCAL_FIT
    - {"check_points", "check_weights", "check_metric", "check_local"},
    "predict": {"check_points", "require_memory"},
    "predict by local scale": {"check_points", "require_memory"},
    "score_samples": {"check_points", "require_memory"},
    "score_samples by local scale": {"check_points", "require_memory"},
    "labels_at": {"check_taus", "require_memory"},
    "labels_at of a local fit": {"check_taus", "require_memory"},
    "labels_at with one tau per sample": {"check_taus", "require_memory"},
    "modal fit": MODAL_FIT,
    "modal fit with bandwidths": MODAL_FIT | {"check_bandwidth_pair", "check_tau"},
    "predict_modes": {"check_points"},
    "predict_set": {"check_points", "check_coverage"},
    "segment": PICTURE | {"check_tau", "check_start_label"},
    "segment_forest": PICTURE,
}
CALLS = {
    "explicit fit": lambda: qs.QuickShift(0.5, 1.0).fit(X),
    "automatic fit": lambda: qs.QuickShift("auto").fit(X),
    "weighted periodic fit": lambda: qs.QuickShift(
        "auto", metric="periodic", period=[9.0, np.inf]
    ).fit(X, sample_weight=np.arange(60) % 3),
    "fit on the globe": lambda: qs.QuickShift(0.5, 1.0, metric="haversine").fit(X / 3),
    "fit by direction": lambda: qs.QuickShift(0.5, 1.0, metric="cosine").fit(X),
    "scaled local fit": lambda: qs.QuickShift(scale="std").fit(X),
    "local fit": lambda: qs.QuickShift(min_significance=0.0).fit(X),
    "local fit of three scales": lambda: qs.QuickShift(min_significance=1e9).fit(X),
    "local fit with neighbors": lambda: qs.QuickShift(n_neighbors=9).fit(X),
    "local fit with tau": lambda: qs.QuickShift(tau=1.0).fit(X),
    "local fit of clusters": lambda: qs.QuickShift(n_clusters=3).fit(X),
    "weighted periodic local fit": lambda: qs.QuickShift(
        metric="periodic", period=[9.0, np.inf], n_neighbors=5
    ).fit(X, sample_weight=np.arange(60) % 3 * 0.5),
    "local_scale": lambda: qs.stages.local_scale(SAMPLES, 5),
    "find_local_clusters": lambda: qs.stages.find_local_clusters(SAMPLES, min_significance=0.0),
    "predict by local scale": lambda: LOCAL_MODEL.predict(X[:5] + 0.1),
    "score_samples by local scale": lambda: LOCAL_MODEL.score_samples(X[:5] + 0.1),
    "labels_at of a local fit": lambda: LOCAL_MODEL.labels_at(2.0),
    "labels_at with one tau per sample": lambda: LOCAL_MODEL.labels_at(LOCAL_MODEL.tau_),
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
    CALLS[call]()  # so that imports and lazily computed values are not counted
    seen = checks_of(CALLS[call])
    assert {name for name, _ in seen} >= NEEDED[call]
    assert {check: count for check, count in seen.items() if count > 1} == {}
