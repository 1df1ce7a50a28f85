"""Arguments that `QuickShift` refuses, and the error messages.

A message states what was passed, what was expected, and how to fix it.
"""

import io
import re
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from quickshift import ModalRegressor, QuickShift, stages

X = np.arange(12.0).reshape(6, 2)
WEIGHTS = np.ones(6)


def changed(value, row=2, column=1):
    data = X.copy()
    data[row, column] = value
    return data


def snapshot(model):
    """Return the name and the identity of every attribute of an estimator."""
    return {name: id(value) for name, value in vars(model).items()}


def assert_refused(error, message, data=X, weights=None, **parameters):
    """Check that fit raises the error and changes neither an unfitted nor a fitted estimator."""
    unfitted = QuickShift(**parameters)
    fitted = QuickShift(bandwidth=1.0).fit(X[:3])
    local = QuickShift().fit(X[:3])
    fitted.set_params(**parameters)
    local.set_params(**parameters)
    for model in (unfitted, fitted, local):
        before = snapshot(model)
        with pytest.raises(error, match=message):
            model.fit(data, sample_weight=weights)
        assert snapshot(model) == before
    for model in (fitted, local):
        model.set_params(n_jobs=1)  # the only parameter that predict reads
        np.testing.assert_array_equal(model.predict(X[:3]), model.labels_)
    with pytest.raises(NotFittedError):
        unfitted.predict(X)


def assert_refused_by_the_others(error, message, data):
    """Check that modal regression and the stages raise the same error."""
    with pytest.raises(error, match=message):
        ModalRegressor().fit(data, [1.0])
    with pytest.raises(error, match=message):
        stages.prepare(data)


# Data

FINITE = (
    "X has NaN or infinity in 1 of . rows, the first at row ., column 1; expected finite numbers"
)
COLUMN = "X has NaN, null or infinity in 1 of 1 rows, the first at row 0, in the column 1; expected"
TABLE = r"expected an array or a data frame of shape \(n_samples, n_features\)"
STRING = (
    "X has entries that are not numbers, the first is the string {} at row {}, column {}; expected "
    r"real numbers\. Convert numbers that were read as text"
)

BAD_DATA = {
    "NaN": (changed(np.nan), ValueError, FINITE),
    "infinity": (changed(np.inf), ValueError, FINITE),
    "minus infinity": (changed(-np.inf), ValueError, FINITE),
    "float32 NaN": (changed(np.nan).astype(np.float32), ValueError, FINITE),
    "None among objects": (
        np.array([[1, None]], dtype=object),
        ValueError,
        "X has None in 1 of 1 rows, the first at row 0, column 1; expected finite numbers",
    ),
    "None in a list": (
        [[1, 2], [None, 4]],
        ValueError,
        "X has None in 1 of 2 rows, the first at row 1, column 0; expected finite numbers",
    ),
    "None and NaN": ([[1, None], [np.nan, 4]], ValueError, "X has NaN or infinity in 2 of 2 rows"),
    "missing in a frame": (pd.DataFrame([[1.0, None]]), ValueError, COLUMN),
    "NA in a frame": (pd.DataFrame([[1, None]], dtype="Int64"), ValueError, COLUMN),
    "NA among objects": (
        pd.DataFrame({"a": [1, pd.NA]}),
        ValueError,
        r"X has NA in the column 'a', expected finite numbers\. Drop those rows or columns, or imp",
    ),
    "masked": (
        np.ma.masked_greater(X, 9.0),
        ValueError,
        r"X has 2 masked entries, expected none\. Drop those rows or fill them",
    ),
    "sparse matrix": (sparse.csr_matrix(X), TypeError, r"dense data is required.*toarray\(\)"),
    "sparse array": (sparse.coo_array(X), TypeError, r"dense data is required.*toarray\(\)"),
    "complex": (X + 1j, ValueError, r"^Complex data not supported: X is complex, .* columns\.$"),
    "complex frame": (
        pd.DataFrame(X + 1j),
        ValueError,
        r"^Complex data not supported: X is complex, .* columns\.$",
    ),
    "no rows": (np.empty((0, 2)), ValueError, r"0 sample\(s\) \(shape=\(0, 2\)\).*minimum of 1"),
    "no columns": (
        np.empty((3, 0)),
        ValueError,
        r"0 feature\(s\) \(shape=\(3, 0\)\).*minimum of 1",
    ),
    "empty list": ([], ValueError, r"X has shape \(0,\), expected .* at least one row and column"),
    "one dimension": (
        X[:, 0],
        ValueError,
        r"X has shape \(6,\), expected \(n_samples, n_features\)\. Reshape your data: use "
        r"X\.reshape\(-1, 1\) for a single feature, or X\.reshape\(1, -1\) for a single sample",
    ),
    "list of numbers": (
        [1.0, 2.0],
        ValueError,
        r"shape \(2,\).*use numpy\.reshape\(X, \(-1, 1\)\)",
    ),
    "pandas series": (
        pd.Series([1.0]),
        ValueError,
        r"shape \(1,\).*use X\.to_frame\(\) for a sing",
    ),
    "polars series": (
        pl.Series([1.0]),
        ValueError,
        r"shape \(1,\).*use X\.to_frame\(\) for a sing",
    ),
    "three dimensions": (
        X[None],
        ValueError,
        r"X has shape \(1, 6, 2\), expected \(n_samples, n_features\).*X\.reshape\(1, -1\) makes",
    ),
    "a number": (3.0, ValueError, rf"X is 3\.0, {TABLE}\. Use \[\[X\]\] for a single sample"),
    "nothing": (None, TypeError, f"X is None, {TABLE}"),
    "words": ([["a", "b"], ["c", "d"]], ValueError, STRING.format("'a'", 0, 0)),
    "rows of different lengths": (
        [[1.0, 2.0], [3.0]],
        ValueError,
        r"X has rows of different lengths \(row 0 has length 2, row 1 has length 1\), expected the "
        "same number of entries in every row. Drop or complete the rows that differ",
    ),
    "a row that is a number": (
        [[1.0, 2.0], 3.0],
        ValueError,
        "row 0 has length 2, row 1 is a sing",
    ),
    "cells of different lengths": ([[[1], [2, 3]]], ValueError, "X has rows of different lengths"),
}


