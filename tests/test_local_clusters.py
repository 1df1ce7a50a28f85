"""The default rule of `QuickShift`: clusters under local scale.

First the whole rule is compared with the reference, given the same thresholds; then come the other
cuts of one fit, what users can rely on, the cluster tree, and errors.
"""

import copy
import itertools
import json
import math
import pickle
from dataclasses import fields
from pathlib import Path

import joblib
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone

import cases
import quickshift as qs
from cases import Case, same_partition
from clustering_cases import (
    DATA,
    EVERY_DATA,
    assert_same_fit,
    blobs,
    lattice,
    queries_for,
    with_duplicates,
)
from density_cases import queries_near
from quickshift import ClusterTree, QuickShift, _core, reference, stages
from quickshift.stages import local_clusters as rule
from quickshift.stages.local_scale import default_neighbors

every_ties = pytest.mark.parametrize("ties", ["total", "strict"])


@pytest.fixture
def chance(monkeypatch):
    """Return a function that replaces the level of chance by a number."""

    def replace(threshold):
        monkeypatch.setattr(rule, "chance_by_scale", lambda *_, **__: threshold)

    return replace


def periodic(period):
    return {} if period is None else {"metric": "periodic", "period": period}


def fit(case: Case, **settings):
    return QuickShift(**settings, **periodic(case.period)).fit(
        case.X, sample_weight=case.sample_weight
    )


def are_frequencies(case: Case) -> bool:
    return case.n <= 8 or case.sample_weight is None or case.sample_weight.sum() >= 8


def assert_is_the_references(model, case: Case, expected: reference.LocalClusters) -> None:
    np.testing.assert_array_equal(model.labels_, expected.labels, err_msg=case.name)
    np.testing.assert_array_equal(model.mode_indices_, expected.roots, err_msg=case.name)
    np.testing.assert_allclose(
        model.significance_, expected.significance, rtol=1e-9, atol=1e-9, err_msg=case.name
    )
    assert model.n_neighbors_ == expected.n_neighbors
    assert model.n_clusters_ == len(expected.roots)


def assert_queries_agree_with_the_fit(model, X) -> None:
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.score_samples(X), model.log_density_)


# The whole rule against the reference


@pytest.mark.parametrize("threshold", [0.3, 1.0, 2.0, 3.7])
@EVERY_DATA
def test_clusters_are_the_references(chance, X, threshold):
    chance(threshold)
    rng = np.random.default_rng(0)
    weights = [None, rng.integers(0, 4, len(X)).astype(float), rng.uniform(0.5, 3, len(X))]
    for weight, period in itertools.product(weights, (None, np.full(X.shape[1], 11.0))):
        case = Case("", X, 1.0, weight, period)
        model = fit(case)
        expected = reference.local_clusters(X, lambda _: threshold, **case.given)
        assert_is_the_references(model, case, expected)
        scale = reference.local_scale(X, model.n_neighbors_, **case.given)
        np.testing.assert_allclose(model.bandwidth_, scale.r, rtol=1e-13)
        np.testing.assert_array_equal(model.tau_, scale.tau)
        np.testing.assert_allclose(model.log_density_, scale.log_density, rtol=1e-10, atol=1e-10)
        assert_queries_agree_with_the_fit(model, X)


@given(
    case=cases.cases(kinds=tuple(cases.KINDS), weights=("none", "integer", "real"), max_n=120),
    threshold=st.sampled_from([0.2, 0.8, 2.0, 4.0]),
)
def test_drawn_clusters_are_the_references(case, threshold):
    assume(are_frequencies(case))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rule, "chance_by_scale", lambda *_, **__: threshold)
        model = fit(case)
    expected = reference.local_clusters(case.X, lambda _: threshold, **case.given)
    assert_is_the_references(model, case, expected)
    assert_queries_agree_with_the_fit(model, case.X)


@pytest.mark.parametrize("side", [7, 12, 20])
def test_clusters_of_a_whole_lattice_are_the_references(chance, side):
    # Distances tie at the K-th and the g-th neighbor, r ties everywhere.
    chance(0.5)
    X = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2) * 1.0
    holes = X[(X % 5 != 3).any(axis=1) & (X.sum(axis=1) % 7 != 2)]
    for points in (X, holes, X[:, :1], X * [1.0, 3.0]):
        case = Case(f"lattice {side}", points, 1.0)
        model = fit(case)
        expected = reference.local_clusters(points, lambda _: 0.5)
        assert_is_the_references(model, case, expected)
        assert_queries_agree_with_the_fit(model, points)


