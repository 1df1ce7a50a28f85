"""The densities and modes that the data sets state as the truth, checked numerically."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from quickshift import datasets
from quickshift.datasets import (
    Ball,
    Box,
    Dome,
    GaussianMixture,
    ShapeMixture,
    blobs,
    circle,
    circles,
    heteroscedastic,
    lattice,
    moons,
    seed_spreader,
    three_branches_merging,
    two_branches,
)

LINE = {
    "gaussians": GaussianMixture([0.0, 2.0, 5.0], [1.0, 0.04, 0.5], [0.5, 0.2, 0.3]),
    "one gaussian": GaussianMixture([1.0], 2.0),
    "shapes": ShapeMixture([Ball((0.0,), 1.0), Dome((3.0,), 0.5), Box((-2.0,), (5.0,))]),
}
PLANE = {
    "gaussians": GaussianMixture(
        [[0, 0], [3, 1], [-2, 2]],
        [[[1, 0.5], [0.5, 1]], [[0.3, 0], [0, 1]], [[0.5, -0.3], [-0.3, 0.4]]],
        [3, 2, 1],
    ),
    "shapes": ShapeMixture([Ball((0, 0), 1), Dome((3, 0), 1.5), Box((-2, 2), (4, 3))], [2, 3, 1]),
}
CONDITIONAL = {
    "two_branches": two_branches(),
    "three_branches_merging": three_branches_merging(),
    "heteroscedastic": heteroscedastic(),
    "circle": circle(),
}


def by_name(cases):
    return pytest.mark.parametrize("mixture", cases.values(), ids=cases.keys())


def midpoints(low, high, m):
    """Return the midpoints of m equal subintervals, and the length of one."""
    step = (high - low) / m
    return low + step * (np.arange(m) + 0.5), step


# --- densities ------------------------------------------------------------------------------


@by_name(LINE)
def test_density_on_the_line_integrates_to_one(mixture):
    x, step = midpoints(-12, 16, 28_000)
    assert mixture.density(x).sum() * step == pytest.approx(1, abs=1e-6)


@by_name(PLANE)
def test_density_in_the_plane_integrates_to_one(mixture):
    x, step = midpoints(-8, 10, 900)
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    assert mixture.density(grid).sum() * step**2 == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("shape", [Ball((1, 2, 3), 2), Dome((1, 2, 3), 2)])
def test_shapes_in_space_integrate_to_one(shape):
    x, step = midpoints(-2, 6, 80)
    grid = np.stack(np.meshgrid(x, x, x), axis=-1).reshape(-1, 3)
    assert shape.density(grid).sum() * step**3 == pytest.approx(1, abs=1e-2)


@by_name({**LINE, **{f"{name} in the plane": m for name, m in PLANE.items()}})
def test_log_density_is_the_logarithm_of_the_density(mixture):
    X, _ = mixture.sample(50, seed=1)
    np.testing.assert_allclose(np.exp(mixture.log_density(X)), mixture.density(X), rtol=1e-12)


def test_gaussian_density_equals_scipy():
    stats = pytest.importorskip("scipy.stats")
    mixture = PLANE["gaussians"]
    X, _ = mixture.sample(20, seed=3)
    parts = zip(mixture.weights, mixture.means, mixture.covariances, strict=True)
    expected = sum(w * stats.multivariate_normal(m, c).pdf(X) for w, m, c in parts)
    np.testing.assert_allclose(mixture.density(X), expected, rtol=1e-12)


def test_log_density_is_finite_where_the_density_underflows():
    far = GaussianMixture([[0.0, 0.0]]).log_density([[1e3, 0.0]])
    assert far == pytest.approx(-0.5e6 - np.log(2 * np.pi))


def test_log_density_outside_every_shape_is_minus_infinity():
    assert LINE["shapes"].log_density([9.0]).tolist() == [-np.inf]


def test_scalar_diagonal_and_full_covariances_agree():
    X, _ = PLANE["gaussians"].sample(10)
    means = [[0, 0], [1, 2]]
    for covariances in (2.0, [2, 2], [[2, 2], [2, 2]], [2 * np.eye(2)] * 2):
        np.testing.assert_allclose(
            GaussianMixture(means, covariances).density(X), GaussianMixture(means, 2.0).density(X)
        )


# --- samples --------------------------------------------------------------------------------


@by_name(PLANE)
def test_sample_has_the_moments_of_the_density(mixture):
    X, _ = mixture.sample(200_000, seed=5)
    x, step = midpoints(-8, 10, 900)
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    f = mixture.density(grid) * step**2
    mean = f @ grid
    np.testing.assert_allclose(X.mean(axis=0), mean, atol=0.02)
    covariance = (grid - mean).T @ ((grid - mean) * f[:, None])
    np.testing.assert_allclose(np.cov(X.T), covariance, atol=0.03)


@pytest.mark.parametrize(
    ("shape", "mean_square"), [(Ball((0,) * 5, 2.0), 4 * 5 / 7), (Dome((0,) * 5, 2.0), 4 * 5 / 9)]
)
def test_balls_and_domes_fill_their_radius_in_five_dimensions(shape, mean_square):
    X = shape.sample(100_000, np.random.default_rng(0))
    squared = (X**2).sum(axis=1)
    assert squared.max() <= 4.0 + 1e-12
    assert squared.mean() == pytest.approx(mean_square, abs=0.02)


@by_name(PLANE)
def test_labels_name_the_component_and_follow_the_weights(mixture):
    X, labels = mixture.sample(30_000, seed=2)
    shares = np.bincount(labels) / len(labels)
    np.testing.assert_allclose(shares, mixture.weights, atol=0.01)
    center = [
        mixture.means[1] if isinstance(mixture, GaussianMixture) else mixture.shapes[1].center
    ]
    np.testing.assert_allclose(X[labels == 1].mean(axis=0), center[0], atol=0.05)


@by_name({**LINE, **CONDITIONAL})
def test_one_seed_gives_one_sample(mixture):
    first, second, other = (mixture.sample(20, seed) for seed in (4, 4, 5))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])
    assert not np.array_equal(first[0], other[0])


@by_name({**LINE, **CONDITIONAL})
def test_no_points_can_be_drawn(mixture):
    X, second = mixture.sample(0)
    assert X.shape == (0, 1)
    assert second.shape == (0,)


def test_a_generator_goes_on_from_where_it_stands():
    rng = np.random.default_rng(0)
    first, second = blobs(10, seed=rng)[0], blobs(10, seed=rng)[0]
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, blobs(10, seed=np.random.default_rng(0))[0])


# --- modes ----------------------------------------------------------------------------------


def assert_local_maxima(mixture, unit=1e-3):
    """Check that each mode is denser than 200 points on a small sphere around it."""
    modes = mixture.modes()
    directions = np.random.default_rng(0).standard_normal((200, mixture.n_features))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for mode in modes:
        here = mixture.log_density(mode[None])
        assert (mixture.log_density(mode + unit * directions) < here).all()
    heights = mixture.log_density(modes)
    assert (np.diff(heights) <= 1e-12).all(), "the highest comes first"


def random_gaussians(seed, d):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 7))
    factors = rng.standard_normal((k, d, d))
    covariances = factors @ factors.swapaxes(1, 2) + 0.1 * np.eye(d)
    means = rng.uniform(0.5, 3) * rng.standard_normal((k, d))
    return GaussianMixture(means, covariances, rng.uniform(0.2, 1, k))


@pytest.mark.parametrize("d", [1, 2, 3, 6])
@pytest.mark.parametrize("seed", range(5))
def test_modes_of_random_gaussians_are_local_maxima_without_slope(seed, d):
    mixture = random_gaussians(seed, d)
    assert_local_maxima(mixture)
    step = 1e-5
    for mode in mixture.modes():
        sides = [mixture.log_density(mode + s * step * np.eye(d)) for s in (1, -1)]
        np.testing.assert_allclose((sides[0] - sides[1]) / (2 * step), 0, atol=1e-7)


@pytest.mark.parametrize("seed", range(8))
def test_no_mode_of_random_gaussians_is_missed_on_the_line(seed):
    mixture = random_gaussians(seed, 1)
    x, step = midpoints(-15, 15, 60_000)
    f = mixture.log_density(x)
    peaks = x[1:-1][(f[1:-1] > f[:-2]) & (f[1:-1] > f[2:])]
    np.testing.assert_allclose(np.sort(mixture.modes()[:, 0]), peaks, atol=step)


@pytest.mark.parametrize("seed", range(8))
def test_climbs_from_samples_find_no_further_mode(seed):
    optimize = pytest.importorskip("scipy.optimize")
    mixture = random_gaussians(seed, 2)
    modes = mixture.modes()
    for start in mixture.sample(15, seed=seed)[0]:
        end = optimize.minimize(
            lambda x: -mixture.log_density(x[None])[0],
            start,
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 4000},
        ).x
        assert np.linalg.norm(modes - end, axis=1).min() < 1e-4


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize(("gap", "expected"), [(1.9, 1), (2.1, 2), (6.0, 2)])
def test_two_equal_gaussians_merge_within_two_standard_deviations(d, gap, expected):
    means = np.zeros((2, d))
    means[:, 0] = -gap / 2, gap / 2
    modes = GaussianMixture(means).modes()
    assert modes.shape == (expected, d)
    np.testing.assert_allclose(modes[:, 1:], 0, atol=1e-10)
    if expected == 1:
        np.testing.assert_allclose(modes, 0, atol=1e-10)
    else:
        assert modes[0, 0] == pytest.approx(-modes[1, 0], abs=1e-10)


@pytest.mark.parametrize("d", [1, 2])
def test_modes_solve_the_known_equation_to_ten_digits(d):
    # With components of weight ½ and variance 1 at ±a, a mode satisfies x = a tanh(a x).
    a = 1.5
    means = np.zeros((2, d))
    means[:, 0] = -a, a
    for x in GaussianMixture(means).modes()[:, 0]:
        assert x == pytest.approx(a * np.tanh(a * x), abs=1e-11)


def test_two_crossing_ridges_have_more_modes_than_components():
    modes = GaussianMixture([[0, 0], [1, 1]], [[1, 0.05], [0.05, 1]]).modes()
    assert len(modes) == 3


def test_three_round_gaussians_can_hold_a_fourth_mode_between_them():
    angles = np.pi * np.array([1, 5, 9]) / 6
    mixture = GaussianMixture(0.98 * np.column_stack([np.cos(angles), np.sin(angles)]), 0.5)
    modes = mixture.modes()
    assert len(modes) == 4
    np.testing.assert_allclose(modes[-1], 0, atol=1e-9)
    assert_local_maxima(mixture, unit=1e-2)


def test_modes_far_from_the_origin_are_those_near_it():
    near, far = (GaussianMixture([[o, 0], [o + 3, 0]]).modes() for o in (0.0, 1e8))
    np.testing.assert_allclose(far - [1e8, 0], near, atol=1e-7)


def test_a_needle_beside_a_hill_is_a_mode():
    modes = GaussianMixture([0.0, 3.0], [1.0, 1e-12], [0.999, 0.001]).modes()
    np.testing.assert_allclose(modes, [[3.0], [0.0]], atol=1e-9)


def test_modes_of_separate_shapes_are_their_centers_highest_first():
    mixture = ShapeMixture([Ball((0, 0), 1), Dome((5, 0), 1), Box((-4, 3), (4, 5))])
    np.testing.assert_array_equal(mixture.modes(), [[5, 0], [0, 0], [0, 4]])


def test_a_plateau_around_other_shapes_is_no_mode():
    background = Box((-10, -10), (10, 10))
    mixture = ShapeMixture([background, Ball((0, 0), 5), Dome((1, 0), 1), Dome((7, 7), 1)])
    assert sorted(mixture.modes().tolist()) == [[1, 0], [7, 7]]
    assert ShapeMixture([background]).modes().tolist() == [[0, 0]]
    assert ShapeMixture([Ball((0, 0), 9), Box((-1, -1), (1, 1))]).modes().tolist() == [[0, 0]]


@pytest.mark.parametrize(
    "shapes",
    [
        [Ball((0, 0), 1), Ball((1.5, 0), 1)],
        [Dome((0, 0), 2), Dome((0, 0), 1)],
        [Box((0, 0), (1, 1)), Box((1, 0), (2, 1))],
        [Box((0, 0), (1, 1)), Ball((1.2, 0.5), 0.5)],
    ],
)
def test_modes_of_overlapping_shapes_are_refused(shapes):
    with pytest.raises(ValueError, match="overlap"):
        ShapeMixture(shapes).modes()


# --- conditional modes ----------------------------------------------------------------------


@by_name(CONDITIONAL)
def test_conditional_modes_are_the_maxima_of_the_conditional_density(mixture):
    y, step = midpoints(-8.0123, 8, 32_000)  # not symmetric, so that no two grid points tie
    for x in np.linspace(mixture.low, mixture.high, 13):
        f = mixture.conditional_density(x, y)
        assert f.sum() * step == pytest.approx(1, abs=1e-4)
        peaks = y[1:-1][(f[1:-1] > f[:-2]) & (f[1:-1] > f[2:])]
        np.testing.assert_allclose(mixture.conditional_modes(x), peaks, atol=step)


@by_name(CONDITIONAL)
def test_samples_follow_the_conditional_density(mixture):
    X, y = mixture.sample(100_000, seed=6)
    assert X.shape == (100_000, 1)
    assert X.min() >= mixture.low
    assert X.max() <= mixture.high
    grid, step = midpoints(-6, 6, 1200)
    middle = mixture.low + 0.3 * (mixture.high - mixture.low)
    near = np.abs(X[:, 0] - middle) < 0.02
    f = mixture.conditional_density(middle, grid) * step
    assert y[near].mean() == pytest.approx(f @ grid, abs=0.1)
    assert (y[near] ** 2).mean() == pytest.approx(f @ grid**2, abs=0.15)


@by_name(CONDITIONAL)
def test_joint_density_integrates_to_one_and_vanishes_outside(mixture):
    x, dx = midpoints(mixture.low, mixture.high, 4000)
    y, dy = midpoints(-6, 6, 240)
    joint = mixture.density(x[:, None], y)
    assert joint.sum() * dx * dy == pytest.approx(1, abs=2e-2)
    assert mixture.density(mixture.high + 1, 0.0) == 0


def test_branches_merge_where_they_should():
    counts = [len(three_branches_merging().conditional_modes(x)) for x in (0, 0.4, 1)]
    assert counts == [3, 3, 1]
    assert [len(heteroscedastic().conditional_modes(x)) for x in (0, 1)] == [2, 1]
    assert [len(circle(radius=3).conditional_modes(x)) for x in (-3, 0, 3)] == [1, 2, 1]
    assert all(len(two_branches().conditional_modes(x)) == 2 for x in np.linspace(0, 1, 20))


@by_name({**LINE, **CONDITIONAL})
def test_data_sets_can_be_pickled(mixture):
    again = pickle.loads(pickle.dumps(mixture))
    np.testing.assert_array_equal(again.sample(5)[0], mixture.sample(5)[0])


# --- points with labels ---------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["simden", "varden"])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_seed_spreader_shape_labels_and_seed(variant, d):
    X, labels = seed_spreader(20_000, d, variant=variant, noise=0.01, seed=3)
    again = seed_spreader(20_000, d, variant=variant, noise=0.01, seed=3)
    assert X.shape == (20_000, d)
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(labels, again[1])
    assert (labels[-200:] == -1).all()
    assert set(labels[:-200]) == set(range(labels.max() + 1))
    assert (np.diff(labels[:-200]) >= 0).all()


def test_seed_spreader_stays_then_moves_by_half_the_dimension_in_radii():
    X, labels = seed_spreader(10_000, 3, noise=0, restarts=0, stay=1000, seed=1)
    assert set(labels) == {0}
    stands = X.reshape(10, 1000, 3)
    centers = stands.mean(axis=1)
    reach = np.linalg.norm(stands - centers[:, None], axis=2).max()
    assert 95 < reach < 110
    moved = np.linalg.norm(np.diff(centers, axis=0), axis=1)
    np.testing.assert_allclose(moved, 150, atol=15)


def test_seed_spreader_of_varying_density_widens_from_walk_to_walk():
    X, labels = seed_spreader(50_000, 2, variant="varden", noise=0, stay=100_000, seed=2)
    for walk in range(labels.max() + 1):
        points = X[labels == walk]
        if len(points) > 500:
            radius = 100 * (walk % 10 + 1)
            reach = np.linalg.norm(points - points.mean(axis=0), axis=1).max()
            assert 0.9 * radius < reach < 1.15 * radius


def test_seed_spreader_restarts_about_as_often_as_asked():
    restarts = [seed_spreader(5000, restarts=30, seed=s)[1].max() for s in range(20)]
    assert 26 < np.mean(restarts) < 34


def test_blobs_are_round_gaussians_in_the_box():
    X, labels = blobs(60_000, 3, centers=4, box=5, spread=0.5, seed=1)
    for label in range(4):
        mine = X[labels == label]
        assert len(mine) == pytest.approx(15_000, rel=0.05)
        assert np.abs(mine.mean(axis=0)).max() < 5.1
        np.testing.assert_allclose(np.cov(mine.T), 0.25 * np.eye(3), atol=0.02)


def test_moons_without_noise_lie_on_two_half_circles():
    X, labels = moons(200, noise=0)
    centers = np.array([[0, 0], [1, 0.5]])[labels]
    np.testing.assert_allclose(np.linalg.norm(X - centers, axis=1), 1)
    assert (X[labels == 0, 1] >= 0).all()
    assert (X[labels == 1, 1] <= 0.5).all()


def test_circles_have_the_radii_asked_for():
    X, labels = circles(200, noise=0, factor=0.3)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), np.where(labels == 1, 0.3, 1))


def test_lattice_has_every_point_once():
    X = lattice((3, 4, 5))
    assert X.shape == (60, 3)
    assert X.flags.c_contiguous
    assert len(np.unique(X, axis=0)) == 60
    np.testing.assert_array_equal(X.max(axis=0), [2, 3, 4])
    np.testing.assert_array_equal(lattice(4), lattice((4, 4)))


# --- values and errors ----------------------------------------------------------------------


def test_values_cannot_be_changed():
    mixture = GaussianMixture([0.0, 1.0])
    with pytest.raises(FrozenInstanceError):
        mixture.means = np.zeros(2)
    with pytest.raises(ValueError, match="read-only"):
        mixture.means[0] = 5
    assert Ball((0, 1), 2) == Ball([0.0, 1.0], 2.0)
    assert Ball((0, 1), 2) != Dome((0, 1), 2)


def test_the_callers_array_is_not_frozen():
    means = np.zeros((2, 2))
    GaussianMixture(means)
    means[0] = 1


def test_public_names_exist_and_have_examples():
    for name in datasets.__all__:
        assert ">>>" in getattr(datasets, name).__doc__


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: blobs(-1), "n is -1, expected a whole number of at least 0"),
        (lambda: blobs(10, 0), "d is 0, expected a whole number of at least 1"),
        (lambda: blobs(10, spread=0), "spread is 0, expected a positive, finite number"),
        (lambda: blobs(10, box=np.inf), "box is inf, expected a positive, finite number"),
        (lambda: blobs(10, seed=None), r"seed is None, expected .*Generator\. Use seed=0"),
        (lambda: moons(10, noise=-1), "noise is -1, expected a finite number of at least 0"),
        (lambda: moons(10, noise=np.inf), "noise is inf, expected a finite number of at least 0"),
        (lambda: circles(10, factor=2), "factor is 2, expected a positive number below 1"),
        (lambda: seed_spreader(10, variant="other"), "'other', expected one of 'simden', 'varden'"),
        (
            lambda: seed_spreader(10, noise=1),
            "noise is 1, expected a share of at least 0 and below",
        ),
        (lambda: seed_spreader(10, restarts=-1), "restarts is -1, expected a number of at least"),
        (lambda: GaussianMixture([[]]), r"means has shape \(1, 0\), expected .*one row per compon"),
        (lambda: GaussianMixture([0, np.nan]), r"means has shape \(2,\), expected finite numbers"),
        (lambda: GaussianMixture([0, 1], [1, 2, 3]), r"expected \(\), \(2,\)"),
        (lambda: GaussianMixture([0, 1], [1, 0]), "positive definite"),
        (lambda: GaussianMixture([[0, 0]], [[[1, 0.5], [0, 1]]]), "symmetric"),
        (lambda: GaussianMixture([0, 1], weights=[1, 0]), "2 positive numbers: one per component"),
        (lambda: GaussianMixture([[0, 0]]).density([1, 2]), r"\(2,\), expected \(m, 2\)"),
        (lambda: Ball(3.0), "center is 3.0, expected one finite number per coordinate"),
        (lambda: Ball((0,), -1), "radius is -1, expected a positive, finite number"),
        (lambda: Box((0, 0), (1, 0)), "low below high"),
        (lambda: Box((0, 0), (1,)), "low below high"),
        (lambda: ShapeMixture([]), "at least one shape"),
        (lambda: ShapeMixture([Ball((0,)), Ball((0, 0))]), r"dimensions \[1, 2\]"),
        (lambda: two_branches(noise=0), "noise is 0, expected a positive, finite number"),
        (lambda: circle().conditional_modes(1.5), r"x is 1.5, expected a number in \[-1.0, 1.0\]"),
        (lambda: circle().conditional_modes([0, 0.1]), r"shape \(2,\), .* once for each x"),
        (lambda: circle().conditional_density(np.nan, 0), "x is nan, expected a number in"),
    ],
)
def test_errors_repeat_what_came_and_say_what_was_expected(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_count_that_is_no_integer_is_a_type_error():
    with pytest.raises(TypeError, match=r"n is 10\.0, expected a whole number of at least 0"):
        blobs(10.0)
