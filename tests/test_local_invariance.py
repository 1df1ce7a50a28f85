"""What changes no cluster under local scale: threads, order, units, copies, constant columns."""

import itertools

import numpy as np
import pytest

from clustering_cases import (
    DATA,
    assert_same_fit,
    blobs,
    lattice,
    queries_for,
    with_duplicates,
)
from instruction_sets import with_every_instruction_set
from quickshift import QuickShift
from quickshift.stages import local_clusters as rule
from quickshift.stages.local_scale import default_neighbors


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
    fits = with_every_instruction_set(lambda: fit_of_everything(X))
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