@every_ties
@pytest.mark.parametrize("least", [0.0, 0.4, 1.0, 1e9])
@EVERY_DATA
def test_given_significances_are_the_references(X, least, ties):
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    for case, k in itertools.product((Case("", X, 1.0), Case("", X, 1.0, weight)), (3, 8)):
        model = fit(case, n_neighbors=k, min_significance=least, ties=ties)
        expected = reference.local_clusters(
            X, least, n_neighbors=k, ties=ties, sample_weight=case.sample_weight
        )
        assert_is_the_references(model, case, expected)


@EVERY_DATA
def test_any_number_of_clusters_is_the_references(X):
    weight = np.random.default_rng(2).integers(1, 4, len(X)).astype(float)
    n_modes = len(reference.local_clusters(X, 0.0).all_roots)
    n_rows = len(np.unique(X, axis=0))
    wanted = {1, 2, n_modes - 1, n_modes, n_modes + 1, n_modes + 5, n_rows} - {0}
    for count, case in itertools.product(wanted, (Case("", X, 1.0), Case("", X, 1.0, weight))):
        if count > n_rows:
            continue
        model = fit(case, n_clusters=count)
        expected = reference.local_clusters(
            X, 1.0, n_clusters=count, sample_weight=case.sample_weight
        )
        assert_is_the_references(model, case, expected)
        assert model.n_clusters_ == count
        assert_queries_agree_with_the_fit(model, X)


@every_ties
@EVERY_DATA
def test_an_explicit_tau_is_algorithm_1_with_r(X, ties):
    scale = reference.local_scale(X)
    for tau in (0.0, 0.4, 1.5, 4.0, np.inf):
        model = QuickShift(tau=tau, ties=ties).fit(X)
        expected = reference.quick_shift(X, tau=tau, density=-scale.r, ties=ties)
        np.testing.assert_array_equal(model.labels_, expected.labels)
        np.testing.assert_array_equal(model.parent_, expected.parent)
        assert model.tau_ == tau
        assert model.n_neighbors_ == scale.n_neighbors
        assert model.min_significance_ == 0
        np.testing.assert_array_equal(model.labels_at(tau), model.labels_)
        assert model.bandwidth_.shape == (len(X),)


@EVERY_DATA
def test_queries_are_labeled_as_the_reference_labels_them(X):
    queries = queries_for(X)
    for settings in ({"n_neighbors": 6, "min_significance": 0.0}, {"n_neighbors": 6, "tau": 1.0}):
        model = QuickShift(**settings).fit(X)
        r, tau, log_density, _ = reference.local_scale(X, 6, queries=queries)
        own = np.full(len(queries), 1.0) if "tau" in settings else tau
        expected = reference.predict(
            X,
            queries,
            tau=np.broadcast_to(model.tau_, len(X)),
            density=-model.bandwidth_,
            query_density=-r,
            query_tau=own,
        )
        np.testing.assert_array_equal(model.predict(queries), expected)
        np.testing.assert_allclose(model.score_samples(queries), log_density, rtol=1e-10)


# The scales


def test_scales_are_tried_until_there_are_two_clusters(monkeypatch):
    X = np.concatenate([blobs(4, 100), blobs(5, 100) + 30])
    for found_at, k in [(1, 9), (2, 18), (4, 36)]:
        asked = []

        def threshold(total, n_features, scale, found_at=found_at, asked=asked):
            assert (total, n_features) == (200, 2)
            asked.append(scale)
            return 3.0 if scale == found_at else 1e9

        monkeypatch.setattr(rule, "chance_by_scale", threshold)
        model = QuickShift().fit(X)
        assert asked == [scale for scale in (1, 2, 4) if scale <= found_at]
        assert model.n_neighbors_ == k
        expected = reference.local_clusters(
            X, lambda scale, found_at=found_at: 3.0 if scale == found_at else 1e9
        )
        assert_is_the_references(model, Case("", X, 1.0), expected)


def test_the_first_scale_stands_if_no_scale_finds_two_clusters(chance):
    chance(1e9)
    X = blobs(4, 100)
    model = QuickShift().fit(X)
    assert model.n_clusters_ == 1
    assert model.n_neighbors_ == default_neighbors(100) == 7
    assert model.min_significance_ == 1e9
    assert_same_fit(model, QuickShift(n_neighbors=7, min_significance=1e9).fit(X))


