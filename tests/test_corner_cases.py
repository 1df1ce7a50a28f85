"""Corner cases with a known answer: extreme, degenerate and unlucky data, in one place.

Every test fits something to data that have broken this or another implementation: a single sample,
duplicate rows, subnormal numbers, samples exactly at the edge of a kernel's support. Clustering
comes first, modal regression (`ModalRegressor`) last. Tests with 100 000 points also guard the
running time: an algorithm that visits every pair of points would take minutes.

Other kinds of tests have their own files: arguments that are refused are in `test_errors.py` and
`test_modal_errors.py`, changes of the input that must not change the answer in
`test_invariance.py` and `test_modal_invariance.py`, and small stacks and forks in
`test_processes.py`.
"""

import numpy as np
import pytest

from cases import ENDING_AT_H, same_partition
from modal_cases import (
    COMPACT,
    EVERY_BANDWIDTH,
    EVERY_KERNEL,
    EVERY_RULE,
    INFINITE,
    branches,
    two_columns,
)
from quickshift import ModalRegressor, QuickShift, kernels, reference, stages
from quickshift.bandwidth import period_limit
from quickshift.kernels import get_kernel

MANY = 100_000


def lattice(*sides):
    axes = np.meshgrid(*(np.arange(float(side)) for side in sides), indexing="ij")
    return np.stack(axes, axis=-1).reshape(-1, len(sides))