@pytest.mark.parametrize(("data", "error", "message"), BAD_DATA.values(), ids=BAD_DATA)
def test_data_that_are_no_table_of_finite_numbers_are_refused(data, error, message):
    assert_refused(error, message, data=data)


@pytest.mark.parametrize(("data", "error", "message"), BAD_DATA.values(), ids=BAD_DATA)
@pytest.mark.parametrize("method", ["predict", "score_samples"])
def test_queries_that_are_no_table_of_finite_numbers_are_refused(method, data, error, message):
    model = QuickShift(bandwidth=1.0).fit(X)
    before = snapshot(model)
    with pytest.raises(error, match=message):
        getattr(model, method)(data)
    assert snapshot(model) == before


NUMERIC_STRINGS = {
    "list": ([["1", "2"]], "'1'", 0, 0),
    "list with numbers": ([[1.0, 2.0], [3.0, "4"]], "'4'", 1, 1),
    "array": (np.array([["1", "2"]]), "'1'", 0, 0),
    "array of bytes": (np.array([[b"1", b"2"]]), "b'1'", 0, 0),
    "array of objects": (np.array([[1.0, "2"]], dtype=object), "'2'", 0, 1),
}


@pytest.mark.parametrize(
    ("data", "text", "row", "column"), NUMERIC_STRINGS.values(), ids=NUMERIC_STRINGS
)
def test_numeric_strings_are_refused_rather_than_converted(data, text, row, column):
    message = STRING.format(text, row, column)
    assert_refused(ValueError, message, data=data)
    assert_refused_by_the_others(ValueError, message, data)


def test_objects_that_are_numbers_are_accepted():
    objects = np.array(
        [[1, 2.5], [Fraction(1, 2), Decimal(3)], [True, np.float32(4)]], dtype=object
    )
    model = QuickShift(bandwidth=1.0).fit(objects)
    np.testing.assert_array_equal(model.density_, model.fit(objects.astype(float)).density_)
    frame = pd.DataFrame(objects)
    np.testing.assert_array_equal(model.density_, model.fit(frame).density_)
    categories = pd.DataFrame({"a": pd.Categorical([1, 2, 3])})
    assert QuickShift(bandwidth=1.0).fit(categories).n_features_in_ == 1