@pytest.mark.parametrize("settings", [{"tau": 1.0}, {"n_clusters": 1}, {"n_neighbors": 7}])
def test_explicit_numbers_use_one_scale(chance, settings):
    chance(1e9)
    told = []
    samples = stages.prepare(blobs(4, 100))
    found = stages.find_local_clusters(
        samples, progress=lambda stage, done: told.append((stage, done)), **settings
    )
    assert told.count(("local_scale", 1.0)) == 1
    assert found.scale.n_neighbors == 7
    told.clear()
    stages.find_local_clusters(samples, progress=lambda stage, done: told.append((stage, done)))
    assert told.count(("climb", 1.0)) == 3


def test_scales_that_coincide_are_tried_once(chance):
    chance(1e9)
    told = []
    samples = stages.prepare(blobs(0, 12))
    stages.find_local_clusters(samples, progress=lambda stage, done: told.append((stage, done)))
    assert told.count(("local_scale", 1.0)) == 1


# Other cuts of one fit


@EVERY_DATA
def test_other_cuts_are_algorithm_1_with_another_tau(X):
    model = QuickShift(n_neighbors=5, min_significance=0.0).fit(X)
    rng = np.random.default_rng(3)
    for tau in (0.5, 2.0, model.tau_ * 0.5, rng.uniform(0, 3, len(X)), np.zeros(len(X))):
        expected = reference.quick_shift(X, tau=tau, density=-model.bandwidth_)
        np.testing.assert_array_equal(model.labels_at(tau), expected.labels)
        np.testing.assert_array_equal(model.labels_at(np.asarray(tau).tolist()), expected.labels)


def test_cut_at_tau_is_the_fit_before_modes_are_merged(chance):
    chance(2.0)
    for X in DATA.values():
        model = QuickShift().fit(X)
        fine = model.labels_at(model.tau_)
        unmerged = QuickShift(n_neighbors=model.n_neighbors_, min_significance=0.0).fit(X)
        np.testing.assert_array_equal(fine, unmerged.labels_)
        assert len({*zip(fine.tolist(), model.labels_.tolist(), strict=True)}) == fine.max() + 1


def assert_labels_for_are_those_of_refits(X, weights):
    n_rows = len(np.unique(X[weights > 0], axis=0))
    models = [
        QuickShift(min_significance=1.0),
        QuickShift(tau=0.7),
        QuickShift(n_neighbors=9, min_significance=0.5),
        QuickShift(n_clusters=min(30, n_rows)),
    ]
    for model in models:
        model.fit(X, sample_weight=weights)
        for count in {1, 2, 3, 5, 8, 13, 20, n_rows}:
            refit = QuickShift(n_neighbors=model.n_neighbors_, n_clusters=count)
            refit.fit(X, sample_weight=weights)
            np.testing.assert_array_equal(model.labels_for(count), refit.labels_)


@EVERY_DATA
def test_labels_for_a_number_of_clusters_are_those_of_a_refit(X):
    assert_labels_for_are_those_of_refits(X, np.ones(len(X)))
    assert_labels_for_are_those_of_refits(X, np.random.default_rng(4).integers(1, 4, len(X)))


def test_labels_for_also_labels_rows_of_weight_zero_as_a_refit():
    for X in DATA.values():
        assert_labels_for_are_those_of_refits(X, np.random.default_rng(4).integers(0, 3, len(X)))


def test_longest_moves_go_first_by_tau():
    model = QuickShift(min_significance=1.0).fit(blobs())
    lengths = np.sort(model.parent_distance_)[::-1]  # all distinct; the first is infinite
    for count in range(1, 60):
        expected = model.labels_at(lengths[count])
        np.testing.assert_array_equal(model.labels_for(count, by="tau"), expected)


def test_tau_of_more_clusters_than_modes_is_a_multiple_of_each_samples_own():
    for seed in range(5):
        X = blobs(seed)
        own = QuickShift(min_significance=0.0).fit(X)
        model = QuickShift(n_clusters=own.n_clusters_ + 4).fit(X)
        multiple = model.tau_ / own.tau_
        np.testing.assert_allclose(multiple, multiple[0], rtol=1e-15)
        assert multiple[0] <= 1
        kept = np.delete(model.parent_distance_ / own.tau_, model.mode_indices_)
        assert multiple[0] == pytest.approx(kept.max(), rel=1e-15)
        assert_queries_agree_with_the_fit(model, X)


def test_cut_at_the_tau_of_more_clusters_than_modes_is_the_fit():
    for seed in range(1, 60):
        X = np.random.default_rng(seed).normal(size=(60, 2))
        model = QuickShift(n_clusters=20).fit(X)
        np.testing.assert_array_equal(model.labels_at(model.tau_), model.labels_)


