"""call_last_step reaches the methods of a pipeline's last step."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import quickshift as qs
from modal_cases import assert_same_modes, assert_same_set, branches

X, Y = branches(120)
WIDE = np.hstack([X, np.random.default_rng(0).normal(scale=1000.0, size=X.shape)])


def scaled_regression():
    return make_pipeline(StandardScaler(), qs.ModalRegressor()).fit(WIDE, Y)


def test_modes_and_sets_are_reached_through_a_pipeline():
    pipeline = scaled_regression()
    scaled = pipeline[0].transform(WIDE)
    model = qs.ModalRegressor().fit(scaled, Y)
    assert_same_modes(
        qs.call_last_step(pipeline, "predict_modes", WIDE), model.predict_modes(scaled)
    )
    found = qs.call_last_step(pipeline, "predict_set", WIDE, coverage=0.8)
    assert_same_set(found, model.predict_set(scaled, 0.8))
    assert_same_set(qs.call_last_step(pipeline, "predict_set", WIDE, 0.8), found)


def test_responses_are_passed_on_as_they_are():
    pipeline, (X_out, y_out) = scaled_regression(), (WIDE[::2], Y[::2])
    qs.call_last_step(pipeline, "calibrate", X_out, y_out)
    expected = scaled_regression()[-1].calibrate(pipeline[0].transform(X_out), y_out)
    sets = qs.call_last_step(pipeline, "predict_set", WIDE)
    assert_same_set(sets, expected.predict_set(pipeline[0].transform(WIDE)))


def test_methods_of_a_pipeline_give_the_same_through_the_function():
    pipeline = scaled_regression()
    found = qs.call_last_step(pipeline, "predict", WIDE)
    np.testing.assert_array_equal(found, pipeline.predict(WIDE))


def test_other_estimators_are_reached_as_well():
    pipeline = make_pipeline(StandardScaler(), qs.QuickShift()).fit(WIDE)
    found = qs.call_last_step(pipeline, "predict", WIDE)
    np.testing.assert_array_equal(found, pipeline[-1].labels_)


def test_pipeline_of_one_step_transforms_nothing():
    pipeline = make_pipeline(qs.ModalRegressor()).fit(X, Y)
    found = qs.call_last_step(pipeline, "predict_modes", X)
    assert_same_modes(found, qs.ModalRegressor().fit(X, Y).predict_modes(X))


def test_steps_that_pass_through_are_skipped():
    steps = [("none", "passthrough"), ("model", qs.ModalRegressor())]
    found = qs.call_last_step(Pipeline(steps).fit(X, Y), "predict_modes", X)
    assert_same_modes(found, qs.ModalRegressor().fit(X, Y).predict_modes(X))


def test_pipeline_inside_a_pipeline_is_followed_to_its_last_step():
    inner = make_pipeline(StandardScaler(), qs.ModalRegressor())
    outer = make_pipeline("passthrough", inner).fit(WIDE, Y)
    found = qs.call_last_step(outer, "predict_modes", WIDE)
    assert_same_modes(found, qs.call_last_step(scaled_regression(), "predict_modes", WIDE))


def test_columns_are_found_by_name():
    frame = pd.DataFrame(WIDE, columns=["near", "wide"])
    columns = ColumnTransformer([("scaled", StandardScaler(), ["wide", "near"])])
    pipeline = make_pipeline(columns, qs.ModalRegressor()).fit(frame, Y)
    found = qs.call_last_step(pipeline, "predict_modes", frame[["wide", "near"]])
    assert_same_modes(found, pipeline[-1].predict_modes(columns.fit_transform(frame)))


def test_pipeline_that_is_not_fitted_says_so():
    pipeline = make_pipeline(StandardScaler(), qs.ModalRegressor())
    with pytest.raises(NotFittedError, match=r"has not been fitted\. Call its fit method"):
        qs.call_last_step(pipeline, "predict_modes", X)


def test_missing_method_names_the_step_and_its_methods():
    with pytest.raises(AttributeError, match=r"is ModalRegressor.*'predict_mode'.*predict_modes"):
        qs.call_last_step(scaled_regression(), "predict_mode", X)
    with pytest.raises(AttributeError, match="last step of the pipeline is 'passthrough'"):
        qs.call_last_step(make_pipeline("passthrough").fit(X), "predict_modes", X)


def test_what_is_no_pipeline_is_refused():
    model = qs.ModalRegressor().fit(X, Y)
    with pytest.raises(TypeError, match=r"of type ModalRegressor.*Call predict_modes on an est"):
        qs.call_last_step(model, "predict_modes", X)
    search = GridSearchCV(scaled_regression(), {"modalregressor__tau": [0.5]}, cv=2).fit(WIDE, Y)
    with pytest.raises(TypeError, match="GridSearchCV, pass best_estimator_"):
        qs.call_last_step(search, "predict_modes", WIDE)
    assert len(qs.call_last_step(search.best_estimator_, "predict_modes", WIDE)) == len(WIDE)
