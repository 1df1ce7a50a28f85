"""scikit-learn's own checks of estimators, and the use in pipelines and with data frames."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone, is_clusterer, is_regressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import quickshift as qs
from cases import same_partition
from quickshift import ModalRegressor, QuickShift

DEFAULTS = {
    "bandwidth": "local",
    "tau": "auto",
    "n_neighbors": "auto",
    "kernel": "gaussian",
    "n_clusters": None,
    "min_significance": "auto",
    "min_cluster_size": 1,
    "metric": "euclidean",
    "period": None,
    "scale": None,
    "verbose": 0,
    "ties": "total",
    "rtol": 1e-9,
    "n_jobs": None,
}
OTHERS = {
    "bandwidth": 0.5,
    "tau": 1.5,
    "n_neighbors": 7,
    "kernel": "cosine",
    "n_clusters": 3,
    "min_significance": 2.5,
    "min_cluster_size": 5,
    "metric": "periodic",
    "period": [1.0, np.inf],
    "scale": "std",
    "verbose": 1,
    "ties": "strict",
    "rtol": 0.0,
    "n_jobs": 2,
}
# Some settings are missing on purpose:
# - an explicit tau or min_significance, because some checks also set n_clusters=1, which excludes
#   both;
# - ties="strict", because duplicates of a mode are then several roots, as in the paper, whereas one
#   check expects that repeating a row is the same as giving it an integer weight;
# - ModalRegressor with bandwidth="prediction_set", because one check has a y of several columns,
#   for which the length of a prediction set is not defined;
# - metric="haversine", because the checks have other numbers of features than two.
MODELS = {
    "default": QuickShift(),
    "fixed bandwidth": QuickShift(bandwidth=0.5),
    "cross-validated bandwidth": QuickShift(bandwidth="cv"),
    "automatic bandwidth": QuickShift(bandwidth="auto"),
    "compact kernel": QuickShift(bandwidth="auto", kernel="epanechnikov"),
    "flat kernel": QuickShift(bandwidth="auto", kernel="uniform", n_jobs=1),
    "exponential kernel": QuickShift(kernel="exponential", bandwidth="silverman", rtol=0.0),
    "one cluster": QuickShift(n_clusters=1),
    "two clusters": QuickShift(n_clusters=2),
    "automatic bandwidth, one cluster": QuickShift(bandwidth="auto", n_clusters=1),
    "automatic bandwidth, two clusters": QuickShift(bandwidth="auto", n_clusters=2),
    "one neighbor": QuickShift(n_neighbors=1),
    "scaled features": QuickShift(scale="std"),
    "robustly scaled features, fixed bandwidth": QuickShift(bandwidth=0.5, scale="iqr"),
    "directions": QuickShift(metric="cosine"),
    "directions, automatic bandwidth": QuickShift(bandwidth="auto", metric="cosine"),
    "modal regression": ModalRegressor(),
    "modal regression, fixed bandwidth": ModalRegressor(bandwidth=0.5),
    "modal regression, compact kernel": ModalRegressor(kernel="epanechnikov"),
}
# This check fits integers, among them a row of zeros, which has no direction.
NEEDS_ZERO_ROWS = "check_estimators_dtypes"


def named(name, check):
    arguments = ",".join(f"{key}={value}" for key, value in check.keywords.items())
    return f"{name}-{check.func.__name__}({arguments})"


# The same as parametrize_with_checks, which cannot be used: in scikit-learn 1.6 it passes a
# generator to pytest, and pytest 9 warns about that.
CHECKS = [
    pytest.param(estimator, check, id=named(name, check))
    for name, model in MODELS.items()
    for estimator, check in estimator_checks_generator(model)
    if not (name.startswith("directions") and check.func.__name__ == NEEDS_ZERO_ROWS)
]


@pytest.fixture(name="X", scope="module")
def three_blobs():
    rng = np.random.default_rng(0)
    return rng.normal(size=(90, 2)) + np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 30, axis=0)


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


def test_checks_were_collected_for_every_model():
    assert len(CHECKS) > 40 * len(MODELS)


def test_each_estimator_says_what_it_is():
    assert is_clusterer(QuickShift())
    assert is_regressor(ModalRegressor())


def test_defaults_are_the_documented_ones():
    assert QuickShift().get_params() == DEFAULTS


def test_only_bandwidth_and_tau_are_positional():
    assert QuickShift(0.5, 1.5).get_params() == DEFAULTS | {"bandwidth": 0.5, "tau": 1.5}
    with pytest.raises(TypeError, match="positional"):
        QuickShift(0.5, 1.5, "gaussian")


def test_constructor_stores_parameters_untouched():
    model = QuickShift(**OTHERS)
    for name, value in OTHERS.items():
        assert getattr(model, name) is value


def test_parameters_can_be_set_by_name():
    model = QuickShift()
    assert model.set_params(**OTHERS) is model
    assert model.get_params() == OTHERS
    with pytest.raises(ValueError, match="Invalid parameter 'h'"):
        model.set_params(h=1.0)


@pytest.mark.parametrize("bandwidth", [1.0, "local"])
def test_clone_copies_parameters_but_not_the_fit(X, bandwidth):
    model = QuickShift(bandwidth, tau=3.0, period=None).fit(X)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "labels_")
    np.testing.assert_array_equal(copy.fit(X).labels_, model.labels_)


@pytest.mark.parametrize("settings", [{"bandwidth": 1.0, "tau": 3.0}, {}], ids=["kde", "local"])
def test_set_params_after_fit_changes_nothing_until_the_next_fit(X, settings):
    model = QuickShift(**settings).fit(X)
    labels, density = model.predict(X), model.score_samples(X)
    model.set_params(bandwidth=0.1, tau=0.0, kernel="uniform", ties="strict", rtol=0.1)
    np.testing.assert_array_equal(model.predict(X), labels)
    np.testing.assert_array_equal(model.score_samples(X), density)


@pytest.mark.parametrize("settings", [{"bandwidth": 1.0, "tau": 3.0}, {}], ids=["kde", "local"])
def test_fit_returns_the_estimator_and_fit_predict_its_labels(X, settings):
    model = QuickShift(**settings)
    assert model.fit(X) is model
    np.testing.assert_array_equal(clone(model).fit_predict(X), model.labels_)
    weights = np.arange(1.0, 91.0)
    np.testing.assert_array_equal(
        clone(model).fit_predict(X, sample_weight=weights),
        model.fit(X, sample_weight=weights).labels_,
    )


def test_y_is_ignored(X):
    model = QuickShift(bandwidth=1.0, tau=3.0)
    np.testing.assert_array_equal(
        model.fit_predict(X), clone(model).fit_predict(X, np.full(90, np.nan))
    )


class FewClusters(QuickShift):
    """A subclass with a single parameter, as scikit-learn allows."""

    def __init__(self, k=2):
        super().__init__(n_clusters=k)
        self.k = k


def test_subclass_may_have_fewer_parameters(X):
    model, plain = FewClusters(3).fit(X), QuickShift(n_clusters=3).fit(X)
    assert repr(model.summary()) == repr(plain.summary())
    model.plot("cuts")
    again = model.recut(n_clusters=2)
    assert isinstance(again, FewClusters)
    np.testing.assert_array_equal(again.labels_, plain.labels_for(2))


def test_short_representation_shows_what_was_changed():
    assert repr(QuickShift()) == "QuickShift()"
    assert repr(QuickShift(tau=2.0)) == "QuickShift(tau=2.0)"


def test_pipeline_clusters_the_scaled_data(X):
    stretched = X * [1.0, 1e6]
    pipeline = make_pipeline(StandardScaler(), QuickShift(bandwidth=0.2, tau=0.8))
    labels = pipeline.fit_predict(stretched)
    scaled = StandardScaler().fit_transform(stretched)
    np.testing.assert_array_equal(labels, QuickShift(0.2, 0.8).fit_predict(scaled))
    assert len(set(labels)) == 3
    np.testing.assert_array_equal(pipeline.predict(stretched), labels)
    np.testing.assert_array_equal(
        pipeline.score_samples(stretched), pipeline[-1].score_samples(scaled)
    )


def test_pipeline_clusters_by_default(X):
    pipeline = make_pipeline(StandardScaler(), QuickShift())
    labels = pipeline.fit_predict(X * [1.0, 1e6])
    assert same_partition(labels, np.repeat([0, 1, 2], 30))
    np.testing.assert_array_equal(pipeline.predict(X * [1.0, 1e6]), labels)
    np.testing.assert_array_equal(pipeline.score_samples(X * [1.0, 1e6]), pipeline[-1].log_density_)


def test_pipeline_hands_weights_on(X):
    weights = np.arange(90.0)
    pipeline = make_pipeline(StandardScaler(), QuickShift(bandwidth=0.2, tau=0.8))
    pipeline.fit(X, quickshift__sample_weight=weights)
    expected = QuickShift(0.2, 0.8).fit(StandardScaler().fit_transform(X), sample_weight=weights)
    np.testing.assert_array_equal(pipeline[-1].density_, expected.density_)


def test_weights_can_be_requested_by_metadata_routing():
    with config_context(enable_metadata_routing=True):
        request = QuickShift().set_fit_request(sample_weight=True).get_metadata_routing()
    assert request.fit.requests == {"sample_weight": True}


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(lambda X: pd.DataFrame(X, columns=["a", "b"]), id="pandas"),
        pytest.param(lambda X: pd.DataFrame(X, columns=["a", "b"], index=X[:, 0]), id="index"),
        pytest.param(lambda X: pl.DataFrame(X, schema=["a", "b"]), id="polars"),
        pytest.param(lambda X: pa.table({"a": X[:, 0], "b": X[:, 1]}), id="pyarrow"),
    ],
)
@pytest.mark.parametrize("settings", [{"bandwidth": 1.0, "tau": 3.0}, {}], ids=["kde", "local"])
def test_data_frames_are_read_as_their_values(X, frame, settings):
    data = frame(X)
    model = QuickShift(**settings).fit(data)
    expected = QuickShift(**settings).fit(X)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.density_, expected.density_)
    np.testing.assert_array_equal(model.modes_, expected.modes_)
    np.testing.assert_array_equal(model.predict(data), expected.labels_)
    assert type(model.labels_) is np.ndarray
    assert model.n_features_in_ == 2


def test_columns_of_different_types_become_numbers(X):
    data = pd.DataFrame({"a": np.arange(90), "b": X[:, 0].astype(np.float32), "c": X[:, 1] > 4})
    model = QuickShift(bandwidth=1.0, tau=3.0).fit(data)
    expected = QuickShift(bandwidth=1.0, tau=3.0).fit(data.to_numpy(dtype=float))
    np.testing.assert_array_equal(model.density_, expected.density_)


def test_nullable_columns_without_missing_values_are_numbers(X):
    data = pd.DataFrame(X).convert_dtypes(dtype_backend="numpy_nullable")
    model = QuickShift(bandwidth=1.0, tau=3.0).fit(data)
    np.testing.assert_array_equal(model.labels_, QuickShift(1.0, 3.0).fit_predict(X))


def test_series_can_be_weights(X):
    weights = np.arange(1.0, 91.0)
    model = QuickShift(bandwidth=1.0, tau=3.0).fit(
        X, sample_weight=pd.Series(weights, index=X[:, 0])
    )
    expected = QuickShift(bandwidth=1.0, tau=3.0).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(model.density_, expected.density_)


def test_column_names_are_remembered_and_compared(X):
    data = pd.DataFrame(X, columns=["a", "b"])
    model = QuickShift(bandwidth=1.0, tau=3.0).fit(data)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(data.rename(columns={"b": "c"}))
    with pytest.raises(ValueError, match="same order"):
        model.score_samples(data[["b", "a"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


def test_refit_without_names_forgets_them(X):
    model = QuickShift(bandwidth=1.0, tau=3.0).fit(pd.DataFrame(X, columns=["a", "b"]))
    model.fit(X)
    assert not hasattr(model, "feature_names_in_")


def test_public_name_is_the_class_of_the_estimators_module():
    assert qs.QuickShift is qs.estimators.QuickShift is QuickShift