def test_linkage_is_in_absolute_lengths():
    model = QuickShift(min_significance=1.0).fit(blobs())
    finite = model.parent_distance_[np.isfinite(model.parent_distance_)]
    np.testing.assert_array_equal(model.to_linkage()[:, 2], np.sort(finite))


def test_graph_has_the_moves_within_the_tau_of_each_sample():
    model = QuickShift(min_significance=1.0).fit(blobs())
    graph = model.to_networkx()
    kept = np.flatnonzero(model.parent_distance_ <= model.tau_)
    moves = [(i, j) for i, j, merged in graph.edges(data="merged") if not merged]
    assert sorted(moves) == sorted((i, int(model.parent_[i])) for i in kept.tolist())


# What the attributes mean


@pytest.mark.parametrize("threshold", [0.5, 1.5, 3.0])
@EVERY_DATA
def test_least_significance_reproduces_the_clusters(chance, X, threshold):
    chance(threshold)
    for weight in (None, np.random.default_rng(5).integers(0, 3, len(X))):
        model = QuickShift().fit(X, sample_weight=weight)
        finite = model.significance_[np.isfinite(model.significance_)]
        assert model.min_significance_ == (finite.min() if finite.size else threshold)
        assert np.isinf(model.significance_[0])
        again = QuickShift(
            n_neighbors=model.n_neighbors_, min_significance=model.min_significance_
        ).fit(X, sample_weight=weight)
        assert_same_fit(again, model)
        np.testing.assert_array_equal(again.significance_, model.significance_)


def test_significance_is_the_drop_of_the_density_in_standard_errors():
    # By hand in tests/test_reference_local.py: r is 5/3 in the groups and 23/3 in the middle.
    X = np.array([0, 2, 3, 4, 6, 20, 22, 23, 24, 26], dtype=float)[:, None]
    model = QuickShift(min_significance=1.8).fit(X)
    z = math.sqrt(3 / 2) * math.log(23 / 5)
    np.testing.assert_allclose(model.significance_, [np.inf, z], rtol=1e-14)
    np.testing.assert_array_equal(model.labels_, [1] * 5 + [0] * 5)
    np.testing.assert_array_equal(model.mode_indices_, [8, 3])
    assert model.n_neighbors_ == 3
    assert QuickShift(min_significance=1.9).fit(X).n_clusters_ == 1


def test_modes_and_densities_belong_together():
    for X in DATA.values():
        model = QuickShift(min_significance=0.5).fit(X)
        np.testing.assert_array_equal(model.modes_, X[model.mode_indices_])
        np.testing.assert_array_equal(
            model.labels_[model.mode_indices_], np.arange(model.n_clusters_)
        )
        np.testing.assert_allclose(np.exp(model.log_density_), model.density_, rtol=1e-13)
        assert (np.diff(model.bandwidth_[model.mode_indices_]) >= -1e-9).all()
        assert model.bandwidth_.shape == model.tau_.shape == (len(X),)


def test_log_density_stands_where_density_leaves_the_numbers():
    for factor, value in ((2.0**40, 0.0), (2.0**-40, np.inf)):
        X = blobs(3, 40, 64)
        model = QuickShift(min_significance=1.0).fit(X * factor)
        plain = QuickShift(min_significance=1.0).fit(X)
        assert (model.density_ == value).all()
        shift = 64 * math.log(factor)
        np.testing.assert_allclose(model.log_density_, plain.log_density_ - shift, rtol=1e-12)
        np.testing.assert_array_equal(model.labels_, plain.labels_)


def test_rows_of_weight_zero_are_queries():
    for X in DATA.values():
        weight = np.random.default_rng(6).integers(0, 3, len(X))
        kept, gone = weight > 0, weight == 0
        model = QuickShift(min_significance=0.8).fit(X, sample_weight=weight)
        smaller = QuickShift(min_significance=0.8).fit(X[kept], sample_weight=weight[kept])
        for name in ("labels_", "bandwidth_", "tau_", "density_", "log_density_"):
            np.testing.assert_array_equal(getattr(model, name)[kept], getattr(smaller, name))
        np.testing.assert_array_equal(model.labels_[gone], smaller.predict(X[gone]))
        np.testing.assert_array_equal(model.log_density_[gone], smaller.score_samples(X[gone]))
        r, tau = smaller._estimate.scales_at(X[gone])
        np.testing.assert_array_equal(model.bandwidth_[gone], r)
        np.testing.assert_array_equal(model.tau_[gone], tau)
        np.testing.assert_array_equal(
            model.labels_at(model.tau_)[kept], smaller.labels_at(smaller.tau_)
        )
        assert np.isnan(model.parent_distance_[gone]).all()
        assert_queries_agree_with_the_fit(model, X)