def test_series_of_other_libraries_are_read_or_refused_as_responses():
    model = ModalRegressor(bandwidth=1.0)
    responses = model.fit(X, pl.Series(X[:, 0])).predict(X)
    np.testing.assert_array_equal(responses, model.fit(X, X[:, 0]).predict(X))
    for series in (pl.Series, pd.Series):
        with pytest.raises(ValueError, match=r"y has entries that .* string '1' at row 0;"):
            model.fit(X, series(["1"] * 6))


# Data frames

WHEN = [datetime(2026, 1, 1), datetime(2026, 1, 2)]
FRAMES = {
    "pandas": (
        pd.DataFrame(
            {
                "size": [1.0, 2.0],
                "city": pd.Series(["x", "y"], dtype="string"),
                "color": pd.Categorical(["red", "blue"]),
                "mixed": pd.Series([1, "2"], dtype=object),
                "when": pd.Series(WHEN).astype("datetime64[ns]"),
            }
        ),
        r"'city' \(string\), 'color' \(category\), 'mixed' \(str\), 'when' \(datetime64\[ns\]\)",
    ),
    "polars": (
        pl.DataFrame({"size": [1.0, 2.0], "city": ["x", "y"], "list": [[1], [2]], "when": WHEN}),
        r"'city' \(String\), 'list' \(List\(Int64\)\), 'when' \(Datetime\(.*\)\)",
    ),
    "pyarrow": (pa.table({"size": [1.0, 2.0], "city": ["x", "y"]}), r"'city' \(string\)"),
    "many columns": (
        pl.DataFrame({f"c{i}": ["x"] for i in range(9)}),
        r"'c0' \(String\), .*, 'c4' \(String\) and 4 more",
    ),
}


@pytest.mark.parametrize(("frame", "columns"), FRAMES.values(), ids=FRAMES)
def test_columns_that_are_not_numeric_are_named_with_their_types(frame, columns):
    message = (
        rf"X has columns that are not numeric: {columns}; expected numbers\. Encode or drop them"
    )
    assert_refused(ValueError, message, data=frame)
    assert_refused_by_the_others(ValueError, message, frame)


@pytest.mark.parametrize(
    "frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=lambda f: f.__module__
)
def test_columns_of_dates_are_named(frame):
    message = (
        r"X has dates or durations in the column 'when' \(.*\), expected numbers\. Choose a unit"
    )
    assert_refused(ValueError, message, data=frame({"size": [1.0, 2.0], "when": WHEN}))


@pytest.mark.parametrize(
    "frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=lambda f: f.__module__
)
def test_columns_with_missing_values_are_named(frame):
    data = frame({"a": [1.0, None, None], "b": [1, 2, 3], "c": [1.0, 2.0, None]})
    message = (
        "X has NaN, null or infinity in 2 of 3 rows, the first at row 1, in the columns 'a', 'c'; "
        "expected finite numbers. Drop those rows or columns, or impute them"
    )
    assert_refused(ValueError, message, data=data)
    assert_refused_by_the_others(ValueError, message, data)


def test_missing_values_of_nullable_columns_are_refused_by_the_stages():
    with pytest.raises(
        ValueError, match=r"X has NA, expected finite numbers\. Drop those rows or imp"
    ):
        stages.prepare(pd.DataFrame([[1, None]], dtype="Int64"))


# Objects that have to be read or converted first

CONTAINERS = {
    "file name": (lambda: "data.csv", "X is 'data.csv', .*read it first, .* pandas.read_csv"),
    "path": (
        lambda: Path("data.npy"),
        r"X is \w+Path\('data.npy'\), .*read it first, .* numpy.load",
    ),
    "open file": (lambda: io.StringIO("1,2"), "X is <_io.StringIO.*>, .*read it first"),
    "dict": (
        lambda: {"a": [1.0], "b": [2.0]},
        r"X is a dict with the keys 'a', 'b', .*Use pandas.DataFrame\(X\) if it has one list per c",
    ),
    "list of dicts": (
        lambda: [{"a": 1.0}],
        r"X is a list of dict, .*Use pandas.DataFrame\(X\) if it has one dict per row",
    ),
    "generator": (lambda: (row for row in X), r"X is a generator, .*Use list\(X\)"),
    "zip": (lambda: zip([1.0], [2.0], strict=True), r"X is a zip, .*Use list\(X\)"),
    "set": (lambda: {1.0, 2.0}, r"X is a set, .*Use list\(X\)"),
    "lazy frame": (lambda: pl.LazyFrame({"a": [1.0]}), r"X is a LazyFrame, .*Use X\.collect\(\)"),
}


