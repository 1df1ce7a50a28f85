"""Labels and scores of new points, compared with the reference."""

import numpy as np
import pytest

from clustering_cases import DATA, EVERY_KERNEL, KERNELS, blobs, queries_for, with_duplicates
from quickshift import QuickShift, reference

PERIOD = np.array([5.0, np.inf])
SETTINGS = {
    "plain": ({}, None),
    "weighted": ({}, "random"),
    "with zero weights": ({}, "integers"),
    "periodic": ({"metric": "periodic", "period": PERIOD}, None),
    "periodic and weighted": ({"metric": "periodic", "period": PERIOD}, "integers"),
}
EVERY_SETTING = pytest.mark.parametrize(("settings", "weighting"), SETTINGS.values(), ids=SETTINGS)


def weights_for(X, weighting):
    rng = np.random.default_rng(7)
    if weighting is None:
        return None
    return rng.integers(0, 4, len(X)) if weighting == "integers" else rng.exponential(size=len(X))


# Labels


@EVERY_KERNEL
@EVERY_SETTING
@pytest.mark.parametrize(
    "X", [DATA["blobs"], DATA["duplicates"], DATA["lattice"]], ids=list(DATA)[:3]
)
def test_samples_are_predicted_as_they_were_labeled(X, kernel, settings, weighting):
    model = QuickShift(bandwidth=0.7, tau=1.0, kernel=kernel, **settings)
    model.fit(X, sample_weight=weights_for(X, weighting))
    assert model.n_clusters_ > 1
    np.testing.assert_array_equal(model.predict(X), model.labels_)


AUTOMATIC = [
    {},
    {"n_clusters": 5},
    {"n_clusters": 80},
    {"bandwidth": "auto"},
    {"bandwidth": "auto", "n_clusters": 5},
    {"bandwidth": "cv"},
]


@pytest.mark.parametrize("settings", AUTOMATIC, ids=str)
def test_samples_are_predicted_as_they_were_labeled_by_automatic_parameters(settings):
    X = blobs(0, 300)
    model = QuickShift(**settings).fit(X, sample_weight=np.arange(300) % 5)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@EVERY_KERNEL
@EVERY_SETTING
@pytest.mark.parametrize(
    "X", [DATA["blobs"], DATA["duplicates"], DATA["lattice"]], ids=list(DATA)[:3]
)
def test_prediction_is_that_of_the_reference(X, kernel, settings, weighting):
    queries, weights = queries_for(X), weights_for(X, weighting)
    model = QuickShift(bandwidth=0.75, tau=1.0, kernel=kernel, **settings)
    model.fit(X, sample_weight=weights)
    common = {"kernel": kernel, "sample_weight": weights, "period": settings.get("period")}
    expected = reference.predict(X, queries, 0.75, 1.0, **common)
    np.testing.assert_array_equal(model.predict(queries), expected)
    np.testing.assert_array_equal(
        model.labels_, reference.quick_shift(X, 0.75, 1.0, **common).labels
    )


def random_case(rng):
    """Draw data, parameters and queries of every kind, most of them with ties or extreme scales."""
    n, d = int(rng.integers(1, 150)), int(rng.integers(1, 5))
    X = [
        rng.normal(size=(n, d)),
        rng.normal(size=(n, d)).round(1),
        rng.integers(0, 6, size=(n, d)) * 0.1,
        rng.normal(size=(n, d)) * 10.0 ** rng.integers(-5, 6, size=(n, 1)),
    ][rng.integers(4)]
    X = X * 10.0 ** rng.integers(-3, 4) + rng.choice([0.0, 0.0, 1e5])
    weights = [None, rng.integers(0, 4, n) + np.eye(n)[0], 10.0 ** rng.uniform(-8, 8, n)][
        rng.integers(3)
    ]
    size = np.ptp(X) or 1.0
    period = np.where(rng.random(d) < 0.7, size * rng.uniform(0.5, 2.0, d), np.inf)
    period = period if rng.random() < 0.3 else None
    widest = np.inf if period is None else period.min() / 8
    bandwidth = float(min(size * 10.0 ** rng.uniform(-3, 0.5), widest))
    tau = float(size * 10.0 ** rng.uniform(-2.5, 0.5))
    settings = {
        "kernel": str(rng.choice(KERNELS)),
        "ties": str(rng.choice(["total", "strict"])),
        "rtol": float(rng.choice([0.0, 1e-9])),
    }
    among = rng.uniform(X.min() - size, X.max() + size, size=(20, d))
    halfway = 0.5 * (rng.choice(X, 20) + rng.choice(X, 20))
    queries = np.concatenate([among, halfway, rng.choice(X, 10)])
    return X, weights, period, (bandwidth, tau), settings, queries


