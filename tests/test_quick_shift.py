"""`QuickShift.fit`: the meaning of every fitted attribute, compared with the reference.

Cuts and exports of a fit are in `test_quick_shift_cuts.py`, new points in
`test_quick_shift_predict.py`, weights and kinds of input in `test_quick_shift_input.py`, pickles
and copies in `test_quick_shift_copies.py`.
"""

import numpy as np
import pytest
from scipy.special import logsumexp

from cases import same_partition
from clustering_cases import EVERY_DATA, EVERY_KERNEL, KERNELS, RULES, assert_same_fit, blobs
from quickshift import QuickShift, reference

# Fitted attributes


@EVERY_DATA
@pytest.mark.parametrize("tau", ["auto", 1.0, 0.0, np.inf])
@pytest.mark.parametrize("bandwidth", ["local", "auto", 0.5])
def test_attributes_have_their_shapes_and_types(X, bandwidth, tau):
    model = QuickShift(bandwidth, tau).fit(X)
    n, d = X.shape
    k = model.n_clusters_
    expected = {
        "labels_": ((n,), np.int64),
        "mode_indices_": ((k,), np.int64),
        "modes_": ((k, d), np.float64),
        "density_": ((n,), np.float64),
        "log_density_": ((n,), np.float64),
        "parent_": ((n,), np.int64),
        "parent_distance_": ((n,), np.float64),
    }
    if bandwidth == "local":
        expected["bandwidth_"] = (n,), np.float64
        assert type(model.n_neighbors_) is int
    else:
        assert type(model.bandwidth_) is float
        assert not hasattr(model, "n_neighbors_")
    if bandwidth == "local" and tau == "auto":
        expected["tau_"] = (n,), np.float64
    else:
        assert type(model.tau_) is float
    for name, (shape, dtype) in expected.items():
        value = getattr(model, name)
        assert type(value) is np.ndarray, name
        assert (value.shape, value.dtype) == (shape, dtype), name
    assert type(model.n_clusters_) is int
    assert type(model.min_significance_) is float
    assert model.n_features_in_ == d
    assert sorted(set(model.labels_.tolist())) == list(range(k))


@EVERY_DATA
@EVERY_KERNEL
@pytest.mark.parametrize("ties", ["total", "strict"])
def test_fit_is_algorithm_1(X, kernel, ties):
    model = QuickShift(bandwidth=1.25, tau=1.5, kernel=kernel, ties=ties).fit(X)
    expected = reference.quick_shift(X, 1.25, 1.5, kernel=kernel, ties=ties)
    np.testing.assert_allclose(model.density_, expected.density, rtol=1e-9)
    np.testing.assert_array_equal(model.parent_, expected.parent)
    np.testing.assert_array_equal(model.parent_distance_, expected.parent_distance)
    np.testing.assert_array_equal(model.labels_, expected.labels)
    np.testing.assert_array_equal(model.mode_indices_, expected.roots)


@pytest.mark.parametrize(("alias", "kernel"), [("tophat", "uniform"), ("linear", "triangular")])
def test_kernels_have_the_names_of_scikit_learn_too(alias, kernel):
    X = blobs()
    models = [QuickShift(bandwidth="auto", kernel=name).fit(X) for name in (alias, kernel)]
    assert_same_fit(*models)


@EVERY_DATA
def test_labels_fall_with_the_height_of_their_modes(X):
    model = QuickShift(bandwidth=0.5, tau=1.0).fit(X)
    heights = model.density_[model.mode_indices_]
    assert model.n_clusters_ > 1
    assert heights[0] >= model.density_.max() * (1 - 1e-8)
    assert (heights[1:] <= heights[:-1] * (1 + 1e-8)).all()
    np.testing.assert_array_equal(model.labels_[model.mode_indices_], np.arange(model.n_clusters_))


@EVERY_DATA
def test_modes_are_the_samples_they_point_to(X):
    model = QuickShift(bandwidth=0.5, tau=1.0).fit(X)
    np.testing.assert_array_equal(model.modes_, X[model.mode_indices_])


@EVERY_DATA
def test_every_sample_has_the_label_of_its_parent_unless_it_is_a_mode(X):
    model = QuickShift(bandwidth=0.5, tau=1.0).fit(X)
    is_mode = np.isin(np.arange(len(X)), model.mode_indices_)
    np.testing.assert_array_equal(is_mode, model.parent_distance_ > model.tau_)
    below = np.flatnonzero(~is_mode)
    np.testing.assert_array_equal(model.labels_[below], model.labels_[model.parent_[below]])
    assert (model.density_[model.parent_] >= model.density_ * (1 - 1e-8)).all()


def test_parents_are_found_however_far_they_are():
    model = QuickShift(bandwidth=0.5, tau=1.0).fit([[0.0], [0.3], [0.4], [50.0]])
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1])
    np.testing.assert_array_equal(model.parent_, [1, 1, 1, 2])
    np.testing.assert_allclose(model.parent_distance_, [0.3, np.inf, 0.1, 49.6])