@pytest.mark.parametrize(("make", "message"), CONTAINERS.values(), ids=CONTAINERS)
def test_data_that_must_be_read_or_converted_first_are_told_how(make, message):
    assert_refused(TypeError, message, data=make())
    assert_refused(TypeError, rf"X is .*, {TABLE}\. ", data=make())
    assert_refused_by_the_others(TypeError, message, make())


@pytest.mark.parametrize("unit", ["datetime64[D]", "timedelta64[s]"])
def test_missing_times_are_refused(unit):
    # NumPy casts NaT to -9223372036854775808.0, which would pass for an ordinary number.
    message = rf"X has dates or durations \({re.escape(unit)}\), expected numbers\. Choose a unit"
    assert_refused(ValueError, message, data=np.array([[5], ["NaT"]], dtype=unit))


@pytest.mark.parametrize("method", ["predict", "score_samples"])
@pytest.mark.parametrize("columns", [1, 3])
def test_queries_of_another_width_are_refused(method, columns):
    model = QuickShift(bandwidth=1.0).fit(X)
    with pytest.raises(ValueError, match=rf"X has {columns} features, .* expecting 2 features"):
        getattr(model, method)(np.ones((4, columns)))


# Parameters

NUMBER = (
    r"expected a positive, finite number .*, 'local' \(the default\), or one of the rules 'auto', "
)
BAD_BANDWIDTHS = [
    (0, ValueError, rf"bandwidth is 0, {NUMBER}"),
    (-1.0, ValueError, rf"bandwidth is -1\.0, {NUMBER}"),
    (np.inf, ValueError, rf"bandwidth is inf, {NUMBER}"),
    (np.nan, ValueError, rf"bandwidth is NaN, {NUMBER}"),
    (None, TypeError, rf"bandwidth is None, {NUMBER}"),
    (True, TypeError, rf"bandwidth is True, {NUMBER}"),
    (1j, TypeError, rf"bandwidth is 1j, {NUMBER}"),
    ([1.0, 2.0], TypeError, rf"bandwidth is \[1\.0, 2\.0\], {NUMBER}"),
    (np.ones(6), TypeError, rf"bandwidth is an array of shape \(6,\), {NUMBER}"),
    ("wide", ValueError, rf"bandwidth is 'wide', {NUMBER}'paper', 'scott', 'silverman', 'cv'\."),
    ("1.0", ValueError, rf"bandwidth is '1\.0', {NUMBER}"),
]


@pytest.mark.parametrize(("bandwidth", "error", "message"), BAD_BANDWIDTHS)
def test_bandwidth_that_is_no_positive_number_or_rule_is_refused(bandwidth, error, message):
    assert_refused(error, message, bandwidth=bandwidth)


@pytest.mark.parametrize("metric", ["euclidean", "haversine", "cosine"])
def test_message_about_a_bandwidth_does_not_depend_on_the_metric(metric):
    for bandwidth, error, message in BAD_BANDWIDTHS:
        with pytest.raises(error, match=message):
            QuickShift(bandwidth, metric=metric).fit(X[1:] / 20.0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tau", "a length of at least 0 or 'auto'"),
        ("n_neighbors", "a whole number or 'auto'"),
        ("min_significance", "a number of at least 0 or 'auto'"),
    ],
)
def test_none_for_an_automatic_parameter_is_told_to_use_auto(name, expected):
    message = f"{name} is None, expected {expected}. Use {name}='auto' to have it chosen from"
    assert_refused(TypeError, message, **{name: None})
    if name == "tau":
        with pytest.raises(TypeError, match=message):
            ModalRegressor(tau=None).fit(X, X[:, 0])


def test_none_for_the_bandwidth_of_a_regression_is_told_to_use_auto():
    message = "bandwidth is None, expected a positive number or 'auto'. Use bandwidth='auto' to"
    with pytest.raises(TypeError, match=message):
        ModalRegressor(bandwidth=None).fit(X, X[:, 0])


BAD_TAUS = [
    (-1, ValueError, r"tau is -1(\.0)?, expected a length of at least 0"),
    (-np.inf, ValueError, "tau is -inf, expected a length of at least 0"),
    (np.nan, ValueError, "tau is NaN, expected a length of at least 0"),
    (None, TypeError, "tau is None, expected a length of at least 0"),
    (False, TypeError, "tau is False, expected a length of at least 0"),
    ([1.0], TypeError, r"tau is \[1\.0\], expected a length of at least 0"),
]


