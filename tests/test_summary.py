"""The summary says how many clusters there are, why, and what to do for others."""

import re
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

import quickshift
from quickshift import QuickShift
from quickshift.datasets import blobs

FITS = [
    {},
    {"bandwidth": "auto"},
    {"bandwidth": 0.8, "tau": 1.0},
    {"tau": 1.0},
    {"n_clusters": 3},
    {"n_clusters": 1},
    {"bandwidth": "auto", "n_clusters": 3, "kernel": "epanechnikov"},
    {"min_significance": 1.0, "min_cluster_size": 25},
    {"bandwidth": "auto", "min_cluster_size": 25},
    {"n_neighbors": 9, "metric": "periodic", "period": [50.0, np.inf]},
]


@pytest.fixture(name="X", scope="module")
def some_blobs():
    return blobs(500, centers=5, seed=2)[0]


def call_of(summary):
    [line] = [line for line in summary.chosen if line.startswith("To reproduce: ")]
    return line.removeprefix("To reproduce: ")


@pytest.mark.parametrize("settings", FITS, ids=str)
def test_printed_parameters_reproduce_the_labels(settings, X):
    model = QuickShift(**settings).fit(X)
    again = eval(call_of(model.summary()), {"QuickShift": QuickShift, "numpy": np, "X": X})
    np.testing.assert_array_equal(again.labels_, model.labels_)


@pytest.mark.parametrize(
    ("settings", "cuts"),
    [
        ({"tau": np.inf}, [{"min_significance": 0.5}]),
        ({"bandwidth": 0.5, "tau": 0.8}, [{"n_clusters": 2}]),
        ({"n_clusters": 40}, [{"n_clusters": 30}]),
        ({"tau": 0.8}, [{"min_cluster_size": 20}, {"min_cluster_size": 3}]),
        ({}, [{"tau": 2.0}, {"min_cluster_size": 20}]),
    ],
)
def test_printed_code_reproduces_the_labels_of_recuts(settings, cuts, X):
    model = QuickShift(**settings).fit(X)
    for cut in cuts:
        model = model.recut(**cut)
    again = eval(call_of(model.summary()), {"QuickShift": QuickShift, "numpy": np, "X": X})
    np.testing.assert_array_equal(again.labels_, model.labels_)


