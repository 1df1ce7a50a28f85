"""Changes of the input that must not change the clusters of `QuickShift`.

These are the number of threads, the order of the rows, units, offsets, the sign of zero, and the
data type. The last section is about the order of cuts: a smaller tau gives finer clusters.
"""

import numpy as np
import pytest

from quickshift import QuickShift, kernels

KERNELS = tuple(kernels.KERNELS)
BITS = ("labels_", "density_", "log_density_", "parent_", "parent_distance_", "modes_", "tau_")
EVERY_KERNEL = pytest.mark.parametrize("kernel", KERNELS)


def blobs(n=400, d=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 4.0 * rng.integers(0, 3, size=(n, 1))


def lattice(side=15):
    """Make a full grid, in which all inner points have the same neighborhood."""
    return np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2) * 1.0


def duplicated(seed=0):
    return np.repeat(blobs(80, seed=seed), np.random.default_rng(seed).integers(1, 8, 80), axis=0)


def tied(seed=0):
    """Draw two features with few values: duplicate rows, equal distances, equal densities."""
    return np.random.default_rng(seed).integers(0, 12, size=(400, 2)) * [1.0, 0.1]


def symmetric():
    """Mirror a cloud on both axes, so that every density occurs four times."""
    X = np.abs(blobs(60, seed=3)) + 0.1
    return np.concatenate([X, -X, X * [1, -1], X * [-1, 1]])


DATA = {
    "blobs": blobs(),
    "lattice": lattice(),
    "duplicated": duplicated(),
    "tied": tied(),
    "symmetric": symmetric(),
    "line": blobs(400, 1),
    "six features": blobs(300, 6),
}
EVERY_DATA = pytest.mark.parametrize("X", DATA.values(), ids=DATA)


def assert_same_bits(a, b):
    for name in BITS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


# Threads


@pytest.mark.parametrize(
    ("kernel", "rtol", "n"),
    [
        ("gaussian", 1e-9, 20_000),
        ("gaussian", 1e-3, 20_000),
        ("exponential", 1e-3, 6_000),
        ("epanechnikov", 1e-9, 50_000),
        ("uniform", 1e-9, 50_000),
        ("local", 1e-9, 20_000),
    ],
)
@pytest.mark.parametrize("decimals", [1, 16], ids=["tied", "distinct"])
def test_number_of_threads_does_not_change_a_bit(kernel, rtol, n, decimals):
    X = blobs(n).round(decimals)
    weights = np.random.default_rng(1).exponential(size=len(X))
    settings = {"bandwidth": 0.1, "kernel": kernel, "rtol": rtol}
    if kernel == "local":
        settings = {"min_significance": 1.0}
    single = QuickShift(**settings, n_jobs=1).fit(X, sample_weight=weights)
    queries = blobs(5000, seed=2)
    for n_jobs in (2, 3, 8):
        several = QuickShift(**settings, n_jobs=n_jobs).fit(X, sample_weight=weights)
        assert_same_bits(several, single)
        np.testing.assert_array_equal(several.predict(queries), single.predict(queries))
        np.testing.assert_array_equal(several.score_samples(queries), single.score_samples(queries))


def test_number_of_threads_does_not_change_automatic_parameters():
    X = blobs(4000, 3)
    for rule in ("cv", "auto", "local"):
        single, several = (QuickShift(rule, rtol=1e-6, n_jobs=n_jobs).fit(X) for n_jobs in (1, 4))
        np.testing.assert_array_equal(single.bandwidth_, several.bandwidth_)
        assert_same_bits(single, several)


# Order of rows


@EVERY_DATA
@EVERY_KERNEL
def test_order_of_rows_does_not_matter(X, kernel):
    model = QuickShift(bandwidth=1.0, tau=1.0, kernel=kernel).fit(X)
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(len(X))
        shuffled = QuickShift(bandwidth=1.0, tau=1.0, kernel=kernel).fit(X[rows])
        np.testing.assert_array_equal(shuffled.labels_, model.labels_[rows])
        np.testing.assert_array_equal(shuffled.density_, model.density_[rows])
        np.testing.assert_array_equal(shuffled.modes_, model.modes_)