@pytest.mark.parametrize(("tau", "error", "message"), BAD_TAUS)
def test_tau_that_is_no_length_is_refused(tau, error, message):
    assert_refused(error, message, tau=tau)
    if isinstance(tau, list):  # a cut may have one tau per sample
        error, message = ValueError, r"tau has shape \(1,\), expected one length, or .* \(6,\)"
    for bandwidth in ("local", 1.0):
        model = QuickShift(bandwidth).fit(X)
        with pytest.raises(error, match=message):
            model.labels_at(tau)


def test_one_tau_per_sample_is_told_to_use_labels_at():
    message = (
        r"tau is an array of shape \(6,\), expected a length .*One length per sample .*labels_at"
    )
    assert_refused(TypeError, message, tau=np.ones(6))
    model = QuickShift().fit(X)
    with pytest.raises(TypeError, match=message):
        model.recut(tau=np.ones(6))
    with pytest.raises(ValueError, match=r"recut was called with tau=an array of shape \(6,\) and"):
        model.recut(tau=np.ones(6), n_clusters=2)
    with pytest.raises(TypeError, match=r"tau is \[1\.0, 1\.0, .*\.\.\.\], expected"):
        model.recut(tau=[1.0] * 1000)


def test_tau_that_is_another_word_than_auto_is_refused():
    assert_refused(ValueError, "tau is 'long', expected .*'auto'", tau="long")
    for bandwidth in ("local", 1.0):
        with pytest.raises(TypeError, match="tau is 'auto', expected a length"):
            QuickShift(bandwidth).fit(X).labels_at("auto")


def test_mention_of_tau_tells_that_lengths_and_auto_are_possible():
    for tau in (None, "1.0"):
        with pytest.raises((TypeError, ValueError), match=r"length|number") as caught:
            QuickShift(tau=tau).fit(X)
        assert "'auto'" in str(caught.value)


BAD_COUNTS = [
    (0, ValueError, "n_clusters is 0, expected a whole number from 1 to 6"),
    (-2, ValueError, "n_clusters is -2, expected a whole number from 1 to 6"),
    (
        7,
        ValueError,
        "n_clusters is 7, expected a whole number from 1 to 6, the number of .*samples",
    ),
    (2.0, TypeError, r"n_clusters is 2\.0, expected a whole number from 1 to 6"),
    ("2", TypeError, "n_clusters is '2', expected a whole number from 1 to 6"),
    (True, TypeError, "n_clusters is True, expected a whole number from 1 to 6"),
    ([2], TypeError, r"n_clusters is \[2\], expected a whole number from 1 to 6"),
]


@pytest.mark.parametrize(("count", "error", "message"), BAD_COUNTS)
def test_number_of_clusters_that_cannot_be_had_is_refused(count, error, message):
    assert_refused(error, message, n_clusters=count)
    for bandwidth in ("local", 1.0):
        model = QuickShift(bandwidth).fit(X)
        with pytest.raises(error, match=message):
            model.labels_for(count)


def test_number_of_clusters_together_with_a_tau_is_refused():
    message = r"n_clusters is 2 and tau is 1\.5.*Leave tau at 'auto'.*or leave n_clusters out"
    assert_refused(ValueError, message, n_clusters=2, tau=1.5)


def test_more_clusters_than_samples_of_positive_weight_are_refused():
    # This is checked last, after everything else has been computed.
    message = "n_clusters is 3, expected a whole number from 1 to 2"
    assert_refused(ValueError, message, weights=[1, 1, 0, 0, 0, 0], n_clusters=3)
    for bandwidth in ("local", 1.0):
        model = QuickShift(bandwidth).fit(X, sample_weight=[1, 1, 0, 0, 0, 0])
        with pytest.raises(ValueError, match=message):
            model.labels_for(3)


def test_fewer_clusters_than_strict_ties_leave_are_refused():
    message = "n_clusters is 2, expected at least 6: with ties='strict'.*Use ties='total'"
    parameters = {"bandwidth": 1.0, "kernel": "uniform", "ties": "strict"}
    assert_refused(ValueError, message, n_clusters=2, **parameters)