@EVERY_KERNEL
def test_density_is_the_exponential_of_log_density(kernel):
    model = QuickShift(bandwidth="auto", kernel=kernel).fit(blobs())
    np.testing.assert_allclose(np.exp(model.log_density_), model.density_, rtol=1e-13)


@pytest.mark.parametrize(("scale", "value"), [(1e6, 0.0), (1e-6, np.inf)])
def test_log_density_stands_where_density_leaves_the_numbers(scale, value):
    X = blobs(3, 30, 64) * scale
    model = QuickShift(bandwidth=3.0 * scale, tau=20.0 * scale).fit(X)
    expected = QuickShift(bandwidth=3.0, tau=20.0).fit(X / scale).log_density_
    assert (model.density_ == value).all()
    np.testing.assert_allclose(model.log_density_, expected - 64 * np.log(scale), rtol=1e-10)


def test_density_integrates_to_one():
    grid = np.linspace(-10.0, 20.0, 6001)[:, None]
    for kernel in KERNELS:
        model = QuickShift(bandwidth=0.8, kernel=kernel).fit(blobs(1, 60, 1))
        mass = np.exp(model.score_samples(grid)).sum() * 0.005
        assert mass == pytest.approx(1.0, abs=1e-3), kernel


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
def test_densities_keep_the_tolerance(kernel):
    X = np.concatenate([blobs(0, 1500), [[40.0, 40.0]]])
    exact = reference.kernel_density(X, 0.5, kernel=kernel)
    for rtol in (0.0, 1e-12, 1e-9, 1e-3):
        density = QuickShift(bandwidth=0.5, kernel=kernel, rtol=rtol).fit(X).density_
        np.testing.assert_allclose(density, exact, rtol=max(rtol, 1e-13))


# Parameters, given and automatic


def test_explicit_parameters_are_used_as_given():
    model = QuickShift(bandwidth=0.7, tau=1.3).fit(blobs())
    assert (model.bandwidth_, model.tau_) == (0.7, 1.3)
    model = QuickShift(bandwidth=np.float32(0.5), tau=2).fit(blobs())
    assert (model.bandwidth_, model.tau_) == (0.5, 2.0)


@pytest.mark.parametrize("rule", RULES)
@EVERY_KERNEL
def test_rules_choose_a_bandwidth_that_can_be_given_back(rule, kernel):
    X = blobs()
    model = QuickShift(bandwidth=rule, kernel=kernel).fit(X)
    again = QuickShift(bandwidth=model.bandwidth_, kernel=kernel).fit(X)
    assert 0 < model.bandwidth_ < 10
    assert_same_fit(model, again)


def test_automatic_bandwidth_is_half_of_the_papers():
    X = blobs()
    halves = [QuickShift(bandwidth=rule).fit(X).bandwidth_ for rule in ("paper", "scott", "auto")]
    assert halves[0] == halves[1] == 2 * halves[2]
    spread = np.minimum(X.std(axis=0), np.subtract(*np.quantile(X, [0.75, 0.25], axis=0)) / 1.349)
    assert halves[0] == pytest.approx(spread.mean() * 60 ** (-1 / 6), rel=1e-12)


def test_cross_validated_bandwidth_is_more_likely_than_its_neighbors():
    X = blobs(4, 50, 1)
    model = QuickShift(bandwidth="cv").fit(X)

    def likelihood(h):
        squares = -0.5 * ((X - X.T) / h) ** 2
        np.fill_diagonal(squares, -np.inf)
        return logsumexp(squares, axis=1).mean() - np.log(h)

    best = likelihood(model.bandwidth_)
    assert best > likelihood(model.bandwidth_ * 1.05)
    assert best > likelihood(model.bandwidth_ / 1.05)


def test_automatic_tau_reaches_a_neighbor_and_one_and_a_half_bandwidths():
    X = np.arange(10.0)[:, None]
    assert QuickShift(bandwidth=4.0).fit(X).tau_ == 6.0
    assert QuickShift(bandwidth=0.1).fit(X).tau_ == 1.0
    assert QuickShift(bandwidth=0.1).fit(np.repeat(X, 3, axis=0)).tau_ == 1.0


def test_refit_replaces_everything():
    first, second = blobs(0, 60, 2), blobs(5, 20, 3)
    for bandwidth in ("local", "auto"):
        model = QuickShift(bandwidth).fit(first, sample_weight=np.arange(60.0)).fit(second)
        assert_same_fit(model, QuickShift(bandwidth).fit(second))
        assert sorted(vars(model)) == sorted(vars(QuickShift(bandwidth).fit(second)))
        np.testing.assert_array_equal(model.predict(second), model.labels_)


# Periodic features


def test_clusters_cross_the_seam():
    hours = np.array([[22.5], [23.0], [23.5], [0.25], [0.5], [11.0], [11.5], [12.0]])
    model = QuickShift(bandwidth=1.0, tau=2.0, metric="periodic", period=[24.0]).fit(hours)
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(
        model.predict([[23.99], [0.0], [24.0], [-1.0], [35.0]]), [0, 0, 0, 0, 1]
    )
    assert QuickShift(bandwidth=1.0, tau=2.0).fit(hours).n_clusters_ == 3