# Invariance


def fit_of_everything(X, **settings):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rule, "chance_by_scale", lambda *_, **__: 1.0)
        return QuickShift(**settings).fit(X)


LARGER = {"blobs": blobs(0, 900), "lattice": np.round(blobs(1, 900)), "wide": blobs(2, 700, 12)}
every_larger = pytest.mark.parametrize("X", LARGER.values(), ids=LARGER)


@every_larger
def test_threads_change_no_bit(X):
    model = fit_of_everything(X, n_jobs=1)
    for n_jobs in (2, 3):
        other = fit_of_everything(X, n_jobs=n_jobs)
        assert_same_fit(other, model)
        np.testing.assert_array_equal(other.significance_, model.significance_)
        queries = queries_for(X)
        np.testing.assert_array_equal(other.predict(queries), model.predict(queries))
        np.testing.assert_array_equal(other.score_samples(queries), model.score_samples(queries))


@every_larger
def test_instruction_sets_change_no_bit(X):
    before, fits = _core.instruction_set(), []
    try:
        for each in _core.InstructionSet:
            if _core.has_instruction_set(each):
                _core.set_instruction_set(each)
                fits.append(fit_of_everything(X))
    finally:
        _core.set_instruction_set(before)
    for other in fits[:-1]:
        assert_same_fit(other, fits[-1])


@every_larger
def test_order_of_rows_changes_no_cluster(X):
    model = fit_of_everything(X)
    order = np.random.default_rng(7).permutation(len(X))
    other = fit_of_everything(X[order])
    for name in ("labels_", "bandwidth_", "tau_", "log_density_"):
        np.testing.assert_array_equal(getattr(other, name), getattr(model, name)[order])
    np.testing.assert_array_equal(other.modes_, model.modes_)
    np.testing.assert_array_equal(other.significance_, model.significance_)


@every_larger
@pytest.mark.parametrize("power", [-300, 300])
def test_power_of_two_scaling_is_exact(X, power):
    model, scaled = fit_of_everything(X), fit_of_everything(X * 2.0**power)
    np.testing.assert_array_equal(scaled.labels_, model.labels_)
    np.testing.assert_array_equal(scaled.bandwidth_, model.bandwidth_ * 2.0**power)
    np.testing.assert_array_equal(scaled.tau_, model.tau_ * 2.0**power)
    np.testing.assert_array_equal(scaled.significance_, model.significance_)


@pytest.mark.parametrize("make", [blobs, lattice, with_duplicates])
def test_integer_weights_are_repetitions(make):
    X = make(8)
    weight = np.random.default_rng(8).integers(1, 5, len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    weighted = QuickShift(min_significance=0.7).fit(X, sample_weight=weight)
    repeated = QuickShift(min_significance=0.7).fit(X[rows])
    for name in ("labels_", "bandwidth_", "tau_", "density_", "log_density_"):
        np.testing.assert_array_equal(getattr(weighted, name)[rows], getattr(repeated, name))
    np.testing.assert_array_equal(weighted.modes_, repeated.modes_)
    np.testing.assert_array_equal(weighted.significance_, repeated.significance_)
    assert weighted.n_neighbors_ == repeated.n_neighbors_


def test_six_constant_columns_change_no_label():
    for X in (*DATA.values(), *LARGER.values()):
        wide = np.column_stack([np.full(len(X), -2.5), X, np.tile([0, 1e5, 3, 1, 7], (len(X), 1))])
        model, other = QuickShift().fit(X), QuickShift().fit(wide)
        np.testing.assert_array_equal(other.labels_, model.labels_)
        np.testing.assert_array_equal(other.log_density_, model.log_density_)
        assert other.min_significance_ == model.min_significance_


def test_far_outlier_changes_no_other_label_as_long_as_k_stays():
    for X, far in itertools.product((blobs(0, 400), blobs(1, 400, 5)), (1e3, 1e9)):
        outlier = np.full((1, X.shape[1]), far)
        assert default_neighbors(400) == default_neighbors(401)
        for settings in ({}, {"min_significance": 2.0}):
            model = QuickShift(**settings).fit(X)
            other = QuickShift(**settings).fit(np.concatenate([X, outlier]))
            assert model.n_neighbors_ == other.n_neighbors_
            np.testing.assert_array_equal(other.labels_[:-1], model.labels_)


def test_single_precision_is_widened():
    X = blobs(0, 300).astype(np.float32)
    assert_same_fit(QuickShift().fit(X), QuickShift().fit(X.astype(float)))


# Clear cases by default


@pytest.mark.parametrize("d", [1, 2, 3, 10])
@pytest.mark.parametrize("size", [5, 8, 12, 20])
def test_two_small_groups_far_apart_are_two_clusters(size, d):
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(2 * size, d))
        X[size:, 0] += 20
        labels = QuickShift().fit(X).labels_
        assert same_partition(labels, np.repeat([0, 1], size))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_up_to_three_samples_are_one_cluster(n):
    model = QuickShift().fit(np.random.default_rng(0).normal(size=(n, 2)))
    assert model.n_clusters_ == 1
    assert np.isfinite(model.log_density_).all()


