"""The default rule of `QuickShift`: clusters under local scale.

First the whole rule is compared with the reference, given the same thresholds; then come the other
cuts of one fit, what the attributes mean, and errors.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import cases
from cases import Case, same_partition
from clustering_cases import (
    DATA,
    EVERY_DATA,
    assert_same_fit,
    blobs,
    queries_for,
)
from quickshift import QuickShift, reference, stages
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


@EVERY_DATA
@pytest.mark.parametrize("more", [1, 5])
def test_rows_of_weight_zero_among_more_clusters_than_modes_are_the_references(X, more):
    weight = np.where(np.arange(len(X)) % 3, 2.0, 0.0)
    n_modes = len(reference.local_clusters(X, 0.0, sample_weight=weight).all_roots)
    case = Case("", X, 1.0, weight)
    model = fit(case, n_clusters=n_modes + more)
    expected = reference.local_clusters(X, 1.0, n_clusters=n_modes + more, sample_weight=weight)
    assert_is_the_references(model, case, expected)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


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


# Clear cases by default


@pytest.mark.parametrize("d", [1, 2, 3, 10])
@pytest.mark.parametrize("size", [5, 8, 12, 20])
def test_two_small_groups_far_apart_are_two_clusters(size, d):
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(2 * size, d))
        X[size:, 0] += 20
        labels = QuickShift().fit(X).labels_
        assert same_partition(labels, np.repeat([0, 1], size))


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("apart", [4.0, 6.0])
@pytest.mark.parametrize("step", [0.05, 0.1, 0.2, 0.5, 1.0])
def test_two_rounded_gaussians_are_two_clusters(step, apart, d):
    found = []
    for seed in range(20):
        X = np.random.default_rng([seed, d]).normal(size=(1000, d))
        X[500:, 0] += apart
        found.append(QuickShift().fit(np.round(X / step) * step).n_clusters_)
    assert found.count(2) >= 19


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