def three_blobs(n=300, d=2, seed=0):
    """Draw three clouds of unit spread, 20 apart, and return the cloud of each point as well."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, size=n)
    return rng.normal(size=(n, d)) + 20.0 * truth[:, None], truth


# Clustering: few points


@EVERY_KERNEL
def test_one_point_is_one_cluster(kernel):
    model = QuickShift(bandwidth="auto", kernel=kernel).fit([[3.0, -4.0]])
    np.testing.assert_array_equal(model.labels_, [0])
    np.testing.assert_array_equal(model.modes_, [[3.0, -4.0]])
    np.testing.assert_array_equal(model.parent_, [0])
    np.testing.assert_array_equal(model.parent_distance_, [np.inf])
    assert model.bandwidth_ == 1.0
    np.testing.assert_array_equal(model.predict([[3.0, -4.0], [1e9, 0.0]]), [0, 0])
    expected = kernels.get_kernel(kernel).log_normaliser(2)
    if kernel == "silverman":  # k(0) = sin(π/4); all other kernels have k(0) = 1
        expected += np.log(np.sin(np.pi / 4))
    assert model.log_density_[0] == pytest.approx(expected, rel=1e-12)


@EVERY_KERNEL
def test_two_points_are_one_cluster_or_two(kernel):
    for X in ([[0.0], [1.0]], [[1.0], [0.0]]):
        upper = int(X[1][0] == 1.0)  # equal densities: the larger coordinate is higher
        near, far = (QuickShift(0.5, tau, kernel=kernel).fit(X) for tau in (1.0, 0.99))
        np.testing.assert_array_equal(near.labels_, [0, 0])
        assert near.mode_indices_.tolist() == [upper]
        assert far.labels_[upper] == 0
        assert far.labels_[1 - upper] == 1


@pytest.mark.parametrize("n", [3, 11, 15, 16, 17, 31, 32, 33, 34, 63, 64, 65, 127, 128, 129, 257])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_sizes_around_those_of_leaves_agree_with_the_reference(n, d):
    rng = np.random.default_rng(n)
    for X in (rng.normal(size=(n, d)), rng.integers(0, 4, size=(n, d)) * 1.0, np.ones((n, d))):
        for kernel in ("gaussian", "uniform", "epanechnikov"):
            model = QuickShift(0.8, 1.0, kernel=kernel).fit(X)
            expected = reference.quick_shift(X, 0.8, 1.0, kernel=kernel)
            np.testing.assert_array_equal(model.parent_, expected.parent)
            np.testing.assert_array_equal(model.labels_, expected.labels)
            np.testing.assert_allclose(model.density_, expected.density, rtol=1e-9)


def test_more_features_than_points():
    X, truth = three_blobs(30, 500)
    model = QuickShift(bandwidth=10.0, tau=60.0).fit(X)
    assert model.n_clusters_ == 3
    assert same_partition(model.labels_, truth)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "epanechnikov", "uniform"])
def test_sixty_four_features(kernel):
    X, truth = three_blobs(200, 64)
    model = QuickShift(bandwidth=16.0, tau=20.0, kernel=kernel).fit(X)
    expected = reference.quick_shift(X, 16.0, 20.0, kernel=kernel)
    np.testing.assert_array_equal(model.parent_, expected.parent)
    np.testing.assert_array_equal(model.labels_, expected.labels)
    logs = reference.log_kernel_density(X, 16.0, kernel=kernel)
    np.testing.assert_allclose(model.log_density_, logs, rtol=1e-9)
    assert same_partition(model.labels_, truth)


# Clustering: duplicate rows and constant columns


@EVERY_KERNEL
def test_equal_points_are_one_cluster(kernel):
    X = np.full((MANY, 3), 0.1)
    model = QuickShift(bandwidth="auto", kernel=kernel).fit(X)
    assert model.n_clusters_ == 1
    assert not model.labels_.any()
    assert not model.parent_.any()
    assert model.mode_indices_.tolist() == [0]
    assert model.parent_distance_[0] == np.inf
    assert not model.parent_distance_[1:].any()
    assert model.bandwidth_ == 1.0
    alone = QuickShift(bandwidth="auto", kernel=kernel).fit(X[:1]).log_density_[0]
    np.testing.assert_allclose(model.log_density_, alone, rtol=1e-12)


@pytest.mark.parametrize("bandwidth", ["local", "auto"])
def test_equal_points_with_strict_ties_are_as_many_clusters(bandwidth):
    model = QuickShift(bandwidth, tau=1.0, ties="strict").fit(np.zeros((MANY, 1)))
    np.testing.assert_array_equal(model.labels_, np.arange(MANY))
    assert np.isinf(model.parent_distance_).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_copies_of_most_of_many_points_are_weights(n_jobs):
    places = np.random.default_rng(0).normal(size=(150_000, 2))
    weights = np.repeat([2.0, 1.0], [120_000, 30_000])
    settings = {"bandwidth": 0.2, "tau": 0.2, "kernel": "epanechnikov", "n_jobs": n_jobs}
    copied = QuickShift(**settings).fit(np.concatenate([places, places[:120_000]]))
    weighted = QuickShift(**settings).fit(places, sample_weight=weights)
    for name in ("labels_", "density_", "parent_", "parent_distance_"):
        np.testing.assert_array_equal(getattr(copied, name)[:150_000], getattr(weighted, name))
    np.testing.assert_array_equal(copied.parent_[150_000:], np.arange(120_000))
    assert not copied.parent_distance_[150_000:].any()


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_many_copies_of_few_points_are_weights(kernel):
    rng = np.random.default_rng(0)
    places = rng.normal(size=(1000, 2))
    rows = rng.integers(0, 1000, size=2 * MANY)
    copied = QuickShift(bandwidth="auto", kernel=kernel).fit(places[rows])
    weighted = QuickShift(bandwidth="auto", kernel=kernel).fit(
        places, sample_weight=np.bincount(rows, minlength=1000)
    )
    assert copied.bandwidth_ == weighted.bandwidth_
    assert copied.tau_ == weighted.tau_
    np.testing.assert_array_equal(copied.labels_, weighted.labels_[rows])
    np.testing.assert_array_equal(copied.density_, weighted.density_[rows])
    first = np.full(1000, -1)
    first[rows[::-1]] = np.arange(2 * MANY)[::-1]
    np.testing.assert_array_equal(copied.mode_indices_, first[weighted.mode_indices_])
    assert np.count_nonzero(copied.parent_distance_ > 0) == np.count_nonzero(first >= 0)


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("kernel", ["gaussian", "uniform"])
def test_constant_column_changes_no_cluster(column, kernel):
    x = np.random.default_rng(0).normal(size=20_000)
    X = np.insert(x[:, None], column, 7.0, axis=1)
    model = QuickShift(0.05, 0.1, kernel=kernel, rtol=1e-12).fit(X)
    line = QuickShift(0.05, 0.1, kernel=kernel, rtol=1e-12).fit(x[:, None])
    np.testing.assert_array_equal(model.labels_, line.labels_)
    np.testing.assert_array_equal(model.parent_, line.parent_)


def test_prediction_of_the_samples_are_the_labels_for_every_number_of_clusters():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [5.0]])
    for count in (1, 2, 3):
        model = QuickShift(1.0, n_clusters=count).fit(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)


# Clustering: lattices, lines, plateaus, outliers


def test_lattice_with_tau_exactly_one_is_one_cluster():
    X = lattice(300, 300)
    model = QuickShift(bandwidth=1.0, tau=1.0, kernel="uniform").fit(X)
    assert model.n_clusters_ == 1
    assert np.unique(model.parent_distance_).tolist() == [1.0, np.inf]
    inner = ((X > 0) & (X < 299)).all(axis=1)
    np.testing.assert_allclose(model.density_[inner], 5 / (len(X) * np.pi))
    assert model.modes_.tolist() == [[298.0, 298.0]]  # the last point with four neighbors
    shorter = model.labels_at(np.nextafter(1.0, 0.0))
    assert len(np.unique(shorter)) == len(X)


@pytest.mark.parametrize("offset", [0.0, 1e8, -(2.0**40)])
def test_lattice_far_from_the_origin_keeps_its_steps(offset):
    X = lattice(40, 40) + offset
    model = QuickShift(bandwidth=1.5, tau=1.0, kernel="epanechnikov").fit(X)
    assert np.unique(model.parent_distance_).tolist() == [1.0, np.inf]
    assert model.n_clusters_ == 1


@pytest.mark.parametrize("step", [0.1, 1 / 3, 2.0**-60])
def test_lattice_of_an_odd_step_has_edges_of_a_step(step):
    X = lattice(40, 40) * step
    model = QuickShift(bandwidth=1.5 * step, tau=np.inf, kernel="epanechnikov").fit(X)
    np.testing.assert_allclose(np.sort(model.parent_distance_)[:-1], step, rtol=1e-13)


def test_lattice_in_eight_features():
    X = lattice(*[3] * 8)
    model = QuickShift(bandwidth=1.0, tau=1.0, kernel="uniform").fit(X)
    assert model.n_clusters_ == 1
    assert model.modes_.tolist() == [[1.0] * 8]  # the center has the most neighbors


def test_collinear_points_in_ten_features_are_a_line():
    t = np.random.default_rng(0).integers(0, 2**20, size=50_000) / 2.0**12
    X = t[:, None] * ([1.0] * 9 + [0.0])  # distances are exactly three times those of t
    for kernel in ("uniform", "epanechnikov"):
        model = QuickShift(bandwidth=1.5, tau=0.375, kernel=kernel).fit(X)
        line = QuickShift(bandwidth=0.5, tau=0.125, kernel=kernel).fit(t[:, None])
        np.testing.assert_array_equal(model.labels_, line.labels_)
        np.testing.assert_array_equal(model.parent_distance_, 3 * line.parent_distance_)


def test_clusters_at_exponential_distances_are_found():
    rng = np.random.default_rng(0)
    power = np.repeat(np.arange(1, 15), MANY // 14)
    X = (10.0**power + rng.uniform(-0.25, 0.25, size=power.size))[:, None]
    model = QuickShift(bandwidth=1.0, tau=1.0, kernel="uniform").fit(X)
    # Equal densities: the cluster of the largest points is the highest.
    np.testing.assert_array_equal(model.labels_, 14 - power)


def test_points_at_exponential_distances_are_told_apart():
    places = 2.0 ** np.arange(-196, 201, 4)
    X = np.repeat(places, 500)[:, None]
    model = QuickShift(bandwidth=2.0**-200, tau=0.0, kernel="uniform").fit(X)
    np.testing.assert_array_equal(model.labels_, np.repeat(np.arange(100)[::-1], 500))
    lengths = model.parent_distance_.reshape(100, 500)
    np.testing.assert_array_equal(lengths[:-1, 0], np.diff(places))
    assert not lengths[:, 1:].any()


def test_far_outlier_is_a_cluster_and_changes_no_other():
    X, _ = three_blobs(50_000)
    for far in (1e6, 1e100):
        model = QuickShift(1.0, 3.0, kernel="epanechnikov").fit(np.append(X, [[far, -far]], axis=0))
        plain = QuickShift(1.0, 3.0, kernel="epanechnikov").fit(X)
        np.testing.assert_array_equal(model.labels_[:-1], plain.labels_)
        np.testing.assert_array_equal(model.parent_[:-1], plain.parent_)
        assert model.labels_[-1] == plain.n_clusters_ == model.n_clusters_ - 1


def test_far_outlier_changes_nothing_that_is_automatic():
    X = np.random.default_rng(0).normal(size=(5000, 2))
    plain = QuickShift(bandwidth="auto").fit(X)
    for far in (1e6, 1e100):
        model = QuickShift(bandwidth="auto").fit(np.append(X, [[far, far]], axis=0))
        assert model.bandwidth_ == pytest.approx(plain.bandwidth_, rel=0.01)
        assert model.tau_ == pytest.approx(plain.tau_, rel=0.01)
        assert model.n_clusters_ == plain.n_clusters_ == 1


def test_far_outlier_changes_no_local_scale():
    X = np.random.default_rng(0).normal(size=(5000, 2))
    settings = {"n_neighbors": 27, "min_significance": 4.0}
    plain = QuickShift(**settings).fit(X)
    for far in (1e6, 1e100):
        model = QuickShift(**settings).fit(np.append(X, [[far, far]], axis=0))
        if far == 1e6:  # 1e100 changes the power of two by which coordinates are divided
            np.testing.assert_array_equal(model.bandwidth_[:-1], plain.bandwidth_)
            np.testing.assert_array_equal(model.tau_[:-1], plain.tau_)
        np.testing.assert_array_equal(model.labels_[:-1], plain.labels_)


@pytest.mark.parametrize("bandwidth", ["local", "auto"])
def test_default_of_one_point_and_of_equal_points_is_one_cluster(bandwidth):
    for n in (1, 2, MANY):
        model = QuickShift(bandwidth).fit(np.full((n, 3), 0.1))
        assert model.n_clusters_ == 1
        assert not model.parent_.any()
        assert model.mode_indices_.tolist() == [0]
        assert (model.bandwidth_ == np.ones_like(model.bandwidth_)).all()
        assert np.isfinite(model.log_density_).all()
        np.testing.assert_array_equal(model.predict([[0.1, 0.1, 0.1], [1e9, 0.0, 0.0]]), [0, 0])


def test_many_copies_of_few_points_are_weights_of_local_scales():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(1000, 2))
    rows = rng.integers(0, 1000, size=2 * MANY)
    counts = np.bincount(rows, minlength=1000)
    copied = QuickShift().fit(places[rows])
    weighted = QuickShift().fit(places, sample_weight=counts)
    for name in ("bandwidth_", "tau_", "labels_", "log_density_"):
        np.testing.assert_array_equal(getattr(copied, name), getattr(weighted, name)[rows])
    assert copied.n_neighbors_ == weighted.n_neighbors_


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_units_give_the_same_local_clusters(scale):
    X, truth = three_blobs()
    model, plain = QuickShift().fit(X * scale), QuickShift().fit(X)
    assert same_partition(model.labels_, truth)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_allclose(model.bandwidth_, plain.bandwidth_ * scale, rtol=1e-9)
    np.testing.assert_allclose(
        model.log_density_, plain.log_density_ - 2 * np.log(scale), rtol=0, atol=1e-8
    )
    np.testing.assert_array_equal(model.predict(X * scale), model.labels_)


def test_plateau_on_a_line_is_one_cluster():
    X = np.random.default_rng(0).permutation(MANY)[:, None] * 1.0
    model = QuickShift(bandwidth=1e9, tau=1.0, kernel="uniform").fit(X)
    assert model.n_clusters_ == 1
    assert model.modes_.tolist() == [[MANY - 1.0]]
    np.testing.assert_array_equal(X[model.parent_, 0], np.minimum(X[:, 0] + 1, MANY - 1))


@pytest.mark.parametrize("d", [2, 4])
def test_plateau_climbs_to_the_nearest_larger_point(d):
    X = np.random.default_rng(0).uniform(size=(MANY, d))
    model = QuickShift(bandwidth=1e9, tau=np.inf, kernel="uniform").fit(X)
    assert model.n_clusters_ == 1
    assert model.mode_indices_.tolist() == [X[:, 0].argmax()]
    for i in range(0, MANY, MANY // 50):
        squares = np.where(X[:, 0] > X[i, 0], ((X - X[i]) ** 2).sum(axis=1), np.inf)
        assert model.parent_[i] == squares.argmin()


def test_only_higher_point_is_found_from_a_strict_plateau():
    X = np.append(10.0 * lattice(320, 320), [[1e5, 1e5], [1e5, 1e5]], axis=0)
    model = QuickShift(bandwidth=1.0, tau=np.inf, kernel="uniform", ties="strict").fit(X)
    assert (model.parent_[:-2] == len(X) - 2).all()
    np.testing.assert_array_equal(model.mode_indices_, [len(X) - 2, len(X) - 1])


def test_long_chain_of_parents_reaches_its_end():
    # Every gap is wider than the one before, so the nearest point is never the higher one.
    X = np.cumsum(np.arange(1.0, MANY + 1))[:, None]
    model = QuickShift(bandwidth=0.5, tau=np.inf, kernel="uniform").fit(X)
    np.testing.assert_array_equal(model.parent_[:-1], np.arange(1, MANY))
    assert not model.labels_.any()
    halves = model.labels_at(MANY / 2)
    np.testing.assert_array_equal(np.bincount(halves)[-1], MANY // 2)


# Clustering: extreme bandwidths


@pytest.mark.parametrize("kernel", ["gaussian", "uniform", "epanechnikov"])
def test_tiny_bandwidth_isolates_every_point(kernel):
    X = np.random.default_rng(0).uniform(size=(MANY, 2))
    model = QuickShift(bandwidth=1e-12, tau=1e-12, kernel=kernel).fit(X)
    order = np.lexsort(X.T[::-1])[::-1]  # equal densities: the largest point is the highest
    np.testing.assert_array_equal(model.mode_indices_, order)
    np.testing.assert_allclose(model.log_density_, model.log_density_[0], rtol=1e-12)


def test_tiny_bandwidth_ranks_points_by_their_weight():
    rng = np.random.default_rng(0)
    weights = rng.permutation(MANY) + 1.0
    model = QuickShift(bandwidth=1e-12, tau=0.0).fit(
        rng.uniform(size=(MANY, 2)), sample_weight=weights
    )
    np.testing.assert_array_equal(model.labels_, MANY - weights)


def test_huge_bandwidth_has_its_mode_beside_the_mean():
    # If its support covers all samples, the Epanechnikov density falls with the distance from the
    # mean.
    X = np.random.default_rng(0).uniform(size=(MANY, 2))
    model = QuickShift(bandwidth=10.0, tau=np.inf, kernel="epanechnikov").fit(X)
    squares = ((X - X.mean(axis=0)) ** 2).sum(axis=1)
    assert model.mode_indices_.tolist() == [squares.argmin()]
    moment = (X**2).mean(axis=0).sum() - (X.mean(axis=0) ** 2).sum()
    expected = 2 / (np.pi * 100) * (1 - (squares + moment) / 100)
    np.testing.assert_allclose(model.density_, expected, rtol=1e-12)


@EVERY_KERNEL
def test_huge_bandwidth_makes_one_cluster(kernel):
    X = np.random.default_rng(0).uniform(size=(2000, 2))
    for bandwidth in (1e3, 1e100, 1e300):
        model = QuickShift(bandwidth=bandwidth, tau=2.0, kernel=kernel).fit(X)
        assert model.n_clusters_ == 1
        np.testing.assert_allclose(model.log_density_, model.log_density_[0], rtol=0, atol=1e-2)


@EVERY_KERNEL
def test_bandwidth_far_below_the_coordinates_is_right_or_refused(kernel):
    alone = QuickShift(bandwidth=1.0, kernel=kernel).fit([[0.0]]).log_density_[0]
    for power in (-30, -100, -130, -155, -200, -300):
        bandwidth = 10.0**power
        try:
            model = QuickShift(bandwidth=bandwidth, tau=1.0, kernel=kernel)
            model.fit([[0.0], [5.0], [9.0]])
        except ValueError as error:
            assert "bandwidth" in str(error)  # noqa: PT017
            assert power < -100
            continue
        expected = alone - np.log(3.0) - np.log(bandwidth)
        np.testing.assert_allclose(model.log_density_, expected, rtol=1e-12)
        np.testing.assert_array_equal(model.labels_, [2, 1, 0])


@pytest.mark.parametrize("kernel", ["gaussian", "cosine", "silverman"])
def test_cross_validation_stays_within_what_the_period_admits(kernel):
    angles = np.arange(0.0, 360.0, 60.0)[:, None]
    model = QuickShift("cv", kernel=kernel, metric="periodic", period=[360.0]).fit(angles)
    assert model.bandwidth_ <= 180.0


# Clustering: samples at the edge of a kernel's support


@pytest.mark.parametrize("kernel", list(kernels.KERNELS))
def test_support_ends_where_the_kernel_says(kernel):
    edge = kernels.KERNELS[kernel].support
    estimate = stages.fit_estimate(stages.prepare([[0.0]]), 1.0, kernel=kernel)
    if np.isfinite(edge):
        inside, _ = estimate.sums_at([[edge * (1 - 1e-9)]])
        outside, _ = estimate.sums_at([[edge * (1 + 1e-12)]])
        np.testing.assert_allclose(inside, kernels.KERNELS[kernel].profile(edge * (1 - 1e-9)), 1e-5)
        assert inside > 0
        assert outside == 0


@pytest.mark.parametrize("kernel", ENDING_AT_H)
def test_heavy_sample_at_the_edge_of_the_support_adds_nothing_to_a_light_one(kernel):
    X = [[0.0, 0.0], [1.0, 1.0], [-0.5, 0.0]]
    h = 2**0.5
    weights = [1e-20, 1.0, 5e-20]
    found = stages.estimate_density(X, h, kernel=kernel, sample_weight=weights)
    expected = reference.kernel_density(X, h, kernel=kernel, sample_weight=weights)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_labels_follow_the_definition_where_a_heavy_sample_is_exactly_h_away():
    for kernel in ("triangular", "cosine", "tricube"):
        model = QuickShift(49.0, 1.0, kernel=kernel)
        labels = model.fit_predict([[0.0], [-49.0], [200.0]], sample_weight=[1e6, 1.0, 1.0])
        np.testing.assert_array_equal(labels, [0, 2, 1])


# Clustering: extreme coordinates and weights


@EVERY_KERNEL
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_units_give_the_same_clusters(kernel, scale):
    X, truth = three_blobs()
    model = QuickShift(2.0 * scale, 4.0 * scale, kernel=kernel).fit(X * scale)
    plain = QuickShift(2.0, 4.0, kernel=kernel).fit(X)
    assert model.n_clusters_ == 3
    assert same_partition(model.labels_, truth)
    np.testing.assert_allclose(
        model.log_density_, plain.log_density_ - 2 * np.log(scale), rtol=0, atol=1e-8
    )
    automatic = QuickShift(bandwidth="auto", kernel=kernel).fit(X * scale)
    plain = QuickShift(bandwidth="auto", kernel=kernel).fit(X)
    assert automatic.bandwidth_ == pytest.approx(plain.bandwidth_ * scale, rel=1e-9)
    np.testing.assert_array_equal(automatic.labels_, plain.labels_)
    np.testing.assert_array_equal(automatic.predict(X * scale), automatic.labels_)


def test_subnormal_coordinates_are_numbers():
    X = np.array([[0.0], [1.0], [2.0], [4000.0], [4001.0]]) * 2.0**-1030
    model = QuickShift(bandwidth=2.0**-1022, tau=2.0**-1029).fit(X)
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1, 1])
    np.testing.assert_array_equal(model.modes_, X[model.mode_indices_])


def test_subnormal_bandwidth_is_a_number():
    X = np.array([[0.0], [1.0], [2.0], [30.0], [31.0]]) * 5e-324
    model = QuickShift(bandwidth=10 * 5e-324, tau=5 * 5e-324).fit(X)
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1, 1])


def test_largest_numbers_are_numbers():
    X = np.array([[-1.7e308], [-1.6e308], [0.0], [1.6e308], [1.7e308], [1.75e308]])
    model = QuickShift(bandwidth=2e307, tau=3e307).fit(X)
    assert same_partition(model.labels_, np.array([0, 0, 1, 2, 2, 2]))


def test_offset_keeps_the_clusters():
    X = np.random.default_rng(0).normal(size=(50_000, 2)) + 1e8
    model = QuickShift(0.5, 0.2, kernel="epanechnikov").fit(X)
    plain = QuickShift(0.5, 0.2, kernel="epanechnikov").fit(X - 1e8)  # exact: the same points
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.parent_, plain.parent_)
    np.testing.assert_allclose(model.density_, plain.density_, rtol=1e-12)


@pytest.mark.parametrize("far", [1e160, 1e200, 1e300])
def test_outlier_beyond_the_range_of_squares_is_refused(far):
    X, _ = three_blobs(60)
    with pytest.raises(ValueError, match=r"bandwidth is 2\.0, .* would underflow"):
        QuickShift(2.0, 4.0).fit(np.append(X, [[far, far]], axis=0))


def test_features_of_very_different_units_are_all_seen():
    X, truth = three_blobs(60, 1)
    model = QuickShift(2e-100, 4e-100).fit(np.column_stack([X * 1e-100, np.full(60, 1e-30)]))
    assert same_partition(model.labels_, truth)


def test_query_beyond_the_range_of_log_densities_scores_minus_infinity_and_is_labeled():
    model = QuickShift(bandwidth=1e-60, tau=1.0).fit([[0.0], [1.0]])
    assert model.score_samples([[1e101]]) == -np.inf
    assert model.predict([[1e101]]) == 0


def test_origin_is_not_remote_from_tiny_samples():
    model = QuickShift(1e-200, 1e-200).fit([[0.0], [1e-200], [2e-200]], sample_weight=[0, 1, 1])
    assert np.isfinite(model.score_samples([[0.0]])).all()
    assert np.isfinite(model.log_density_).all()


@pytest.mark.parametrize(("h", "weight"), [(1e150, 1e10), (1e10, 1e290), (1e-12, 1e-300)])
def test_epanechnikov_survives_extreme_weights_and_bandwidths(h, weight):
    X = np.array([[0.0], [1.0], [3.0]])
    model = QuickShift(h, 1.0, kernel="epanechnikov")
    model.fit(X, sample_weight=np.array([1, 2, 1]) * weight)
    expected = reference.log_kernel_density(X, h, kernel="epanechnikov", sample_weight=[1, 2, 1])
    np.testing.assert_allclose(model.log_density_, expected, rtol=1e-12)


def test_densities_of_prepared_samples_can_be_climbed_despite_weights_of_zero():
    samples = stages.prepare([[0.0], [1.0], [5.0]], sample_weight=[1, 0, 1])
    density = stages.estimate_density(samples, 1.0)
    graph = stages.climb(samples, density)
    assert np.isnan(graph.distance).tolist() == [False, True, False]


# Modal regression: few samples, duplicate rows, many features


@EVERY_BANDWIDTH
@EVERY_KERNEL
def test_one_sample_is_its_own_mode(bandwidth, kernel):
    model = ModalRegressor(bandwidth, kernel=kernel).fit([[3.0, 1.0]], [7.0])
    modes = model.predict_modes([[3.0, 1.0]])
    np.testing.assert_array_equal(modes.values, [7.0])
    np.testing.assert_array_equal(modes.heights, modes.densities)
    assert 0 < modes.densities[0] < np.inf
    if isinstance(bandwidth, str):
        assert model.bandwidth_ == (1.0, 1.0)


@EVERY_BANDWIDTH
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_constant_responses_are_the_mode_everywhere(bandwidth, kernel):
    X, y = branches()
    model = ModalRegressor(bandwidth, kernel=kernel).fit(X, np.full(len(y), 4.0))
    modes = model.predict_modes(X)
    np.testing.assert_array_equal(modes.values, np.full(len(X), 4.0))
    found = model.predict_set(X)
    np.testing.assert_array_equal(found.lower, modes.values)
    np.testing.assert_array_equal(found.upper, modes.values)


@EVERY_BANDWIDTH
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_constant_features_have_the_modes_of_the_responses(bandwidth, kernel):
    _, y = branches(400)
    model = ModalRegressor(bandwidth, kernel=kernel).fit(np.full((400, 1), 2.0), y)
    modes = model.predict_modes([[2.0]])
    assert abs(modes.values[0] - 1.0) < 0.8
    assert np.isfinite(modes.densities).all()


@EVERY_BANDWIDTH
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_equal_rows_are_one_mode(bandwidth, kernel):
    model = ModalRegressor(bandwidth, kernel=kernel).fit(np.full((40, 2), 3.0), np.full(40, -1.0))
    np.testing.assert_array_equal(model.predict_modes([[3.0, 3.0]]).values, [-1.0])
    assert all(0 < h < np.inf for h in model.bandwidth_)


def test_negative_zero_is_zero():
    X, y = [[0.0], [-0.0], [1.0]], [0.0, -0.0, 3.0]
    model = ModalRegressor(1.0, 0.5, kernel="uniform").fit(X, y)
    np.testing.assert_array_equal(model.predict_modes([[-0.0]])[0], [0.0, 3.0])


def test_many_features_are_taken():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    y = X[:, 0] + 9 * rng.integers(0, 2, size=60)
    for kernel in ("gaussian", "epanechnikov"):
        model = ModalRegressor((3.0, 1.0), 2.0, kernel=kernel).fit(X, y)
        assert np.isfinite(model.predict(X)).all()


# Modal regression: queries far from the samples


@pytest.mark.parametrize("kernel", INFINITE)
@pytest.mark.parametrize("draw", [branches, two_columns])
def test_infinite_kernels_answer_everywhere_with_a_low_support(kernel, draw):
    X, y = draw()
    model = ModalRegressor((0.1, 0.3), kernel=kernel).fit(X, y)
    queries = np.array([[0.5], [3.0], [30.0], [-300.0]])
    modes = model.predict_modes(queries)
    assert (modes.counts > 0).all()
    assert np.isfinite(model.predict(queries)).all()
    assert np.isfinite(modes.support).all()
    assert (np.diff(modes.support) < -10).all()


@pytest.mark.parametrize("kernel", COMPACT)
@pytest.mark.parametrize("draw", [branches, two_columns])
def test_compact_kernels_have_no_answer_beyond_their_reach(kernel, draw):
    X, y = draw()
    model = ModalRegressor((0.1, 0.3), kernel=kernel).fit(X, y)
    queries = [[3.0], [0.5], [-1e9]]
    modes = model.predict_modes(queries)
    assert (modes.counts > 0).tolist() == [False, True, False]
    assert modes[0].shape == (0, *y.shape[1:])
    assert np.isneginf(modes.support).tolist() == [True, False, True]
    predicted = model.predict(queries)
    assert np.isnan(predicted.reshape(3, -1)).all(axis=1).tolist() == [True, False, True]
    found = model.predict_set(queries)
    assert (np.diff(found.offsets) > 0).tolist() == [False, True, False]


@pytest.mark.parametrize("draw", [branches, two_columns])
def test_nothing_but_unsupported_queries_is_answered_with_nothing(draw):
    X, y = draw()
    model = ModalRegressor((0.1, 0.3), kernel="epanechnikov").fit(X, y)
    far = np.array([[5.0], [6.0]])
    modes, found = model.predict_modes(far), model.predict_set(far)
    assert modes.values.shape == found.lower.shape == found.upper.shape == (0, *y.shape[1:])
    np.testing.assert_array_equal(modes.offsets, [0, 0, 0])
    np.testing.assert_array_equal(found.offsets, [0, 0, 0])
    assert np.isnan(model.predict(far)).all()
    assert not found.contains(y[:2]).any()


# Modal regression: periodic features


@EVERY_KERNEL
def test_query_beyond_the_seam_sees_the_samples_before_it(kernel):
    X, y = [[23.5], [23.75], [23.75]], [1.0, 5.0, 5.0]
    model = ModalRegressor((2.0, 1.0), 2.0, kernel=kernel, period=[24.0]).fit(X, y)
    modes = model.predict_modes([[0.25], [23.25], [48.25]])
    np.testing.assert_array_equal(modes.highest(), [5.0, 5.0, 5.0])
    np.testing.assert_array_equal(modes.support[[0, 2]], modes.support[[0, 0]])
    opened = ModalRegressor((2.0, 1.0), 2.0, kernel=kernel).fit(X, y).predict_modes([[0.25]])
    assert opened.support[0] < modes.support[0]


def test_open_features_beside_periodic_ones_stay_open():
    X, y = np.hstack([np.zeros((2, 1)), [[0.0], [9.0]]]), [1.0, 2.0]
    model = ModalRegressor(1.0, kernel="uniform", period=[10.0, np.inf]).fit(X, y)
    np.testing.assert_array_equal(
        model.predict([[9.5, 0.0], [9.5, 9.0], [0.0, 10.5]]), [1.0, 2.0, np.nan]
    )


@EVERY_RULE
@EVERY_KERNEL
def test_rules_choose_bandwidths_that_the_period_admits(rule, kernel):
    rng = np.random.default_rng(0)
    for _ in range(4 if rule == "prediction_set" else 12):
        period, n = rng.uniform(0.1, 100.0), rng.integers(3, 40)
        X, y = rng.uniform(0, period, size=(n, 1)), rng.normal(size=n)
        model = ModalRegressor(rule, kernel=kernel, period=[period]).fit(X, y)
        assert model.bandwidth_[0] <= period_limit(get_kernel(kernel), np.array([period]))


@EVERY_KERNEL
def test_bandwidth_of_features_may_be_the_most_that_the_period_admits(kernel):
    for period in np.random.default_rng(0).uniform(0.1, 100.0, size=50):
        most = period_limit(get_kernel(kernel), np.array([period]))
        X = [[0.0], [period / 3]]
        model = ModalRegressor((most, 1.0), 1.0, kernel=kernel, period=[period])
        assert model.fit(X, [0.0, 1.0]).bandwidth_[0] == most