@pytest.mark.parametrize("seed", range(60))
def test_random_cases_are_those_of_the_reference(seed):
    X, weights, period, (h, tau), settings, queries = random_case(np.random.default_rng(seed))
    metric = "euclidean" if period is None else "periodic"
    model = QuickShift(h, tau, metric=metric, period=period, **settings)
    model.fit(X, sample_weight=weights)
    common = {"sample_weight": weights, "period": period}
    expected = reference.quick_shift(X, h, tau, **common, **settings)
    np.testing.assert_array_equal(model.parent_, expected.parent)
    np.testing.assert_array_equal(model.parent_distance_, expected.parent_distance)
    np.testing.assert_array_equal(model.labels_, expected.labels)
    np.testing.assert_array_equal(model.mode_indices_, expected.roots)
    predicted = reference.predict(X, queries, h, tau, **common, **settings)
    np.testing.assert_array_equal(model.predict(queries), predicted)
    kernel = settings["kernel"]
    scores = reference.log_kernel_density(X, h, queries=queries, kernel=kernel, **common)
    np.testing.assert_allclose(model.score_samples(queries), scores, rtol=1e-9, atol=1.1e-9)


@pytest.mark.parametrize("X", [DATA["blobs"], DATA["lattice"]], ids=["blobs", "lattice"])
def test_prediction_with_strict_ties_is_that_of_the_reference(X):
    queries = queries_for(X)
    model = QuickShift(bandwidth=0.75, tau=1.0, kernel="uniform", ties="strict").fit(X)
    expected = reference.predict(X, queries, 0.75, 1.0, kernel="uniform", ties="strict")
    np.testing.assert_array_equal(model.predict(queries), expected)


def test_prediction_prefers_a_higher_sample_within_tau_to_a_nearer_one():
    X = np.append(np.linspace(0.0, 0.3, 20), 1.0)[:, None]
    queries = [[0.7], [5.0], [-5.0]]  # 0.7 is nearer to 1.0, which has a lower density
    model = QuickShift(bandwidth=0.3, tau=0.5).fit(X)
    np.testing.assert_array_equal(model.labels_, [0] * 20 + [1])
    np.testing.assert_array_equal(model.predict(queries), [0, 1, 0])
    shorter = QuickShift(bandwidth=0.3, tau=0.35).fit(X)
    np.testing.assert_array_equal(shorter.labels_, model.labels_)
    np.testing.assert_array_equal(shorter.predict(queries), [1, 1, 0])


def test_points_can_be_predicted_one_at_a_time():
    X = blobs()
    queries = queries_for(X)
    for settings in ({"bandwidth": 0.75, "tau": 1.0}, {"min_significance": 0.5}):
        model = QuickShift(**settings).fit(X)
        np.testing.assert_array_equal(
            np.concatenate([model.predict(q[None]) for q in queries]), model.predict(queries)
        )


def test_number_of_threads_can_change_after_the_fit():
    X = np.random.default_rng(0).normal(size=(50, 2))
    for settings in ({"bandwidth": 1.0, "tau": 1.0}, {"min_significance": 0.5}):
        model = QuickShift(**settings, n_jobs=2).fit(X)
        before = model.predict(X + 0.1)
        np.testing.assert_array_equal(model.set_params(n_jobs=1).predict(X + 0.1), before)


# Scores


@EVERY_KERNEL
@EVERY_SETTING
def test_scores_are_the_log_densities_of_the_reference(kernel, settings, weighting):
    X = with_duplicates()
    queries, weights = queries_for(X), weights_for(X, weighting)
    model = QuickShift(bandwidth=0.75, kernel=kernel, **settings).fit(X, sample_weight=weights)
    common = {"kernel": kernel, "sample_weight": weights, "period": settings.get("period")}
    expected = reference.log_kernel_density(X, 0.75, queries=queries, **common)
    np.testing.assert_allclose(model.score_samples(queries), expected, rtol=1e-12, atol=2e-9)
    np.testing.assert_allclose(model.score_samples(X), model.log_density_, rtol=0, atol=2e-9)


def test_score_is_minus_infinity_beyond_a_compact_support():
    model = QuickShift(bandwidth=1.0, kernel="triangular").fit([[0.0], [1.0]])
    np.testing.assert_array_equal(model.score_samples([[2.0], [50.0]]), [-np.inf, -np.inf])


def test_score_of_an_infinite_kernel_never_ends():
    model = QuickShift(bandwidth=1.0).fit([[0.0]])
    expected = -0.5 * 1e200 - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(model.score_samples([[1e100]]), [expected], rtol=1e-12)
