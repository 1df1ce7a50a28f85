"""Great circles and directions: fits against brute force, and every length in the user's units."""

import pickle

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster
from sklearn.base import clone
from sklearn.metrics.pairwise import cosine_distances, haversine_distances
from sklearn.model_selection import GridSearchCV

import quickshift as qs
from cases import same_partition
from quickshift import QuickShift, kernels
from quickshift.bandwidth import spread
from quickshift.spaces import Directions, Globe
from quickshift.stages.local_scale import n_varying
from quickshift.stages.samples import build_samples
from sphere_cases import (
    angles,
    blob,
    cap,
    great_circle,
    kernel_density,
    labels_of,
    parents,
    scattered,
)

KERNELS = tuple(kernels.KERNELS)
PLACES = {"Asia": (0.4, 1.9), "pole": (np.pi / 2, 0.0), "date line": (-0.3, np.pi)}
every_place = pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
every_density = pytest.mark.parametrize("bandwidth", ["local", 0.2], ids=["local", "kernel"])


def directions(n=80, d=4, seed=0):
    """Draw rows of any length whose directions form a few groups."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(5, d))
    rows = centers[rng.integers(5, size=n)] + 0.3 * rng.normal(size=(n, d))
    return rows * rng.uniform(0.01, 100.0, size=(n, 1))


@pytest.fixture(name="X", scope="module")
def two_groups():
    east, west = blob(120, (0.3, 3.1), 0.1, 0), blob(80, (-0.8, -2.0), 0.1, 1)
    return np.concatenate([east, west])


# Brute force


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_fit_on_the_globe_is_that_of_great_circles(kernel, weighted):
    X, h, tau = scattered(), 0.5, 0.6
    weights = np.random.default_rng(1).uniform(0.5, 3.0, size=len(X)) if weighted else None
    model = QuickShift(h, tau, kernel=kernel, metric="haversine", rtol=0.0)
    model.fit(X, sample_weight=weights)
    arcs = great_circle(X, X)
    density = kernel_density(arcs, h, 2, kernel, weights)
    np.testing.assert_allclose(model.density_, density, rtol=1e-9)
    if kernel == "uniform":  # many samples have the same density
        return
    parent, distance = parents(arcs, density)
    np.testing.assert_array_equal(model.parent_, parent)
    np.testing.assert_allclose(model.parent_distance_, distance, rtol=1e-9)
    np.testing.assert_array_equal(model.labels_, labels_of(parent, distance, density, tau))


@pytest.mark.parametrize("kernel", KERNELS)
def test_fit_by_direction_is_that_of_angles(kernel):
    X, h, tau = directions(), 0.6, 0.5
    model = QuickShift(h, tau, kernel=kernel, metric="cosine", rtol=0.0).fit(X)
    angle = angles(X, X)
    np.fill_diagonal(angle, 0.0)
    density = kernel_density(angle, 2 * np.arcsin(h / 2), 3, kernel)
    np.testing.assert_allclose(model.density_, density, rtol=1e-6)
    if kernel == "uniform":  # many samples have the same density
        return
    parent, distance = parents(2 * np.sin(angle / 2), density)
    np.testing.assert_array_equal(model.parent_, parent)
    np.testing.assert_allclose(model.parent_distance_, distance, rtol=1e-6)
    assert same_partition(model.labels_, labels_of(parent, distance, density, tau))


@pytest.mark.parametrize("metric", ["haversine", "cosine"])
def test_local_scales_are_those_of_brute_force(metric):
    X = scattered() if metric == "haversine" else directions(d=3)
    angle = great_circle(X, X) if metric == "haversine" else angles(X, X)
    model = QuickShift(n_neighbors=6, metric=metric).fit(X)
    chords = np.sort(2 * np.sin(angle / 2), axis=1)[:, 1:]
    r, tau = chords[:, :6].mean(axis=1), chords[:, 7]
    if metric == "haversine":
        r, tau = 2 * np.arcsin(r / 2), 2 * np.arcsin(tau / 2)
    np.testing.assert_allclose(model.bandwidth_, r, rtol=1e-6)
    np.testing.assert_allclose(model.tau_, tau, rtol=1e-6)
    parent, distance = parents(angle, -r)
    np.testing.assert_array_equal(model.parent_, parent)
    if metric == "haversine":
        np.testing.assert_allclose(model.parent_distance_, distance, rtol=1e-6)


def test_lengths_agree_with_scikit_learn():
    X = scattered()
    model = QuickShift(metric="haversine").fit(X)
    moved = model.parent_ != np.arange(len(X))
    pairs = haversine_distances(X)[np.arange(len(X)), model.parent_]
    np.testing.assert_allclose(model.parent_distance_[moved], pairs[moved], rtol=1e-9)
    rows = directions()
    model = QuickShift(metric="cosine").fit(rows)
    moved = model.parent_ != np.arange(len(rows))
    pairs = cosine_distances(rows)[np.arange(len(rows)), model.parent_]
    np.testing.assert_allclose(model.parent_distance_[moved] ** 2 / 2, pairs[moved], rtol=1e-9)


@every_density
def test_predictions_on_the_globe_are_those_of_great_circles(bandwidth):
    X, queries = scattered(), scattered(60, seed=5)
    model = QuickShift(bandwidth, metric="haversine").fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    arcs = great_circle(queries, X)
    height, own = model.score_samples(queries), model.log_density_
    higher = np.where(own > height[:, None], arcs, np.inf)
    nearest = np.where(higher.min(axis=1) <= 0.05, higher.argmin(axis=1), arcs.argmin(axis=1))
    expected = model.recut(tau=0.05).labels_[nearest]
    np.testing.assert_array_equal(model.recut(tau=0.05).predict(queries), expected)


# Places where coordinates are singular


@every_density
def test_longitudes_do_not_matter_at_a_pole(bandwidth):
    around = blob(40, (np.pi / 2, 0.0), 0.3, 0)
    X = np.concatenate([around, [[np.pi / 2, longitude] for longitude in range(4)]])
    model = QuickShift(bandwidth, metric="haversine").fit(X)
    X = np.concatenate([around, [[np.pi / 2, 0.0]] * 4])
    same = QuickShift(bandwidth, metric="haversine").fit(X)
    np.testing.assert_array_equal(model.density_, same.density_)
    np.testing.assert_array_equal(model.labels_, same.labels_)
    assert (model.parent_distance_[-3:] == 0).all()
    poles = np.array([[np.pi / 2, 6.0], [np.pi / 2, -3.0]])
    np.testing.assert_array_equal(model.score_samples(poles), model.log_density_[[-1, -1]])
    np.testing.assert_array_equal(model.predict(poles), model.labels_[[-1, -1]])


def test_south_pole_in_single_precision_is_a_latitude():
    X = np.array([[-np.pi / 2, 0.0], [-np.pi / 2, 2.0], [-1.0, 0.0]], dtype=np.float32)
    model = QuickShift(0.1, 0.2, metric="haversine").fit(X)
    assert model.labels_[0] == model.labels_[1]
    assert model.parent_distance_[:2].min() == 0


def test_longitude_of_minus_pi_is_that_of_pi():
    X = np.array([[0.3, np.pi], [0.3, -np.pi], [0.3, 3.0], [0.0, 0.0]])
    model = QuickShift(0.1, 0.2, metric="haversine").fit(X)
    assert model.density_[0] == model.density_[1]
    assert 0 in model.parent_distance_[:2]
    np.testing.assert_array_equal(model.labels_[:3], [0, 0, 0])


@every_density
@pytest.mark.parametrize("step", [1, 3])
def test_whole_turns_of_longitude_change_nothing(X, step, bandwidth):
    turned = X.copy()
    turned[::step, 1] -= 2 * np.pi * np.sign(X[::step, 1])
    model = QuickShift(bandwidth, metric="haversine").fit(X)
    other = QuickShift(bandwidth, metric="haversine").fit(turned)
    np.testing.assert_array_equal(other.labels_, model.labels_)
    np.testing.assert_allclose(other.density_, model.density_, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(turned), model.labels_)


def test_places_given_in_both_ways_are_duplicates():
    rng = np.random.default_rng(0)
    places = np.repeat(np.round(rng.normal([-17.7, 185.0], 0.5, size=(150, 2)), 2), 6, axis=0)
    mixed = places.copy()
    mixed[::2, 1] -= 360.0  # no longer the decimal number, and in other radians than before
    model, other = (QuickShift(metric="haversine").fit(np.radians(x)) for x in (places, mixed))
    np.testing.assert_array_equal(other.labels_, model.labels_)
    np.testing.assert_array_equal(other.bandwidth_, model.bandwidth_)
    np.testing.assert_array_equal(model.strength(np.radians(mixed)), model.strength_)


def test_antipodes_are_pi_apart():
    X = np.array([[0.3, 0.5], [0.3, 0.5], [-0.3, 0.5 - np.pi]])
    model = QuickShift(0.5, metric="haversine", n_clusters=1).fit(X)
    assert model.parent_distance_[2] == pytest.approx(np.pi, abs=1e-7)
    np.testing.assert_array_equal(model.labels_at(np.pi), [0, 0, 0])
    np.testing.assert_array_equal(model.labels_at(np.inf), [0, 0, 0])
    np.testing.assert_array_equal(model.labels_at(3.14), [0, 0, 1])


# One blob is one cluster


@every_place
@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("settings", [{}, {"bandwidth": "auto"}], ids=["local", "kernel"])
def test_one_blob_on_the_globe_is_one_cluster(place, n, settings):
    for seed in range(5):
        X = blob(n, place, 0.1, seed)
        assert QuickShift(metric="haversine", **settings).fit(X).n_clusters_ == 1


@every_place
def test_one_uniform_cap_is_one_cluster(place):
    for seed, n in enumerate([200, 500, 1000, 10_000]):
        assert QuickShift(metric="haversine").fit(cap(n, place, 0.5, seed)).n_clusters_ == 1


@pytest.mark.parametrize("d", [2, 3, 5, 20])
def test_one_blob_of_directions_is_one_cluster(d):
    for seed, n in enumerate([200, 500, 2000]):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=d) * 3 + rng.normal(size=(n, d))
        X *= rng.uniform(0.1, 10.0, size=(n, 1))
        assert QuickShift(metric="cosine").fit(X).n_clusters_ == 1


@every_place
@pytest.mark.parametrize("settings", [{}, {"bandwidth": "auto"}], ids=["local", "kernel"])
def test_two_blobs_far_apart_are_two_clusters(place, settings):
    for seed in range(3):
        X = np.concatenate([blob(150, place, 0.1, seed), blob(100, (-0.8, 0.3), 0.1, seed + 50)])
        model = QuickShift(metric="haversine", **settings).fit(X)
        assert same_partition(model.labels_, np.repeat([0, 1], [150, 100]))


def test_turning_the_globe_changes_nothing_but_rounding(X):
    model = QuickShift(metric="haversine").fit(X)
    rule = QuickShift("auto", metric="haversine").fit(X[:120])
    ring = np.cos(X[:, 0])
    points = np.column_stack([ring * np.cos(X[:, 1]), ring * np.sin(X[:, 1]), np.sin(X[:, 0])])
    turned = np.column_stack([np.arcsin(points[:, 0]), np.arctan2(points[:, 2], points[:, 1])])
    other = QuickShift(metric="haversine").fit(turned)
    np.testing.assert_array_equal(other.labels_, model.labels_)
    np.testing.assert_allclose(other.density_, model.density_, rtol=1e-9)
    np.testing.assert_allclose(other.significance_, model.significance_, rtol=1e-6)
    other = QuickShift("auto", metric="haversine").fit(turned[:120])
    assert other.bandwidth_ == pytest.approx(rule.bandwidth_, rel=0.1)


def test_columns_of_zeros_do_not_change_directions():
    X = directions(300, 3)
    wide = np.concatenate([X, np.zeros((300, 7))], axis=1)
    model, other = (QuickShift(metric="cosine").fit(rows) for rows in (X, wide))
    np.testing.assert_array_equal(other.labels_, model.labels_)
    np.testing.assert_array_equal(other.significance_, model.significance_)
    np.testing.assert_array_equal(other.log_density_, model.log_density_)


def test_multiples_of_a_row_are_one_location():
    rows = np.random.default_rng(0).integers(-5, 6, size=(30, 3))
    rows = rows[(rows != 0).any(axis=1)]
    factors = np.random.default_rng(1).integers(1, 1000, size=(len(rows), 1))
    model = QuickShift(metric="cosine").fit(rows)
    other = QuickShift(metric="cosine").fit(rows * factors)
    np.testing.assert_array_equal(other.labels_, model.labels_)
    np.testing.assert_array_equal(other.density_, model.density_)
    np.testing.assert_array_equal(model.predict(rows * factors), model.labels_)
    np.testing.assert_array_equal(model.score_samples(rows * factors), model.log_density_)


@pytest.mark.parametrize("factor", [5e-324, 1e-200, 1e200])
def test_rows_of_any_magnitude_have_a_direction(factor):
    X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    tiny = QuickShift(0.5, 1.0, metric="cosine").fit(X * factor)
    np.testing.assert_allclose(tiny.density_, QuickShift(0.5, 1.0, metric="cosine").fit(X).density_)


# Densities


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "uniform", "exponential"])
def test_density_on_the_globe_integrates_to_one(kernel):
    model = QuickShift(0.2, kernel=kernel, metric="haversine").fit(scattered(20))
    z, weight = np.polynomial.legendre.leggauss(300)
    turns = np.arange(600) * 2 * np.pi / 600
    grid = np.stack(np.meshgrid(np.arcsin(z), turns, indexing="ij"), axis=-1).reshape(-1, 2)
    density = np.exp(model.score_samples(grid)).reshape(300, 600)
    total = (density.mean(axis=1) * weight).sum() * 2 * np.pi
    assert total == pytest.approx(1.0, abs=0.02 if kernel == "uniform" else 2e-3)


def test_gaussian_kernel_is_the_von_mises_fisher_density():
    h = 0.3
    model = QuickShift(h, metric="haversine").fit([[0.4, 1.0]])
    queries = scattered(30)
    concentration = 1 / (2 * np.sin(h / 2)) ** 2
    cosine = np.cos(great_circle(queries, np.array([[0.4, 1.0]])))[:, 0]
    expected = np.log(concentration / (2 * np.pi)) + concentration * (cosine - 1)
    np.testing.assert_allclose(model.score_samples(queries), expected, rtol=1e-9)


# Lengths in the user's units


def test_arcs_are_reported_as_they_were_given(X):
    model = QuickShift(0.1, 0.3, metric="haversine").fit(X)
    assert (model.bandwidth_, model.tau_, model.tree_.tau) == (0.1, 0.3, pytest.approx(0.3))
    assert model.recut(tau=0.7).tau_ == 0.7
    assert model.recut(tau=0.7).recut(n_clusters=2).tau_ == 0.7
    assert model.set_params(tau=99.0).recut(min_cluster_size=2).tau_ == 0.3
    assert QuickShift(0.1, np.inf, metric="haversine").fit(X).tau_ == np.inf


@every_density
def test_cuts_compare_arcs_exactly(X, bandwidth):
    model = QuickShift(bandwidth, metric="haversine").fit(X)
    linkage = model.to_linkage()
    for tau in np.unique(model.parent_distance_)[:-1]:
        labels = model.labels_at(tau)
        assert labels.max() + 1 == (model.parent_distance_ > tau).sum()
        assert same_partition(labels, fcluster(linkage, tau, "distance"))
        np.testing.assert_array_equal(model.recut(tau=tau).labels_, labels)
    each = np.full(len(X), tau)
    np.testing.assert_array_equal(model.labels_at(each), labels)


def test_arcs_and_chords_are_inverse():
    globe = Globe()
    chords = np.concatenate([np.geomspace(1e-300, 2.0, 4001), [0.0, np.inf]])
    arcs = globe.to_user(chords)
    np.testing.assert_allclose(arcs[:-1], 2 * np.arcsin(chords[:-1] / 2), rtol=1e-15)
    back = globe.from_user(arcs, "tau")
    assert (back >= chords).all()
    np.testing.assert_array_equal(globe.to_user(back), arcs)
    np.testing.assert_array_equal(
        globe.to_user(np.nextafter(back[:-2], 9.0)) > arcs[:-2], arcs[:-2] < np.pi
    )
    assert globe.to_user(5.0) == np.pi


def test_tree_summary_and_diagnosis_speak_of_arcs(X):
    model = QuickShift(metric="haversine").fit(X)
    np.testing.assert_allclose(model.tree_.tau, model.tau_)
    summary = model.summary()
    between = great_circle(model.modes_, model.modes_)[0, 1]
    assert summary.nearest_denser[1] == pytest.approx(between)
    np.testing.assert_array_equal(summary.modes, X[model.mode_indices_])
    assert any("arcs in radians" in line for line in summary.chosen)
    assert summary.hints == []
    kernel = QuickShift(0.1, 0.2, metric="haversine").fit(X)
    found = qs.diagnose(kernel, theory=True, epsilon=0.05, pair=(0, 150), separation_radius=0.5)
    assert found.modes[1].parent_distance == kernel.parent_distance_[kernel.mode_indices_[1]]
    assert found.modes[1].rise.radii[0] == pytest.approx(found.modes[1].parent_distance)
    assert "r_M = 0.1." in found.theorem_2.sentence
    assert "sample within 0.15 is" in found.theorem_2.sentence
    assert "τ = 0.2 finds 2" in found.theorem_2.sentence
    assert "τ is 0.2, which is < r_s / 2 = 0.25" in found.conditions[-1].sentence
    assert (found.separation.r_s, "(0.5, δ)" in found.separation.sentence) == (0.5, True)


def test_diagnosis_of_a_tau_of_half_the_globe_stays_on_the_globe(X):
    model = QuickShift(0.1, 3.0, metric="haversine").fit(X)
    found = qs.diagnose(model, theory=True, epsilon=1.0, pair=(0, 150))
    assert found.separation.r_s == np.pi
    assert found.theorem_2.n_found == model.n_clusters_


def test_strength_compares_the_reported_scales(X):
    model = QuickShift(metric="haversine").fit(X)
    own = model.bandwidth_[model.mode_indices_][model.labels_]
    np.testing.assert_array_equal(model.strength_, np.minimum(own / model.bandwidth_, 1.0))
    np.testing.assert_allclose(model.strength(X), model.strength_, rtol=1e-12)


@pytest.mark.parametrize("settings", [{}, {"bandwidth": 0.2, "tau": 0.3}, {"n_clusters": 3}])
@pytest.mark.parametrize("metric", ["haversine", "cosine"])
def test_printed_parameters_reproduce_the_labels(X, settings, metric):
    model = QuickShift(metric=metric, **settings).fit(X)
    for fitted in (model, model.recut(n_clusters=2), model.recut(tau=0.123)):
        [line] = [line for line in fitted.summary().chosen if line.startswith("To reproduce: ")]
        code = line.removeprefix("To reproduce: ")
        again = eval(code, {"QuickShift": QuickShift, "numpy": np, "X": X})
        np.testing.assert_array_equal(again.labels_, fitted.labels_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("metric", ["haversine", "cosine"])
def test_modes_are_rows_of_the_user(X, metric, dtype):
    given = X.astype(dtype)
    model = QuickShift(metric=metric).fit(given)
    given += 1  # the estimator has a copy
    for fitted in (model, model.recut(n_clusters=7), model.recut(tau=0.01)):
        np.testing.assert_array_equal(fitted.modes_, X.astype(dtype)[fitted.mode_indices_])
        assert fitted.modes_.dtype == np.float64


# Like every other fit


@every_density
@pytest.mark.parametrize("metric", ["haversine", "cosine"])
def test_integer_weights_equal_repetition(X, metric, bandwidth):
    weights = np.random.default_rng(0).integers(0, 4, size=len(X))
    model = QuickShift(bandwidth, metric=metric).fit(X, sample_weight=weights)
    repeated = QuickShift(bandwidth, metric=metric).fit(np.repeat(X, weights, axis=0))
    present = weights > 0
    np.testing.assert_array_equal(np.repeat(model.labels_, weights), repeated.labels_)
    np.testing.assert_allclose(np.repeat(model.density_, weights), repeated.density_, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X[~present]), model.labels_[~present])
    np.testing.assert_array_equal(model.score_samples(X[~present]), model.log_density_[~present])
    if bandwidth == "local":
        assert np.isfinite(model.tau_).all()
        np.testing.assert_array_equal(
            model.labels_at(model.tau_), model.recut(min_significance=0).labels_
        )


@every_density
@pytest.mark.parametrize("metric", ["haversine", "cosine"])
def test_order_of_rows_and_copies_do_not_matter(X, metric, bandwidth):
    model = QuickShift(bandwidth, metric=metric).fit(X)
    order = np.random.default_rng(3).permutation(len(X))
    shuffled = QuickShift(bandwidth, metric=metric).fit(X[order])
    np.testing.assert_array_equal(shuffled.labels_, model.labels_[order])
    np.testing.assert_array_equal(shuffled.density_, model.density_[order])
    for copy in (pickle.loads(pickle.dumps(model)), clone(model).fit(X)):
        np.testing.assert_array_equal(copy.predict(X + 0.01), model.predict(X + 0.01))
        np.testing.assert_array_equal(
            copy.recut(n_clusters=3).modes_, model.recut(n_clusters=3).modes_
        )
        np.testing.assert_array_equal(copy.to_linkage(), model.to_linkage())


@pytest.mark.parametrize("metric", ["euclidean", "haversine", "cosine"])
def test_grid_search_compares_bandwidths(X, metric):
    rows = np.random.default_rng(0).permutation(X)
    search = GridSearchCV(QuickShift(metric=metric), {"bandwidth": [0.001, 0.05, 1.5]}, cv=3)
    assert search.fit(rows).best_params_ == {"bandwidth": 0.05}


@pytest.mark.parametrize("rule", ["auto", "paper", "scott", "silverman", "cv"])
@pytest.mark.parametrize("kernel", ["gaussian", "tricube"])
@pytest.mark.parametrize("metric", ["haversine", "cosine"])
def test_rules_choose_bandwidths_that_fit_on_the_sphere(rule, kernel, metric):
    for X in (scattered(40), np.array([[0.1, 0.0], [-0.1, np.pi]]), np.full((3, 2), 0.5)):
        model = QuickShift(rule, kernel=kernel, metric=metric).fit(X)
        assert 0 < model.bandwidth_ <= np.pi
        assert 0 <= model.tau_ <= np.pi or metric == "cosine"


@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_samples_on_a_sphere_have_one_dimension_fewer(d):
    rows = Directions().embed(np.random.default_rng(0).normal(size=(30, d)))
    flat, samples = (build_samples(rows, None, None, on_sphere=on) for on in (False, True))
    assert (flat.dimension, samples.dimension) == (d, max(d - 1, 1))
    assert (n_varying(flat), n_varying(samples)) == (d, max(d - 1, 1))
    assert "on the unit sphere" in repr(samples)
    assert samples != flat


def test_spread_on_a_sphere_does_not_depend_on_the_axes():
    for place in PLACES.values():
        points = Globe().embed(blob(4000, place, 0.1, 0))
        assert spread(points, np.ones(4000), dimension=2) == pytest.approx(0.1, rel=0.05)


# Errors


def refused(message, X, error=ValueError, **settings):
    with pytest.raises(error, match=message):
        QuickShift(**settings).fit(X)


def test_haversine_needs_two_features(X):
    refused(r"3 features.*'haversine', expected 2", np.ones((4, 3)), metric="haversine")


def test_degrees_are_recognized(X):
    degrees = np.degrees(X)
    row = int(np.flatnonzero(np.abs(degrees[:, 0]) > np.pi / 2)[0])
    refused(rf"latitude .* in row {row} .*numpy\.radians\(X\)", degrees, metric="haversine")
    model = QuickShift(metric="haversine").fit(X)
    with pytest.raises(ValueError, match=r"row 1 .*numpy\.radians\(X\)"):
        model.predict([[0.1, 120.0], [-48.0, 11.0]])


def test_degrees_near_the_equator_are_recognized_by_their_longitudes(X):
    singapore = np.array([[1.35, 3.0], [1.29, 103.85], [1.3, 103.8]])
    message = r"longitude 103\.85 in row 1 \(and 1 more beyond ±2π\).*numpy\.radians\(X\)"
    refused(message, singapore, metric="haversine")
    with pytest.raises(ValueError, match=message):
        QuickShift(metric="haversine").fit(X).predict(singapore)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_longitudes_reach_from_minus_two_pi_to_two_pi(dtype):
    X = np.array([[0.1, -2 * np.pi], [0.1, 0.0], [0.1, 2 * np.pi]], dtype=dtype)
    assert QuickShift(0.1, 0.2, metric="haversine").fit(X).n_clusters_ == 1
    over = X + np.array([0.0, 1e-5], dtype=dtype)
    refused(r"longitude 6\.28.* in row 2 \(and 0 more", over, metric="haversine")


@pytest.mark.parametrize("metric", ["haversine", "cosine"])
def test_spheres_have_no_period(X, metric):
    refused(r"period is .*Leave period out", X, metric=metric, period=[1.0, 2.0])


@pytest.mark.parametrize("settings", [{"tau": 10.0}, {"bandwidth": 10.0}])
def test_arcs_are_at_most_pi(X, settings):
    [(name, value)] = settings.items()
    message = rf"{name} is {value}, expected an arc.*numpy\.radians\({name}\)"
    refused(message, X, metric="haversine", **settings)


def test_arcs_of_other_cuts_are_at_most_pi(X):
    model = QuickShift(metric="haversine").fit(X)
    for call in (model.labels_at, lambda tau: model.recut(tau=tau)):
        with pytest.raises(ValueError, match=r"tau is 45\.0, expected an arc"):
            call(45.0)
    with pytest.raises(ValueError, match=r"tau has the entry 45\.0, expected an arc"):
        model.labels_at(np.where(np.arange(len(X)) == 7, 45.0, 0.1))


@pytest.mark.parametrize("settings", [{"tau": 5.0}, {"bandwidth": 2.1}])
def test_distances_of_directions_are_at_most_two(X, settings):
    [(name, value)] = settings.items()
    message = rf"{name} is {value}, expected a distance .* from 0 to 2.*numpy\.sqrt\(2 \* {name}\)"
    refused(message, X, metric="cosine", **settings)


def test_distances_of_other_cuts_of_directions_are_at_most_two(X):
    model = QuickShift(metric="cosine").fit(X)
    for call in (model.labels_at, lambda tau: model.recut(tau=tau)):
        with pytest.raises(ValueError, match=r"tau is 3\.0, expected a distance"):
            call(3.0)
        call(np.inf)
        call(2.0)
    with pytest.raises(ValueError, match=r"tau has the entry 3\.0, expected a distance"):
        model.labels_at(np.where(np.arange(len(X)) == 7, 3.0, 0.1))


def test_opposite_directions_are_two_apart():
    X = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [-0.1, -0.2, -0.3]])
    model = QuickShift(0.5, metric="cosine", n_clusters=1).fit(X)
    assert model.parent_distance_[2] == pytest.approx(2.0, abs=1e-15)
    assert model.parent_distance_[2] <= 2.0
    np.testing.assert_array_equal(model.labels_at(2.0), [0, 0, 0])
    np.testing.assert_array_equal(model.labels_at(1.99), [0, 0, 1])


def test_tau_of_a_wide_bandwidth_is_reported_within_the_sphere():
    X = directions(20, 3)
    model = QuickShift(2.0, metric="cosine").fit(X)
    assert (model.bandwidth_, model.tau_) == (2.0, 2.0)
    np.testing.assert_array_equal(model.labels_at(model.tau_), model.labels_at(np.inf))


def test_zero_rows_have_no_direction(X):
    rows = X.copy()
    rows[[3, 17]] = 0.0
    refused(r"zeros in 2 of 200 rows \(3, 17\).*'cosine'", rows, metric="cosine")
    with pytest.raises(ValueError, match=r"1 of 1 rows \(0\)"):
        QuickShift(metric="cosine").fit(X).predict([[0.0, 0.0]])
