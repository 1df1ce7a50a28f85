"""The input of `QuickShift.fit`: weights, and arrays of every layout and type."""

import numpy as np
import pytest

from clustering_cases import EVERY_KERNEL, RULES, assert_same_fit, blobs, lattice, with_duplicates
from quickshift import QuickShift
from quickshift.checks.points import check_points, check_weights

BOTH_DENSITIES = pytest.mark.parametrize(
    "settings", [{"bandwidth": 0.5, "tau": 1.0}, {"min_significance": 0.5}], ids=["kde", "local"]
)

# Weights


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "uniform"])
@pytest.mark.parametrize("make", [blobs, lattice], ids=["blobs", "lattice"])
def test_integer_weights_are_repetitions(rule, kernel, make):
    X = make(1)
    weights = np.random.default_rng(2).integers(1, 5, len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    weighted = QuickShift(bandwidth=rule, kernel=kernel).fit(X, sample_weight=weights)
    repeated = QuickShift(bandwidth=rule, kernel=kernel).fit(X[rows])
    assert weighted.bandwidth_ == pytest.approx(repeated.bandwidth_, rel=1e-13)
    assert weighted.tau_ == pytest.approx(repeated.tau_, rel=1e-13)
    np.testing.assert_array_equal(weighted.labels_[rows], repeated.labels_)
    np.testing.assert_allclose(weighted.density_[rows], repeated.density_, rtol=1e-12)
    np.testing.assert_array_equal(weighted.modes_, repeated.modes_)


def test_integer_weights_are_repetitions_in_periodic_features():
    X = np.random.default_rng(3).uniform(0, 24, size=(50, 1))
    weights = np.random.default_rng(4).integers(1, 5, 50)
    rows = np.repeat(np.arange(50), weights)
    weighted = QuickShift("auto", metric="periodic", period=[24.0]).fit(X, sample_weight=weights)
    repeated = QuickShift("auto", metric="periodic", period=[24.0]).fit(X[rows])
    assert weighted.bandwidth_ == pytest.approx(repeated.bandwidth_, rel=1e-13)
    np.testing.assert_array_equal(weighted.labels_[rows], repeated.labels_)
    local = {"metric": "periodic", "period": [24.0], "min_significance": 0.3}
    weighted = QuickShift(**local).fit(X, sample_weight=weights)
    repeated = QuickShift(**local).fit(X[rows])
    np.testing.assert_array_equal(weighted.bandwidth_[rows], repeated.bandwidth_)
    np.testing.assert_array_equal(weighted.labels_[rows], repeated.labels_)


@EVERY_KERNEL
def test_weights_of_one_are_no_weights(kernel):
    X = with_duplicates()
    for settings in ({"bandwidth": "auto", "kernel": kernel}, {"bandwidth": "local"}):
        assert_same_fit(
            QuickShift(**settings).fit(X),
            QuickShift(**settings).fit(X, sample_weight=np.ones(len(X))),
        )


@EVERY_KERNEL
def test_common_factor_of_the_weights_does_not_matter_to_given_parameters(kernel):
    X, weights = blobs(), np.random.default_rng(5).exponential(size=60)
    model = QuickShift(bandwidth=0.7, tau=1.0, kernel=kernel).fit(X, sample_weight=weights)
    for factor in (0.25, 1024.0, 2.0**-300, 2.0**300):
        scaled = QuickShift(bandwidth=0.7, tau=1.0, kernel=kernel)
        scaled.fit(X, sample_weight=weights * factor)
        np.testing.assert_array_equal(scaled.labels_, model.labels_)
        np.testing.assert_array_equal(scaled.parent_, model.parent_)
        np.testing.assert_allclose(scaled.density_, model.density_, rtol=1e-9)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
@pytest.mark.parametrize("make", [blobs, lattice], ids=["blobs", "lattice"])
def test_weight_zero_is_removal(rule, kernel, make):
    X = make(6)
    weights = np.random.default_rng(6).integers(0, 3, len(X))
    kept, gone = np.flatnonzero(weights), np.flatnonzero(weights == 0)
    model = QuickShift(bandwidth=rule, kernel=kernel).fit(X, sample_weight=weights)
    smaller = QuickShift(bandwidth=rule, kernel=kernel).fit(X[kept], sample_weight=weights[kept])
    for name in ("bandwidth_", "tau_", "n_clusters_", "modes_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(smaller, name))
    for name in ("labels_", "density_", "log_density_", "parent_distance_"):
        np.testing.assert_array_equal(getattr(model, name)[kept], getattr(smaller, name))
    np.testing.assert_array_equal(model.parent_[kept], kept[smaller.parent_])
    np.testing.assert_array_equal(model.mode_indices_, kept[smaller.mode_indices_])
    np.testing.assert_array_equal(model.labels_[gone], smaller.predict(X[gone]))
    np.testing.assert_array_equal(model.parent_[gone], gone)
    assert np.isnan(model.parent_distance_[gone]).all()
    np.testing.assert_allclose(model.log_density_[gone], smaller.score_samples(X[gone]), rtol=1e-12)
    np.testing.assert_allclose(model.density_[gone], np.exp(model.log_density_[gone]), rtol=1e-12)
    np.testing.assert_array_equal(model.labels_at(1.0)[kept], smaller.labels_at(1.0))
    np.testing.assert_array_equal(model.labels_for(3)[kept], smaller.labels_for(3))


@pytest.mark.parametrize("settings", [{"bandwidth": 0.5, "tau": 1.0}, {"min_significance": 0.5}])
@pytest.mark.parametrize("far", [1e6, 1e100, 1e300])
def test_weight_zero_is_removal_however_far_the_row(far, settings):
    X = blobs()
    model = QuickShift(**settings)
    model.fit(np.concatenate([X, [[far, -far]]]), sample_weight=[1.0] * 60 + [0.0])
    smaller = QuickShift(**settings).fit(X)
    np.testing.assert_array_equal(model.labels_[:60], smaller.labels_)
    np.testing.assert_array_equal(model.density_[:60], smaller.density_)
    np.testing.assert_array_equal(model.modes_, smaller.modes_)
    assert model.labels_[60] == smaller.predict([[far, -far]])[0]


def test_duplicate_of_weight_zero_takes_the_label_of_its_copy():
    X = [[0.0], [0.0], [9.0], [9.0]]
    model = QuickShift(bandwidth=1.0, tau=2.0).fit(X, sample_weight=[0, 2, 1, 0])
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.mode_indices_, [1, 2])


# Layouts and types


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


INPUTS = {
    "list of lists": lambda X: X.tolist(),
    "tuple of arrays": tuple,
    "read-only": read_only,
    "Fortran order": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "unaligned": lambda X: np.frombuffer(b"." + X.tobytes(), offset=1).reshape(X.shape),
    "objects": lambda X: X.astype(object),
    "masked without masks": np.ma.masked_array,
    "long double": lambda X: X.astype(np.longdouble),
}


@BOTH_DENSITIES
@pytest.mark.parametrize("convert", INPUTS.values(), ids=INPUTS)
def test_layout_and_container_of_the_input_do_not_matter(convert, settings):
    X = blobs()
    model = QuickShift(**settings).fit(convert(X))
    assert_same_fit(model, QuickShift(**settings).fit(X))
    np.testing.assert_array_equal(model.predict(convert(X)), model.labels_)


@BOTH_DENSITIES
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_memory_mapped_files_are_read(tmp_path, dtype, settings):
    X = blobs().astype(dtype)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = QuickShift(**settings).fit(mapped)
    assert_same_fit(model, QuickShift(**settings).fit(X))
    np.testing.assert_array_equal(model.predict(mapped), model.labels_)


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.int8, np.uint16, np.int32, np.int64, np.uint64, bool]
)
def test_numbers_of_every_type_are_their_values(dtype):
    X = np.random.default_rng(14).integers(0, 20, size=(60, 2)).astype(dtype)
    for settings in ({"bandwidth": 2.0, "tau": 3.0}, {"min_significance": 0.3}):
        model = QuickShift(**settings).fit(X)
        assert_same_fit(model, QuickShift(**settings).fit(X.astype(float)))
        np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("bandwidth", [0.5, "local"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_caller_keeps_the_arrays_as_they_were(dtype, bandwidth):
    X = (blobs() * [1.0, -1.0]).astype(dtype)
    X[0] = -0.0
    weights, period = np.arange(60.0), np.array([3.0, np.inf])
    before = [X.tobytes(), weights.tobytes(), period.tobytes()]
    model = QuickShift(bandwidth, metric="periodic", period=period).fit(X, sample_weight=weights)
    model.predict(X)
    model.score_samples(X)
    model.labels_[:], model.density_[:], model.parent_[:], model.modes_[:] = 7, 7, 7, 7
    assert [X.tobytes(), weights.tobytes(), period.tobytes()] == before


@pytest.mark.parametrize("bandwidth", [0.5, "local"])
def test_caller_may_reuse_the_arrays_after_the_fit(bandwidth):
    X, weights, period = blobs(), np.arange(60.0) % 5, np.array([30.0, np.inf])
    settings = {"bandwidth": bandwidth, "metric": "periodic"}
    expected = QuickShift(**settings, period=period.copy()).fit(X.copy(), sample_weight=weights)
    model = QuickShift(**settings, period=period).fit(X, sample_weight=weights)
    queries = X.copy()
    X[:], weights[:], period[:] = 0.0, 1.0, 1.0
    assert_same_fit(model, expected)
    np.testing.assert_array_equal(model.predict(queries), expected.predict(queries))
    np.testing.assert_array_equal(model.labels_at(0.3), expected.labels_at(0.3))


@pytest.mark.parametrize("settings", [{"period": [30.0, 8.0]}, {"scale": [2.0, 3.0]}], ids=str)
def test_caller_may_reuse_the_parameters_after_the_fit(settings):
    name, values = next(iter(settings.items()))
    given = np.array(values)
    model = QuickShift(**{name: given}).fit(blobs())
    expected = QuickShift(**{name: given.copy()}).fit(blobs())
    given[:] = 0.7
    assert repr(model.summary()) == repr(expected.summary())
    again, alike = model.recut(tau=0.3), expected.recut(tau=0.3)
    np.testing.assert_array_equal(again.significance_, alike.significance_)
    np.testing.assert_array_equal(again.modes_, alike.modes_)


@pytest.mark.parametrize(
    "convert", [list, np.float32, np.asfortranarray, np.ma.masked_array], ids=str
)
def test_weights_are_taken_in_any_form(convert):
    X, weights = blobs(), np.arange(60.0)
    for bandwidth in ("local", "auto"):
        assert_same_fit(
            QuickShift(bandwidth).fit(X, sample_weight=convert(weights)),
            QuickShift(bandwidth).fit(X, sample_weight=weights),
        )


def test_unaligned_input_is_copied_before_the_core_reads_it():
    def unaligned(values):
        raw = np.empty(values.nbytes + 1, dtype=np.uint8)[1:].view(values.dtype)
        raw = raw.reshape(values.shape)
        raw[...] = values
        assert not raw.flags.aligned
        return raw

    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(60, 2)), rng.uniform(0.5, 2.0, size=60)
    expected = QuickShift(0.5, 1.0).fit(X, sample_weight=weights)
    model = QuickShift(0.5, 1.0).fit(unaligned(X), sample_weight=unaligned(weights))
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.density_, expected.density_)
    for values in (check_points(unaligned(X)), check_weights(unaligned(weights), 60)):
        assert values.flags.aligned