@pytest.mark.parametrize("kernel", ["gauss", "Gaussian", "", 3, None], ids=repr)
def test_unknown_kernel_is_refused(kernel):
    assert_refused((ValueError, TypeError), rf"kernel.*{kernel!r}.*'epanechnikov'", kernel=kernel)


def test_misspelled_kernel_is_recognized():
    assert_refused(ValueError, "'gausian'; did you mean 'gaussian'", kernel="gausian")


@pytest.mark.parametrize("metric", ["manhattan", "Haversine", "Euclidean", None, 2], ids=repr)
def test_unknown_metric_is_refused(metric):
    message = rf"metric is {metric!r}, expected one of 'euclidean', 'periodic'"
    assert_refused(ValueError, message, metric=metric)


@pytest.mark.parametrize(
    ("metric", "hint"),
    [
        ("Haversine", r"'cosine'\. Did you mean 'haversine'\?"),
        ("euclidian", r"Did you mean 'euclidean'\?"),
        ("manhattan", "Other metrics are not supported, because Quick Shift needs coordinates"),
        ("precomputed", "Pass the coordinates of the points in place of their distances"),
    ],
)
def test_message_about_an_unknown_metric_has_a_hint(metric, hint):
    assert_refused(ValueError, hint, metric=metric)


@pytest.mark.parametrize("ties", ["none", "Strict", None, True], ids=repr)
def test_unknown_ties_are_refused(ties):
    assert_refused(ValueError, rf"ties is {ties!r}, expected one of 'total', 'strict'", ties=ties)


def test_unknown_order_of_merging_is_refused():
    with pytest.raises(ValueError, match=r"by is 'size', expected one of 'significance', 'tau'"):
        QuickShift(bandwidth=1.0).fit(X).labels_for(2, by="size")


BAD_PERIODS = [
    ([1.0], r"period is \[1\.0\], expected one length for each of the 2 features"),
    ([1.0, 2.0, 3.0], "expected one length for each of the 2 features"),
    (4.0, r"period is 4\.0, expected one length for each of the 2 features"),
    ([[1.0, 2.0]], "expected one length for each of the 2 features"),
    (["a", "b"], r"period is \['a', 'b'\], expected one length for each"),
    ([-1.0, 2.0], r"period is \[-1\.0, 2\.0\], expected positive lengths \(numpy\.inf"),
    ([0.0, 2.0], "expected positive lengths"),
    ([np.nan, 2.0], "expected positive lengths"),
    ([None, 2.0], r"period is \[None, 2\.0\], .* Use numpy\.inf in place of None\."),
    (None, "period is None but metric is 'periodic'. Give one length for each feature"),
]


@pytest.mark.parametrize(("period", "message"), BAD_PERIODS)
def test_period_that_is_not_one_length_per_feature_is_refused(period, message):
    assert_refused(ValueError, message, period=period, metric="periodic")


@pytest.mark.parametrize(("period", "message"), BAD_PERIODS[:-1])
def test_wrong_period_is_refused_without_a_metric(period, message):
    assert_refused(ValueError, message, period=period)


@pytest.mark.parametrize(
    ("kernel", "most"), [("gaussian", 2.5), ("exponential", 2.5), ("uniform", 5.0), ("cosine", 5.0)]
)
def test_bandwidth_too_large_for_the_period_is_refused(kernel, most):
    parameters = {"kernel": kernel, "metric": "periodic", "period": [np.inf, 10.0]}
    too_large = float(np.nextafter(most, np.inf))
    message = rf"bandwidth is {too_large}, expected at most {most}.*{kernel}.*smaller bandwidth"
    assert_refused(ValueError, message, bandwidth=too_large, **parameters)
    assert QuickShift(bandwidth=most, **parameters).fit(X).bandwidth_ == most


def test_silverman_support_must_fit_into_the_period():
    parameters = {"kernel": "silverman", "metric": "periodic", "period": [np.inf, 10.0]}
    most = 5.0 / (3 * np.pi / (2 * np.sqrt(2)))
    assert_refused(ValueError, "expected at most 1.5", bandwidth=most * 1.001, **parameters)
    QuickShift(bandwidth=most * 0.999, **parameters).fit(X)