@EVERY_DATA
@pytest.mark.parametrize(
    "settings",
    [
        {"bandwidth": "auto"},
        {"bandwidth": "cv"},
        {"bandwidth": "auto", "kernel": "uniform"},
        {"bandwidth": "auto", "n_clusters": 3},
        {},
        {"min_significance": 0.7},
        {"n_clusters": 3},
        {"tau": 1.0},
    ],
    ids=str,
)
def test_order_of_rows_does_not_matter_to_automatic_parameters(X, settings):
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    model = QuickShift(**settings).fit(X, sample_weight=weights)
    for seed in range(2):
        rows = np.random.default_rng(seed).permutation(len(X))
        shuffled = QuickShift(**settings).fit(X[rows], sample_weight=weights[rows])
        for name in ("bandwidth_", "tau_"):
            value = getattr(model, name)
            expected = value if np.ndim(value) == 0 else value[rows]
            np.testing.assert_array_equal(getattr(shuffled, name), expected)
        np.testing.assert_array_equal(shuffled.labels_, model.labels_[rows])
        np.testing.assert_array_equal(shuffled.modes_, model.modes_)


AUTOMATIC = [
    {},
    {"bandwidth": "auto"},
    {"bandwidth": "auto", "kernel": "epanechnikov"},
]


@pytest.mark.parametrize("settings", AUTOMATIC, ids=str)
def test_order_of_rows_does_not_matter_to_weights_that_are_no_integers(settings):
    X = duplicated()
    weights = np.random.default_rng(2).exponential(size=len(X))
    rows = np.random.default_rng(3).permutation(len(X))
    model = QuickShift(**settings).fit(X, sample_weight=weights)
    shuffled = QuickShift(**settings).fit(X[rows], sample_weight=weights[rows])
    np.testing.assert_array_equal(shuffled.density_, model.density_[rows])
    np.testing.assert_array_equal(shuffled.labels_, model.labels_[rows])


def test_order_of_rows_does_not_matter_to_local_scales_of_periodic_features():
    X = np.random.default_rng(4).integers(0, 48, size=(300, 2)) * 0.5
    settings = {"metric": "periodic", "period": [24.0, 24.0], "min_significance": 0.3}
    model = QuickShift(**settings).fit(X)
    rows = np.random.default_rng(5).permutation(len(X))
    shuffled = QuickShift(**settings).fit(X[rows])
    np.testing.assert_array_equal(shuffled.labels_, model.labels_[rows])
    np.testing.assert_array_equal(shuffled.bandwidth_, model.bandwidth_[rows])


@EVERY_KERNEL
def test_order_of_rows_does_not_matter_to_periodic_features(kernel):
    X = np.random.default_rng(4).integers(0, 48, size=(300, 2)) * 0.5
    settings = {"bandwidth": 1.5, "tau": 1.0, "metric": "periodic", "period": [24.0, 24.0]}
    model = QuickShift(**settings, kernel=kernel).fit(X)
    rows = np.random.default_rng(5).permutation(len(X))
    shuffled = QuickShift(**settings, kernel=kernel).fit(X[rows])
    np.testing.assert_array_equal(shuffled.labels_, model.labels_[rows])


def test_order_of_many_rows_does_not_matter():
    X = blobs(20_000).round(2)
    rows = np.random.default_rng(6).permutation(len(X))
    for kernel in ("gaussian", "triangular"):
        model = QuickShift(0.2, 0.1, kernel=kernel, rtol=1e-6).fit(X)
        shuffled = QuickShift(0.2, 0.1, kernel=kernel, rtol=1e-6).fit(X[rows])
        np.testing.assert_array_equal(shuffled.labels_, model.labels_[rows])
        np.testing.assert_array_equal(shuffled.density_, model.density_[rows])
    model, shuffled = (QuickShift(min_significance=1.0).fit(x) for x in (X, X[rows]))
    np.testing.assert_array_equal(shuffled.labels_, model.labels_[rows])
    np.testing.assert_array_equal(shuffled.density_, model.density_[rows])