def test_equal_samples_are_one_cluster():
    for ties in ("total", "strict"):
        model = QuickShift(ties=ties).fit(np.full((30, 2), 0.7))
        assert model.n_clusters_ == 1
        np.testing.assert_array_equal(model.bandwidth_, 1)
        np.testing.assert_array_equal(model.tau_, 1)


# The cluster tree


@EVERY_DATA
def test_components_are_those_of_algorithm_2_with_one_tau_per_sample(X):
    weight = np.random.default_rng(9).integers(0, 3, len(X)).astype(float)
    for case in (Case("", X, 1.0), Case("", X, 1.0, weight)):
        settings = {"n_neighbors": 6, "min_significance": 1.0}
        model = QuickShift(**settings).fit(X, sample_weight=case.sample_weight)
        tree, r = model.tree_, model.bandwidth_
        np.testing.assert_array_equal(
            tree.labels()[case.present], model.labels_at(model.tau_)[case.present]
        )
        np.testing.assert_allclose(tree.density[case.present], model.density_[case.present])
        np.testing.assert_array_equal(tree.tau[case.present], model.tau_[case.present])
        steps = np.unique(r[case.present])
        between = [a for a, b in itertools.pairwise(steps) if b > a * (1 + 1e-9)]
        middle = np.array([*(a * (1 + 1e-10) for a in between), 2 * steps[-1]])
        expected = reference.cluster_tree(
            X, tau=model.tau_, density=-r, levels=-middle, sample_weight=case.sample_weight
        )
        levels = model._estimate.density_of_levels(1 / middle)
        for level, components in zip(levels, expected, strict=True):
            np.testing.assert_array_equal(tree.components_at(float(level)), components)


def test_tree_of_many_features_has_one_over_r_in_place_of_densities():
    model = QuickShift(min_significance=0.0).fit(blobs(0, 60, 400) * 2.0**-10)
    tree = model.tree_
    assert tree.power == 400
    np.testing.assert_allclose(tree.density, 1 / model.bandwidth_, rtol=1e-15)
    log_density = tree.log_unit + tree.power * np.log(tree.density)
    np.testing.assert_allclose(log_density, model.log_density_, rtol=1e-12)
    plain = QuickShift(min_significance=0.0).fit(blobs(0, 60, 2)).tree_
    assert (plain.power, plain.log_unit) == (1.0, 0.0)


def assert_same_tree(a: ClusterTree, b: ClusterTree) -> None:
    for field in fields(ClusterTree):
        np.testing.assert_array_equal(getattr(a, field.name), getattr(b, field.name), strict=True)


@pytest.mark.parametrize("d", [2, 400])
def test_file_gives_a_tree_with_one_tau_per_sample_back(tmp_path: Path, d):
    tree = QuickShift(min_significance=0.5).fit(blobs(0, 80, d) * 2.0**-10).tree_
    assert tree.tau.shape == (80,)
    tree.save(tmp_path / "tree.npz")
    loaded = ClusterTree.load(tmp_path / "tree.npz")
    assert_same_tree(loaded, tree)
    assert type(loaded.power) is float
    np.testing.assert_array_equal(
        loaded.prune(significance=1.0).labels(), tree.prune(significance=1.0).labels()
    )
    loaded.to_pandas()
    loaded.to_networkx()


def test_file_of_version_1_is_read(tmp_path: Path):
    tree = QuickShift(bandwidth=0.5, tau=1.0).fit(blobs()).tree_
    names = ("leaf_labels", "leaf_indices", "density", "merges", "sizes", "towards", "pieces")
    arrays = {name: getattr(tree, name) for name in (*names, "piece_merges", "significance")}
    about = {"format": "quickshift cluster tree", "version": 1, "tau": 1.0, "log_unit": 0.0}
    np.savez_compressed(tmp_path / "old.npz", json=np.array(json.dumps(about)), **arrays)
    assert_same_tree(ClusterTree.load(tmp_path / "old.npz"), tree)
    about["version"] = 3
    np.savez_compressed(tmp_path / "new.npz", json=np.array(json.dumps(about)), **arrays)
    with pytest.raises(ValueError, match="is not a cluster tree that this version can read"):
        ClusterTree.load(tmp_path / "new.npz")


