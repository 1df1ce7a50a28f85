"""Copies, parameters, refits and the diagnosis of estimators under local scale."""

import copy
import pickle
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import clone

import quickshift as qs
from clustering_cases import (
    assert_same_fit,
    blobs,
    queries_for,
)
from quickshift import QuickShift


@pytest.mark.parametrize("settings", [{}, {"tau": 1.0}, {"n_clusters": 20}], ids=str)
def test_copies_work_like_the_original(tmp_path: Path, settings):
    X = blobs()
    model = QuickShift(**settings).fit(X, sample_weight=np.arange(60) % 4)
    joblib.dump(model, tmp_path / "model.joblib")
    copies = [
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        joblib.load(tmp_path / "model.joblib"),
        joblib.load(tmp_path / "model.joblib", mmap_mode="r"),
    ]
    queries = queries_for(X)
    for copied in copies:
        assert_same_fit(copied, model)
        np.testing.assert_array_equal(copied.significance_, model.significance_)
        np.testing.assert_array_equal(copied.predict(queries), model.predict(queries))
        np.testing.assert_array_equal(copied.score_samples(queries), model.score_samples(queries))
        np.testing.assert_array_equal(copied.labels_at(model.tau_), model.labels_at(model.tau_))
        for count in (1, 4, 25):
            np.testing.assert_array_equal(copied.labels_for(count), model.labels_for(count))


def test_parameters_are_stored_and_cloned():
    model = QuickShift(n_neighbors=9, min_significance=1.5, n_jobs=1).fit(blobs())
    assert model.get_params()["n_neighbors"] == 9
    assert model.get_params()["bandwidth"] == "local"
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert_same_fit(copied.fit(blobs()), model)
    assert repr(model) == "QuickShift(min_significance=1.5, n_jobs=1, n_neighbors=9)"


def test_refit_with_another_density_leaves_nothing_behind():
    X = blobs()
    for first, second in (({}, {"bandwidth": 0.5}), ({"bandwidth": 0.5}, {"bandwidth": "local"})):
        model = QuickShift(**first).fit(X).set_params(**second).fit(X)
        fresh = QuickShift(**{**first, **second}).fit(X)
        assert_same_fit(model, fresh)
        np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_refit_with_a_bandwidth_forgets_the_number_of_neighbors():
    X = blobs()
    model = QuickShift().fit(X).set_params(bandwidth=0.5).fit(X)
    assert sorted(vars(model)) == sorted(vars(QuickShift(bandwidth=0.5).fit(X)))


def test_other_calls_leave_the_estimator_as_it_is():
    X = blobs()
    model = QuickShift().fit(X, sample_weight=np.arange(60.0))
    before = copy.deepcopy(model)
    model.labels_at(0.5)[:] = -7
    model.labels_for(30)[:] = -7
    model.labels_for(2)[:] = -7
    model.predict(X)[:] = -7
    model.score_samples(X)[:] = -7
    assert_same_fit(model, before)
    np.testing.assert_array_equal(model.labels_for(3), before.labels_for(3))


# Diagnosis


def test_diagnosis_names_the_modes_of_the_fit():
    X = np.concatenate([blobs(0, 100), blobs(1, 100) + 40])
    model = QuickShift(n_clusters=3).fit(X)
    found = qs.diagnose(model, theory=True, pair=(0, 150))
    assert [mode.row for mode in found.modes] == model.mode_indices_.tolist()
    np.testing.assert_allclose(
        [mode.significance for mode in found.modes], model.significance_, rtol=1e-9
    )
    np.testing.assert_allclose(
        [mode.height for mode in found.modes], model.density_[model.mode_indices_], rtol=1e-9
    )
    for mode in found.modes[1:]:
        assert mode.parent_distance == model.parent_distance_[mode.row]
        assert f"is {mode.parent_distance:.4g} away" in mode.sentence
    assert str(found)


def test_diagnosis_counts_the_modes_of_the_fit_before_they_are_merged():
    X = np.random.default_rng(0).normal(size=(500, 2))
    model = QuickShift(min_significance=1e9).fit(X)
    n_modes = int(model.labels_at(model.tau_).max()) + 1
    assert f"Of the {n_modes} modes at tau, one is kept" in str(qs.diagnose(model, theory=True))