@pytest.mark.parametrize("settings", [{"bandwidth": 1.0, "tau": 1.0}, {"min_significance": 0.3}])
def test_order_of_queries_does_not_matter(settings):
    model = QuickShift(**settings).fit(tied())
    queries = np.concatenate([tied(7), blobs(300, seed=8)])
    rows = np.random.default_rng(9).permutation(len(queries))
    np.testing.assert_array_equal(model.predict(queries)[rows], model.predict(queries[rows]))
    np.testing.assert_array_equal(
        model.score_samples(queries)[rows], model.score_samples(queries[rows])
    )


# Units and offsets


@EVERY_KERNEL
@pytest.mark.parametrize("power", [1, -1, 20, -20, 300, -300])
@pytest.mark.parametrize("X", [DATA["blobs"], DATA["tied"]], ids=["blobs", "tied"])
def test_power_of_two_as_unit_changes_nothing(X, kernel, power):
    factor = 2.0**power
    model = QuickShift(0.7, 1.0, kernel=kernel).fit(X)
    scaled = QuickShift(0.7 * factor, factor, kernel=kernel).fit(X * factor)
    np.testing.assert_array_equal(scaled.labels_, model.labels_)
    np.testing.assert_array_equal(scaled.parent_, model.parent_)
    np.testing.assert_array_equal(scaled.parent_distance_, model.parent_distance_ * factor)
    np.testing.assert_array_equal(scaled.modes_, model.modes_ * factor)
    np.testing.assert_allclose(
        scaled.log_density_,
        model.log_density_ - 2 * power * np.log(2.0),
        rtol=0,
        atol=1e-12 * abs(power),
    )
    queries = blobs(50, seed=9)
    np.testing.assert_array_equal(scaled.predict(queries * factor), model.predict(queries))


@pytest.mark.parametrize("power", [1, -1, 20, -20, 300, -300])
@pytest.mark.parametrize("rule", ["local", "auto", "silverman", "cv"])
def test_power_of_two_as_unit_scales_automatic_parameters(power, rule):
    factor = 2.0**power
    X = blobs()
    model = QuickShift(rule).fit(X)
    scaled = QuickShift(rule).fit(X * factor)
    assert scaled.bandwidth_ == pytest.approx(model.bandwidth_ * factor, rel=1e-12)
    assert scaled.tau_ == pytest.approx(model.tau_ * factor, rel=1e-12)
    np.testing.assert_array_equal(scaled.labels_, model.labels_)


def test_unit_of_a_period_changes_no_local_scale():
    X = np.random.default_rng(10).uniform(0, 24, size=(200, 2))
    for factor in (0.5, 2.0**-200, 2.0**200):
        plain, scaled = (
            QuickShift(min_significance=0.5, metric="periodic", period=[24.0 * f, np.inf]).fit(
                X * f
            )
            for f in (1.0, factor)
        )
        np.testing.assert_array_equal(scaled.labels_, plain.labels_)
        np.testing.assert_array_equal(scaled.bandwidth_, plain.bandwidth_ * factor)
        np.testing.assert_array_equal(scaled.tau_, plain.tau_ * factor)


def test_unit_of_a_period_changes_nothing():
    X = np.random.default_rng(10).uniform(0, 24, size=(200, 2))
    for factor in (0.5, 2.0**-200, 2.0**200):
        plain, scaled = (
            QuickShift(1.0 * f, 1.5 * f, metric="periodic", period=[24.0 * f, np.inf]).fit(X * f)
            for f in (1.0, factor)
        )
        np.testing.assert_array_equal(scaled.labels_, plain.labels_)
        np.testing.assert_array_equal(scaled.parent_distance_, plain.parent_distance_ * factor)


@pytest.mark.parametrize("offset", [1e3, 2.0**20, 1e8])
@EVERY_KERNEL
def test_common_offset_changes_nothing(kernel, offset):
    X = np.random.default_rng(11).integers(0, 2**10, size=(400, 2)) / 2.0**7
    model = QuickShift(0.7, 0.8, kernel=kernel).fit(X)
    moved = QuickShift(0.7, 0.8, kernel=kernel).fit(X + offset)
    np.testing.assert_array_equal(moved.labels_, model.labels_)
    np.testing.assert_array_equal(moved.parent_distance_, model.parent_distance_)
    np.testing.assert_allclose(moved.density_, model.density_, rtol=2e-9)