BAD_WEIGHTS = {
    "negative": ([-1, 1, 1, 1, 1, 1], ValueError, "sample_weight has negative.*0 leaves a row out"),
    "NaN": ([np.nan, 1, 1, 1, 1, 1], ValueError, "sample_weight has .*NaN.*expected frequencies"),
    "infinite": ([np.inf, 1, 1, 1, 1, 1], ValueError, "sample_weight has .*infinite"),
    "all zero": ([0] * 6, ValueError, "sample_weight is all zero, expected at least one positive"),
    "too few": (
        [1, 2],
        ValueError,
        r"sample_weight has shape \(2,\), expected \(6,\): one weight per row",
    ),
    "too many": ([1] * 7, ValueError, r"sample_weight has shape \(7,\), expected \(6,\)"),
    "a column": (np.ones((6, 1)), ValueError, r"sample_weight has shape \(6, 1\), expected \(6,\)"),
    "a number": (2.0, ValueError, r"sample_weight has shape .*expected \(6,\)"),
    "masked": (np.ma.masked_less(np.arange(6.0), 1), ValueError, "sample_weight has 1 masked"),
    "words": (list("abcdef"), ValueError, "sample_weight has entries that are not numbers"),
    "complex": ([1j] * 6, ValueError, "sample_weight is complex, expected real numbers"),
    "infinite sum": (
        [1e308] * 6,
        ValueError,
        r"sample_weight has a sum that overflows, expected a finite sum\. Divide",
    ),
}


@pytest.mark.parametrize(("weights", "error", "message"), BAD_WEIGHTS.values(), ids=BAD_WEIGHTS)
def test_weights_that_are_no_frequencies_are_refused(weights, error, message):
    assert_refused(error, message, weights=weights)
    assert_refused(error, message, weights=weights, bandwidth=1.0, tau=1.0)


BAD_RTOLS = [
    (-1e-9, ValueError),
    (1.0, ValueError),
    (2, ValueError),
    (np.inf, ValueError),
    (np.nan, ValueError),
    (None, TypeError),
    ("small", TypeError),
    (False, TypeError),
]


@pytest.mark.parametrize(("rtol", "error"), BAD_RTOLS)
@pytest.mark.parametrize("kernel", ["gaussian", "uniform"])
def test_rtol_outside_its_range_is_refused(rtol, error, kernel):
    message = rf"rtol is (NaN|{rtol!r}), expected a relative error from 0 to below 1"
    assert_refused(error, message, rtol=rtol, kernel=kernel, bandwidth="auto")


@pytest.mark.parametrize(("rtol", "error"), BAD_RTOLS)
def test_rtol_outside_its_range_is_refused_by_default(rtol, error):
    message = rf"rtol is (NaN|{rtol!r}), expected a relative error from 0 to below 1"
    assert_refused(error, message, rtol=rtol)


def test_no_threads_are_refused():
    assert_refused(ValueError, "n_jobs must not be 0. Use None for all cores or 1", n_jobs=0)


@pytest.mark.parametrize("n_jobs", [1.5, "all", [2]], ids=repr)
def test_number_of_threads_that_is_no_integer_is_refused(n_jobs):
    assert_refused(TypeError, "n_jobs must be an integer or None, got .*Use None", n_jobs=n_jobs)


def test_number_of_threads_beyond_reason_is_refused_or_used():
    for bandwidth in ("local", 1.0):
        QuickShift(bandwidth, n_jobs=10**6).fit(X)
        try:
            QuickShift(bandwidth, n_jobs=10**20).fit(X)
        except (ValueError, OverflowError) as error:
            assert "n_jobs" in str(error)  # noqa: PT017


# Before fit


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("predict", (X,)),
        ("score_samples", (X,)),
        ("labels_at", (1.0,)),
        ("labels_for", (2,)),
        ("to_linkage", ()),
        ("to_networkx", ()),
    ],
)
def test_methods_before_fit_ask_for_fit(method, arguments):
    with pytest.raises(NotFittedError, match=r"not fitted yet\. Call 'fit'"):
        getattr(QuickShift(), method)(*arguments)


def test_constructor_refuses_nothing():
    QuickShift(bandwidth=-1, tau="x", kernel=None, n_clusters=0, metric=3, period="p", rtol=7)


def test_fit_that_worked_after_one_that_failed_is_like_any_other():
    model = QuickShift(bandwidth=-1.0)
    with pytest.raises(ValueError, match="bandwidth"):
        model.fit(X)
    model.set_params(bandwidth=1.0).fit(X)
    np.testing.assert_array_equal(model.labels_, QuickShift(bandwidth=1.0).fit(X).labels_)