@pytest.mark.parametrize("settings", FITS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_describe_the_clusters(settings, weighted, X):
    weights = np.random.default_rng(0).integers(0, 3, size=500) if weighted else np.ones(500)
    model = QuickShift(**settings).fit(X, sample_weight=weights)
    table = model.summary().to_pandas()
    np.testing.assert_array_equal(table["size"], np.bincount(model.labels_, weights))
    assert table["share"].sum() == pytest.approx(1)
    np.testing.assert_allclose(table["density"], model.density_[model.mode_indices_], rtol=1e-9)
    np.testing.assert_array_equal(table["significance"], model.significance_)
    np.testing.assert_array_equal(table[["mode_x0", "mode_x1"]], model.modes_)
    assert table["joins"][0] == -1
    assert (table["joins"][1:] < np.arange(1, len(table))).all()  # only higher clusters
    assert (table["saddle"] <= table["density"]).all()


def test_distance_to_the_next_higher_mode_is_that_of_the_modes(X):
    model = QuickShift(min_significance=0.0).fit(X)
    assert model.n_clusters_ > 5
    found = model.summary().nearest_denser
    assert np.isinf(found[0])
    for i in range(1, model.n_clusters_):
        higher = np.linalg.norm(model.modes_[:i] - model.modes_[i], axis=1)
        assert found[i] == pytest.approx(higher.min())


def test_one_fewer_joins_the_clusters_that_are_named():
    model = QuickShift().fit(load_digits().data)
    words = next(line for line in model.summary().chosen if "One fewer" in line)
    numbers = words.split("which joins cluster ")[1].rstrip(".").split(" to ")
    gone, into = (int(number) for number in numbers)
    fewer = model.recut(n_clusters=model.n_clusters_ - 1)
    [joined] = set(fewer.labels_[model.labels_ == gone])
    assert joined in set(fewer.labels_[model.labels_ == into])


@pytest.mark.parametrize("bandwidth", ["local", "auto"])
def test_candidates_are_the_modes_that_labels_for_splits_off(bandwidth):
    model = QuickShift(bandwidth).fit(np.random.default_rng(0).normal(size=(300, 2)))
    candidates = model.summary().candidates
    assert [candidate.n_clusters for candidate in candidates] == [2, 3, 4][: len(candidates)]
    assert candidates
    for candidate in candidates:
        finer = model.recut(n_clusters=candidate.n_clusters)
        label = finer.labels_[candidate.row]
        assert candidate.row in finer.mode_indices_
        assert np.count_nonzero(finer.labels_ == label) == candidate.size
        assert finer.significance_[label] == pytest.approx(candidate.significance)
        assert model.labels_[candidate.row] == candidate.cluster
        assert "below the chance level" in candidate.reason
        assert f"recut(n_clusters={candidate.n_clusters})" in candidate.sentence


def test_reasons_are_those_of_the_condition_that_decided(X):
    small = QuickShift(min_significance=0.0, min_cluster_size=60).fit(X).summary()
    assert small.candidates
    assert all("min_cluster_size=60" in candidate.reason for candidate in small.candidates)
    few = QuickShift(n_clusters=2).fit(X).summary()
    assert all("2 clusters were asked for" in candidate.reason for candidate in few.candidates)
    weak = QuickShift(min_significance=3.0).fit(X).summary()
    assert all("min_significance=3" in candidate.reason for candidate in weak.candidates)


def test_text_and_html_show_the_same():
    summary = QuickShift().fit(load_iris().data).summary()
    text, page = str(summary), summary._repr_html_()
    assert text.splitlines()[0] == "2 clusters of 150 samples with 4 features"
    assert "<td>33.3%</td>" in page
    for line in [*summary.chosen, *(candidate.sentence for candidate in summary.candidates)]:
        assert line in " ".join(text.split())
        assert line.replace("<", "&lt;").replace("'", "&#x27;") in page
    assert len(summary) == 2


def test_many_clusters_are_shown_in_part():
    X, _ = blobs(2000, centers=60, seed=0)
    text = str(QuickShift(n_clusters=60).fit(X).summary())
    assert "Not shown: 40 clusters" in text


@pytest.mark.parametrize(
    ("X", "hint"),
    [
        (np.random.default_rng(0).normal(size=(60, 2)) * [1, 50], "spreads of the features differ"),
        (np.column_stack([np.arange(30.0), np.full(30, 7.0)]), "1 feature is constant"),
        (np.random.default_rng(0).normal(size=(20, 300)), "pass X.T"),
        (np.random.default_rng(0).normal(size=(120, 1100)), "simulated for up to 1000 features"),
        (np.random.default_rng(0).integers(0, 4, size=(90, 2)), "most rows are duplicates"),
        (np.repeat(np.random.default_rng(1).normal(size=(1000, 2)), 2, axis=1), "rather than 4"),
    ],
    ids=["spreads", "constant", "transposed", "many features", "duplicates", "redundant"],
)
def test_hints_apply_to_the_data(X, hint):
    assert any(hint in text for text in QuickShift().fit(X).summary().hints)


def test_data_without_problems_have_no_hints(X):
    assert QuickShift().fit(X).summary().hints == []


@pytest.mark.parametrize("factor", [1e-200, 1.0, 1e150])
@pytest.mark.parametrize("d", [2, 10, 40])
def test_independent_features_are_not_called_redundant(d, factor):
    X, _ = blobs(300, d, centers=4, seed=3)
    model = QuickShift().fit(factor * X)
    assert model.n_clusters_ > 1
    assert model.summary().hints == []


def test_redundant_features_matter_only_where_chance_decides():
    X = np.repeat(np.random.default_rng(1).normal(size=(1000, 2)), 2, axis=1)
    for settings in ({}, {"n_neighbors": 16}):
        assert "rather than 4" in str(QuickShift(**settings).fit(X).summary())
    for settings in ({"n_clusters": 3}, {"min_significance": 3.5}, {"tau": 0.5}):
        assert "rather than 4" not in str(QuickShift(**settings).fit(X).summary())


def test_names_of_features_are_those_of_the_table():
    frame = load_iris(as_frame=True).data
    table = QuickShift().fit(frame).summary().to_pandas()
    assert f"mode_{frame.columns[0]}" in table


def test_summary_is_public():
    assert isinstance(QuickShift().fit([[0.0], [1.0]]).summary(), quickshift.estimators.Summary)


def test_printed_code_passes_weights_if_the_fit_had_some(X):
    sample_weight = np.random.default_rng(1).integers(1, 9, len(X))
    model = QuickShift().fit(X, sample_weight=sample_weight)
    names = {"QuickShift": QuickShift, "X": X, "sample_weight": sample_weight}
    for fitted in (model, model.recut(n_clusters=2)):
        again = eval(call_of(fitted.summary()), names)
        np.testing.assert_array_equal(again.labels_, fitted.labels_)


def test_parameters_set_after_the_fit_do_not_change_the_summary(X):
    model = QuickShift().fit(X)
    before = str(model.summary())
    model.set_params(n_clusters=7, kernel="uniform", bandwidth=2.0)
    assert str(model.summary()) == before


def test_a_summary_needs_little_memory():
    n = 200_000
    model = QuickShift().fit(np.random.default_rng(0).normal(size=(n, 3)))
    tracemalloc.start()
    try:
        model.summary()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 48 * n


@pytest.mark.parametrize("factor", [1e-200, 1.0, 1e200])
def test_hints_about_spreads_are_right_for_any_unit(factor):
    X = factor * np.random.default_rng(0).normal(size=(1000, 2))
    constant = np.full(1000, 0.1 * factor)
    hints = QuickShift().fit(np.column_stack([X, constant])).summary().hints
    assert hints == ["1 feature is constant and makes no difference."]


def test_as_many_clusters_as_samples_cannot_become_more():
    assert not any(
        "One cluster more" in line for line in QuickShift().fit([[1.0]]).summary().chosen
    )


@pytest.mark.parametrize("settings", [{}, {"bandwidth": 0.7, "tau": 1.0}, {"tau": 0.5}], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_one_cluster_fewer_joins_the_clusters_that_are_named(settings, seed):
    model = QuickShift(**settings).fit(blobs(150, centers=4, seed=seed)[0])
    text = str(model.summary()).replace("\n    ", " ")
    found = re.search(
        r"One fewer: recut\(n_clusters=(\d+)\), which joins cluster (\d+) to (\d+)", text
    )
    k, one, other = map(int, found.groups())
    labels = model.recut(n_clusters=k).labels_
    assert len(set(labels[np.isin(model.labels_, [one, other])])) == 1


@pytest.mark.parametrize(
    "cut", [{"tau": np.inf}, {"tau": np.float64(1.5)}, {"n_clusters": np.int64(2)}]
)
def test_recuts_can_be_reproduced(cut, X):
    model = QuickShift(0.7, 1.0).fit(X).recut(**cut)
    again = eval(call_of(model.summary()), {"QuickShift": QuickShift, "numpy": np, "X": X})
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_significances_without_a_gap_are_a_hint():
    [hint] = [
        text for text in QuickShift().fit(load_digits().data).summary().hints if "gap" in text
    ]
    assert "the number of clusters is uncertain" in hint


def test_numbers_of_neighbors_that_found_one_cluster_as_well_are_named():
    X = np.random.default_rng(0).normal(size=(1000, 2))
    [line] = [text for text in QuickShift().fit(X).summary().chosen if "Density" in text]
    assert "16 nearest samples; 32 and 64 neighbors found one cluster, too" in line
    for settings in ({"n_clusters": 1}, {"tau": 100.0}, {"n_neighbors": 20}):
        chosen = QuickShift(**settings).fit(X).summary().chosen
        assert not any("found one cluster, too" in text for text in chosen)


def test_one_neighbor_is_the_nearest_sample():
    summary = QuickShift(n_neighbors=1).fit([[0.0], [1.0], [3.0]]).summary()
    assert "the mean distance r to the nearest sample;" in str(summary)


def test_numbers_of_every_type_can_be_pasted():
    X = [[0.0], [1.0], [3.0]]
    model = QuickShift(Fraction(1, 2), Fraction(3, 2), min_cluster_size=Fraction(5, 2)).fit(X)
    assert "QuickShift(bandwidth=0.5, tau=1.5, min_cluster_size=2.5).fit(X)" in str(model.summary())