def test_tree_with_an_explicit_tau_is_linked_within_it():
    X = blobs()
    model = QuickShift(tau=1.0).fit(X)
    assert model.tree_.tau == 1.0
    np.testing.assert_array_equal(model.tree_.labels(), model.labels_)
    r = model.bandwidth_
    middle = np.sort(r)[::7] * (1 + 1e-12)
    expected = reference.cluster_tree(X, tau=1.0, density=-r, levels=-middle)
    for level, components in zip(
        model._estimate.density_of_levels(1 / middle), expected, strict=True
    ):
        np.testing.assert_array_equal(model.tree_.components_at(float(level)), components)


# The stages


def test_estimator_and_stages_agree():
    X = blobs(0, 300)
    for settings in ({}, {"n_clusters": 4}, {"tau": 1.0}, {"n_neighbors": 9}):
        model = QuickShift(**settings).fit(X)
        found = stages.find_local_clusters(stages.prepare(X), **settings)
        np.testing.assert_array_equal(found.clusters.forest.labels, model.labels_)
        np.testing.assert_array_equal(found.scale.r, model.bandwidth_)
        np.testing.assert_array_equal(found.graph.parent, model.parent_)
        assert found.clusters.min_significance == model.min_significance_


def test_stages_can_be_called_one_by_one():
    X = blobs(0, 300)
    scale = stages.local_scale(X, 10)
    graph = stages.climb(scale.samples, scale.heights)
    forest = stages.cut(graph, scale.tau)
    tree = stages.link(scale.samples, scale.levels, forest, scale.tau)
    tree = stages.assess_by_scale(tree, scale, graph)
    kept = stages.keep_significant(tree, 1.0, gap="none")
    model = QuickShift(n_neighbors=10, min_significance=1.0).fit(X)
    np.testing.assert_array_equal(kept.labels(), model.labels_)
    np.testing.assert_array_equal(kept.significance, model.significance_)
    rows = stages.assign(graph, X[:9] + 0.2, -scale.scales_at(X[:9] + 0.2)[0], tau=np.ones(9))
    assert rows.shape == (9,)


def test_a_tree_is_linked_if_it_is_asked_for():
    samples = stages.prepare(blobs())
    assert stages.find_local_clusters(samples, tau=1.0).clusters.tree is None
    assert stages.find_local_clusters(samples, tau=1.0, link=True).clusters.tree is not None


@given(case=cases.cases(weights=("none", "integer", "real")), data=st.data())
def test_cut_link_and_assign_with_one_tau_per_sample_are_the_references(case, data):
    density = data.draw(cases.densities(case.n))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    samples = stages.prepare(case.X, **case.given)
    lengths = np.append(cases.distances(case.X, case.X, case.period).ravel(), [0.0, 1e-3, np.inf])
    wrapped = stages.prepare(case.X, period=case.period).tree.coordinates(np.arange(case.n))
    place = np.unique(wrapped, axis=0, return_inverse=True)[1].ravel()
    tau = rng.choice(lengths, case.n)[place]  # duplicates have the same tau
    queries = queries_near(case)
    given = {"density": density, "tau": tau, **case.given}
    present = case.present

    graph = stages.climb(samples, density)
    forest = stages.cut(graph, tau)
    expected = reference.quick_shift(case.X, **given)
    np.testing.assert_array_equal(forest.labels[present], expected.labels[present])
    np.testing.assert_array_equal(forest.roots, expected.roots)
    np.testing.assert_array_equal(forest.tau, tau)

    tree = stages.link(samples, density, forest, tau)
    levels = np.unique(density)[::3]
    components = reference.cluster_tree(case.X, levels=levels, **given)
    for level, at in zip(levels, components, strict=True):
        np.testing.assert_array_equal(tree.components_at(float(level)), at, case.name)

    heights, reach = rng.choice(density, len(queries)), rng.choice(lengths, len(queries))
    rows = stages.assign(graph, queries, heights, tau=reach)
    wanted = reference.predict(case.X, queries, query_density=heights, query_tau=reach, **given)
    np.testing.assert_array_equal(expected.labels[rows], wanted)