def test_period_alone_implies_the_periodic_metric():
    hours = np.array([[22.5], [23.0], [23.5], [0.25], [0.5], [11.0], [11.5], [12.0]])
    for settings in ({"bandwidth": 1.0, "tau": 2.0}, {"min_significance": 0.3}):
        implied = QuickShift(**settings, period=[24.0]).fit(hours)
        named = QuickShift(**settings, metric="periodic", period=[24.0]).fit(hours)
        np.testing.assert_array_equal(implied.labels_, named.labels_)
        np.testing.assert_array_equal(implied.density_, named.density_)
        assert implied.get_params()["metric"] == "euclidean"  # as scikit-learn requires


def test_whole_periods_make_no_difference():
    X = np.random.default_rng(9).integers(0, 64, size=(80, 2)) / 4.0
    turns = np.column_stack([16.0 * np.random.default_rng(10).integers(-3, 4, 80), np.zeros(80)])
    for parameters in ({"bandwidth": 1.0, "tau": 1.5}, {"min_significance": 0.3}):
        settings = {**parameters, "metric": "periodic", "period": [16.0, np.inf]}
        model = QuickShift(**settings).fit(X)
        turned = QuickShift(**settings).fit(X + turns)
        assert_same_fit(model, turned)
        np.testing.assert_array_equal(model.predict(X + turns), model.labels_)
        np.testing.assert_array_equal(turned.modes_ % [16.0, np.inf], X[turned.mode_indices_])


def test_rotation_of_the_circle_makes_no_difference_to_the_groups():
    X = np.random.default_rng(11).vonmises([0.0, 2.5], 4.0, size=(60, 2)).reshape(-1, 1)
    for parameters in ({"bandwidth": 0.3, "tau": 0.6}, {"min_significance": 0.5}):
        settings = {**parameters, "metric": "periodic", "period": [2 * np.pi]}
        labels = [QuickShift(**settings).fit_predict(X + turn) for turn in (0.0, 1.0, 2.0, 4.0)]
        assert max(labels[0]) > 0
        assert all(same_partition(labels[0], other) for other in labels)


def test_open_periods_are_euclidean():
    X = blobs()
    for bandwidth in ("local", "auto"):
        periodic = QuickShift(bandwidth, metric="periodic", period=[np.inf, np.inf])
        assert_same_fit(QuickShift(bandwidth).fit(X), periodic.fit(X))


def test_long_period_is_euclidean():
    X = blobs() + 50.0
    periodic = QuickShift(1.0, 2.0, metric="periodic", period=[1024.0, np.inf]).fit(X)
    plain = QuickShift(1.0, 2.0).fit(X)
    np.testing.assert_array_equal(periodic.labels_, plain.labels_)
    np.testing.assert_allclose(periodic.density_, plain.density_, rtol=2e-9)
    local = {"min_significance": 0.5}
    periodic = QuickShift(**local, metric="periodic", period=[1024.0, np.inf]).fit(X)
    np.testing.assert_array_equal(periodic.labels_, QuickShift(**local).fit(X).labels_)


def test_automatic_bandwidth_fits_into_the_period():
    X = np.random.default_rng(12).uniform(0, 1, size=(5, 2)) * [1.0, 1e4]
    for kernel in KERNELS:
        model = QuickShift("auto", kernel=kernel, metric="periodic", period=[1.0, np.inf]).fit(X)
        assert model.bandwidth_ <= 0.5


# Ties


def test_one_rounded_gaussian_has_one_root_or_with_strict_ties_several():
    X = np.random.default_rng(13).normal(size=(300, 1)).round(1)
    settings = {"bandwidth": 0.4, "tau": 1.0}
    assert QuickShift(**settings).fit(X).n_clusters_ == 1
    strict = QuickShift(**settings, ties="strict").fit(X)
    assert strict.n_clusters_ == np.count_nonzero(strict.modes_[0] == X) > 1
    assert (strict.modes_ == strict.modes_[0]).all()


def test_duplicates_hang_on_the_first_of_them():
    model = QuickShift(bandwidth=1.0, tau=0.0).fit([[3.0], [5.0], [3.0], [5.0], [3.0]])
    np.testing.assert_array_equal(model.parent_, [0, 0, 0, 1, 0])
    np.testing.assert_array_equal(model.parent_distance_, [np.inf, 2.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(model.labels_, [0, 1, 0, 1, 0])


def test_between_equal_densities_the_larger_coordinates_are_higher():
    X = [[0.0, 1.0], [0.0, 2.0], [-1.0, 9.0]]
    model = QuickShift(bandwidth=0.5, tau=0.0, kernel="uniform").fit(X)
    np.testing.assert_array_equal(model.labels_, [1, 0, 2])


def test_plateau_on_a_line_is_one_cluster():
    X = np.arange(50.0)[:, None]
    settings = {"bandwidth": 100.0, "tau": 1.0, "kernel": "uniform"}
    assert QuickShift(**settings).fit(X).n_clusters_ == 1
    assert QuickShift(**settings, ties="strict").fit(X).n_clusters_ == 50
