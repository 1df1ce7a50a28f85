"""Copies of a fitted estimator work like the original: pickles, deep copies, joblib files."""

import copy
import pickle

import joblib
import networkx as nx
import numpy as np
import pytest

from clustering_cases import assert_same_fit, blobs, queries_for
from quickshift import QuickShift
from quickshift.estimators import pickles


def assert_works_alike(copied, model):
    queries = queries_for(blobs())
    assert_same_fit(copied, model)
    np.testing.assert_array_equal(copied.predict(queries), model.predict(queries))
    np.testing.assert_array_equal(copied.score_samples(queries), model.score_samples(queries))
    np.testing.assert_array_equal(copied.labels_at(0.3), model.labels_at(0.3))
    np.testing.assert_array_equal(copied.labels_for(4), model.labels_for(4))
    np.testing.assert_array_equal(copied.to_linkage(), model.to_linkage())
    assert nx.utils.graphs_equal(copied.to_networkx(), model.to_networkx())


@pytest.mark.parametrize(
    "settings",
    [
        {"bandwidth": 0.5},
        {"bandwidth": 0.5, "metric": "periodic", "period": [50.0, np.inf]},
        {},
        {"metric": "periodic", "period": [50.0, np.inf], "n_clusters": 20},
    ],
    ids=str,
)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickled_estimator_is_the_same(settings, protocol):
    X = blobs()
    model = QuickShift(**settings).fit(X, sample_weight=np.arange(60) % 4)
    restored = pickle.loads(pickle.dumps(model, protocol))
    assert_works_alike(restored, model)


@pytest.mark.parametrize("bandwidth", [0.5, "local"])
def test_deep_copy_is_the_same_and_separate(bandwidth):
    X = blobs()
    model = QuickShift(bandwidth).fit(X)
    copied = copy.deepcopy(model)
    assert_works_alike(copied, model)
    copied.fit(X[:10])
    assert model.labels_.size == 60
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("bandwidth", [0.5, "local"])
def test_joblib_file_is_the_same(tmp_path, bandwidth):
    model = QuickShift(bandwidth).fit(blobs())
    joblib.dump(model, tmp_path / "model.joblib")
    assert_works_alike(joblib.load(tmp_path / "model.joblib"), model)
    assert_works_alike(joblib.load(tmp_path / "model.joblib", mmap_mode="r"), model)


def written_by(version, model):
    """Return the bytes of a pickle, as another version of quickshift would have written them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pickles, "__version__", version)
        return pickle.dumps(model)


@pytest.mark.parametrize("version", ["0.1.0", "0.1.7", "0.1.2.dev0"])
@pytest.mark.parametrize("bandwidth", [0.5, "local"])
def test_pickles_of_the_same_minor_version_load_in_silence(version, bandwidth, recwarn):
    model = QuickShift(bandwidth).fit(blobs())
    assert_works_alike(pickle.loads(written_by(version, model)), model)
    assert not recwarn


@pytest.mark.parametrize("version", ["0.0.9", "0.2.0", "1.1.0"])
def test_pickles_of_another_minor_version_load_with_a_warning(version):
    model = QuickShift().fit(blobs())
    message = rf"pickled with quickshift {version} and is loaded with .*fit again"
    with pytest.warns(UserWarning, match=message):
        again = pickle.loads(written_by(version, model))
    assert_works_alike(again, model)