def test_duplicates_share_the_largest_of_their_taus():
    X, density, tau = [[0.0], [4.0], [4.0]], [2.0, 3.0, 1.0], [0.0, 0.0, 9.0]
    tree = stages.link(X, density, stages.cut(stages.climb(X, density), tau), tau)
    np.testing.assert_array_equal(tree.components_at(0.5), [0, 0, 0])
    np.testing.assert_array_equal(tree.components_at(1.5), [0, 0, -1])
    np.testing.assert_array_equal(tree.components_at(2.5), [-1, 0, -1])


# Copies and parameters


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
    assert f"Of the {n_modes} modes at tau, 1 are kept" in str(qs.diagnose(model, theory=True))


# Errors


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "cosine"}, r"^kernel is 'cosine' but bandwidth is 'local'.* bandwidth='auto'"),
        ({"bandwidth": 0.5, "n_neighbors": 5}, r"^n_neighbors is 5, which only bandwidth='local'"),
        ({"bandwidth": "auto", "n_neighbors": 5}, r"^n_neighbors is 5, which only"),
        ({"n_neighbors": 60}, r"^n_neighbors is 60, expected a whole number from 1 to 59"),
        ({"n_neighbors": 0}, r"^n_neighbors is 0, expected"),
        ({"n_neighbors": 2.5}, r"^n_neighbors is 2.5, expected"),
        ({"n_neighbors": "many"}, r"^n_neighbors is 'many', expected"),
        ({"min_significance": -1.0}, r"^min_significance is -1.0, expected"),
        ({"min_significance": np.nan}, r"^min_significance is NaN, expected"),
        ({"min_significance": "some"}, r"^min_significance is 'some', expected"),
        ({"min_significance": 1.0, "tau": 1.0}, r"expected at most one of them"),
        ({"min_significance": 1.0, "n_clusters": 2}, r"expected at most one of them"),
        ({"tau": 1.0, "n_clusters": 2}, r"expected at most one of them"),
        ({"bandwidth": "global"}, r"^bandwidth is 'global', expected .*'local'"),
        ({"ties": "random"}, r"^ties is 'random'"),
        ({"n_clusters": 61}, r"^n_clusters is 61, expected"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        QuickShift(**settings).fit(blobs())


def test_weights_that_are_no_frequencies_are_refused():
    with pytest.raises(ValueError, match=r"^sample_weight has the sum 1 for 60 rows"):
        QuickShift().fit(blobs(), sample_weight=np.full(60, 1 / 60))
    QuickShift(bandwidth=0.5).fit(blobs(), sample_weight=np.full(60, 1 / 60))


def test_few_samples_among_many_of_weight_zero_are_accepted():
    weight = np.zeros(60)
    weight[:5] = 1
    model = QuickShift().fit(blobs(), sample_weight=weight)
    np.testing.assert_array_equal(model.labels_[:5], QuickShift().fit(blobs()[:5]).labels_)


@pytest.mark.parametrize(
    ("tau", "message"),
    [
        (np.ones(59), r"^tau has shape \(59,\), expected one length, or an array of shape \(60,\)"),
        (np.ones((60, 1)), r"^tau has shape \(60, 1\)"),
        (np.full(60, -1.0), r"^tau has negative or NaN entries"),
        (np.full(60, np.nan), r"^tau has negative or NaN entries"),
        (-1.0, r"^tau is -1.0"),
    ],
)
def test_cuts_at_what_is_no_length_are_refused(tau, message):
    model = QuickShift().fit(blobs())
    with pytest.raises(ValueError, match=message):
        model.labels_at(tau)
    with pytest.raises(ValueError, match=message):
        stages.cut(model._graph, tau)


@pytest.mark.parametrize("scaled", ["one huge value", "subnormal"])
def test_scales_that_underflow_are_refused(scaled):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(size=(30, 2)) + 9])
    X = np.concatenate([X, [[1e300, 0.0]]]) if scaled == "one huge value" else X * 1e-310
    with pytest.raises(ValueError, match=r"underflows to less than 2.2e-308.*rescale the features"):
        QuickShift().fit(X)


def test_significances_of_a_jittered_lattice_are_not_negative():
    """The r of most samples are equal when rounded, so a saddle may be slightly above its mode."""
    lattice = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
    several = 0
    for seed in range(12):
        jitter = np.random.default_rng(seed).normal(scale=1e-12, size=lattice.shape)
        model = QuickShift(n_neighbors=8, min_significance=0).fit(lattice + jitter)
        assert (model.significance_ >= 0).all()
        assert model.n_clusters_ == len(np.unique(model.labels_at(model.tau_)))
        several += model.n_clusters_ > 1
    assert several > 0