@pytest.mark.parametrize("offset", [1e3, 2.0**20, 1e8])
def test_common_offset_changes_no_bit_of_local_scales(offset):
    X = np.random.default_rng(11).integers(0, 2**10, size=(400, 2)) / 2.0**7
    model = QuickShift(min_significance=0.5).fit(X)
    moved = QuickShift(min_significance=0.5).fit(X + offset)
    for name in ("labels_", "bandwidth_", "tau_", "density_", "parent_", "parent_distance_"):
        np.testing.assert_array_equal(getattr(moved, name), getattr(model, name))


def test_common_offset_keeps_densities_exact():
    X = np.random.default_rng(12).normal(size=(300, 2)) + 1e8
    moved = QuickShift(0.5, 1.0, rtol=0.0).fit(X)
    plain = QuickShift(0.5, 1.0, rtol=0.0).fit(X - 1e8)  # an exact difference: the same points
    np.testing.assert_allclose(moved.density_, plain.density_, rtol=1e-12)
    np.testing.assert_array_equal(moved.labels_, plain.labels_)


# Signs of zero and data types


@EVERY_KERNEL
def test_sign_of_zero_does_not_matter(kernel):
    X = np.random.default_rng(13).integers(-2, 3, size=(200, 2)).astype(float)
    negative = np.where(X == 0, -0.0, X)
    mixed = np.where(np.random.default_rng(14).random(X.shape) < 0.5, X, negative)
    for settings in ({"bandwidth": 1.5, "tau": 0.5, "kernel": kernel}, {"min_significance": 0.3}):
        model = QuickShift(**settings).fit(X)
        for other in (negative, mixed):
            again = QuickShift(**settings).fit(other)
            assert_same_bits(again, model)
            np.testing.assert_array_equal(model.predict(other), model.labels_)
    assert not np.signbit(QuickShift().fit([[-0.0]]).modes_).any()


def test_sign_of_zero_does_not_matter_to_periodic_features():
    settings = {"bandwidth": 1.0, "tau": 0.5, "metric": "periodic", "period": [8.0]}
    model = QuickShift(**settings).fit([[0.0], [-0.0], [8.0], [-8.0], [4.0]])
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 0, 1])
    np.testing.assert_array_equal(model.parent_distance_, [np.inf, 0.0, 0.0, 0.0, 4.0])


@EVERY_DATA
@pytest.mark.parametrize("kernel", [*KERNELS, None])
def test_float32_is_a_storage_type(X, kernel):
    settings = {"bandwidth": "auto", "kernel": kernel} if kernel else {}
    narrow = X.astype(np.float32)
    wide = narrow.astype(np.float64)
    model = QuickShift(**settings).fit(narrow)
    assert_same_bits(model, QuickShift(**settings).fit(wide))
    np.testing.assert_array_equal(model.predict(narrow), model.labels_)
    np.testing.assert_array_equal(model.predict(wide), model.labels_)
    np.testing.assert_array_equal(model.score_samples(narrow), model.score_samples(wide))


# Cuts at increasing tau


@EVERY_DATA
@pytest.mark.parametrize("bandwidth", [0.8, "local"])
def test_clusters_of_a_smaller_tau_lie_within_those_of_a_larger(X, bandwidth):
    model = QuickShift(bandwidth).fit(X)
    taus = np.quantile(
        model.parent_distance_[np.isfinite(model.parent_distance_)], [0, 0.3, 0.8, 1]
    )
    finer = model.labels_at(0.0)
    for tau in [*taus, np.inf]:
        coarser = model.labels_at(tau)
        pairs = set(zip(finer.tolist(), coarser.tolist(), strict=True))
        assert len(pairs) == finer.max() + 1
        finer = coarser
    assert finer.max() == 0


def test_one_cluster_at_infinite_tau_whatever_the_kernel():
    for X in DATA.values():
        for kernel in KERNELS:
            assert QuickShift(0.1, np.inf, kernel=kernel).fit(X).n_clusters_ == 1
        assert QuickShift(tau=np.inf).fit(X).n_clusters_ == 1


@EVERY_DATA
@pytest.mark.parametrize("bandwidth", [0.8, "local"])
def test_zero_tau_keeps_distinct_points_apart(X, bandwidth):
    model = QuickShift(bandwidth, 0.0).fit(X)
    assert model.n_clusters_ == len(np.unique(X, axis=0))
